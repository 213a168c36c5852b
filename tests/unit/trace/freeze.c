/* SPDX-License-Identifier: MIT */
/* When the target is frozen and thawed, over a folder that looks like a cgroup. */
#include "trace/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[] = "/tmp/deedlog-freeze-XXXXXX";
static int dir_fd = -1;
static struct event last;
static int events;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlinkat(dir_fd, "cgroup.freeze", 0);
	(void)close(dir_fd);
	return rmdir(folder);
}

static int fresh(void **state)
{
	int fd = openat(dir_fd, "cgroup.freeze", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)state;
	events = 0;
	return fd < 0 ? -1 : close(fd);
}

static char ordered(void)
{
	char c = '-';
	int fd = openat(dir_fd, "cgroup.freeze", O_RDONLY | O_CLOEXEC);

	(void)!read(fd, &c, 1);
	(void)close(fd);
	return c;
}

static void keep(const struct event *e, void *arg)
{
	(void)arg;
	last = *e;
	events++;
}

static void watch(struct freeze *f, size_t fill)
{
	freeze_watch(f, "ring", fill, 1000, keep, NULL);
}

static void freezes_above_three_quarters(void **state)
{
	struct freeze f;

	(void)state;
	freeze_init(&f, dir_fd, true);
	watch(&f, 750);
	assert_int_equal(ordered(), '-');
	watch(&f, 751);
	assert_int_equal(ordered(), '1');
	assert_int_equal(events, 0);
}

static void thaws_below_one_quarter_and_tells_from_when_until_when(void **state)
{
	struct freeze f;

	(void)state;
	freeze_init(&f, dir_fd, true);
	watch(&f, 900);
	watch(&f, 250);
	assert_int_equal(ordered(), '1');
	watch(&f, 249);
	assert_int_equal(ordered(), '0');
	assert_int_equal(events, 1);
	assert_int_equal(last.kind, EV_FREEZE);
	assert_true(event_has(&last, EF(FROM) | EF(UNTIL) | EF(WHY)));
	assert_true(last.from && last.from <= last.until);
	assert_int_equal(last.boot_ns, last.until);
	assert_int_equal(last.why.len, 4);
	assert_memory_equal(last.why.p, "ring", 4);
}

static void says_nothing_while_there_is_room(void **state)
{
	struct freeze f;

	(void)state;
	freeze_init(&f, dir_fd, true);
	watch(&f, 0);
	watch(&f, 500);
	watch(&f, 0);
	assert_int_equal(events, 0);
	assert_int_equal(ordered(), '-');
}

static void never_freezes_a_cgroup_of_others(void **state)
{
	struct freeze f;

	(void)state;
	freeze_init(&f, dir_fd, false);
	watch(&f, 1000);
	assert_int_equal(freeze_now(&f, "table"), -EPERM);
	freeze_end(&f, keep, NULL);
	assert_int_equal(ordered(), '-');
	assert_int_equal(events, 0);
}

static void thaws_at_the_end_of_the_recording(void **state)
{
	struct freeze f;

	(void)state;
	freeze_init(&f, dir_fd, true);
	watch(&f, 900);
	freeze_done(&f);
	assert_int_equal(ordered(), '0');
}

static void counts_on_where_it_cannot_freeze(void **state)
{
	struct freeze f;

	(void)state;
	assert_int_equal(unlinkat(dir_fd, "cgroup.freeze", 0), 0);
	freeze_init(&f, dir_fd, true);
	watch(&f, 900);
	assert_int_equal(f.from, 0);
	watch(&f, 0);
	assert_int_equal(events, 0);
	assert_int_equal(freeze_now(&f, "table"), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(freezes_above_three_quarters),
		TEST(thaws_below_one_quarter_and_tells_from_when_until_when),
		TEST(says_nothing_while_there_is_room),
		TEST(never_freezes_a_cgroup_of_others),
		TEST(thaws_at_the_end_of_the_recording),
		TEST(counts_on_where_it_cannot_freeze),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
