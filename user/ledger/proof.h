/* SPDX-License-Identifier: MIT */
/*
 * Proofs of RFC 6962: that a leaf is in a tree (inclusion), that a tree is the
 * beginning of a larger one (consistency), and the text form of the former with
 * its checkpoint (c2sp.org/tlog-proof@v1). Building takes all leaves in order,
 * once, in fixed memory. Checking is a pure function of what it is given.
 */
#ifndef LEDGER_PROOF_H
#define LEDGER_PROOF_H

#include "base/buf.h"
#include "note.h"
#include "tree.h"

#define PROOF_MAX_PATH 64      /* a tree has at most 2^63-1 leaves */
#define PROOF_MAX_BYTES 8192   /* of the text form: path, note, and some air */

struct proof_path {
	size_t n;
	struct hash hash[PROOF_MAX_PATH]; /* in the order of the RFC */
};

/* A subtree [first, end) whose root is hash `slot` of the path. */
struct proof_part {
	uint64_t first, end;
	size_t slot;
};

struct proof_build {
	struct proof_part part[PROOF_MAX_PATH]; /* disjoint, in order of leaves */
	size_t at;
	struct tree tree; /* of part[at], as far as it came */
	struct proof_path path; /* complete once the last leaf was added */
};

/* index < size; 0 < from <= size. */
void proof_want_inclusion(struct proof_build *b, uint64_t index, uint64_t size);
void proof_want_consistency(struct proof_build *b, uint64_t from, uint64_t size);

/* Every leaf below `size`, in order; what lies behind is ignored. */
void proof_add_leaf(struct proof_build *b, uint64_t index, const struct hash *leaf);

/* The path leads from the leaf to the root, with nothing left over. */
bool proof_includes(const struct proof_path *p, uint64_t index, uint64_t size,
		    const struct hash *leaf, const struct hash *root);

bool proof_consistent(const struct proof_path *p, uint64_t from, const struct hash *from_root,
		      uint64_t to, const struct hash *to_root);

struct tlog_proof {
	uint64_t index;
	struct proof_path path;
	struct note note; /* borrows from the text */
};

void tlog_proof_add(struct buf *to, uint64_t index, const struct proof_path *p, struct cur note);
int tlog_proof_parse(struct cur in, struct tlog_proof *ret); /* -EBADMSG */

#endif
