/* SPDX-License-Identifier: MIT */
/*
 * One line of /proc/PID/mountinfo at a time. Mount points are names that
 * anybody may have chosen: octal escapes are undone, a line that does not add
 * up is -EBADMSG.
 */
#ifndef TRACE_MOUNTINFO_H
#define TRACE_MOUNTINFO_H

#include "base/buf.h"
#include "base/cur.h"

#define MAX_MOUNTINFO (16u << 20) /* bytes; the kernel's default limit is 100,000 mounts */

struct mount_line {
	struct buf root;  /* folder of the file system that is mounted */
	struct buf point; /* where, as this process sees it */
	struct cur type;  /* borrowed from the text */
};
#define MOUNT_LINE_INIT { BUF_INIT, BUF_INIT, { NULL, NULL } }

/* 1 = *line is filled (its buffers are reused), 0 = end of the text. */
int mountinfo_next(struct cur *text, struct mount_line *line);
void mount_line_done(struct mount_line *line);

/*
 * The mount point of cgroup v2 in such a text: one of the whole hierarchy, the
 * topmost if several; else any. -ENOENT: none. The caller frees.
 */
int mountinfo_cgroup2(struct cur text, char **ret_point);

/*
 * Depth of a cgroup v2 folder below the root of what is mounted there, -ENOENT
 * if the path is below no such mount.
 */
int mountinfo_cgroup2_depth(struct cur text, const char *path);

#endif
