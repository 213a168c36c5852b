/* SPDX-License-Identifier: MIT */
/* Folding index leaves, see index.h. */
#include "index.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/json_line.h"
#include "base/num.h"
#include "base/utf8.h"

#include <inttypes.h>

/* The fields of index leaves that anything depends on. */
struct leaf {
	char t[24], run[RUN_ID_LEN + 1], vkey[192], id[192], cmd[256], tier[8];
	char prev_run[RUN_ID_LEN + 1];
	char boot[BOOT_ID_LEN + 1], machine[HEX_HASH_LEN + 1], torn_sha256[HEX_HASH_LEN + 1];
	int64_t w, uid, size, torn;
	struct hash root;
	char sha[COMMIT_ID_MAX + 1], sha256[HEX_HASH_LEN + 1];
	struct cur lost, ranges, prev;
	uint32_t seen;
};

enum leaf_field {
	LF_T, LF_RUN, LF_VKEY, LF_ID, LF_CMD, LF_TIER, LF_BOOT, LF_MACHINE, LF_TORN_SHA256,
	LF_W, LF_UID, LF_SIZE, LF_TORN, LF_ROOT, LF_LOST, LF_RANGES, LF_SHA, LF_SHA256,
	LF_PREV, LF_PREV_RUN,
};
#define HAS(f) (1u << LF_##f)

enum leaf_type { LT_TEXT, LT_INT, LT_HASH, LT_RAW, LT_LIST };

#define ROW(f, key, type)                                  \
	{ #key, LF_##f, type, offsetof(struct leaf, key), \
	  sizeof(((struct leaf *)0)->key) }
static const struct leaf_row {
	const char *key;
	enum leaf_field field;
	enum leaf_type type;
	size_t at, cap;
} leaf_rows[] = {
	ROW(T, t, LT_TEXT),
	ROW(RUN, run, LT_TEXT),
	ROW(VKEY, vkey, LT_TEXT),
	ROW(ID, id, LT_TEXT),
	ROW(CMD, cmd, LT_TEXT),
	ROW(TIER, tier, LT_TEXT),
	ROW(BOOT, boot, LT_TEXT),
	ROW(MACHINE, machine, LT_TEXT),
	ROW(TORN_SHA256, torn_sha256, LT_TEXT),
	ROW(W, w, LT_INT),
	ROW(UID, uid, LT_INT),
	ROW(SIZE, size, LT_INT),
	ROW(TORN, torn, LT_INT),
	ROW(ROOT, root, LT_HASH),
	ROW(LOST, lost, LT_RAW),
	ROW(RANGES, ranges, LT_LIST),
	ROW(SHA, sha, LT_TEXT),
	ROW(SHA256, sha256, LT_TEXT),
	ROW(PREV, prev, LT_RAW),
	ROW(PREV_RUN, prev_run, LT_TEXT),
};

void index_done(struct index_state *st)
{
	for (size_t i = 0; i < st->n_runs; i++) {
		free(st->runs[i].claims);
		free(st->runs[i].lost);
		free(st->runs[i].redacted);
	}
	free(st->runs);
	free(st->torn);
	free(st->commits);
	free(st->identities);
	map_done(&st->by_id);
	*st = (struct index_state){ 0 };
}

struct index_run *index_run(const struct index_state *st, const char *id)
{
	uintptr_t n = (uintptr_t)map_get(&st->by_id, id, strlen(id));

	return n ? &st->runs[n - 1] : NULL;
}

bool index_is_redacted(const struct index_run *run, uint64_t leaf)
{
	size_t from = 0, to = run->n_redacted;

	while (from < to) {
		size_t mid = (from + to) / 2;
		const struct span *s = &run->redacted[mid];

		if (leaf >= s->first && leaf <= s->last)
			return true;
		if (leaf < s->first)
			to = mid;
		else
			from = mid + 1;
	}
	return false;
}

/* ---- reading one leaf --------------------------------------------------------- */

static int set_text(char *to, size_t cap, struct cur text)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (json_unescape(text, &b) < 0 || b.len >= cap || strlen(buf_str(&b)) != b.len)
		return -EBADMSG;
	memcpy(to, buf_str(&b), b.len + 1);
	return 0;
}

static int set_field(struct leaf *l, const struct leaf_row *row, const struct json_val *v)
{
	void *to = (char *)l + row->at;

	if (row->type == LT_RAW) {
		*(struct cur *)to = v->text;
		return v->type == JSON_NULL || v->type == JSON_OBJ ? 0 : -EBADMSG;
	}
	if (row->type == LT_LIST) {
		*(struct cur *)to = v->text;
		return v->type == JSON_ARR ? 0 : -EBADMSG;
	}
	if (row->type == LT_INT) {
		*(int64_t *)to = v->num;
		return v->type == JSON_INT && v->num >= 0 ? 0 : -EBADMSG;
	}
	if (v->type != JSON_STR)
		return -EBADMSG;
	if (row->type == LT_HASH)
		return base64_exact(v->text, to, sizeof(struct hash));
	return set_text(to, row->cap, v->text);
}

static int take_value(struct leaf *l, struct json_line *j, struct json_val *v)
{
	if (v->type >= JSON_OBJ && json_line_skip(j, v, &v->text) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(leaf_rows); i++) {
		const struct leaf_row *row = &leaf_rows[i];

		if (!cur_is(&v->key, row->key))
			continue;
		if (v->type == JSON_NULL && row->type != LT_RAW)
			return 0; /* null = absent */
		l->seen |= 1u << row->field;
		return set_field(l, row, v);
	}
	return 0;
}

static int parse_leaf(struct cur line, struct leaf *l)
{
	struct json_line j;
	struct json_val v;
	int r;

	*l = (struct leaf){ 0 };
	r = json_line_start(&j, line);
	while (!r && (r = json_line_next(&j, &v)) > 0)
		r = take_value(l, &j, &v);
	return r;
}

/* ---- what each kind means ------------------------------------------------------- */

static bool is_hex(const char *s, size_t len)
{
	return strlen(s) == len && strspn(s, "0123456789abcdef") == len;
}

static int parse_key(const char *text, enum key_type type, struct vkey *ret)
{
	if (vkey_parse(cur_of(text, strlen(text)), ret) < 0 || ret->type != type)
		return -EBADMSG;
	return 0;
}

static int add_identity(struct index_state *st, const char *text)
{
	size_t n = st->n_identities;
	struct vkey key;

	if (n == MAX_IDENTITIES || parse_key(text, KEY_COSIGN, &key) < 0)
		return -EBADMSG;
	st->identities = xrealloc(st->identities, n + 1, sizeof(key));
	st->identities[n] = key;
	st->n_identities++;
	st->identity = key;
	return 0;
}

/* {"origin":…,"size":…,"root":…} */
static int parse_prev(struct cur text, struct checkpoint *ret)
{
	char origin[NAME_MAX_LEN + 1] = "";
	struct checkpoint cp = { 0 };
	struct json_line j;
	struct json_val v;
	int r, seen = 0;

	if (json_line_start(&j, text) < 0)
		return -EBADMSG;
	while ((r = json_line_next(&j, &v)) > 0) {
		if (cur_is(&v.key, "origin") && v.type == JSON_STR)
			seen += !set_text(origin, sizeof(origin), v.text);
		else if (cur_is(&v.key, "size") && v.type == JSON_INT && v.num > 0)
			seen += 1;
		else if (cur_is(&v.key, "root") && v.type == JSON_STR)
			seen += !base64_exact(v.text, cp.root.b, sizeof(cp.root));
		else
			return -EBADMSG;
		if (v.type == JSON_INT)
			cp.size = (uint64_t)v.num;
	}
	memcpy(cp.origin, origin, sizeof(origin));
	*ret = cp;
	return r < 0 || seen != 3 ? -EBADMSG : 0;
}

static int on_genesis(struct index_state *st, const struct leaf *l)
{
	char name[NAME_MAX_LEN + 1];

	if (st->leaves != 1 || parse_key(l->vkey, KEY_LOG, &st->genesis) < 0)
		return -EBADMSG;
	name_of_key(name, "", st->genesis.pk);
	if (strcmp(name, st->genesis.name) || strcmp(name, st->origin))
		return -EBADMSG;
	st->has_identity = l->seen & HAS(ID);
	if (st->has_identity && add_identity(st, l->id) < 0)
		return -EBADMSG;
	if (l->seen & HAS(PREV) && parse_prev(l->prev, &st->prev) < 0)
		return -EBADMSG;
	memcpy(st->machine, l->machine, sizeof(st->machine));
	st->created_ns = st->rotated_ns = (uint64_t)l->w;
	st->in_force = st->genesis;
	return 0;
}

static int on_rotate(struct index_state *st, const struct leaf *l)
{
	struct vkey next;

	if (parse_key(l->vkey, KEY_LOG, &next) < 0 || strcmp(next.name, st->origin))
		return -EBADMSG;
	st->in_force = next;
	st->epoch++;
	st->rotated_ns = (uint64_t)l->w;
	return 0;
}

static struct index_run *add_run(struct index_state *st, const char *id)
{
	if (st->n_runs == st->cap_runs) {
		st->cap_runs = st->cap_runs ? 2 * st->cap_runs : 16;
		st->runs = xrealloc(st->runs, st->cap_runs, sizeof(*st->runs));
	}
	st->runs[st->n_runs] = (struct index_run){ 0 };
	*map_slot(&st->by_id, id, strlen(id)) = (void *)(uintptr_t)++st->n_runs;
	return &st->runs[st->n_runs - 1];
}

/* The writer escaped it for terminals; a name that still hides something is not its work. */
static bool is_shown_safely(const char *text)
{
	struct cur c = cur_of(text, strlen(text));
	uint32_t ch;

	while (cur_left(&c))
		if (utf8_next(&c, &ch) < 0 || utf8_is_hidden(ch))
			return false;
	return true;
}

static int on_run_start(struct index_state *st, const struct leaf *l)
{
	char name[NAME_MAX_LEN + 1];
	struct index_run *run;
	struct vkey key;

	name_of_run(name, st->origin, l->run);
	if (!is_hex(l->run, RUN_ID_LEN) || index_run(st, l->run) ||
	    parse_key(l->vkey, KEY_LOG, &key) < 0 || strcmp(key.name, name) ||
	    strlen(l->cmd) >= sizeof(run->info.cmd) || !is_shown_safely(l->cmd) ||
	    l->uid > UINT32_MAX)
		return -EBADMSG;
	/* a recorder that came back: the run before is known and over */
	if (l->seen & HAS(PREV_RUN) &&
	    (!index_run(st, l->prev_run) || index_run(st, l->prev_run)->stage == RUN_OPEN))
		return -EBADMSG;
	run = add_run(st, l->run);
	memcpy(run->prev_run, l->prev_run, sizeof(run->prev_run));
	run->start_leaf = st->leaves;
	run->key = key;
	memcpy(run->info.id, l->run, sizeof(run->info.id));
	memcpy(run->info.cmd, l->cmd, sizeof(run->info.cmd) - 1);
	memcpy(run->info.tier, l->tier, sizeof(run->info.tier));
	memcpy(run->boot, l->boot, sizeof(run->boot));
	run->info.wall_ns = (uint64_t)l->w;
	run->info.uid = (uint32_t)l->uid;
	return 0;
}

static int add_claim(struct index_run *run, const struct leaf *l)
{
	struct claim c = { .size = (uint64_t)l->size, .root = l->root };

	if (run->stage != RUN_OPEN ||
	    (run->n_claims && c.size < run->claims[run->n_claims - 1].size))
		return -EBADMSG;
	run->claims = xrealloc(run->claims, run->n_claims + 1, sizeof(c));
	run->claims[run->n_claims++] = c;
	return 0;
}

static int on_head(struct index_state *st, const struct leaf *l)
{
	struct index_run *run = index_run(st, l->run);

	return run ? add_claim(run, l) : -EBADMSG;
}

static int on_run_end(struct index_state *st, const struct leaf *l)
{
	struct index_run *run = index_run(st, l->run);

	if (!run || add_claim(run, l) < 0)
		return -EBADMSG;
	run->stage = RUN_ENDED;
	run->end_leaf = st->leaves;
	run->info.ended = true;
	run->lost = xmemdup(l->lost.at, cur_left(&l->lost));
	return 0;
}

static int set_torn(struct torn *t, const struct leaf *l)
{
	t->bytes = (uint64_t)l->torn;
	memcpy(t->sha256, l->torn_sha256, sizeof(t->sha256));
	return !t->bytes || is_hex(t->sha256, HEX_HASH_LEN) ? 0 : -EBADMSG;
}

/* A head may name more than was recovered: the verifier will say so. */
static int on_run_orphan(struct index_state *st, const struct leaf *l)
{
	struct index_run *run = index_run(st, l->run);
	struct claim c = { .size = (uint64_t)l->size, .root = l->root };

	if (!run || run->stage != RUN_OPEN)
		return -EBADMSG;
	run->claims = xrealloc(run->claims, run->n_claims + 1, sizeof(c));
	run->claims[run->n_claims++] = c;
	run->stage = RUN_ORPHANED;
	run->info.crashed = true;
	run->end_leaf = st->leaves;
	return set_torn(&run->torn, l);
}

static int on_restart(struct index_state *st, const struct leaf *l)
{
	if (!l->torn)
		return 0;
	st->torn = xrealloc(st->torn, st->n_torn + 1, sizeof(*st->torn));
	return set_torn(&st->torn[st->n_torn++], l);
}

static int on_identity(struct index_state *st, const struct leaf *l)
{
	st->has_identity = true;
	return add_identity(st, l->vkey);
}

static int on_gap(struct index_state *st, const struct leaf *l)
{
	(void)l; /* that there is one is what counts */
	st->gaps++;
	return 0;
}

static int take_number(struct cur *in, char stop, uint64_t *ret)
{
	struct cur text;

	if (cur_until(in, (uint8_t)stop, &text) < 0)
		return -EBADMSG;
	return num_u64((const char *)text.at, cur_left(&text), INT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

/* One [first,last] of the list, and what stands between it and the next. */
static int take_span(struct cur *in, struct span *ret)
{
	uint8_t open, next;

	if (cur_u8(in, &open) < 0 || open != '[' || take_number(in, ',', &ret->first) < 0 ||
	    take_number(in, ']', &ret->last) < 0 || cur_u8(in, &next) < 0)
		return -EBADMSG;
	return next == ',' || (next == ']' && !cur_left(in)) ? 0 : -EBADMSG;
}

static int by_first(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	return p->first < q->first ? -1 : p->first > q->first;
}

/* Several announcements may name the same leaves. */
static void join_spans(struct index_run *run)
{
	struct span *s = run->redacted;
	size_t n = 0;

	qsort(s, run->n_redacted, sizeof(*s), by_first);
	for (size_t i = 1; i < run->n_redacted; i++) {
		if (s[i].first <= s[n].last + 1)
			s[n].last = MAX(s[n].last, s[i].last);
		else
			s[++n] = s[i];
	}
	run->n_redacted = n + 1;
}

/* Spans rise and stay inside the run, which nobody writes any more. */
static int on_redact(struct index_state *st, const struct leaf *l)
{
	struct index_run *run = index_run(st, l->run);
	struct cur in = l->ranges;
	uint64_t least = 0;

	if (!run || run->stage == RUN_OPEN || run->info.pruned || cur_skip(&in, 1) < 0)
		return -EBADMSG;
	while (cur_left(&in)) {
		struct span s;

		if (take_span(&in, &s) < 0 || s.first < least || s.last < s.first ||
		    s.last >= run->claims[run->n_claims - 1].size)
			return -EBADMSG;
		run->redacted = xrealloc(run->redacted, run->n_redacted + 1, sizeof(s));
		run->redacted[run->n_redacted++] = s;
		least = s.last + 1;
	}
	if (!least)
		return -EBADMSG;
	join_spans(run);
	return 0;
}

static int on_prune(struct index_state *st, const struct leaf *l)
{
	struct index_run *run = index_run(st, l->run);

	if (!run || run->stage == RUN_OPEN || run->info.pruned)
		return -EBADMSG;
	run->info.pruned = true;
	return 0;
}

/* The head was handed out before: it cannot be of a size that the index never had. */
static int on_commit(struct index_state *st, const struct leaf *l)
{
	struct commit_leaf *c;

	if ((!is_hex(l->sha, COMMIT_ID_MAX) && !is_hex(l->sha, 40)) ||
	    !l->size || (uint64_t)l->size > st->leaves)
		return -EBADMSG;
	st->commits = xrealloc(st->commits, st->n_commits + 1, sizeof(*st->commits));
	c = &st->commits[st->n_commits++];
	memcpy(c->sha, l->sha, sizeof(c->sha));
	c->size = (uint64_t)l->size;
	return 0;
}

static int on_statement(struct index_state *st, const struct leaf *l)
{
	(void)st; /* it is about something outside of the log */
	return is_hex(l->sha256, HEX_HASH_LEN) ? 0 : -EBADMSG;
}

#define RUN_CLAIM (HAS(RUN) | HAS(SIZE) | HAS(ROOT))

/* Other kinds are carried and signed, and change nothing here. */
static const struct leaf_kind {
	const char *t;
	uint32_t needs;
	int (*apply)(struct index_state *st, const struct leaf *l);
} leaf_kinds[] = {
	{ "genesis", HAS(VKEY) | HAS(W) | HAS(MACHINE), on_genesis },
	{ "rotate", HAS(VKEY), on_rotate },
	{ "run-start", HAS(RUN) | HAS(VKEY) | HAS(W) | HAS(CMD) | HAS(UID), on_run_start },
	{ "head", RUN_CLAIM, on_head },
	{ "run-end", RUN_CLAIM | HAS(LOST), on_run_end },
	{ "run-orphan", RUN_CLAIM | HAS(TORN), on_run_orphan },
	{ "restart", HAS(TORN), on_restart },
	{ "identity", HAS(VKEY), on_identity },
	{ "gap", 0, on_gap },
	{ "redact", HAS(RUN) | HAS(RANGES), on_redact },
	{ "prune", HAS(RUN), on_prune },
	{ "commit", HAS(SHA) | HAS(SIZE), on_commit },
	{ "statement", HAS(SHA256), on_statement },
};

/* t, b, w: the order in which a leaf begins. */
static bool has_times(struct cur line)
{
	static const char *const keys[] = { "t", "b", "w" };
	struct json_line j;
	struct json_val v;

	if (json_line_start(&j, line) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_line_next(&j, &v) != 1 || !cur_is(&v.key, keys[i]) ||
		    v.type != (i ? JSON_INT : JSON_STR))
			return false;
	return true;
}

int index_fold_line(struct index_state *st, struct cur line)
{
	struct leaf l;

	if (parse_leaf(line, &l) < 0)
		return -EBADMSG;
	if (l.seen & HAS(W))
		st->last_wall_ns = (uint64_t)l.w;
	for (size_t i = 0; i < ARRAY_SIZE(leaf_kinds); i++) {
		if (strcmp(l.t, leaf_kinds[i].t))
			continue;
		if ((l.seen & leaf_kinds[i].needs) != leaf_kinds[i].needs || !has_times(line))
			return -EBADMSG;
		return leaf_kinds[i].apply(st, &l);
	}
	return 0;
}

/* A key named by `rotate` signs from the next block on: so it must be the last leaf. */
static int fold_line(struct index_state *st, struct cur line, bool is_last)
{
	int r = 0;

	if (cur_starts(&line, "{\"t\":\"rotate\"") && !is_last)
		r = -EBADMSG;
	if (st->leaves == 1 && !cur_starts(&line, "{\"t\":\"genesis\""))
		r = -EBADMSG;
	if (!r && !cur_starts(&line, "{\"t\":\"segment\""))
		r = index_fold_line(st, line);
	st->leaves++;
	return r;
}

/* Blocks that end, remove or attest something are co-signed by the identity key, if the log has one. */
static bool needs_cosign(struct cur line)
{
	static const char *const ends[] = { "{\"t\":\"genesis\"", "{\"t\":\"run-end\"",
					    "{\"t\":\"run-orphan\"", "{\"t\":\"redact\"",
					    "{\"t\":\"prune\"", "{\"t\":\"commit\"",
					    "{\"t\":\"statement\"", "{\"t\":\"identity\"" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (cur_starts(&line, ends[i]))
			return true;
	return false;
}

int index_fold(struct index_state *st, struct scan *s)
{
	struct cur plain = s->plain, line;
	struct vkey before = st->in_force;
	bool cosign = false;
	int r;

	memcpy(st->origin, s->origin, sizeof(st->origin));
	st->leaves = s->first;
	while (!cur_until(&plain, '\n', &line)) {
		cosign |= needs_cosign(line);
		if (fold_line(st, line, !cur_left(&plain)) < 0)
			return fault_set(&s->fault, "malformed", (int64_t)s->off,
					 (int64_t)st->leaves - 1, -1,
					 "index record %" PRIu64 " makes no sense where it stands",
					 st->leaves - 1);
	}
	st->sealed_by = s->first ? before : st->genesis;
	r = scan_signed_by(s, &st->sealed_by);
	if (!r && cosign && st->has_identity)
		r = scan_cosigned_by(s, &st->identity);
	return r;
}
