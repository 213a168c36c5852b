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

struct cgroup {
	int fd;	      /* O_DIRECTORY on the folder */
	char *path;   /* absolute */
	uint64_t id;  /* kernfs id = inode number of the folder */
	bool owned;   /* made by us: removed by cgroup_done() once empty */
};
#define CGROUP_INIT { .fd = -1 }

/* The mount point of cgroup v2; the caller frees. -ENOENT with the fix in d. */
int cgroup_mount(struct diag *d, char **ret_path);
/* Makes <mount>/deedlog/<name>, mode 0755, owned by root. */
int cgroup_make(const char *name, struct diag *d, struct cgroup *ret);
int cgroup_open(const char *path, struct diag *d, struct cgroup *ret); /* an existing one */
int cgroup_join(const struct cgroup *c, pid_t pid);
int cgroup_populated(const struct cgroup *c); /* 1, 0 or -errno */
/* Becomes readable (POLLPRI) when "populated" changes; the caller closes it. */
int cgroup_events_fd(const struct cgroup *c);
int cgroup_freeze(const struct cgroup *c, bool on); /* returns once the state is reached, at most 1 s */
/* Processes in the cgroup and below: calls fn for each. */
int cgroup_each(const struct cgroup *c, void (*fn)(pid_t pid, void *arg), void *arg);
void cgroup_done(struct cgroup *c);

#endif
