/* SPDX-License-Identifier: MIT */
/*
 * BPF file systems know folders and pins, nothing else: a note is an empty
 * folder, and the last one made, "whole", says that no crash cut the rest short.
 */
#include "pool.h"

#include "base/alloc.h"
#include "base/fdio.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define SYSTEM_BPF_FS "/sys/fs/bpf"
#define OWN_FOLDER "/run/deedlog"
#define OWN_BPF_FS OWN_FOLDER "/bpf"
#define WHOLE "whole"

static bool is_bpf_fs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* A folder of ours that nobody else can enter, or -errno. */
static int open_private(const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	return TAKE_FD(fd);
}

static int mount_own(void)
{
	int r = dir_make_all(OWN_BPF_FS, 0700);

	if (r < 0)
		return r;
	if (is_bpf_fs(OWN_BPF_FS))
		return 0;
	if (mount("bpf", OWN_BPF_FS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return -errno;
	return 0;
}

int pool_open(char **ret_root)
{
	const char *fs = SYSTEM_BPF_FS;
	_cleanup_free_ char *root = NULL;
	_cleanup_fd_ int fd = -1;
	int r;

	if (!is_bpf_fs(fs)) {
		r = mount_own();
		if (r < 0)
			return r;
		fs = OWN_BPF_FS;
	}
	root = xasprintf("%s/deedlog", fs);
	fd = open_private(root);
	if (fd < 0)
		return fd;
	*ret_root = TAKE_PTR(root);
	return 0;
}

/* ---- one slot ---- */

static int each_name(int dir_fd, int (*fn)(const char *name, void *arg), void *arg)
{
	struct dirent *entry;
	int fd, r = 0;
	DIR *dir;

	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a position of its own */
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = fn(entry->d_name, arg);
	(void)closedir(dir); /* only read */
	return r;
}

static int remove_name(const char *name, void *arg)
{
	int fd = *(const int *)arg;

	if (unlinkat(fd, name, 0) < 0 && unlinkat(fd, name, AT_REMOVEDIR) < 0)
		return -errno;
	return 0;
}

static int empty(int fd)
{
	(void)unlinkat(fd, WHOLE, AT_REMOVEDIR); /* first, should we be cut short */
	return each_name(fd, remove_name, &fd);
}

/* Locked and still the folder of that path, or -errno. */
static int lock(const char *path)
{
	_cleanup_fd_ int fd = open_private(path);
	struct stat have, want;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, &have) < 0 || stat(path, &want) < 0 || have.st_ino != want.st_ino)
		return -EBUSY; /* somebody removed it before we had the lock */
	return TAKE_FD(fd);
}

static int take(const char *path, struct slot *ret)
{
	_cleanup_fd_ int fd = lock(path);
	bool whole;
	int r;

	if (fd < 0)
		return fd;
	whole = !faccessat(fd, WHOLE, F_OK, 0);
	r = whole ? 0 : empty(fd);
	if (r < 0)
		return r;
	*ret = (struct slot){ TAKE_FD(fd), xstrdup(path), whole };
	return 0;
}

struct sweep {
	const char *root, *keep; /* NULL: nothing is kept; else: what has the same word before the dash */
	int busy;
};

static int sweep_slot(const char *name, void *arg)
{
	struct sweep *s = arg;
	_cleanup_free_ char *path = NULL;
	_cleanup_fd_ int fd = -1;

	if (s->keep && !strncmp(name, s->keep, strcspn(s->keep, "-")))
		return 0;
	path = xasprintf("%s/%s", s->root, name);
	fd = lock(path);
	if (fd < 0 || empty(fd) < 0 || rmdir(path) < 0)
		s->busy++;
	return 0;
}

static int sweep(const char *root, const char *keep)
{
	struct sweep s = { root, keep, 0 };
	_cleanup_fd_ int fd = open_private(root);
	int r;

	if (fd < 0)
		return fd;
	r = each_name(fd, sweep_slot, &s);
	return r < 0 ? r : s.busy;
}

int pool_empty(const char *root)
{
	return sweep(root, NULL);
}

int pool_remove(void)
{
	_cleanup_free_ char *root = NULL;
	int r = pool_open(&root);

	if (r >= 0)
		r = pool_empty(root);
	if (r)
		return r;
	(void)rmdir(root); /* a run that starts now may have made a slot: then it stays */
	if (!is_bpf_fs(SYSTEM_BPF_FS) && !umount2(OWN_BPF_FS, UMOUNT_NOFOLLOW)) {
		(void)rmdir(OWN_BPF_FS); /* as above */
		(void)rmdir(OWN_FOLDER);
	}
	return 0;
}

int pool_take(const char *root, const char *set, struct slot *ret)
{
	int r = -EBUSY;

	for (int i = 0; r == -EBUSY && i < POOL_SLOTS; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s-%d", root, set, i);

		r = take(path, ret);
	}
	if (!r && !ret->whole)
		(void)sweep(root, set); /* sets of older versions; those in use stay */
	return r;
}

void slot_done(struct slot *s)
{
	closep(&s->fd);
	free(s->path);
	*s = (struct slot)SLOT_INIT;
}

static char *path_of(const struct slot *s, const char *name)
{
	return xasprintf("%s/%s", s->path, name);
}

int slot_pin(const struct slot *s, const char *name, int fd)
{
	_cleanup_free_ char *path = path_of(s, name);

	return bpf_obj_pin(fd, path);
}

int slot_note(const struct slot *s, const char *name)
{
	return mkdirat(s->fd, name, 0700) < 0 ? -errno : 0;
}

int slot_finish(struct slot *s)
{
	int r = slot_note(s, WHOLE);

	s->whole = !r;
	return r;
}

int slot_get(const struct slot *s, const char *name)
{
	_cleanup_free_ char *path = path_of(s, name);

	return bpf_obj_get(path);
}

int slot_each(const struct slot *s, int (*fn)(const char *name, void *arg), void *arg)
{
	return each_name(s->fd, fn, arg);
}
