/* SPDX-License-Identifier: MIT */
/* The set of live processes. */
#include "trace/target.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_each_process_once(void **state)
{
	struct pids p = { 0 };

	(void)state;
	assert_false(pids_have(&p, 1));
	pids_add(&p, 7);
	pids_add(&p, 7);
	assert_int_equal(p.n, 1);
	assert_true(pids_have(&p, 7));
	pids_remove(&p, 7);
	pids_remove(&p, 7);
	assert_int_equal(p.n, 0);
	assert_false(pids_have(&p, 7));
	pids_done(&p);
}

static void removing_from_an_empty_set_is_nothing(void **state)
{
	struct pids p = { 0 };

	(void)state;
	pids_remove(&p, 7);
	assert_int_equal(p.n, 0);
	pids_done(&p);
}

/* Every order of leaving must keep the rest findable, also where slots collide. */
static void finds_the_rest_after_any_removal(void **state)
{
	struct pids p = { 0 };

	(void)state;
	for (uint32_t pid = 1; pid <= 5000; pid++)
		pids_add(&p, pid);
	assert_int_equal(p.n, 5000);
	for (uint32_t pid = 1; pid <= 5000; pid += 3)
		pids_remove(&p, pid);
	for (uint32_t pid = 1; pid <= 5000; pid++)
		assert_int_equal(pids_have(&p, pid), pid % 3 != 1);
	assert_int_equal(p.n, 3333);
	pids_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_each_process_once),
		cmocka_unit_test(removing_from_an_empty_set_is_nothing),
		cmocka_unit_test(finds_the_rest_after_any_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
