/* SPDX-License-Identifier: MIT */
/* What the kernel counted instead of recording: losses, and repeated reads. */
#ifndef TRACE_COUNTERS_H
#define TRACE_COUNTERS_H

#include "load.h"

/* Sums over all CPUs, and programs that were skipped under "busy". */
int counters_losses(const struct load *l, struct loss *ret);

/*
 * Takes the table of touches out, in parts; an EV_REPEAT for each entry with
 * reads in it. Returns how many entries were there. Exact when the target
 * stands still: an increment between copy and delete would be lost.
 */
int counters_take_touches(const struct load *l, bool knows_bytes, event_fn out, void *arg);
uint64_t counters_pending(const struct load *l); /* reads in the table */

#endif
