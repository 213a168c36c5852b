/* SPDX-License-Identifier: MIT */
/*
 * Does one deed in a child of its own: fresh namespaces, an empty tmpfs with
 * two files, a watchdog. Without root the child becomes root of a user
 * namespace; the acts that need the real root then answer EPERM.
 * Relies on: Linux >= 5.10, tmpfs, a working folder that may be mounted over.
 */
#include "deed.h"
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <time.h>

#define WATCHDOG_S 40 /* kexec_load searches all memory: seconds under emulation */

static struct outcome *shared; /* written by the child */

static const struct {
	const char *name;
	const struct deed *deeds;
} groups[] = {
	{ "file", file_deeds },	{ "name", name_deeds }, { "overlay", overlay_deeds },
	{ "uring", uring_deeds }, { "exec", exec_deeds }, { "task", task_deeds },
	{ "net", net_deeds },	{ "system", system_deeds },
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

const struct deed *deed_next(const struct deed *deed, const char **ret_group)
{
	static size_t g;

	if (!deed)
		g = 0;
	deed = deed ? deed + 1 : groups[0].deeds;
	while (!deed->name) {
		if (++g == N_GROUPS)
			return NULL;
		deed = groups[g].deeds;
	}
	*ret_group = groups[g].name;
	return deed;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void become_namespace_root(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	unshare(CLONE_NEWUSER);
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_text("/proc/self/gid_map", map);
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ioctl(fd, SIOCSIFFLAGS, &req);
	close(fd);
}

static int enter_sandbox(void)
{
	if (geteuid())
		become_namespace_root();
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET))
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	if (mount("work", t.work, "tmpfs", 0, NULL) || chdir(t.work))
		return -1;
	loopback_up();
	if (mkdir("d", 0755) || chdir("d"))
		return -1;
	make_file("a", "hello world\n");
	make_file("b", "BBBBBBBBBB\n");
	return 0;
}

static struct identity identity_of(const char *name)
{
	struct stat st = { 0 };

	(void)stat(name, &st); /* made a moment ago */
	return (struct identity){ major(st.st_dev) << 20 | minor(st.st_dev), st.st_ino };
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void act(const struct deed *deed)
{
	shared->from_ns = now_ns();
	errno = 0;
	shared->ret = deed->act();
	shared->err = shared->ret < 0 ? errno : 0;
	shared->until_ns = now_ns();
}

static void child(const struct deed *deed)
{
	shared->pid = getpid();
	if (enter_sandbox())
		_exit(1);
	shared->a = identity_of("a");
	shared->b = identity_of("b");
	alarm(WATCHDOG_S);
	if (deed->setup)
		deed->setup();
	shared->was = deed->check ? deed->check() : -1;
	act(deed);
	shared->is = deed->check ? deed->check() : -1;
	shared->ran = true;
	_exit(0);
}

int run_deed(const struct deed *deed, struct outcome *ret_outcome)
{
	int st = 0;
	pid_t pid;

	*shared = (struct outcome){ .ret = -1, .was = -1, .is = -1 };
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		child(deed);
	waitpid(pid, &st, 0);
	if (!shared->ran && WIFEXITED(st))
		return -ECHILD;
	if (!shared->ran) {
		shared->err = 1000 + WTERMSIG(st);
		shared->until_ns = now_ns();
	}
	*ret_outcome = *shared;
	return 0;
}

const char *answer_of(const struct outcome *o)
{
	static char text[16];
	const char *name;

	if (o->ran && o->ret >= 0)
		return "ok";
	if (o->err > 1000) {
		snprintf(text, sizeof(text), "SIG%d", o->err - 1000);
		return text;
	}
	name = strerrorname_np(o->err);
	return name ? name : "?";
}

const char *why_skipped(const struct deed *deed, bool host_allowed)
{
	if ((deed->needs & NEEDS_HOST) && !host_allowed)
		return "acts on the whole machine (-a)";
	if ((deed->needs & NEEDS_CGROUP) && !t.cgroup_top)
		return "needs -t";
	if ((deed->needs & NEEDS_MODULE) && !t.module)
		return "needs -k";
	return NULL;
}

void fixture_init(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t.outsider = fork();
	if (t.outsider)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGWINCH, SIG_IGN);
	for (;;)
		pause();
}

void fixture_done(void)
{
	kill(t.outsider, SIGKILL);
	waitpid(t.outsider, NULL, 0);
}
