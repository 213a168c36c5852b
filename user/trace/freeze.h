/* SPDX-License-Identifier: MIT */
/*
 * Back-pressure: instead of losing records, the target waits. Its own cgroup
 * is frozen above 3/4 of a filling store and thawed below 1/4. A foreign cgroup
 * is never frozen: then losses are counted.
 */
#ifndef TRACE_FREEZE_H
#define TRACE_FREEZE_H

#include "event/event.h"
#include "cgroup.h"

struct freeze {
	struct cgroup cgroup; /* fd borrowed; -1: not ours to freeze */
	uint64_t from;	      /* CLOCK_BOOTTIME of the freeze, 0 = thawed */
	const char *why;      /* what was filling */
};

void freeze_init(struct freeze *f, int cgroup_fd, bool owned);
void freeze_done(struct freeze *f); /* thaws */

/*
 * Looks at a store that holds `fill` of `size`. Above 3/4 it orders the freeze
 * and does not wait for it. Below 1/4 it thaws and hands out one EV_FREEZE.
 */
void freeze_watch(struct freeze *f, const char *why, size_t fill, size_t size, event_fn out,
		  void *arg);

/* Freezes and waits until the target stands still; -errno when it does not within 1 s. */
int freeze_now(struct freeze *f, const char *why);
/* Thaws and hands out one EV_FREEZE, if frozen. */
void freeze_end(struct freeze *f, event_fn out, void *arg);

#endif
