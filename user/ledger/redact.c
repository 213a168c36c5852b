/* SPDX-License-Identifier: MIT */
/*
 * Taking records out, see upkeep.h. A long record goes with all its lines, and
 * the other lines of its block get salts of their own: with the block's salt key
 * a short redacted line could be guessed from its hash.
 */
#include "base/alloc.h"
#include "base/json_out.h"
#include "base/num.h"
#include "leaf.h"
#include "rewrite.h"
#include "upkeep.h"

#include <errno.h>
#include <inttypes.h>

#define LEVEL 6
#define RANGES_PER_LEAF 150 /* two numbers of 20 digits each stay below a line */
#define MORE_LINE "{\"t\":\"more\",\"r\":"

bool why_is_good(const char *why)
{
	size_t n = strlen(why);

	return n && n <= WHY_MAX_LEN &&
	       strspn(why, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* Ascending numbers. */
struct numbers {
	uint64_t *at;
	size_t n, cap;
};

struct job {
	struct numbers heads; /* what was asked for, as first lines of records */
	struct numbers all;   /* with their `more` lines */
	struct packer *packer;
	uint64_t done;
	struct diag *d;
};

static void job_done(struct job *j)
{
	free(j->heads.at);
	free(j->all.at);
	packer_free(j->packer);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static void add(struct numbers *to, uint64_t number)
{
	if (to->n == to->cap) {
		to->cap = to->cap ? 2 * to->cap : 64;
		to->at = xrealloc(to->at, to->cap, sizeof(*to->at));
	}
	to->at[to->n++] = number;
}

static bool has(const struct numbers *in, uint64_t number)
{
	return in->n && bsearch(&number, in->at, in->n, sizeof(*in->at), by_value);
}

static void sort_out(struct numbers *of)
{
	size_t n = 0;

	if (!of->n)
		return;
	qsort(of->at, of->n, sizeof(*of->at), by_value);
	for (size_t i = 1; i < of->n; i++)
		if (of->at[i] != of->at[n])
			of->at[++n] = of->at[i];
	of->n = n + 1;
}

/* ---- which leaves ------------------------------------------------------------------------ */

/* The first line of the record that this line belongs to. */
static uint64_t head_of(struct cur line, uint64_t leaf)
{
	struct cur number;
	uint64_t head;

	if (!cur_starts(&line, MORE_LINE) || cur_skip(&line, strlen(MORE_LINE)) < 0 ||
	    cur_until(&line, ',', &number) < 0 ||
	    num_u64((const char *)number.at, cur_left(&number), INT64_MAX, &head) < 0)
		return leaf;
	return head;
}

/* What verifying needs stays. */
static bool is_own(const struct cur *line)
{
	static const char *const own[] = { "{\"t\":\"segment\"", "{\"t\":\"seal\"", "{\"t\":\"gap\"",
					   "{\"t\":\"clock\"" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (cur_starts(line, own[i]))
			return true;
	return false;
}

static int find_heads(void *arg, const struct scan *s)
{
	struct job *j = arg;
	struct cur plain = s->plain, line;

	for (uint64_t leaf = s->first; !cur_until(&plain, '\n', &line); leaf++) {
		if (!has(&j->all, leaf))
			continue;
		if (is_own(&line))
			return diag_set(j->d, -EINVAL, "record %" PRIu64 " is one of the ledger "
					"itself, it holds nothing of the command", leaf);
		add(&j->heads, head_of(line, leaf));
	}
	return 0;
}

static int find_all(void *arg, const struct scan *s)
{
	struct job *j = arg;
	struct cur plain = s->plain, line;

	for (uint64_t leaf = s->first; !cur_until(&plain, '\n', &line); leaf++)
		if (has(&j->heads, head_of(line, leaf)))
			add(&j->all, leaf);
	return 0;
}

static int choose(struct rewrite *w, struct job *j, const uint64_t *leaves, size_t n)
{
	uint64_t size = w->run->claims[w->run->n_claims - 1].size;
	int r;

	for (size_t i = 0; i < n; i++) {
		if (leaves[i] >= size)
			return diag_set(j->d, -ERANGE, "run %s has %" PRIu64 " records, none is "
					"number %" PRIu64, w->run->info.id, size, leaves[i]);
		add(&j->all, leaves[i]);
	}
	sort_out(&j->all);
	r = rewrite_look(w, find_heads, j, j->d);
	if (r < 0)
		return r;
	sort_out(&j->heads);
	j->all.n = 0;
	return rewrite_look(w, find_all, j, j->d); /* finds them in order */
}

/* ---- announcing --------------------------------------------------------------------------- */

static void begin_leaf(struct buf *to, const struct rewrite *w)
{
	hostlog_leaf(to, "redact");
	json_out_cstr(to, "run", w->run->info.id);
	json_out_open(to, "ranges", '[');
}

static void end_leaf(struct buf *to, const char *why)
{
	json_out_close(to, ']');
	json_out_cstr(to, "why", why);
	hostlog_leaf_end(to);
}

static void out_leaves(const struct rewrite *w, const struct numbers *all, const char *why,
		       struct buf *to)
{
	size_t ranges = 0;

	for (size_t i = 0, from; i < all->n; i++) {
		for (from = i; i + 1 < all->n && all->at[i + 1] == all->at[i] + 1; i++)
			;
		if (ranges % RANGES_PER_LEAF == 0)
			begin_leaf(to, w);
		json_out_open(to, NULL, '[');
		json_out_u64(to, NULL, all->at[from]);
		json_out_u64(to, NULL, all->at[i]);
		json_out_close(to, ']');
		if (++ranges % RANGES_PER_LEAF == 0 || i + 1 == all->n)
			end_leaf(to, why);
	}
}

static bool is_announced(const struct index_run *run, const struct numbers *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!index_is_redacted(run, all->at[i]))
			return false;
	return true;
}

static int announce(struct rewrite *w, const struct job *j, const char *why, bool *ret_said)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	int r;

	if (is_announced(w->run, &j->all))
		return 0;
	out_leaves(w, &j->all, why, &lines);
	r = hostlog_lock(w->l, j->d);
	if (r < 0)
		return r;
	r = rewrite_announce(w->l, &lines, j->d);
	hostlog_unlock(w->l);
	*ret_said = !r;
	/* what the index learned may have moved its table of runs */
	w->run = index_run(&w->l->st, w->run->info.id);
	return r;
}

/* ---- doing it -------------------------------------------------------------------------------- */

static void out_leaf(struct job *j, const struct scan *s, uint64_t leaf, struct cur raw,
		     struct buf *to)
{
	struct hash h;
	struct cur rest = raw;

	if (!s->is_redacted && has(&j->all, leaf)) {
		leaf_hash(s->salt_key, leaf, raw, &h);
	} else if (!s->is_redacted) {
		leaf_text(s->salt_key, leaf, raw, to);
		return;
	} else if (leaf_parse(raw, &h, &rest) < 0 || !cur_left(&rest) || !has(&j->all, leaf)) {
		buf_add(to, raw.at, cur_left(&raw)); /* stays as it is */
		return;
	}
	leaf_out_redacted(&h, to);
	j->done++;
}

static bool touches(const struct job *j, const struct scan *s)
{
	struct cur plain = s->plain, line;

	for (uint64_t leaf = s->first; !cur_until(&plain, '\n', &line); leaf++)
		if (has(&j->all, leaf) && !cur_starts(&line, LEAF_REDACTED))
			return true;
	return false;
}

static bool take_out(void *arg, const struct scan *s, struct buf *to)
{
	_cleanup_buf_ struct buf leaves = BUF_INIT;
	struct cur raw = s->raw, one;
	struct job *j = arg;

	if (!touches(j, s))
		return false;
	for (uint64_t leaf = s->first; !cur_until(&raw, '\n', &one); leaf++) {
		out_leaf(j, s, leaf, one, &leaves);
		buf_addch(&leaves, '\n');
	}
	member_add_redacted(j->packer, to, s->first, s->lines, cur_of(leaves.data, leaves.len));
	return true;
}

int redact_run(struct ledger *l, const char *run_id, uint64_t *leaves, size_t n, const char *why,
	       struct diag *d, struct redact_result *ret)
{
	_cleanup_(job_done) struct job j = { .d = d };
	_cleanup_rewrite_ struct rewrite w = { .dir = -1 };
	int r;

	*ret = (struct redact_result){ .asked = n };
	if (!n || n > REDACT_MAX_LEAVES)
		return diag_set(d, -EINVAL, "name between 1 and %u records", REDACT_MAX_LEAVES);
	r = rewrite_open(l, run_id, d, &w);
	if (!r)
		r = choose(&w, &j, leaves, n);
	if (!r)
		r = announce(&w, &j, why, &ret->announced);
	if (r < 0)
		return r;
	j.packer = packer_new(LEVEL);
	r = rewrite_run(&w, take_out, &j, d);
	ret->redacted = j.done;
	return r;
}
