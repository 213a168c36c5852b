/* SPDX-License-Identifier: MIT */
/* Files by descriptor, see fdio.h. */
#include "fdio.h"

#include "alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define READ_STEP 65536

int fd_write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

int fd_read_all(int fd, size_t cap, struct buf *to)
{
	size_t total = 0;

	for (;;) {
		ssize_t got = read(fd, buf_grow(to, READ_STEP), READ_STEP);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		buf_cut(to, to->len + (size_t)got);
		total += (size_t)got;
		if (total > cap)
			return -EFBIG;
	}
}

int file_read_at(int dirfd, const char *name, size_t cap, struct buf *to)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	/* O_NONBLOCK: a fifo under that name must not hold us */
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	return fd_read_all(fd, cap, to);
}

static int write_aside(int dirfd, const char *aside, mode_t mode, const void *p,
		       size_t n)
{
	_cleanup_fd_ int fd = -1;
	int r;

	fd = openat(dirfd, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    mode);
	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, p, n);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

int file_replace_at(int dirfd, const char *name, mode_t mode, const void *p,
		    size_t n)
{
	_cleanup_free_ char *aside = xasprintf(".%s.new", name);
	int r;

	if (unlinkat(dirfd, aside, 0) < 0 && errno != ENOENT)
		return -errno;
	r = write_aside(dirfd, aside, mode, p, n);
	if (!r && renameat(dirfd, aside, dirfd, name) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dirfd, aside, 0); /* the first error is the one to tell */
		return r;
	}
	return fsync(dirfd) < 0 ? -errno : 0;
}

int dir_make_all(const char *path, mode_t mode)
{
	_cleanup_free_ char *part = xstrdup(path);

	for (char *at = part + 1; *part && *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return -errno;
		*at = '/';
	}
	if (mkdir(part, mode) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

int dir_open_at(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}
