/* SPDX-License-Identifier: MIT */
/* Building, checking and spelling of proofs, see proof.h. */
#include "proof.h"

#include "base/base64.h"
#include "base/num.h"

#define FIRST_LINE "c2sp.org/tlog-proof@v1"
#define INDEX "index "

/* ---- building ------------------------------------------------------------------ */

/* The largest power of two below n; n > 1. */
static uint64_t left_half(uint64_t n)
{
	return 1ull << (63 - __builtin_clzll(n - 1));
}

static void push(struct proof_build *b, uint64_t first, uint64_t end)
{
	b->part[b->path.n++] = (struct proof_part){ .first = first, .end = end };
}

static int by_first(const void *a, const void *b)
{
	const struct proof_part *p = a, *q = b;

	return p->first < q->first ? -1 : p->first > q->first;
}

/* Parts were found from the root down; the path goes up. */
static void settle(struct proof_build *b)
{
	for (size_t i = 0; i < b->path.n; i++)
		b->part[i].slot = b->path.n - 1 - i;
	qsort(b->part, b->path.n, sizeof(b->part[0]), by_first);
}

/* PATH(m, D[n]) */
void proof_want_inclusion(struct proof_build *b, uint64_t index, uint64_t size)
{
	uint64_t first = 0, end = size;

	*b = (struct proof_build){ 0 };
	while (end - first > 1) {
		uint64_t mid = first + left_half(end - first);

		if (index < mid) {
			push(b, mid, end);
			end = mid;
		} else {
			push(b, first, mid);
			first = mid;
		}
	}
	settle(b);
}

/* SUBPROOF(m, D[n], true) */
void proof_want_consistency(struct proof_build *b, uint64_t from, uint64_t size)
{
	uint64_t first = 0, end = size;

	*b = (struct proof_build){ 0 };
	while (from != end) {
		uint64_t mid = first + left_half(end - first);

		if (from <= mid) {
			push(b, mid, end);
			end = mid;
		} else {
			push(b, first, mid);
			first = mid;
		}
	}
	if (first)
		push(b, first, end); /* else it is the old root, which the checker has */
	settle(b);
}

void proof_add_leaf(struct proof_build *b, uint64_t index, const struct hash *leaf)
{
	const struct proof_part *p = &b->part[b->at];

	if (b->at == b->path.n || index < p->first)
		return;
	tree_add(&b->tree, leaf);
	if (index + 1 < p->end)
		return;
	tree_root(&b->tree, &b->path.hash[p->slot]);
	b->tree.n = 0;
	b->at++;
}

/* ---- checking ------------------------------------------------------------------- */

/* Where a walk from a leaf to the root is: node fn of a level whose last one is sn. */
struct walk {
	uint64_t fn, sn;
};

static void up(struct walk *w)
{
	w->fn >>= 1;
	w->sn >>= 1;
}

/* Is the next hash of the path to our left? Without a right neighbour we rise to where it is. */
static bool from_left(struct walk *w)
{
	bool left = w->fn & 1 || w->fn == w->sn;

	while (left && !(w->fn & 1) && w->fn)
		up(w);
	up(w);
	return left;
}

static bool same(const struct hash *a, const struct hash *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool proof_includes(const struct proof_path *p, uint64_t index, uint64_t size,
		    const struct hash *leaf, const struct hash *root)
{
	struct walk w = { .fn = index, .sn = size - 1 };
	struct hash h = *leaf;

	if (index >= size)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		if (!w.sn)
			return false;
		if (from_left(&w))
			tree_node(&p->hash[i], &h, &h);
		else
			tree_node(&h, &p->hash[i], &h);
	}
	return !w.sn && same(&h, root);
}

/* From the subtree that both trees share up to both roots. */
static bool climb(const struct proof_path *p, size_t i, struct walk w, struct hash shared,
		  const struct hash *from_root, const struct hash *to_root)
{
	struct hash old = shared, new = shared;

	for (; i < p->n; i++) {
		if (!w.sn)
			return false;
		if (from_left(&w)) {
			tree_node(&p->hash[i], &old, &old);
			tree_node(&p->hash[i], &new, &new);
		} else {
			tree_node(&new, &p->hash[i], &new);
		}
	}
	return !w.sn && same(&old, from_root) && same(&new, to_root);
}

bool proof_consistent(const struct proof_path *p, uint64_t from, const struct hash *from_root,
		      uint64_t to, const struct hash *to_root)
{
	struct walk w = { .fn = from - 1, .sn = to - 1 };
	bool is_whole = !(from & (from - 1)); /* the old tree is a subtree of the new one */

	if (!from || from > to)
		return false;
	if (from == to)
		return !p->n && same(from_root, to_root);
	if (!p->n)
		return false;
	while (w.fn & 1)
		up(&w);
	return climb(p, !is_whole, w, is_whole ? *from_root : p->hash[0], from_root, to_root);
}

/* ---- spelling -------------------------------------------------------------------- */

void tlog_proof_add(struct buf *to, uint64_t index, const struct proof_path *p, struct cur note)
{
	buf_addf(to, FIRST_LINE "\n" INDEX "%llu\n", (unsigned long long)index);
	for (size_t i = 0; i < p->n; i++) {
		base64_add(to, p->hash[i].b, sizeof(p->hash[i].b));
		buf_addch(to, '\n');
	}
	buf_addch(to, '\n');
	buf_add(to, note.at, cur_left(&note));
}

static int take_index(struct cur *in, uint64_t *ret)
{
	struct cur line;

	if (cur_until(in, '\n', &line) < 0 || !cur_starts(&line, INDEX) ||
	    cur_skip(&line, strlen(INDEX)) < 0)
		return -EBADMSG;
	return num_u64((const char *)line.at, cur_left(&line), INT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

static int take_path(struct cur *in, struct proof_path *ret)
{
	struct cur line;

	for (ret->n = 0; !cur_until(in, '\n', &line); ret->n++) {
		if (!cur_left(&line))
			return 0;
		if (ret->n == PROOF_MAX_PATH ||
		    base64_exact(line, ret->hash[ret->n].b, sizeof(struct hash)) < 0)
			return -EBADMSG;
	}
	return -EBADMSG;
}

int tlog_proof_parse(struct cur in, struct tlog_proof *ret)
{
	struct cur line;

	if (cur_left(&in) > PROOF_MAX_BYTES || cur_until(&in, '\n', &line) < 0 ||
	    !cur_is(&line, FIRST_LINE) || take_index(&in, &ret->index) < 0 ||
	    take_path(&in, &ret->path) < 0)
		return -EBADMSG;
	return note_parse(in, &ret->note);
}
