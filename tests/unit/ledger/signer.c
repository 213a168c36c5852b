/* SPDX-License-Identifier: MIT */
/* The signing process: what it signs, what it refuses, and what is left of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "ledger/key.h"
#include "ledger/signer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/mman.h>

#define NAME "deedlog.invalid/0123456789ab"
#define OTHER "deedlog.invalid/0123456789ab/run/0123456789abcdef"

static int start(void **state)
{
	struct signing *p = NULL;

	if (key_init() < 0 || signing_start(&p) < 0)
		return -1;
	*state = p;
	return 0;
}

static int stop(void **state)
{
	signing_stop(*state);
	return 0;
}

static struct signer *new_key(struct signing *p, const char *name)
{
	struct signer *s = NULL;

	assert_int_equal(signing_new_key(p, name, &s), 0);
	return s;
}

static int sign(const struct signer *s, uint64_t size, uint8_t sig[SIG_LEN])
{
	struct checkpoint cp = { .size = size };

	return signing_sign(s, &cp, sig);
}

/* The text is written by hand: a root of 32 zero bytes is 43 A and one =. */
static void signs_the_text_of_a_checkpoint(void **state)
{
	static const char text[] = NAME "\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
	_cleanup_key_ struct signer *s = new_key(*state, NAME);
	uint8_t sig[SIG_LEN];

	assert_int_equal(sign(s, 7, sig), 0);
	assert_int_equal(crypto_sign_verify_detached(sig, (const uint8_t *)text, strlen(text),
						     s->v.pk), 0);
}

static void refuses_a_size_twice_and_a_smaller_one(void **state)
{
	_cleanup_key_ struct signer *s = new_key(*state, NAME), *o = new_key(*state, OTHER);
	uint8_t sig[SIG_LEN];

	assert_int_equal(sign(s, 7, sig), 0);
	assert_int_equal(sign(s, 7, sig), -EPERM);
	assert_int_equal(sign(s, 6, sig), -EPERM);
	assert_int_equal(sign(o, 6, sig), 0);
	assert_int_equal(sign(s, 8, sig), 0);
}

/* Else a rotation would be a way to a second history. */
static void a_new_key_of_the_same_origin_goes_on_from_there(void **state)
{
	struct signer *old = new_key(*state, NAME), *next = new_key(*state, NAME);
	uint8_t sig[SIG_LEN];

	assert_int_equal(sign(old, 7, sig), 0);
	key_free(old);
	assert_int_equal(sign(next, 7, sig), -EPERM);
	assert_int_equal(sign(next, 8, sig), 0);
	key_free(next);
}

static void keys_go_to_files_and_come_back(void **state)
{
	_cleanup_key_ struct signer *s = new_key(*state, NAME), *back = NULL;
	_cleanup_fd_ int fd = memfd_create("key", MFD_CLOEXEC);

	assert_int_equal(signing_save_key(s, fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 36);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(signing_load_key(*state, fd, NAME, &back), 0);
	assert_memory_equal(back->v.pk, s->v.pk, PK_LEN);
	/* the id in the file belongs to a name */
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(signing_load_key(*state, fd, OTHER, &back), -EKEYREJECTED);
	assert_int_equal(ftruncate(fd, 35), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(signing_load_key(*state, fd, NAME, &back), -EKEYREJECTED);
}

static void has_room_for_eight_keys_and_forgets(void **state)
{
	struct signer *keys[SIGNER_MAX_KEYS], *more = NULL;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < SIGNER_MAX_KEYS; i++)
			keys[i] = new_key(*state, NAME);
		assert_int_equal(signing_new_key(*state, NAME, &more), -ENOSPC);
		for (size_t i = 0; i < SIGNER_MAX_KEYS; i++)
			key_free(keys[i]);
	}
}

/* Our only child is the process. */
static pid_t child_pid(void)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/task/%d/children", getpid());
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	return read(fd, text, sizeof(text) - 1) > 0 ? (pid_t)strtol(text, NULL, 10) : -1;
}

static void holds_one_descriptor_and_is_confined(void **state)
{
	_cleanup_key_ struct signer *s = new_key(*state, NAME); /* it has started up */
	_cleanup_free_ char *status = xasprintf("/proc/%d/status", child_pid());
	_cleanup_free_ char *fds = xasprintf("/proc/%d/fd/", child_pid());
	_cleanup_fd_ int fd = open(status, O_RDONLY | O_CLOEXEC);
	char text[4096] = "";
	int n = 0;

	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "Name:\tdeedlog-sign\n"));
	assert_non_null(strstr(text, "Seccomp:\t2\n"));
	assert_non_null(strstr(text, "NoNewPrivs:\t1\n"));
	for (int i = 0; i < 256; i++) {
		_cleanup_free_ char *one = xasprintf("%s%d", fds, i);

		n += !access(one, F_OK) || readlink(one, text, sizeof(text)) > 0;
	}
	if (geteuid() == 0) /* others may not look: that is the point */
		assert_int_equal(n, 1);
}

static void a_process_that_died_is_an_error_not_a_hang(void **state)
{
	_cleanup_key_ struct signer *s = new_key(*state, NAME);
	struct signer *more = NULL;
	uint8_t sig[SIG_LEN];

	assert_int_equal(kill(child_pid(), SIGKILL), 0);
	assert_int_equal(sign(s, 7, sig), -EPIPE);
	assert_int_equal(signing_new_key(*state, NAME, &more), -EPIPE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(signs_the_text_of_a_checkpoint),
		TEST(refuses_a_size_twice_and_a_smaller_one),
		TEST(a_new_key_of_the_same_origin_goes_on_from_there),
		TEST(keys_go_to_files_and_come_back),
		TEST(has_room_for_eight_keys_and_forgets),
		TEST(holds_one_descriptor_and_is_confined),
		TEST(a_process_that_died_is_an_error_not_a_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
