/* SPDX-License-Identifier: MIT */
/* A cgroup of our own: made, entered, frozen, listed, removed. Skipped without the right to make one. */
#include "trace/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct cgroup cg = CGROUP_INIT;

static int set_up(void **state)
{
	char name[32];
	struct diag d;

	(void)state;
	(void)snprintf(name, sizeof(name), "unit-%d", getpid());
	if (cgroup_make(name, &d, &cg) < 0)
		print_message("no cgroup can be made here: %s\n", d.msg);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cgroup_done(&cg);
	return 0;
}

static void need_cgroup(void)
{
	if (cg.fd < 0)
		skip();
}

static pid_t sleeper(int *ret_pidfd)
{
	pid_t pid = cgroup_fork(cg.fd, ret_pidfd);

	if (!pid) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid, int pidfd)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(pidfd);
}

static void has_the_inode_of_its_folder_as_id(void **state)
{
	struct stat st;

	(void)state;
	need_cgroup();
	assert_int_equal(stat(cg.path, &st), 0);
	assert_int_equal(cg.id, st.st_ino);
	assert_true(cg.owned);
}

static void tells_when_it_is_populated(void **state)
{
	struct pollfd p = { .events = POLLPRI };
	int pidfd = -1;
	pid_t pid;

	(void)state;
	need_cgroup();
	p.fd = cgroup_events_fd(&cg);
	assert_true(p.fd >= 0);
	assert_int_equal(cgroup_populated(&cg), 0);
	pid = sleeper(&pidfd);
	assert_int_equal(cgroup_populated(&cg), 1);
	assert_int_equal(poll(&p, 1, 1000), 1);
	end(pid, pidfd);
	assert_int_equal(cgroup_populated(&cg), 0);
	(void)close(p.fd);
}

static void count_pid(pid_t pid, void *arg)
{
	pid_t *want = arg;

	if (*want == pid)
		*want = 0;
}

static void lists_processes_also_of_folders_below(void **state)
{
	pid_t pid, want;
	int pidfd = -1;
	char below[512];
	struct cgroup sub = CGROUP_INIT;

	(void)state;
	need_cgroup();
	pid = sleeper(&pidfd);
	(void)snprintf(below, sizeof(below), "%s/below", cg.path);
	assert_int_equal(mkdir(below, 0755), 0);
	assert_int_equal(cgroup_open(below, NULL, &sub), 0);
	assert_int_equal(cgroup_join(&sub, pid), 0);
	want = pid;
	assert_int_equal(cgroup_each(&cg, count_pid, &want), 0);
	assert_int_equal(want, 0);
	want = getpid();
	assert_int_equal(cgroup_each(&cg, count_pid, &want), 0);
	assert_int_equal(want, getpid());
	end(pid, pidfd);
	cgroup_done(&sub);
	/* the folder below stays for tear_down: what a target leaves is removed too */
}

static void freezes_and_thaws(void **state)
{
	int pidfd = -1;
	pid_t pid;

	(void)state;
	need_cgroup();
	pid = sleeper(&pidfd);
	assert_int_equal(cgroup_freeze(&cg, true), 0);
	assert_int_equal(cgroup_freeze(&cg, false), 0);
	end(pid, pidfd);
	assert_int_equal(cgroup_freeze(&cg, true), 0); /* also when empty */
	assert_int_equal(cgroup_freeze(&cg, false), 0);
}

static void refuses_names_that_lead_elsewhere(void **state)
{
	struct cgroup other = CGROUP_INIT;
	struct diag d;

	(void)state;
	assert_int_equal(cgroup_make("..", &d, &other), -EINVAL);
	assert_int_equal(cgroup_make("a/b", &d, &other), -EINVAL);
	assert_int_equal(cgroup_make("", &d, &other), -EINVAL);
	assert_int_equal(other.fd, -1);
}

static void refuses_a_folder_that_is_no_cgroup(void **state)
{
	struct cgroup other = CGROUP_INIT;
	struct diag d;

	(void)state;
	assert_int_equal(cgroup_open("/tmp", &d, &other), -ENOTSUP);
	assert_string_equal(d.msg, "/tmp is no cgroup v2 folder");
}

static void leaves_no_folder_behind(void **state)
{
	struct cgroup other = CGROUP_INIT;
	char name[32];
	char *path;

	(void)state;
	need_cgroup();
	(void)snprintf(name, sizeof(name), "unit-%d-gone", getpid());
	assert_int_equal(cgroup_make(name, NULL, &other), 0);
	path = strdup(other.path);
	cgroup_done(&other);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(errno, ENOENT);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_inode_of_its_folder_as_id),
		cmocka_unit_test(tells_when_it_is_populated),
		cmocka_unit_test(lists_processes_also_of_folders_below),
		cmocka_unit_test(freezes_and_thaws),
		cmocka_unit_test(refuses_names_that_lead_elsewhere),
		cmocka_unit_test(refuses_a_folder_that_is_no_cgroup),
		cmocka_unit_test(leaves_no_folder_behind),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
