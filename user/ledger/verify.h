/* SPDX-License-Identifier: MIT */
/*
 * Recomputes everything a ledger claims, in bounded memory, and says what
 * holds. Takes no lock; safe on a log that is being written.
 */
#ifndef LEDGER_VERIFY_H
#define LEDGER_VERIFY_H

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
	const char *vkey;  /* pinned genesis key, or NULL */
};

struct verify_totals {
	bool tampered, incomplete, anchored;
	uint64_t runs, valid, records, unsealed;
	uint64_t first_wall_ns, last_wall_ns; /* validated range; 0 = none */
};

typedef void (*finding_fn)(const struct finding *f, void *arg);

/* Returns an enum verify_exit. `each` is called in order of discovery. */
int verify_ledger(const char *dir, const struct verify_options *o, finding_fn each, void *arg,
		  struct verify_totals *ret_totals, struct diag *d);

#endif
