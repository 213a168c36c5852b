/* SPDX-License-Identifier: MIT */
/* The Merkle tree of tree.h. */
#include "tree.h"
#include "sha256.h"

#include <sodium.h>

void tree_node(const struct hash *left, const struct hash *right, struct hash *ret)
{
	uint8_t head[1 + sizeof(struct hash)] = { 0x01 };

	memcpy(head + 1, left, sizeof(*left));
	sha256_two(head, sizeof(head), right, sizeof(*right), ret->b);
}

void tree_add(struct tree *t, const struct hash *leaf)
{
	struct hash h = *leaf;
	size_t i;

	for (i = 0; t->n >> i & 1; i++)
		tree_node(&t->level[i], &h, &h);
	t->level[i] = h;
	t->n++;
}

void tree_root(const struct tree *t, struct hash *ret)
{
	struct hash root;
	bool any = false;

	for (size_t i = 0; i < TREE_LEVELS; i++) {
		if (!(t->n >> i & 1))
			continue;
		if (any)
			tree_node(&t->level[i], &root, &root);
		else
			root = t->level[i];
		any = true;
	}
	if (!any)
		crypto_hash_sha256(root.b, NULL, 0);
	*ret = root;
}

int tree_load(struct tree *ret, uint64_t n, const struct hash *frontier, size_t count)
{
	struct tree t = { .n = n };
	size_t used = 0;

	if ((size_t)__builtin_popcountll(n) != count)
		return -EBADMSG;
	for (size_t i = TREE_LEVELS; i--;)
		if (n >> i & 1)
			t.level[i] = frontier[used++];
	*ret = t;
	return 0;
}
