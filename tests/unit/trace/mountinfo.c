/* SPDX-License-Identifier: MIT */
/* Which mount is the cgroup v2 one, by hand-written copies of mountinfo from machines of each kind. */
#include "trace/mountinfo.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define V1 "33 32 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
#define ROOT "25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"

static int find(const char *text, char **ret_point)
{
	return mountinfo_cgroup2(cur_of(text, strlen(text)), ret_point);
}

static void expect(const char *text, const char *point)
{
	char *found = NULL;

	assert_int_equal(find(text, &found), 0);
	assert_string_equal(found, point);
	free(found);
}

static void finds_the_mount_of_a_machine_with_v2_only(void **state)
{
	(void)state;
	expect(ROOT "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
	       "/sys/fs/cgroup");
}

static void finds_the_v2_mount_of_a_hybrid_machine_behind_the_v1_ones(void **state)
{
	(void)state;
	expect(ROOT V1 "42 32 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
	       "/sys/fs/cgroup/unified");
}

static void says_that_there_is_none_where_only_v1_is_mounted(void **state)
{
	char *found = NULL;

	(void)state;
	assert_int_equal(find(ROOT V1, &found), -ENOENT);
	assert_int_equal(find("", &found), -ENOENT);
	assert_null(found);
}

static void prefers_the_whole_hierarchy_to_a_bind_mount_of_a_part(void **state)
{
	(void)state;
	expect("30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	       "90 25 0:26 /user.slice /mnt/part rw - cgroup2 cgroup2 rw\n",
	       "/sys/fs/cgroup");
	expect("90 25 0:26 /user.slice /mnt/part rw - cgroup2 cgroup2 rw\n", "/mnt/part");
}

static void takes_the_topmost_of_several_whole_mounts(void **state)
{
	(void)state;
	expect("30 25 0:26 / /a rw - cgroup2 cgroup2 rw\n"
	       "31 25 0:26 / /b rw - cgroup2 cgroup2 rw\n",
	       "/b");
}

static void undoes_octal_escapes_in_mount_points(void **state)
{
	(void)state;
	expect("30 25 0:26 / /my\\040own\\134tab\\011x rw - cgroup2 cgroup2 rw\n",
	       "/my own\\tab\tx");
}

static void skips_any_number_of_optional_fields(void **state)
{
	(void)state;
	expect("30 25 0:26 / /x rw shared:4 master:7 propagate_from:2 unbindable - cgroup2 c rw\n",
	       "/x");
}

static void does_not_take_a_source_or_a_path_for_the_type(void **state)
{
	char *found = NULL;

	(void)state;
	assert_int_equal(find("30 25 0:26 / /cgroup2 rw - tmpfs cgroup2 rw\n", &found), -ENOENT);
}

static void refuses_lines_that_do_not_add_up(void **state)
{
	char *found = NULL;

	(void)state;
	assert_int_equal(find("30 25 0:26 / /x rw", &found), -EBADMSG);
	assert_int_equal(find("30 25 0:26 / /x rw cgroup2 cgroup2 rw\n", &found), -EBADMSG);
	assert_int_equal(find("\n", &found), -EBADMSG);
	assert_null(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_mount_of_a_machine_with_v2_only),
		cmocka_unit_test(finds_the_v2_mount_of_a_hybrid_machine_behind_the_v1_ones),
		cmocka_unit_test(says_that_there_is_none_where_only_v1_is_mounted),
		cmocka_unit_test(prefers_the_whole_hierarchy_to_a_bind_mount_of_a_part),
		cmocka_unit_test(takes_the_topmost_of_several_whole_mounts),
		cmocka_unit_test(undoes_octal_escapes_in_mount_points),
		cmocka_unit_test(skips_any_number_of_optional_fields),
		cmocka_unit_test(does_not_take_a_source_or_a_path_for_the_type),
		cmocka_unit_test(refuses_lines_that_do_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
