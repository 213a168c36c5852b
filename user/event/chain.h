/* SPDX-License-Identifier: MIT */
/*
 * Parts of execs that are under way: scripts arrive when the kernel looks at
 * them, arguments when the exec is done, both before the exec itself. Bounded:
 * MAX_CHAINS threads at a time, the oldest gives way; what an exec then lacks
 * is marked in it.
 */
#ifndef EVENT_CHAIN_H
#define EVENT_CHAIN_H

#include "event.h"
#include "name.h"

#define MAX_CHAINS  256 /* threads between exec's first check and its end */
#define MAX_SCRIPTS 8	/* of one exec; the kernel allows 5 levels */

struct chains;

struct chains *chains_new(void);
void chains_free(struct chains *c);

/* Keeps a part for its thread. -EBADMSG: no part that bpf/ sends. */
int chains_add(struct chains *c, const struct ev_part *part, const struct slice *bytes);

/*
 * Appends arguments and scripts of the exec `e`, whose path and cwd are set,
 * and forgets all parts of that process: an exec ends its other threads. The
 * scripts may come under the thread that called exec, which takes over the
 * number of the process before the exec is recorded.
 */
void chains_take(struct chains *c, const struct ev_head *h, const struct event *e,
		 struct buf *argv, struct buf *scripts);

/* Forgets what a process that is gone left behind. */
void chains_drop(struct chains *c, uint32_t pid);

#endif
