/* SPDX-License-Identifier: MIT */
/*
 * The Merkle tree of RFC 6962 over SHA-256, kept as its frontier: the roots of
 * the complete subtrees, at most 64. Appending costs one node hash on average;
 * the root is available at every size. Not keyed, never fails.
 */
#ifndef LEDGER_TREE_H
#define LEDGER_TREE_H

#include "base/cur.h"

#include <stddef.h>
#include <stdint.h>

#define TREE_LEVELS 64

struct hash {
	uint8_t b[32];
};

/* level[i] counts while bit i of n is set: the subtree of 2^i leaves. */
struct tree {
	uint64_t n;
	struct hash level[TREE_LEVELS];
};

void tree_node(const struct hash *left, const struct hash *right, struct hash *ret);
void tree_add(struct tree *t, const struct hash *leaf); /* a zeroed tree is empty */
void tree_root(const struct tree *t, struct hash *ret);

/* The tree of n leaves from its frontier, largest subtree first; -EBADMSG if the count is wrong. */
int tree_load(struct tree *ret, uint64_t n, const struct hash *frontier, size_t count);

#endif
