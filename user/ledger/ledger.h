/* SPDX-License-Identifier: MIT */
/*
 * A ledger folder of one host: the index log, its key, and one run log per
 * recorded run. docs/ledger-format.md is the specification of every byte.
 *
 * Writers of the same folder (several runs at once) are serialised by flock on
 * <log>/lock, held for one append to the index; run logs have one writer each.
 * All functions return 0 or -errno and explain themselves in `d`.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/diag.h"
#include "base/macros.h"
#include "note.h"

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_DIR_DEFAULT "/var/lib/deedlog"
#define HEAD_FILE "head" /* DIR/head: the newest signed head, for whoever anchors it */
#define RUN_ID_LEN 16 /* lower-case hex digits of 8 random bytes */

struct ledger;

/*
 * Opens the log that <dir>/current names. With `create` a missing folder, key
 * or genesis is made (0750, keys 0600) and fsynced; without it -ENOENT. Runs
 * that crashed are recovered on the way (run-orphan) when `create` is set.
 * -EPERM: a folder or key that is not ours or that others may write.
 */
int ledger_open(const char *dir, bool create, struct diag *d, struct ledger **ret_ledger);
void ledger_free(struct ledger *l);
static inline void ledger_freep(struct ledger **l)
{
	ledger_free(*l);
}
#define _cleanup_ledger_ _cleanup_(ledger_freep)

/*
 * Begins a new log whose genesis names the head of the one in use, which stays
 * where it is and is never written again: the way on when its keys are lost or
 * it was begun on another machine. -ENOENT: there is none.
 */
int ledger_continue(const char *dir, struct diag *d);

/* Replaces the index key, or the identity key, of a log opened with `create`. */
int ledger_rotate(struct ledger *l, bool identity, struct diag *d);

struct ledger_keys {
	struct vkey genesis, index, identity;
	bool has_identity;
	uint64_t epoch;	     /* rotations of the index key so far */
	uint64_t rotated_ns; /* wall clock of the last one, or of genesis */
};
int ledger_keys(struct ledger *l, struct diag *d, struct ledger_keys *ret);

/* One row per announced run, newest last; the caller frees *ret_runs. */
struct run_info {
	char id[RUN_ID_LEN + 1];
	char cmd[65];	/* base name of the command, already escaped */
	uint64_t wall_ns; /* of run-start */
	uint32_t uid;
	bool ended;
	bool crashed; /* recovered without an end; nobody writes it any more */
	bool pruned; /* removed on purpose, as the index announces */
	/* of run-start, for a cross-check with the run log */
	char tier[8];
};
int ledger_runs(struct ledger *l, struct diag *d, struct run_info **ret_runs, size_t *ret_n);

/* A unique prefix of 4 or more hex digits, or NULL for the newest run. */
int ledger_find_run(struct ledger *l, const char *prefix, struct diag *d,
		    char ret_id[RUN_ID_LEN + 1]);

#endif
