/* SPDX-License-Identifier: MIT */
/*
 * Leaves of the tree: a line with its salt. In a data block the salt follows
 * from the block's key; in a redacted block each line carries its own, or only
 * the hash of its leaf is left. Pure functions; lines come from line_check().
 */
#ifndef LEDGER_LEAF_H
#define LEDGER_LEAF_H

#include "base/buf.h"
#include "base/cur.h"
#include "member.h"
#include "tree.h"

#define LEAF_SALT_BYTES 29 /* that a leaf is longer than its line */
#define LEAF_REDACTED "{\"h\":\"" /* begins what is left of a redacted line, in any block */

/* SHA-256(0x00 || leaf_text()) */
void leaf_hash(const uint8_t salt_key[SALT_KEY_LEN], uint64_t index, struct cur line,
	       struct hash *ret);

/* {"s":"<salt>", and the line without its "{" */
void leaf_text(const uint8_t salt_key[SALT_KEY_LEN], uint64_t index, struct cur line,
	       struct buf *to);

/* What stands for a leaf whose content goes away. */
void leaf_out_redacted(const struct hash *h, struct buf *to);

/*
 * A line of a redacted block: its leaf hash, and the line itself without its
 * "{", empty if it was redacted. -EBADMSG: neither form.
 */
int leaf_parse(struct cur text, struct hash *ret, struct cur *ret_rest);

#endif
