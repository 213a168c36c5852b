/* SPDX-License-Identifier: MIT */
/*
 * Writes the segments of an ended run anew, data members changed, seals as
 * they are. Each segment is written aside, synced and renamed over the old one,
 * and only if one of its blocks did change. Private to this room.
 */
#ifndef LEDGER_REWRITE_H
#define LEDGER_REWRITE_H

#include "hostlog.h"

/*
 * Sees each block and may append another data member of the same leaves. True:
 * it did. False: the block stays as it is, what was appended is dropped.
 */
typedef bool (*rewrite_fn)(void *arg, const struct scan *s, struct buf *to);

struct rewrite {
	struct ledger *l;
	const struct index_run *run;
	int dir; /* the run's folder, locked against others who rewrite or prune */
	uint64_t before, after; /* bytes of the segments */
};

/* -EBUSY, -ENOENT, -EPERM with a sentence. Free with rewrite_done(). */
int rewrite_open(struct ledger *l, const char *run_id, struct diag *d, struct rewrite *ret);
void rewrite_done(struct rewrite *w);
#define _cleanup_rewrite_ _cleanup_(rewrite_done)

/* Calls fn for each block, whose signature was checked; changes nothing. */
int rewrite_look(struct rewrite *w, int (*fn)(void *arg, const struct scan *s), void *arg,
		 struct diag *d);

int rewrite_run(struct rewrite *w, rewrite_fn fn, void *arg, struct diag *d);

/*
 * Announces in the index that something will be removed, synced and promised in
 * `checkpoint`: whoever cuts the announcement off again is seen. Lock held.
 */
int rewrite_announce(struct ledger *l, const struct buf *lines, struct diag *d);

#endif
