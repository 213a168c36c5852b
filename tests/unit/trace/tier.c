/* SPDX-License-Identifier: MIT */
/* Which programs belong to which tier, and what their sections mean. */
#include "trace/tier.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *program, bool lsm, bool fmod, bool trace)
{
	assert_int_equal(tier_has(TIER_LSM, program), lsm);
	assert_int_equal(tier_has(TIER_FMOD, program), fmod);
	assert_int_equal(tier_has(TIER_TRACE, program), trace);
}

static void takes_the_programs_of_its_own_and_the_shared_ones(void **state)
{
	(void)state;
	expect("lsm_file_open", true, false, false);
	expect("mod_file_open", false, true, false);
	expect("fx_bprm_committed", false, true, false);
	expect("tp_task_newtask", true, true, true);
	expect("iter_tasks", true, true, true);
	expect("cg_connect4", false, false, true);
	expect("call_open", false, false, true);
}

static void leaves_the_dispatcher_of_calls_to_tier_trace(void **state)
{
	(void)state;
	expect("tp_sys_exit", false, false, true);
}

static void does_not_load_what_it_does_not_know(void **state)
{
	(void)state;
	expect("probe_file_open", false, false, false);
	expect("", false, false, false);
}

static void knows_its_names(void **state)
{
	enum tier t = TIER_COUNT;

	(void)state;
	assert_int_equal(tier_from_name("fmod", &t), 0);
	assert_int_equal(t, TIER_FMOD);
	assert_string_equal(tier_name(TIER_LSM), "lsm");
	assert_string_equal(tier_name(TIER_TRACE), "trace");
	assert_int_equal(tier_from_name("kprobe", &t), -EINVAL);
	assert_int_equal(t, TIER_FMOD);
	assert_string_equal(tier_limits(TIER_LSM), "");
	assert_true(strstr(tier_limits(TIER_TRACE), "no file access") != NULL);
}

static void reads_the_hook_out_of_a_section(void **state)
{
	const struct hook_kind *kind;
	const char *hook = NULL;

	(void)state;
	kind = hook_kind_of("lsm/file_open", &hook);
	assert_non_null(kind);
	assert_string_equal(kind->target, "bpf_lsm_");
	assert_string_equal(hook, "file_open");
	kind = hook_kind_of("tp_btf/sys_exit", &hook);
	assert_non_null(kind);
	assert_int_equal(kind->attach, BPF_TRACE_RAW_TP);
	assert_string_equal(hook, "sys_exit");
	assert_null(hook_kind_of("cgroup/connect4", &hook));
	assert_null(hook_kind_of("lsm", &hook));
}

static void may_miss_young_hooks_only(void **state)
{
	(void)state;
	assert_true(tier_can_miss("cg_connect_unix"));
	assert_false(tier_can_miss("cg_connect4"));
	assert_false(tier_can_miss("lsm_file_open"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_programs_of_its_own_and_the_shared_ones),
		cmocka_unit_test(leaves_the_dispatcher_of_calls_to_tier_trace),
		cmocka_unit_test(does_not_load_what_it_does_not_know),
		cmocka_unit_test(knows_its_names),
		cmocka_unit_test(reads_the_hook_out_of_a_section),
		cmocka_unit_test(may_miss_young_hooks_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
