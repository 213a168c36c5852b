/* SPDX-License-Identifier: MIT */
/*
 * Files of a cgroup v2 folder, always through its descriptor: the path is for
 * people. Folders that the target made below are walked at most
 * MAX_CGROUP_DEPTH deep.
 */
#include "cgroup.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "base/num.h"
#include "base/timeutil.h"
#include "mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#define MAX_MAKE_TRIES 8 /* another run may remove the shared folder in between */
#define FREEZE_WAIT_MS 1000

static int read_mounts(struct buf *to)
{
	_cleanup_fd_ int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_read_all(fd, MAX_MOUNTINFO, to);
}

int cgroup_mount(struct diag *d, char **ret_path)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *path = NULL;
	struct statfs fs;
	int r;

	r = read_mounts(&text);
	if (r < 0)
		return diag_set(d, r, "cannot read /proc/self/mountinfo: %s; mount /proc",
				strerror(-r));
	r = mountinfo_cgroup2(cur_of(buf_str(&text), text.len), &path);
	if (r < 0)
		return diag_set(d, r, "no cgroup v2 is mounted; run \"mount -t cgroup2 none "
				      "/sys/fs/cgroup/unified\" or boot with systemd");
	if (statfs(path, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return diag_set(d, -ENOENT, "%s is cgroup v2, but something is mounted over it",
				path);
	*ret_path = TAKE_PTR(path);
	return 0;
}

static int take_folder(char *path, bool owned, struct cgroup *ret)
{
	_cleanup_free_ char *mine = path;
	_cleanup_fd_ int fd = -1;
	struct statfs fs;
	struct stat st;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOTSUP;
	*ret = (struct cgroup){ TAKE_FD(fd), TAKE_PTR(mine), st.st_ino, owned };
	return 0;
}

static int make_folders(const char *parent, const char *path)
{
	if (mkdir(parent, 0755) < 0 && errno != EEXIST)
		return -errno;
	return mkdir(path, 0755) < 0 ? -errno : 0;
}

int cgroup_make(const char *name, struct diag *d, struct cgroup *ret)
{
	_cleanup_free_ char *mount = NULL, *parent = NULL, *path = NULL;
	int r;

	if (!*name || *name == '.' || strchr(name, '/'))
		return diag_set(d, -EINVAL, "\"%s\" cannot name a cgroup", name);
	r = cgroup_mount(d, &mount);
	if (r < 0)
		return r;
	parent = xasprintf("%s/deedlog", mount);
	path = xasprintf("%s/%s", parent, name);
	r = -ENOENT;
	for (int i = 0; r == -ENOENT && i < MAX_MAKE_TRIES; i++)
		r = make_folders(parent, path);
	if (r < 0)
		return diag_set(d, r, "cannot make the cgroup %s: %s", path, strerror(-r));
	r = take_folder(xstrdup(path), true, ret);
	if (r < 0)
		return diag_set(d, r, "cannot open the cgroup %s: %s", path, strerror(-r));
	return 0;
}

int cgroup_open(const char *path, struct diag *d, struct cgroup *ret)
{
	int r;

	r = take_folder(xstrdup(path), false, ret);
	if (r == -ENOTSUP)
		return diag_set(d, r, "%s is no cgroup v2 folder", path);
	if (r < 0)
		return diag_set(d, r, "cannot open the cgroup %s: %s", path, strerror(-r));
	return 0;
}

static int write_file(int dirfd, const char *name, const char *text)
{
	_cleanup_fd_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

static int read_file(int dirfd, const char *name, struct buf *to)
{
	_cleanup_fd_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd_read_all(fd, MAX_CGROUP_FILE, to);
}

int cgroup_join(const struct cgroup *c, pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid); /* 11 characters at most */
	return write_file(c->fd, "cgroup.procs", text);
}

pid_t cgroup_fork(int cgroup_fd, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup_fd,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	if (pid)
		*ret_pidfd = pidfd;
	return pid;
}

int cgroup_level(int cgroup_fd, uint32_t *ret_level)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char link[32], path[PATH_MAX];
	ssize_t n;
	int r;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", cgroup_fd); /* fits */
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	r = read_mounts(&text);
	if (r >= 0)
		r = mountinfo_cgroup2_depth(cur_of(buf_str(&text), text.len), path);
	if (r < 0)
		return r;
	*ret_level = (uint32_t)r;
	return 0;
}

/* The value of "key N" in cgroup.events, or -errno. */
static int event_value(int dirfd, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct cur c, line, word;
	int r;

	r = read_file(dirfd, "cgroup.events", &text);
	if (r < 0)
		return r;
	c = cur_of(buf_str(&text), text.len);
	while (!cur_until(&c, '\n', &line))
		if (!cur_until(&line, ' ', &word) && cur_is(&word, key))
			return cur_is(&line, "1");
	return -EBADMSG;
}

int cgroup_populated(const struct cgroup *c)
{
	return event_value(c->fd, "populated");
}

int cgroup_events_fd(const struct cgroup *c)
{
	int fd = openat(c->fd, "cgroup.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

static int wait_frozen(const struct cgroup *c, int events_fd, bool on)
{
	uint64_t end = time_boot_ns() + FREEZE_WAIT_MS * NS_PER_MS;
	struct pollfd p = { events_fd, POLLPRI, 0 };
	uint64_t now;
	int r;

	while ((r = event_value(c->fd, "frozen")) >= 0 && r != on) {
		now = time_boot_ns();
		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1) < 0 && errno != EINTR)
			return -errno;
	}
	return r < 0 ? r : 0;
}

int cgroup_freeze(const struct cgroup *c, bool on)
{
	_cleanup_fd_ int events_fd = cgroup_events_fd(c); /* before the write: no change is missed */
	int r;

	if (events_fd < 0)
		return events_fd;
	r = write_file(c->fd, "cgroup.freeze", on ? "1" : "0");
	if (r < 0)
		return r;
	return wait_frozen(c, events_fd, on);
}

static void each_line(struct cur c, void (*fn)(pid_t pid, void *arg), void *arg)
{
	struct cur line;
	uint64_t pid;

	while (!cur_until(&c, '\n', &line))
		if (!num_u64((const char *)line.at, cur_left(&line), INT32_MAX, &pid) && pid)
			fn((pid_t)pid, arg);
}

/* Calls fn for each folder in dirfd; stops at the first error. */
static int each_child(int dirfd, int (*fn)(int dirfd, const char *name, int depth, void *arg),
		      int depth, void *arg)
{
	struct dirent *entry;
	DIR *dir;
	int fd, r = 0;

	if (depth >= MAX_CGROUP_DEPTH)
		return -ELOOP;
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			r = fn(dirfd, entry->d_name, depth + 1, arg);
	(void)closedir(dir); /* only read */
	return r;
}

struct each {
	void (*fn)(pid_t pid, void *arg);
	void *arg;
};

static int each_process(int dirfd, const char *name, int depth, void *arg)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct each *each = arg;
	_cleanup_fd_ int fd = -1;
	int r;

	fd = dir_open_at(dirfd, name);
	if (fd == -ENOENT)
		return 0; /* gone since it was listed */
	if (fd < 0)
		return fd;
	r = read_file(fd, "cgroup.procs", &text);
	if (r < 0 && r != -EOPNOTSUPP) /* threaded: its processes are listed further up */
		return r == -ENODEV ? 0 : r;
	each_line(cur_of(buf_str(&text), text.len), each->fn, each->arg);
	return each_child(fd, each_process, depth, each);
}

int cgroup_each(const struct cgroup *c, void (*fn)(pid_t pid, void *arg), void *arg)
{
	struct each each = { fn, arg };

	return each_process(c->fd, ".", 0, &each);
}

static int remove_below(int dirfd, const char *name, int depth, void *arg)
{
	_cleanup_fd_ int fd = dir_open_at(dirfd, name);

	if (fd >= 0)
		(void)each_child(fd, remove_below, depth, arg);
	(void)unlinkat(dirfd, name, AT_REMOVEDIR); /* populated: it stays */
	return 0;
}

static void remove_own(struct cgroup *c)
{
	char *slash;

	(void)each_child(c->fd, remove_below, 0, NULL);
	(void)rmdir(c->path); /* populated: it stays, and so does its parent */
	slash = strrchr(c->path, '/');
	*slash = '\0';
	(void)rmdir(c->path);
}

void cgroup_done(struct cgroup *c)
{
	if (c->owned)
		remove_own(c);
	closep(&c->fd);
	free(c->path);
	*c = (struct cgroup)CGROUP_INIT;
}
