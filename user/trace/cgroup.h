/* SPDX-License-Identifier: MIT */
/*
 * The target's cgroup (v2, also on hybrid machines where v2 is mounted without
 * controllers somewhere). The mount is found in /proc/self/mountinfo.
 */
#ifndef TRACE_CGROUP_H
#define TRACE_CGROUP_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_CGROUP_DEPTH 64	 /* levels below a cgroup that are looked at */
#define MAX_CGROUP_FILE (8u << 20) /* bytes of a cgroup.procs: 800,000 processes */

struct cgroup {
	int fd;	      /* O_DIRECTORY on the folder */
	char *path;   /* absolute */
	uint64_t id;  /* kernfs id = inode number of the folder */
	bool owned;   /* made by us: removed by cgroup_done() once empty */
};
#define CGROUP_INIT { .fd = -1 }
#define _cleanup_cgroup_ _cleanup_(cgroup_done)

/* The mount point of cgroup v2; the caller frees. -ENOENT with the fix in d. */
int cgroup_mount(struct diag *d, char **ret_path);
/* Makes <mount>/deedlog/<name>, mode 0755, owned by root. */
int cgroup_make(const char *name, struct diag *d, struct cgroup *ret);
int cgroup_open(const char *path, struct diag *d, struct cgroup *ret); /* an existing one */
int cgroup_join(const struct cgroup *c, pid_t pid);
/*
 * fork() with the child born inside the cgroup (0 in the child, the pid in the
 * parent, or -errno). Much cheaper than cgroup_join(), which waits for every
 * fork on the machine. *ret_pidfd is the parent's to close.
 */
pid_t cgroup_fork(int cgroup_fd, int *ret_pidfd);
/* Levels below the root of the hierarchy, as the kernel counts them. */
int cgroup_level(int cgroup_fd, uint32_t *ret_level);
int cgroup_populated(const struct cgroup *c); /* 1, 0 or -errno */
/* Becomes readable (POLLPRI) when "populated" changes; the caller closes it. */
int cgroup_events_fd(const struct cgroup *c);
int cgroup_freeze(const struct cgroup *c, bool on); /* returns once the state is reached, at most 1 s */
/* Processes in the cgroup and below: calls fn for each. */
int cgroup_each(const struct cgroup *c, void (*fn)(pid_t pid, void *arg), void *arg);
void cgroup_done(struct cgroup *c);

#endif
