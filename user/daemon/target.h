/* SPDX-License-Identifier: MIT */
/* What is being recorded: a cgroup, a process, or a command in a cgroup of ours. */
#ifndef DAEMON_TARGET_H
#define DAEMON_TARGET_H

#include "base/buf.h"
#include "ident/proctab.h"
#include "trace/cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

struct target {
	struct cgroup cgroup;
	bool whole;	/* everything in the cgroup belongs to the target */
	pid_t pid;	/* main process, or 0 */
	int pid_fd, events_fd;
};
#define TARGET_INIT { .cgroup = CGROUP_INIT, .pid_fd = -1, .events_fd = -1 }

/* The folder `path`, or with path NULL the one that process `pid` is in. */
int target_open(struct target *t, const char *path, bool owned, pid_t pid, struct diag *d);
/* From now on the end of t->pid and of the cgroup's last process wake a poll(). */
int target_watch(struct target *t, struct diag *d);
/* Our own cgroup is removed; processes that are left move to the one we are in. */
void target_done(struct target *t);

bool target_main_ended(const struct target *t);
bool target_populated(const struct target *t);

typedef void (*target_fn)(pid_t pid, const char *name, void *arg);
void target_each(const struct target *t, const struct proctab *procs, target_fn fn, void *arg);
/* "node (812), esbuild (813) and 4 more" */
void target_names(const struct target *t, const struct proctab *procs, struct buf *to);

#endif
