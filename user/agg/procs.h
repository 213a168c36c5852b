/* SPDX-License-Identifier: MIT */
/*
 * The processes of a run as a tree: who started whom, what each became, how it
 * ended. A number that is used again is a new process. Bounded; what finds no
 * room is counted.
 */
#ifndef AGG_PROCS_H
#define AGG_PROCS_H

#include "base/map.h"
#include "event/event.h"

#define MAX_PROCESSES  65536
#define MAX_IMAGES     16	    /* execs kept of one process, the last ones */
#define MAX_ARGV_KEPT  4096	    /* bytes of one argument list */
#define MAX_PROCS_TEXT (32u << 20)  /* bytes of paths and arguments of all */

struct image {
	struct str exe, argv; /* owned; argv: each item ends in NUL */
	bool cut;	      /* argv is longer than what is kept */
};

struct process {
	uint32_t pid;
	struct process *parent, *child, *last_child, *sibling;
	struct image *images;
	size_t n_images;
	uint64_t execs; /* all, kept or not */
	uint32_t code, signal;
	uint64_t begin_ns; /* of its first event */
	size_t index; /* in procs.all */
	bool ended, killed;
};

struct procs {
	struct map by_pid; /* the one that has the number now */
	struct process **all;
	size_t n, cap;
	size_t text;
	uint64_t overflow; /* processes and execs without room */
};

void procs_done(struct procs *p);
void procs_event(struct procs *p, const struct event *e);

/* NULL: not known. */
struct process *procs_find(const struct procs *p, uint32_t pid);

/* Walks the tree, parents first, in the order of appearance. Start with NULL, ends with NULL. */
const struct process *procs_next(const struct procs *p, const struct process *at,
				 size_t *ret_depth);

#endif
