/* SPDX-License-Identifier: MIT */
/*
 * A statement, kept outside of the ledger (in a commit), that the index had a
 * certain root at a certain size. Parsed elsewhere; the verifier holds it
 * against the log. Every field is somebody else's claim.
 */
#ifndef LEDGER_ANCHOR_H
#define LEDGER_ANCHOR_H

#include "index.h"

#include <stdbool.h>

#define ANCHOR_ID_MAX COMMIT_ID_MAX /* hex digits of a SHA-256 commit; a SHA-1 one has 40 */
#define ANCHOR_SIG_LEN (KEY_ID_LEN + SIG_LEN)
#define ANCHOR_COSIG_LEN (KEY_ID_LEN + 8 + SIG_LEN)

struct anchor {
	char commit[ANCHOR_ID_MAX + 1]; /* lower-case hex */
	bool malformed; /* nothing below can be used */
	bool squashed;	/* stood in the text, not where a trailer stands */
	bool has_cosig;
	struct checkpoint cp;
	uint8_t sig[ANCHOR_SIG_LEN];	 /* key id, signature of the index key */
	uint8_t cosig[ANCHOR_COSIG_LEN]; /* key id, time, signature of the identity */
};

struct anchors {
	struct anchor *all;
	size_t n, cap;
};

/* A new zeroed one at the end, borrowed until the next call. */
struct anchor *anchors_add(struct anchors *a);
void anchors_done(struct anchors *a);

/* Signed by v: the index key asks for its signature, an identity for its own. */
bool anchor_signed_by(const struct anchor *a, const struct vkey *v);

#define _cleanup_anchors_ _cleanup_(anchors_done)

#endif
