/* SPDX-License-Identifier: MIT */
/* Slots of loaded programs: who owns one, when it is whole, when it goes. Without pins. */
#include "trace/pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[] = "/tmp/deedlog-pool-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int fresh(void **state)
{
	(void)state;
	return pool_empty(root);
}

static int tear_down(void **state)
{
	(void)state;
	return pool_empty(root) || rmdir(root);
}

static bool has(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	return !access(path, F_OK);
}

static void an_empty_slot_becomes_whole(void **state)
{
	struct slot s = SLOT_INIT;

	(void)state;
	assert_int_equal(pool_take(root, "aa-trace", &s), 0);
	assert_false(s.whole);
	assert_int_equal(slot_note(&s, "absent-x"), 0);
	assert_int_equal(slot_finish(&s), 0);
	slot_done(&s);
	assert_int_equal(pool_take(root, "aa-trace", &s), 0);
	assert_true(s.whole);
	slot_done(&s);
}

static int count(const char *name, void *arg)
{
	*(int *)arg += !strcmp(name, "absent-x");
	return 0;
}

static void what_a_crash_left_is_thrown_away(void **state)
{
	struct slot s = SLOT_INIT;
	int n = 0;

	(void)state;
	assert_int_equal(pool_take(root, "aa-trace", &s), 0);
	assert_int_equal(slot_note(&s, "absent-x"), 0);
	assert_int_equal(slot_each(&s, count, &n), 0);
	assert_int_equal(n, 1);
	slot_done(&s); /* never finished */
	assert_int_equal(pool_take(root, "aa-trace", &s), 0);
	assert_false(s.whole);
	n = 0;
	assert_int_equal(slot_each(&s, count, &n), 0);
	assert_int_equal(n, 0);
	slot_done(&s);
}

static void runs_at_the_same_time_get_slots_of_their_own(void **state)
{
	struct slot s[POOL_SLOTS + 1];

	(void)state;
	for (int i = 0; i <= POOL_SLOTS; i++)
		s[i] = (struct slot)SLOT_INIT;
	for (int i = 0; i < POOL_SLOTS; i++)
		assert_int_equal(pool_take(root, "aa-trace", &s[i]), 0);
	assert_string_not_equal(s[0].path, s[1].path);
	assert_int_equal(pool_take(root, "aa-trace", &s[POOL_SLOTS]), -EBUSY);
	assert_int_equal(s[POOL_SLOTS].fd, -1);
	slot_done(&s[1]);
	assert_int_equal(pool_take(root, "aa-trace", &s[POOL_SLOTS]), 0);
	for (int i = 0; i <= POOL_SLOTS; i++)
		slot_done(&s[i]);
}

static void sets_of_other_versions_go_unless_they_are_in_use(void **state)
{
	struct slot old = SLOT_INIT, used = SLOT_INIT, new = SLOT_INIT;

	(void)state;
	assert_int_equal(pool_take(root, "aa-trace", &old), 0);
	assert_int_equal(slot_finish(&old), 0);
	assert_int_equal(pool_take(root, "aa-lsm", &used), 0);
	assert_int_equal(slot_finish(&used), 0);
	slot_done(&old);
	assert_int_equal(pool_take(root, "bb-trace", &new), 0);
	assert_false(has("aa-trace-0"));
	assert_true(has("aa-lsm-0"));
	slot_done(&used);
	slot_done(&new);
}

static void other_tiers_of_the_same_version_stay(void **state)
{
	struct slot lsm = SLOT_INIT, trace = SLOT_INIT;

	(void)state;
	assert_int_equal(pool_take(root, "aa-lsm", &lsm), 0);
	assert_int_equal(slot_finish(&lsm), 0);
	slot_done(&lsm);
	assert_int_equal(pool_take(root, "aa-trace", &trace), 0);
	assert_true(has("aa-lsm-0"));
	slot_done(&trace);
}

static void emptying_counts_what_is_in_use(void **state)
{
	struct slot s = SLOT_INIT;

	(void)state;
	assert_int_equal(pool_take(root, "aa-trace", &s), 0);
	assert_int_equal(pool_empty(root), 1);
	slot_done(&s);
	assert_int_equal(pool_empty(root), 0);
	assert_false(has("aa-trace-0"));
}

static void does_not_trust_a_slot_that_others_can_enter(void **state)
{
	struct slot s = SLOT_INIT;
	char path[128];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/aa-trace-0", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(pool_take(root, "aa-trace", &s), -EPERM);
	assert_int_equal(s.fd, -1);
	assert_int_equal(rmdir(path), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_slot_becomes_whole),
		TEST(what_a_crash_left_is_thrown_away),
		TEST(runs_at_the_same_time_get_slots_of_their_own),
		TEST(sets_of_other_versions_go_unless_they_are_in_use),
		TEST(other_tiers_of_the_same_version_stay),
		TEST(emptying_counts_what_is_in_use),
		TEST(does_not_trust_a_slot_that_others_can_enter),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
