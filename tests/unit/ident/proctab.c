/* SPDX-License-Identifier: MIT */
/* Names of processes through fork, exec, exit and pids that are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ident/proctab.h"

static void fork_(struct proctab *t, uint32_t pid, uint32_t child)
{
	struct event e = { .kind = EV_FORK, .have = EF(PID) | EF(CHILD), .pid = pid };

	e.child = child;
	proctab_event(t, &e);
}

static void exec_(struct proctab *t, uint32_t pid, const char *path)
{
	struct event e = { .kind = EV_EXEC, .have = EF(PID) | EF(PATH) | EF(ARGV), .pid = pid };

	e.path = str_of(path);
	e.argv = (struct str){ "argv zero\0b\0", 12 };
	proctab_event(t, &e);
}

static void tool_(struct proctab *t, uint32_t pid, const char *name)
{
	struct event e = { .kind = EV_TOOL, .have = EF(PID) | EF(NAME), .pid = pid };

	e.name = str_of(name);
	proctab_event(t, &e);
}

static void exit_(struct proctab *t, uint32_t pid)
{
	struct event e = { .kind = EV_EXIT, .have = EF(PID), .pid = pid };

	proctab_event(t, &e);
}

static int make_table(void **state)
{
	*state = proctab_new();
	return 0;
}

static int free_table(void **state)
{
	proctab_free(*state);
	return 0;
}

static void a_child_has_the_name_of_its_parent_until_it_execs(void **state)
{
	struct proctab *t = *state;

	exec_(t, 10, "/usr/bin/node");
	tool_(t, 10, "prettier");
	fork_(t, 10, 11);
	assert_string_equal(proctab_name(t, 11), "prettier");
	exec_(t, 11, "/usr/bin/git");
	assert_string_equal(proctab_name(t, 11), "git");
	assert_string_equal(proctab_name(t, 10), "prettier");
	assert_int_equal(proctab_find(t, 11)->parent->pid, 10);
	assert_int_equal(proctab_find(t, 11)->execs, 1);
	assert_string_equal(proctab_find(t, 11)->image->argv0, "argv zero");
}

static void an_unknown_process_has_no_name(void **state)
{
	struct proctab *t = *state;

	assert_string_equal(proctab_name(t, 5), "");
	assert_null(proctab_find(t, 5));
	fork_(t, 5, 6);
	assert_string_equal(proctab_name(t, 6), "");
}

static void a_parent_stays_while_a_child_lives(void **state)
{
	struct proctab *t = *state;

	exec_(t, 1, "/bin/a");
	fork_(t, 1, 2);
	fork_(t, 2, 3);
	exit_(t, 1);
	exit_(t, 2);
	exit_(t, 2); /* told twice */
	assert_true(proctab_find(t, 3)->parent->ended);
	assert_int_equal(proctab_find(t, 3)->parent->parent->pid, 1);
	exit_(t, 3);
	assert_null(proctab_find(t, 1));
	assert_null(proctab_find(t, 2));
	assert_null(proctab_find(t, 3));
}

static void a_pid_that_is_used_again_is_a_new_process(void **state)
{
	struct proctab *t = *state;

	exec_(t, 1, "/bin/a");
	fork_(t, 1, 2);
	exec_(t, 2, "/bin/old");
	fork_(t, 2, 3);
	exit_(t, 2);
	fork_(t, 1, 2);
	assert_string_equal(proctab_name(t, 2), "a");
	assert_string_equal(proctab_name(t, 3), "old");
	assert_ptr_not_equal(proctab_find(t, 3)->parent, proctab_find(t, 2));
	fork_(t, 1, 2); /* an exit that was lost */
	fork_(t, 2, 2); /* nonsense */
	assert_string_equal(proctab_name(t, 2), "a");
}

static void long_texts_keep_the_end_of_the_path(void **state)
{
	static char path[3 * MAX_PROC_TEXT];

	memset(path, 'x', sizeof(path) - 1);
	memcpy(path + sizeof(path) - 6, "/tail", 6);
	exec_(*state, 1, path);
	assert_string_equal(proctab_name(*state, 1), "tail");
	assert_int_equal(strlen(proctab_find(*state, 1)->image->exe), MAX_PROC_TEXT);
}

static void a_full_table_counts(void **state)
{
	for (uint32_t i = 2; i < MAX_PROCS + 5; i++)
		fork_(*state, 1, i);
	assert_int_equal(proctab_unnamed(*state), 4);
	assert_string_equal(proctab_name(*state, MAX_PROCS + 4), "");
	exec_(*state, MAX_PROCS + 4, "/bin/x");
	tool_(*state, MAX_PROCS + 4, "x");
	assert_int_equal(proctab_unnamed(*state), 4); /* the same process */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_table, free_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_has_the_name_of_its_parent_until_it_execs),
		TEST(an_unknown_process_has_no_name),
		TEST(a_parent_stays_while_a_child_lives),
		TEST(a_pid_that_is_used_again_is_a_new_process),
		TEST(long_texts_keep_the_end_of_the_path),
		TEST(a_full_table_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
