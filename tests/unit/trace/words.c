/* SPDX-License-Identifier: MIT */
/* What remains of libbpf's words when the kernel refuses a program. */
#include "trace/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* As libbpf 1.1.2 says it. */
#define REFUSAL                                                                    \
	"libbpf: prog 'lsm_file_open': BPF program load failed: Invalid argument\n" \
	"libbpf: prog 'lsm_file_open': -- BEGIN PROG LOAD LOG --\n"                 \
	"0: (bf) r6 = r1\n"                                                        \
	"1: (79) r0 = *(u64 *)(r1 +0)\n"                                           \
	"R0 !read_ok\n"                                                            \
	"processed 2 insns (limit 1000000)\n"                                      \
	"-- END PROG LOAD LOG --\n"                                                \
	"libbpf: prog 'lsm_file_open': failed to load: -22\n"

static void names_the_program_that_was_refused(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_free_ char *name = NULL;

	(void)state;
	buf_addstr(&b, REFUSAL);
	name = words_refused(&b);
	assert_string_equal(name, "lsm_file_open");
}

static void names_nobody_when_nobody_was_refused(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	assert_null(words_refused(&b));
	buf_addstr(&b, "libbpf: failed to load object\n");
	assert_null(words_refused(&b));
}

static void keeps_the_last_lines_of_the_verifier(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct diag d;

	(void)state;
	buf_addstr(&b, REFUSAL);
	assert_int_equal(words_explain(&d, -EINVAL, "cannot load", "lsm_file_open", &b), -EINVAL);
	assert_string_equal(d.msg, "cannot load lsm_file_open: Invalid argument; "
				   "1: (79) r0 = *(u64 *)(r1 +0)\nR0 !read_ok");
}

static void says_the_error_alone_when_there_are_no_words(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct diag d;

	(void)state;
	assert_int_equal(words_explain(&d, -EPERM, "cannot load", NULL, &b), -EPERM);
	assert_string_equal(d.msg, "cannot load the programs: Operation not permitted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_program_that_was_refused),
		cmocka_unit_test(names_nobody_when_nobody_was_refused),
		cmocka_unit_test(keeps_the_last_lines_of_the_verifier),
		cmocka_unit_test(says_the_error_alone_when_there_are_no_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
