/* SPDX-License-Identifier: MIT */
/*
 * post-commit: what the ledger itself remembers of commits. Only who may write
 * the ledger gets anywhere here; for an ordinary user's commit it is done by
 * `sudo deedlog hook run post-commit` in the repository, at any later time.
 */
#include "hook.h"

#include "agg/session.h"
#include "base/alloc.h"
#include "export/intoto.h"
#include "ledger/attest.h"
#include "ledger/ledger.h"
#include "replay.h"
#include "vcs/anchors.h"
#include "vcs/notes.h"

#include <errno.h>
#include <string.h>

#define MAX_NEW_COMMITS 1000 /* remembered at once; the next call takes more */

struct post {
	const char *dir;
	struct git git;
	struct ledger *l;
	bool notes;
	struct buf top; /* folder of the repository's files */
	struct anchors anchors;
	struct commit_leaf *commits;
	size_t n_commits;
	struct buf *envelopes;
	size_t n_envelopes;
};

static void post_done(struct post *p)
{
	ledger_free(p->l);
	buf_done(&p->top);
	anchors_done(&p->anchors);
	for (size_t i = 0; i < p->n_envelopes; i++)
		buf_done(&p->envelopes[i]);
	free(p->envelopes);
	free(p->commits);
}

/* ---- which commits --------------------------------------------------------------- */

/* What the log remembers for ever must be what it has signed itself. */
static bool is_ours(const struct post *p, const struct anchor *a)
{
	const struct index_state *st = ledger_index(p->l);

	if (a->malformed || strcmp(a->cp.origin, st->origin) || a->cp.size > st->leaves)
		return false;
	for (size_t i = 0; i < st->n_identities; i++)
		if (anchor_signed_by(a, &st->identities[i]))
			return true;
	return !st->n_identities && anchor_signed_by(a, &st->sealed_by);
}

static struct commit_leaf *find_new(const struct post *p, const char *sha)
{
	for (size_t i = 0; i < p->n_commits; i++)
		if (!strcmp(p->commits[i].sha, sha))
			return &p->commits[i];
	return NULL;
}

/* A squash carries several heads: the newest counts. */
static void take(struct post *p, const struct anchor *a)
{
	struct commit_leaf *c = find_new(p, a->commit);

	if (!c) {
		if (p->n_commits == MAX_NEW_COMMITS)
			return;
		p->commits = xrealloc(p->commits, p->n_commits + 1, sizeof(*c));
		c = &p->commits[p->n_commits++];
		*c = (struct commit_leaf){ 0 };
		memcpy(c->sha, a->commit, sizeof(c->sha));
	}
	c->size = MAX(c->size, a->cp.size);
}

/* ---- their statements ---------------------------------------------------------------- */

struct told {
	struct session *sessions[MAX_INTOTO_RUNS];
	struct intoto_run runs[MAX_INTOTO_RUNS];
	char origins[MAX_INTOTO_RUNS][NAME_MAX_LEN + 1], roots[MAX_INTOTO_RUNS][HEX_HASH_LEN + 1];
	size_t n;
	uint64_t left_out;
};

static void told_free(struct told *t)
{
	for (size_t i = 0; i < t->n; i++)
		session_free(t->sessions[i]);
	free(t);
}

static void told_freep(struct told **t)
{
	told_free(*t);
}

static bool is_below(struct str path, const struct buf *top)
{
	return path.len >= top->len && !memcmp(path.p, buf_str(top), top->len) &&
	       (path.len == top->len || path.p[top->len] == '/');
}

/* A run of another project has no place in this one's notes. */
static bool is_here(const struct post *p, const struct session *s)
{
	const struct event *b = &s->begin;

	return p->top.len && ((event_has(b, EF(WORKSPACE)) && is_below(b->workspace, &p->top)) ||
			      (event_has(b, EF(CWD)) && is_below(b->cwd, &p->top)));
}

static void fold(const struct event *e, void *arg)
{
	session_event(arg, e);
}

static void hex_of(char to[HEX_HASH_LEN + 1], const struct hash *h)
{
	for (size_t i = 0; i < sizeof(h->b); i++)
		(void)snprintf(to + 2 * i, 3, "%02x", h->b[i]); /* two digits and a NUL */
}

static void tell_run(const struct post *p, const struct index_run *run, struct told *t)
{
	_cleanup_session_ struct session *s = session_new();
	const struct claim *end = &run->claims[run->n_claims - 1];
	struct replay back;
	size_t i = t->n;

	if (i == MAX_INTOTO_RUNS || replay_run(p->dir, run->info.id, fold, s, NULL, &back) < 0) {
		t->left_out++;
		return;
	}
	if (!is_here(p, s))
		return;
	name_of_run(t->origins[i], ledger_index(p->l)->origin, run->info.id);
	hex_of(t->roots[i], &end->root);
	t->runs[i] = (struct intoto_run){ s, t->origins[i], end->size, t->roots[i] };
	t->sessions[i] = TAKE_PTR(s);
	t->n++;
}

/* The head before this one, among the commits that can be seen. */
static uint64_t size_before(const struct post *p, uint64_t size)
{
	uint64_t before = 0;

	for (size_t i = 0; i < p->anchors.n; i++) {
		const struct anchor *a = &p->anchors.all[i];

		if (is_ours(p, a) && a->cp.size < size)
			before = MAX(before, a->cp.size);
	}
	return before;
}

static int make_statement(struct post *p, const struct commit_leaf *c, struct diag *d)
{
	_cleanup_(told_freep) struct told *t = xcalloc(1, sizeof(*t));
	_cleanup_buf_ struct buf payload = BUF_INIT;
	const struct index_state *st = ledger_index(p->l);
	uint64_t before = size_before(p, c->size);
	struct intoto_commit in = { .sha = c->sha, .host = st->machine };
	struct buf *envelope;
	int r;

	for (size_t i = 0; i < st->n_runs; i++)
		if (st->runs[i].stage != RUN_OPEN && !st->runs[i].info.pruned &&
		    st->runs[i].end_leaf >= before && st->runs[i].end_leaf < c->size)
			tell_run(p, &st->runs[i], t);
	if (!t->n)
		return 0;
	in.runs = t->runs;
	in.n_runs = t->n;
	in.runs_left_out = t->left_out;
	intoto_statement(&in, &payload);
	p->envelopes = xrealloc(p->envelopes, p->n_envelopes + 1, sizeof(*envelope));
	envelope = &p->envelopes[p->n_envelopes++];
	*envelope = (struct buf)BUF_INIT;
	r = attest_sign(p->l, INTOTO_TYPE, &payload, envelope, d);
	return r < 0 ? r : notes_add(&p->git, c->sha, envelope, d);
}

/* ---- all ------------------------------------------------------------------------------- */

static int open_ledger(struct post *p, struct diag *d)
{
	struct ledger *look;
	int r;

	r = ledger_open(p->dir, false, d, &look); /* the other way would make one */
	if (r < 0)
		return r;
	ledger_free(look);
	return ledger_open(p->dir, true, d, &p->l);
}

static int collect(struct post *p, struct diag *d)
{
	int r;

	r = anchors_collect(&p->git, "HEAD", &p->anchors, NULL, d);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->anchors.n; i++)
		if (!attest_knows(p->l, p->anchors.all[i].commit) && is_ours(p, &p->anchors.all[i]))
			take(p, &p->anchors.all[i]);
	p->notes = p->n_commits && notes_wanted(&p->git);
	if (p->notes)
		(void)GIT_LINE(&p->git, &p->top, NULL, "rev-parse", "--show-toplevel"); /* or bare */
	return 0;
}

static int remember(struct post *p, struct diag *d)
{
	_cleanup_free_ const struct buf **all = xcalloc(p->n_envelopes + 1, sizeof(*all));

	for (size_t i = 0; i < p->n_envelopes; i++)
		all[i] = &p->envelopes[i];
	return attest_commits(p->l, p->commits, p->n_commits, all, p->n_envelopes, d);
}

int hook_post_commit(const char *dir, struct diag *d)
{
	_cleanup_(post_done) struct post p = { .dir = dir };
	int r;

	r = open_ledger(&p, d);
	if (!r)
		r = collect(&p, d);
	for (size_t i = 0; !r && p.notes && i < p.n_commits; i++)
		r = make_statement(&p, &p.commits[i], d);
	return r < 0 ? r : remember(&p, d);
}
