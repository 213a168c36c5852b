/* SPDX-License-Identifier: MIT */
/*
 * What the leaves of an index log say, folded as they pass: keys in force, the
 * runs and every claim about them. Built by the writer, the reader and the
 * verifier alike, from lines whose block agrees with its seal.
 */
#ifndef LEDGER_INDEX_H
#define LEDGER_INDEX_H

#include "base/map.h"
#include "ledger.h"
#include "note.h"
#include "scan.h"

#define HEX_HASH_LEN 64
#define BOOT_ID_LEN 36
#define COMMIT_ID_MAX 64
#define MAX_IDENTITIES 1024 /* that one log may have had */

enum run_stage { RUN_OPEN, RUN_ENDED, RUN_ORPHANED };

/* A statement of the index: when the run log had `size` leaves, this was its root. */
struct claim {
	uint64_t size;
	struct hash root;
};

struct torn {
	uint64_t bytes;
	char sha256[HEX_HASH_LEN + 1];
};

/* Leaves first to last of a run, announced as redacted. */
struct span {
	uint64_t first, last;
};

struct index_run {
	struct run_info info;
	uint64_t start_leaf, end_leaf; /* in the index: run-start, run-end or run-orphan */
	struct vkey key;
	char boot[BOOT_ID_LEN + 1], prev_run[RUN_ID_LEN + 1];
	enum run_stage stage;
	struct claim *claims; /* sizes do not fall; the last one is the end */
	size_t n_claims;
	char *lost;	  /* of run-end, canonical JSON */
	struct torn torn; /* of run-orphan */
	struct span *redacted; /* as announced, joined, in order */
	size_t n_redacted;
};

/* A commit that carries a head of this log, as the log itself knows it. */
struct commit_leaf {
	char sha[COMMIT_ID_MAX + 1];
	uint64_t size; /* of the head */
};

struct index_state {
	char origin[NAME_MAX_LEN + 1];
	uint64_t leaves;
	struct vkey genesis, identity; /* identity: the one in force */
	struct vkey *identities; /* all that were, the first one of genesis */
	size_t n_identities;
	struct vkey in_force;  /* signs the next block */
	struct vkey sealed_by; /* signed the last block */
	bool has_identity;
	char machine[HEX_HASH_LEN + 1];
	uint64_t created_ns; /* wall clock of genesis */
	uint64_t epoch, rotated_ns; /* rotations, wall clock of the last or of genesis */
	struct checkpoint prev; /* of genesis; no origin: this log continues none */
	uint64_t last_wall_ns;
	struct index_run *runs;
	size_t n_runs, cap_runs;
	struct map by_id; /* number of the run + 1 */
	struct torn *torn; /* index tails that a restart cut off */
	size_t n_torn;
	uint64_t gaps;
	struct commit_leaf *commits;
	size_t n_commits;
};

void index_done(struct index_state *st);

/*
 * Folds the lines of the block that `s` just read, checking its seal by the
 * key that was in force before it. -EBADMSG: s->fault says why.
 */
int index_fold(struct index_state *st, struct scan *s);

/* Folds one line whose place in the tree was proved another way; -EBADMSG. */
int index_fold_line(struct index_state *st, struct cur line);

struct index_run *index_run(const struct index_state *st, const char *id);

/* Is the redaction of this leaf of the run announced? */
bool index_is_redacted(const struct index_run *run, uint64_t leaf);

#endif
