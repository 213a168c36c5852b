/* SPDX-License-Identifier: MIT */
/*
 * The anchors that a repository holds: heads in the messages of every commit
 * that a reference reaches, raw, whatever replaces or grafts them.
 */
#ifndef VCS_ANCHORS_H
#define VCS_ANCHORS_H

#include "git.h"
#include "ledger/anchor.h"

#define MAX_ANCHORS 262144

struct anchors_seen {
	uint64_t commits; /* that could be seen */
	bool shallow;	  /* older ones are not here */
};

/*
 * Adds the anchors of the repository around g->dir. `from`: "--all", or what
 * git log takes. `ret_seen` may be NULL.
 */
int anchors_collect(const struct git *g, const char *from, struct anchors *to,
		    struct anchors_seen *ret_seen, struct diag *d);

#endif
