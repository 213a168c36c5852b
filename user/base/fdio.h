/* SPDX-License-Identifier: MIT */
/*
 * Files by descriptor. Everything opened here is O_CLOEXEC | O_NOFOLLOW.
 * 0 or -errno.
 */
#ifndef BASE_FDIO_H
#define BASE_FDIO_H

#include "buf.h"

#include <sys/types.h>

/* All n bytes; a short write is finished, EINTR is retried. */
int fd_write_all(int fd, const void *p, size_t n);

/* Appends what is left in fd. -EFBIG as soon as more than cap bytes came. */
int fd_read_all(int fd, size_t cap, struct buf *to);

/* Reads a regular file whole; -ENOTSUP for anything else. */
int file_read_at(int dirfd, const char *name, size_t cap, struct buf *to);

/*
 * Replaces or makes a file so that after a crash the old or the new content is
 * there: write aside, fsync, rename, fsync of the folder.
 */
int file_replace_at(int dirfd, const char *name, mode_t mode, const void *p,
		    size_t n);

/* Like mkdir -p; existing folders are left as they are. */
int dir_make_all(const char *path, mode_t mode);

/* Opens a folder; does not follow a link in the last component. */
int dir_open_at(int dirfd, const char *name);

#endif
