/* SPDX-License-Identifier: MIT */
/*
 * Recomputes everything a ledger claims, in bounded memory, and says what
 * holds. Takes no lock; safe on a log that is being written.
 */
#ifndef LEDGER_VERIFY_H
#define LEDGER_VERIFY_H

#include "anchor.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum finding_level { FINDING_OK, FINDING_NOTE, FINDING_WARN, FINDING_FAIL };

struct finding {
	enum finding_level level;
	const char *code;  /* damaged truncated root order signature ..., or "ok" */
	const char *run;   /* NULL for the index */
	int64_t offset;	   /* byte offset in the segment, -1 = none */
	int64_t have, want; /* -1 = none */
	const char *text;  /* for people, escaped for a terminal */
};

enum verify_exit {
	VERIFY_INTACT = 0,
	VERIFY_TAMPERED = 1,
	VERIFY_TROUBLE = 2, /* could not look: usage, unreadable, unknown format */
	VERIFY_INCOMPLETE = 3,
	VERIFY_UNANCHORED = 4,
};

struct verify_options {
	const char *run;   /* NULL: index and every run */
	bool closed_only;  /* open runs are not judged */
	const char *vkey;  /* pinned genesis or identity key, or NULL */
	unsigned jobs;	   /* processes that check runs side by side; 0 = this one alone */
	const char *log;   /* id of another log of the folder; NULL: the one in use */

	const struct anchors *anchors; /* NULL: none were asked for; collected before the call */
	const char *const *ignored;    /* commits whose unknown keys are no reason to worry */
	size_t n_ignored;
	bool require_anchor;
	uint64_t max_age_ns; /* a record may be without an anchor for so long; 0 = any time */
};

#define ANCHOR_PREFIX_MIN 7 /* hex digits that name a commit */

struct verify_totals {
	bool tampered, incomplete, anchored;
	uint64_t runs, valid, records, unsealed;
	uint64_t first_wall_ns, last_wall_ns; /* validated range; 0 = none */

	uint64_t anchors, foreign; /* that hold; that are of other logs */
	uint64_t anchored_size;	   /* index records that the best of them covers */
	uint64_t anchored_ns;	   /* wall clock of the last of these */
	uint64_t tail;		   /* index records behind it */
	uint64_t unanchored_ns;	   /* wall clock of the first of these, 0 = there is none */
	char anchored_by[ANCHOR_ID_MAX + 1]; /* commit */
};

typedef void (*finding_fn)(const struct finding *f, void *arg);

/* Returns an enum verify_exit. `each` is called in order of discovery. */
int verify_ledger(const char *dir, const struct verify_options *o, finding_fn each, void *arg,
		  struct verify_totals *ret_totals, struct diag *d);

#endif
