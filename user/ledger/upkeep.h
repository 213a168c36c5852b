/* SPDX-License-Identifier: MIT */
/*
 * What happens to run logs after their end: records are taken out, whole runs
 * are removed, or both stay and take less space. Signatures stay as they are.
 * The index announces a removal before it happens; a crash at any point leaves
 * the old state or the new one, and the same call again finishes the work.
 * -EBUSY: the run is being written, or somebody else is at work on it.
 */
#ifndef LEDGER_UPKEEP_H
#define LEDGER_UPKEEP_H

#include "ledger.h"

#include <stddef.h>

#define WHY_MAX_LEN 32	       /* [a-z0-9-]: the index is never pruned, so no free text */
#define REDACT_MAX_LEAVES 1000000

/* Opens a ledger for writing that must be there. */
int upkeep_open(const char *dir, struct diag *d, struct ledger **ret_ledger);

bool why_is_good(const char *why);

struct redact_result {
	uint64_t asked, redacted; /* redacted: with the `more` lines of long records */
	bool announced;		  /* a leaf was written; false: all was announced before */
};

/*
 * Takes out the content of these leaves (sorted here). -EINVAL: one of them is a
 * record of the ledger itself (segment, seal, gap, clock); -ERANGE: beyond the end.
 */
int redact_run(struct ledger *l, const char *run_id, uint64_t *leaves, size_t n,
	       const char *why, struct diag *d, struct redact_result *ret);

/* Announces and removes whole runs that have ended; done before = left alone. */
int prune_runs(struct ledger *l, const char (*ids)[RUN_ID_LEN + 1], size_t n, const char *why,
	       struct diag *d);

/* Compresses a run's segments at zlib's best level; bytes before and after are added up. */
int compact_run(struct ledger *l, const char *run_id, struct diag *d, uint64_t *before,
		uint64_t *after);

#endif
