/* SPDX-License-Identifier: MIT */
/* Who is recorded: marks in the kernel's task storage, and who of them is alive. */
#ifndef TRACE_TARGET_H
#define TRACE_TARGET_H

#include "load.h"

#include <sys/types.h>

/* Marks the one task that the descriptor stands for. -EEXIST: it is marked already. */
int target_mark(const struct load *l, int pidfd);
/* Marks a process and its threads. -ESRCH: it is gone. */
int target_mark_process(const struct load *l, pid_t pid);
/* fork() with a descriptor of the child; 0 in the child, its pid, or -errno. */
pid_t target_fork(int *ret_pidfd);

/* A set of process ids. A zeroed struct is empty. */
struct pids {
	uint32_t *slot; /* open addressing; 0 = free */
	size_t size, n; /* size is a power of two or 0 */
};

void pids_add(struct pids *p, uint32_t pid); /* pid > 0 */
void pids_remove(struct pids *p, uint32_t pid);
bool pids_have(const struct pids *p, uint32_t pid);
void pids_done(struct pids *p);

#endif
