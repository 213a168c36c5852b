/* SPDX-License-Identifier: MIT */
/*
 * Process 1 of the test guests. Promises: what a developer's machine has
 * mounted is mounted, lo is up, the modules of /modules are loaded, then
 * /t/script runs once with /t as its folder; what it left in /out goes to the
 * host as a tar archive on the raw disk; the last line on the console is
 * "# vm-end: exit=N"; the guest is switched off. Never returns.
 *
 * Relies on: an initramfs made by tools/mk-initrd, linked statically. Every
 * failed step is named on the console: the script finds out what it means.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MAX_MODULE_ROUNDS 6 /* the longest chain of dependencies is 4 */

static const struct {
	const char *type, *at, *options;
} mounts[] = {
	{ "proc", "/proc", NULL },
	{ "sysfs", "/sys", NULL },
	{ "devtmpfs", "/dev", NULL },
	{ "devpts", "/dev/pts", "ptmxmode=0666" },
	{ "tmpfs", "/dev/shm", NULL },
	{ "securityfs", "/sys/kernel/security", NULL },
	{ "bpf", "/sys/fs/bpf", NULL },
	{ "cgroup2", "/sys/fs/cgroup", NULL },
	{ "tracefs", "/sys/kernel/tracing", NULL },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "tmpfs", "/run", NULL },
	{ "tmpfs", "/out", NULL },
};

static char *const guest_env[] = {
	"PATH=/t:/usr/sbin:/usr/bin", "HOME=/root", "USER=root",
	"LANG=C.UTF-8", "TERM=dumb", "TMPDIR=/tmp", NULL,
};

static void complain(const char *what, const char *which)
{
	printf("# vm-init: %s %s: %s\n", what, which, strerror(errno));
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		(void)mkdir(mounts[i].at, 0755); /* often there already */
		if (mount(mounts[i].type, mounts[i].at, mounts[i].type, 0,
			  mounts[i].options))
			complain("mount", mounts[i].at);
	}
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req))
		complain("bring up", "lo");
	close(fd);
}

static int load_module(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -1 : (int)syscall(SYS_finit_module, fd, "", 0);

	if (r && errno == EEXIST)
		r = 0;
	close(fd);
	return r;
}

/* Returns how many modules would not load; they may wait for another one. */
static int load_modules_once(void)
{
	DIR *dir = opendir("/modules");
	struct dirent *e;
	int failed = 0;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && load_module(dirfd(dir), e->d_name))
			failed++;
	if (dir)
		closedir(dir);
	return failed;
}

static void load_modules(void)
{
	int failed = 1;

	for (int round = 0; failed && round < MAX_MODULE_ROUNDS; round++)
		failed = load_modules_once();
	if (failed)
		printf("# vm-init: %d modules did not load\n", failed);
}

static int wait_for(pid_t child)
{
	int status = 0;

	/* orphans end up here as well */
	for (;;) {
		pid_t pid = wait(&status);

		if (pid == child)
			break;
		if (pid < 0 && errno == ECHILD)
			return 255;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(char *const argv[])
{
	pid_t pid = fork();

	if (pid < 0)
		return 255;
	if (!pid) {
		(void)setsid();
		if (chdir("/t"))
			complain("enter", "/t");
		(void)execve(argv[0], argv, guest_env);
		complain("run", argv[0]);
		_exit(127);
	}
	return wait_for(pid);
}

static void hand_back(void)
{
	char *messages[] = { "/usr/bin/sh", "-c", "dmesg >/out/dmesg.log", NULL };
	char *pack[] = { "/usr/bin/tar", "cf", "/dev/vda", "-C", "/out", ".", NULL };

	if (run(messages) || run(pack))
		printf("# vm-init: files could not be handed back\n");
	sync();
}

int main(void)
{
	char *script[] = { "/usr/bin/sh", "/t/script", NULL };
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_all();
	loopback_up();
	load_modules();
	printf("\n# vm-start\n"); /* the line before is the boot loader's */
	status = run(script);
	hand_back();
	printf("\n# vm-end: exit=%d\n", status);
	(void)tcdrain(STDOUT_FILENO);
	sync();
	(void)reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
