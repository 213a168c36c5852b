/* SPDX-License-Identifier: MIT */
/*
 * A tier is proven, never assumed: LSM programs attach without error where
 * they never run. A child in the target's cgroup opens a file, connects and
 * executes; the answers and the ring tell what the programs do.
 */
#ifndef TRACE_CANARY_H
#define TRACE_CANARY_H

#include "load.h"
#include "tier.h"

#define CANARY_WAIT_MS 100 /* for its records; they are there when the child is gone */

/*
 * Looks at the ring and takes nothing from it: the caller meets the child's
 * records again, with session 0, and drops them. The child joins the cgroup
 * only if that is `owned`; else it is marked alone, and refusals through cgroup
 * programs are not asked for, since they reach only who is inside.
 */
int canary_run(const struct load *l, int cgroup_fd, bool owned, const struct tier_row *tier,
	       struct diag *d);

#endif
