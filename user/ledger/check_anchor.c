/* SPDX-License-Identifier: MIT */
/*
 * Anchors against the log. While the index passes, each anchor meets the block
 * that ends at its size; at the end each is judged: anchored, forked, cut, or
 * not ours to judge. A forged one is ignored: else anybody who can commit could
 * raise an alarm.
 */
#include "check.h"

#include "base/alloc.h"
#include "base/timeutil.h"

#include <inttypes.h>

#define SHOWN "%.12s" /* of a commit, in sentences */

struct anchor *anchors_add(struct anchors *a)
{
	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 16;
		a->all = xrealloc(a->all, a->cap, sizeof(*a->all));
	}
	a->all[a->n] = (struct anchor){ 0 };
	return &a->all[a->n++];
}

void anchors_done(struct anchors *a)
{
	free(a->all);
	*a = (struct anchors){ 0 };
}

static void refuse(struct check *c, const struct anchor *a, const char *why)
{
	check_say(c, FINDING_NOTE, "anchor-bad", NULL, "anchor ignored: commit " SHOWN ": %s",
		  a->commit, why);
}

/* ---- signatures ------------------------------------------------------------------ */

/* What one key says about an anchor. */
enum word {
	WORD_UNKNOWN, /* not by this key */
	WORD_GOOD,
	WORD_WRONG, /* names this key, is not its signature */
};

/* The note that the anchor was made from, with the names that its keys have here. */
static enum word ask(const struct anchor *a, const struct vkey *v)
{
	bool cosign = v->type == KEY_COSIGN;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct note n = { .n_sigs = 1 };
	struct note_sig *s = &n.sigs[0];
	int r;

	if (cosign && !a->has_cosig)
		return WORD_UNKNOWN;
	(void)note_add(&text, &a->cp, NULL, 0, 0); /* nobody signs, so nothing can fail */
	n.text = cur_of(text.data, text.len - 1); /* without the empty line */
	s->name = cur_of(v->name, strlen(v->name));
	s->len = cosign ? sizeof(a->cosig) : sizeof(a->sig);
	memcpy(s->blob, cosign ? a->cosig : a->sig, s->len);
	r = note_verify(&n, v);
	return r == 1 ? WORD_GOOD : r < 0 ? WORD_WRONG : WORD_UNKNOWN;
}

bool anchor_signed_by(const struct anchor *a, const struct vkey *v)
{
	return ask(a, v) == WORD_GOOD;
}

static void tell(enum word *to, const struct anchor *a, const struct vkey *v)
{
	enum word w = ask(a, v);

	if (w != WORD_UNKNOWN && *to != WORD_GOOD)
		*to = w;
}

/* ---- while the index passes --------------------------------------------------------- */

struct anchor_state {
	const struct anchor *a;
	bool met, same;	       /* a block ends at its size, with its root */
	uint64_t wall_ns;      /* of that block */
	uint64_t next_wall_ns; /* of the block behind that one; 0 = there is none */
	enum word index, identity;
};

static int by_size(const void *p, const void *q)
{
	const struct anchor_state *a = p, *b = q;

	if (a->a->cp.size != b->a->cp.size)
		return a->a->cp.size < b->a->cp.size ? -1 : 1;
	return a->a < b->a ? -1 : 1; /* as they came */
}

void check_anchors_begin(struct check *c)
{
	const struct anchors *in = c->o->anchors;

	if (!in)
		return;
	c->anchors = xcalloc(in->n + 1, sizeof(*c->anchors));
	for (size_t i = 0; i < in->n; i++) {
		const struct anchor *a = &in->all[i];

		if (a->malformed)
			refuse(c, a, "not what a head looks like");
		else if (strcmp(a->cp.origin, c->origin))
			c->totals.foreign++;
		else
			c->anchors[c->n_anchors++].a = a;
	}
	qsort(c->anchors, c->n_anchors, sizeof(*c->anchors), by_size);
}

static void meet(struct check *c, struct anchor_state *m, const struct scan *s)
{
	struct hash root;

	tree_root(&s->tree, &root);
	m->met = true;
	m->wall_ns = c->st.last_wall_ns;
	m->same = !memcmp(root.b, m->a->cp.root.b, sizeof(root.b));
	tell(&m->index, m->a, &c->st.sealed_by);
}

/* Sizes of both rise, so each anchor is looked at once. */
void check_anchors_meet(struct check *c, const struct scan *s)
{
	size_t i = c->next_anchor;

	while (c->behind < i)
		c->anchors[c->behind++].next_wall_ns = c->st.last_wall_ns;
	for (; i < c->n_anchors && c->anchors[i].a->cp.size <= s->tree.n; i++)
		if (c->anchors[i].a->cp.size == s->tree.n)
			meet(c, &c->anchors[i], s);
	c->next_anchor = i;
}

/* ---- the end ---------------------------------------------------------------------------- */

static const char *proof(const struct anchor_state *m)
{
	return m->index == WORD_GOOD ? "proved by the index key" : "identity key only";
}

static bool is_ignored(const struct check *c, const struct anchor *a)
{
	for (size_t i = 0; i < c->o->n_ignored; i++) {
		size_t len = strlen(c->o->ignored[i]);

		if (len >= ANCHOR_PREFIX_MIN && !strncmp(a->commit, c->o->ignored[i], len))
			return true;
	}
	return false;
}

static void contradict(struct check *c, const struct anchor_state *m)
{
	const struct anchor *a = m->a;

	if (a->cp.size > c->st.leaves)
		check_count(c, "truncated", NULL, c->st.leaves, a->cp.size,
			    "TRUNCATED: commit " SHOWN " attests %" PRIu64 " index records, log has %"
			    PRIu64 " (%s)", a->commit, a->cp.size, c->st.leaves, proof(m));
	else
		check_say(c, FINDING_FAIL, "fork", NULL,
			  "FORK: commit " SHOWN " attests a different history of the first %" PRIu64
			  " index records (%s)", a->commit, a->cp.size, proof(m));
}

static void hold(struct check *c, const struct anchor_state *m)
{
	struct verify_totals *t = &c->totals;

	t->anchors++;
	if (m->a->squashed)
		check_say(c, FINDING_NOTE, "squashed", NULL, "commit " SHOWN ": found in squashed text",
			  m->a->commit);
	if (m->a->cp.size <= t->anchored_size)
		return;
	t->anchored_size = m->a->cp.size;
	t->anchored_ns = m->wall_ns;
	t->unanchored_ns = m->next_wall_ns;
	memcpy(t->anchored_by, m->a->commit, sizeof(t->anchored_by));
}

static void leave_open(struct check *c, const struct anchor *a)
{
	if (is_ignored(c, a))
		refuse(c, a, "unknown key, left aside as told");
	else
		check_say(c, FINDING_WARN, "anchor-unknown", NULL,
			  "anchor cannot be checked: commit " SHOWN " is signed by no key that this log "
			  "knows; --ignore-commit " SHOWN " leaves it aside", a->commit, a->commit);
}

/* The index key asked is the one in force at that size; beyond the end, the last one. */
static void judge_one(struct check *c, struct anchor_state *m)
{
	for (size_t i = 0; i < c->st.n_identities; i++)
		tell(&m->identity, m->a, &c->st.identities[i]);
	if (m->a->cp.size > c->st.leaves)
		tell(&m->index, m->a, &c->st.in_force);
	if (m->index == WORD_WRONG || m->identity == WORD_WRONG)
		refuse(c, m->a, "bad signature");
	else if (m->index == WORD_UNKNOWN && m->identity == WORD_UNKNOWN)
		leave_open(c, m->a);
	else if (!m->met || !m->same)
		contradict(c, m);
	else
		hold(c, m);
}

void check_anchors_judge(struct check *c)
{
	struct verify_totals *t = &c->totals;

	for (size_t i = 0; i < c->n_anchors; i++)
		judge_one(c, &c->anchors[i]);
	if (t->foreign)
		check_say(c, FINDING_NOTE, "foreign", NULL, "%" PRIu64 " anchors are of other logs",
			  t->foreign);
	t->anchored = t->anchors && c->pinned;
	t->tail = c->st.leaves - t->anchored_size;
	if (t->tail && !t->anchored_size)
		t->unanchored_ns = c->st.created_ns;
}

void check_anchors_done(struct check *c)
{
	free(c->anchors);
}
