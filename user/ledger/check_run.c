/* SPDX-License-Identifier: MIT */
/*
 * One run: its blocks against their seals, its seals against each other, and
 * the whole against every claim of the index. Stops at the first fault.
 */
#include "base/fdio.h"
#include "base/json_line.h"
#include "base/timeutil.h"
#include "check.h"
#include "leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#define CLOCK_JUMP_NS (100 * (int64_t)NS_PER_MS)
#define CLOCK_BACK_NS ((int64_t)NS_PER_S)

/* What the seal line of a block says. */
struct seal_line {
	uint64_t n, bytes, at_boot, at_wall, b_min, b_max;
	bool has_b;
	struct cur lost, sampled_out;
	unsigned seen;
};

struct run_check {
	struct check *c;
	const struct index_run *run;
	struct scan scan;
	size_t next_claim, n_heads; /* claims before the final one */
	bool any_seal, clock_told;
	uint64_t at_boot;
	int64_t clock_ns;
	struct buf lost, sampled_out; /* of the last seal */
	struct chain chain;
	bool has_b; /* of the lines of this block */
	uint64_t b_min, b_max;
	uint64_t gaps, holes;
	uint64_t redacted, unannounced, still_there; /* still_there: though announced as redacted */
};

static void run_check_done(struct run_check *k)
{
	scan_done(&k->scan);
	chain_done(&k->chain);
	buf_done(&k->lost);
	buf_done(&k->sampled_out);
}

static const char *short_name(const struct run_check *k)
{
	return k->run->info.id;
}

/* ---- the seal line ------------------------------------------------------------------ */

static int take_numbers(struct json_line *j, uint64_t *first, uint64_t *second)
{
	uint64_t *const to[] = { first, second };
	struct json_val v;
	size_t n = 0;
	int r;

	while ((r = json_line_next(j, &v)) > 0) {
		if (n == ARRAY_SIZE(to) || v.type != JSON_INT || v.num < 0)
			return -EBADMSG;
		*to[n++] = (uint64_t)v.num;
	}
	return r < 0 || n != ARRAY_SIZE(to) ? -EBADMSG : 0;
}

static int take_b(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	if (v->type == JSON_NULL)
		return 0;
	s->has_b = true;
	return v->type == JSON_ARR ? take_numbers(j, &s->b_min, &s->b_max) : -EBADMSG;
}

static int take_at(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	return v->type == JSON_ARR ? take_numbers(j, &s->at_boot, &s->at_wall) : -EBADMSG;
}

/* A container of numbers, or of such containers; what is zero is left out. */
static int check_counts(struct json_line *j, bool grouped)
{
	struct json_val v;
	int r;

	while ((r = json_line_next(j, &v)) > 0) {
		if (v.type != (grouped ? JSON_OBJ : JSON_INT) || (!grouped && v.num < 1))
			return -EBADMSG;
		if (grouped && check_counts(j, false) < 0)
			return -EBADMSG;
	}
	return r;
}

static int take_counters(struct json_line *j, struct json_val *v, bool grouped, struct cur *ret)
{
	struct json_line counts;

	*ret = v->text;
	if (v->type == JSON_NULL)
		return 0;
	if (v->type != JSON_OBJ || json_line_skip(j, v, ret) < 0 ||
	    json_line_start(&counts, *ret) < 0)
		return -EBADMSG;
	return check_counts(&counts, grouped);
}

/* {cause:{class:n}} */
static int take_lost(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	return take_counters(j, v, true, &s->lost);
}

/* {class:n} */
static int take_sampled(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	return take_counters(j, v, false, &s->sampled_out);
}

static int take_n(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	(void)j; /* a scalar needs nothing more */
	s->n = (uint64_t)v->num;
	return v->type == JSON_INT ? 0 : -EBADMSG;
}

static int take_bytes(struct json_line *j, struct json_val *v, struct seal_line *s)
{
	(void)j; /* a scalar needs nothing more */
	s->bytes = (uint64_t)v->num;
	return v->type == JSON_INT ? 0 : -EBADMSG;
}

static const struct {
	const char *key;
	int (*take)(struct json_line *j, struct json_val *v, struct seal_line *s);
} seal_rows[] = {
	{ "n", take_n },       { "b", take_b },		      { "at", take_at },
	{ "lost", take_lost }, { "sampled_out", take_sampled }, { "bytes", take_bytes },
};

static int parse_seal(struct cur line, struct seal_line *s)
{
	struct json_line j;
	struct json_val v;
	int r;

	*s = (struct seal_line){ 0 };
	if (!cur_starts(&line, "{\"t\":\"seal\",") || json_line_start(&j, line) < 0)
		return -EBADMSG;
	while ((r = json_line_next(&j, &v)) > 0)
		for (size_t i = 0; i < ARRAY_SIZE(seal_rows); i++) {
			if (!cur_is(&v.key, seal_rows[i].key))
				continue;
			if (seal_rows[i].take(&j, &v, s) < 0)
				return -EBADMSG;
			s->seen |= 1u << i;
			break;
		}
	return r < 0 || s->seen != (1u << ARRAY_SIZE(seal_rows)) - 1 ? -EBADMSG : 0;
}

/* ---- counters never fall ------------------------------------------------------------- */

/* Looks for group.key (or key, without a group) in counters; absent = 0, null = unknown. */
static int64_t counter(struct cur text, const struct cur *group, const struct cur *key)
{
	struct json_line j;
	struct json_val v;
	bool in_group = false;
	int r;

	if (json_line_start(&j, text) < 0)
		return INT64_MAX;
	while ((r = json_line_next(&j, &v)) > 0 || (in_group && !r && j.depth)) {
		if (!r) {
			in_group = false;
			continue;
		}
		if (v.type == JSON_OBJ) {
			in_group = group && cur_left(&v.key) == cur_left(group) &&
				   !memcmp(v.key.at, group->at, cur_left(group));
			if (!in_group && json_line_skip(&j, &v, NULL) < 0)
				return INT64_MAX;
		} else if (in_group == !!group && cur_left(&v.key) == cur_left(key) &&
			   !memcmp(v.key.at, key->at, cur_left(key))) {
			return v.type == JSON_INT ? v.num : INT64_MAX;
		}
	}
	return 0;
}

/* One pair of counters; objects inside are the groups. */
static bool fell_in(struct json_line *j, const struct cur *group, struct cur now)
{
	struct json_val v;

	while (json_line_next(j, &v) > 0) {
		if (v.type == JSON_OBJ && fell_in(j, &v.key, now))
			return true;
		if (v.type == JSON_INT && counter(now, group, &v.key) < v.num)
			return true;
	}
	return false;
}

static bool fell(const struct buf *before, struct cur now)
{
	struct json_line j;

	if (!before->len || cur_is(&now, buf_str(before)) || cur_is(&now, "null") ||
	    json_line_start(&j, cur_of(before->data, before->len)) < 0)
		return false;
	return fell_in(&j, NULL, now);
}

static void keep(struct buf *to, struct cur text)
{
	buf_reset(to);
	buf_add(to, text.at, cur_left(&text));
}

/* ---- a block ----------------------------------------------------------------------------- */

static int fail(struct run_check *k, const char *code, int64_t have, int64_t want, const char *text)
{
	return fault_set(&k->scan.fault, code, (int64_t)k->scan.off, have, want,
			 "%s in the block at offset %" PRIu64, text, k->scan.off);
}

static void see_redacted(struct run_check *k, uint64_t leaf)
{
	k->redacted++;
	if (!index_is_redacted(k->run, leaf))
		k->run = check_late(k->c, k->run);
	k->unannounced += !index_is_redacted(k->run, leaf);
}

static void see_time(struct run_check *k, uint64_t b)
{
	k->b_min = k->has_b ? MIN(k->b_min, b) : b;
	k->b_max = k->has_b ? MAX(k->b_max, b) : b;
	k->has_b = true;
}

/* The times of redacted lines are gone; the others are inside of the range. */
static bool is_exact(const struct run_check *k, const struct seal_line *s)
{
	return k->scan.redacted || (s->has_b == k->has_b && (!s->has_b || (s->b_min == k->b_min &&
								       s->b_max == k->b_max)));
}

static int check_line(struct run_check *k, struct cur line, uint64_t leaf,
		      const struct seal_line *s)
{
	struct line_time time;

	if (cur_starts(&line, LEAF_REDACTED)) {
		see_redacted(k, leaf);
		chain_skip(&k->chain, true);
		return 0;
	}
	k->still_there += index_is_redacted(k->run, leaf);

	if (cur_starts(&line, "{\"t\":\"seal\""))
		return fail(k, "malformed", -1, -1, "a seal record that is not the last");
	if (check_order(line, &time) < 0)
		return fail(k, "malformed", (int64_t)leaf, -1, "a record whose t or b is not in its place");
	if (chain_add(&k->chain, line, leaf) < 0)
		return fail(k, "malformed", (int64_t)leaf, -1, "a record that is not continued as it says");
	k->gaps += cur_starts(&line, "{\"t\":\"gap\"");
	k->clock_told |= cur_starts(&line, "{\"t\":\"clock\"");
	if (time.has_b && (!s->has_b || time.b < s->b_min || time.b > s->b_max))
		return fail(k, "time-range", (int64_t)time.b, -1, "an event outside its seal's range");
	if (time.has_b)
		see_time(k, time.b);
	return 0;
}

static void check_clock(struct run_check *k, const struct seal_line *s)
{
	int64_t offset = (int64_t)(s->at_wall - s->at_boot), step = offset - k->clock_ns;
	bool first = !k->any_seal;

	k->clock_ns = offset;
	if (first)
		return;
	if (step < -CLOCK_BACK_NS)
		check_say(k->c, FINDING_WARN, "clock", k->run->info.id,
			  "run " SHORT_ID ": the wall clock was set back by %" PRId64 " ms; order stands, "
			  "wall times are doubtful", short_name(k), -step / (int64_t)NS_PER_MS);
	else if ((step > CLOCK_JUMP_NS || step < -CLOCK_JUMP_NS) && !k->clock_told)
		check_say(k->c, FINDING_WARN, "clock", k->run->info.id,
			  "run " SHORT_ID ": the wall clock jumped by %" PRId64 " ms without a record of it",
			  short_name(k), step / (int64_t)NS_PER_MS);
}

static int check_seal(struct run_check *k, const struct seal_line *s, size_t plain_before)
{
	/* the length of what was redacted is not known any more */
	if (s->n != k->scan.tree.n || (s->bytes != plain_before && !k->scan.redacted))
		return fail(k, "order", (int64_t)s->n, (int64_t)k->scan.tree.n,
			    "a seal record that counts wrongly");
	if (!is_exact(k, s))
		return fail(k, "time-range", -1, -1, "a seal whose range is not that of its events");
	if (k->any_seal && s->at_boot < k->at_boot)
		return fail(k, "time-range", (int64_t)s->at_boot, (int64_t)k->at_boot,
			    "a seal older than the one before it");
	if (fell(&k->lost, s->lost) || fell(&k->sampled_out, s->sampled_out))
		return fail(k, "counter", -1, -1, "loss counter went backwards");
	check_clock(k, s);
	check_wall(k->c, s->at_wall);
	keep(&k->lost, s->lost);
	keep(&k->sampled_out, s->sampled_out);
	k->at_boot = s->at_boot;
	k->any_seal = true;
	return 0;
}

/* The last line of a block; the others stay in *lines. */
static struct cur last_line(struct cur *lines)
{
	struct cur last = { lines->at, lines->end - 1 };
	const uint8_t *nl = memrchr(last.at, '\n', cur_left(&last));

	last.at = nl ? nl + 1 : last.at;
	lines->end = last.at;
	return last;
}

static int check_lines(struct run_check *k)
{
	struct cur lines = k->scan.plain, seal = last_line(&lines), line;
	struct seal_line s;
	size_t before = cur_left(&lines);
	uint64_t leaf = k->scan.first;
	int r = 0;

	if (parse_seal(seal, &s) < 0)
		return fail(k, "malformed", -1, -1, "no seal record at the end");
	k->clock_told = k->has_b = false;
	while (!r && !cur_until(&lines, '\n', &line))
		r = check_line(k, line, leaf++, &s);
	return r ? r : check_seal(k, &s, before);
}

/* ---- claims of the index ------------------------------------------------------------------- */

static int check_claims(struct run_check *k, uint64_t before)
{
	const struct tree *t = &k->scan.tree;
	struct hash root;

	for (; k->next_claim < k->n_heads; k->next_claim++) {
		const struct claim *head = &k->run->claims[k->next_claim];

		if (head->size > t->n)
			return 0;
		tree_root(t, &root);
		if (k->scan.bridged && head->size > before && head->size < t->n)
			continue; /* inside a hole that a signed gap names */
		if (head->size < t->n || memcmp(&root, &head->root, sizeof(root)))
			return fault_set(&k->scan.fault, "root", (int64_t)k->scan.off,
					 (int64_t)head->size, -1,
					 "the index saw a different history of the first %" PRIu64
					 " records", head->size);
	}
	return 0;
}

/* The last seal of a run that ended carries the identity's co-signature. */
static bool is_final(const struct run_check *k)
{
	return k->run->stage == RUN_ENDED &&
	       k->scan.tree.n == k->run->claims[k->run->n_claims - 1].size;
}

static int check_block(struct run_check *k, uint64_t before)
{
	int r;

	if (k->scan.bridged) {
		k->holes++;
		chain_skip(&k->chain, false);
		check_say(k->c, FINDING_WARN, "absent", k->run->info.id,
			  "run " SHORT_ID ": records %" PRIu64 " to %" PRIu64
			  " were lost by the disk; a signed gap names them",
			  short_name(k), before, k->scan.first - 1);
	}
	r = scan_signed_by(&k->scan, &k->run->key);
	if (!r && is_final(k) && k->c->st.has_identity)
		r = scan_cosigned_by_any(&k->scan, k->c->st.identities, k->c->st.n_identities);
	if (!r)
		r = check_lines(k);
	return r ? r : check_claims(k, before);
}

static int walk(struct run_check *k)
{
	for (;;) {
		uint64_t before = k->scan.tree.n;
		int r;

		r = scan_next(&k->scan);
		if (r == 1)
			r = check_block(k, before) < 0 ? -EUCLEAN : 1;
		if (r == -EPROTONOSUPPORT && scan_signed_by(&k->scan, &k->run->key) < 0)
			r = -EUCLEAN; /* nobody who may has said so */
		if (r != 1)
			return r;
	}
}

/* ---- the end ---------------------------------------------------------------------------------- */

static const char *end_word(const struct run_check *k)
{
	return k->run->stage == RUN_ENDED ? "run-end" : "run-orphan";
}

static void truncated(struct run_check *k, uint64_t promised, const char *by)
{
	uint64_t n = k->scan.tree.n;

	check_count(k->c, "truncated", k->run->info.id, n, promised,
		    "run " SHORT_ID ": TRUNCATED: %" PRIu64 " records present, %" PRIu64
		    " sealed at %s", short_name(k), n, promised, by);
}

/* Returns false if the present records contradict what the index last said. */
static bool judge_size(struct run_check *k)
{
	const struct index_run *run = k->run;
	uint64_t n = k->scan.tree.n;
	const struct claim *end = run->stage == RUN_OPEN ? NULL : &run->claims[run->n_claims - 1];
	struct hash root;

	if (end && n < end->size) {
		truncated(k, end->size, end_word(k));
	} else if (k->next_claim < k->n_heads) {
		truncated(k, run->claims[k->n_heads - 1].size, "the last head");
	} else if (end && n > end->size) {
		check_count(k->c, "appended", run->info.id, n, end->size,
			    "run " SHORT_ID ": %" PRIu64 " records appended after %s", short_name(k),
			  n - end->size, end_word(k));
	} else {
		tree_root(&k->scan.tree, &root);
		if (!end || !memcmp(&root, &end->root, sizeof(root)))
			return true;
		check_say(k->c, FINDING_FAIL, "root", run->info.id,
			  "run " SHORT_ID ": records do not hash to the root that %s names",
			  short_name(k), end_word(k));
	}
	return false;
}

/* Bytes behind the last seal: being written in an open run, damage in a closed one. */
static bool judge_tail(struct run_check *k, int r)
{
	bool later = k->run->stage != RUN_OPEN;

	if (r == 0)
		return true;
	if (r == -EBADMSG && !later && scan_later_seal(&k->scan, &later) < 0)
		later = true;
	k->c->totals.unsealed += k->scan.unsealed;
	if (r == -EUCLEAN || later) {
		check_fault(k->c, FINDING_FAIL, &k->scan.fault, k->run->info.id);
		return false;
	}
	return true;
}

/* A recorder that ended its run has written its last record to the end. */
static bool judge_chain(struct run_check *k)
{
	if (k->run->stage != RUN_ENDED || !k->chain.waits)
		return true;
	check_say(k->c, FINDING_FAIL, "malformed", k->run->info.id,
		  "run " SHORT_ID ": the last record is not continued as it says", short_name(k));
	return false;
}

static bool judge_counters(struct run_check *k)
{
	const struct index_run *run = k->run;

	if (run->stage == RUN_ENDED && strcmp(run->lost, buf_str(&k->lost))) {
		check_say(k->c, FINDING_FAIL, "counter", run->info.id,
			  "run " SHORT_ID ": run-end says %.200s lost, seals say %.200s", short_name(k),
			  run->lost, buf_str(&k->lost));
		return false;
	}
	if (k->lost.len && strcmp(buf_str(&k->lost), "{}"))
		check_say(k->c, FINDING_WARN, "lost", run->info.id,
			  "run " SHORT_ID ": records were lost: %.400s", short_name(k),
			  buf_str(&k->lost));
	if (k->gaps)
		check_say(k->c, FINDING_WARN, "lost", run->info.id,
			  "run " SHORT_ID ": %" PRIu64 " gaps while storage failed or the recorder was away",
			  short_name(k), k->gaps);
	return true;
}

static void say_orphan(struct run_check *k, int dirfd)
{
	const struct torn *t = &k->run->torn;

	if (!t->bytes) {
		check_say(k->c, FINDING_WARN, "orphan", k->run->info.id,
			  "run " SHORT_ID ": crashed; %" PRIu64 " records recovered, no torn tail",
			  short_name(k), k->scan.tree.n);
		return;
	}
	check_say(k->c, FINDING_WARN, "orphan", k->run->info.id,
		  "run " SHORT_ID ": crashed; %" PRIu64 " records recovered, torn tail %" PRIu64
		  " bytes (sha256 %.12s…)%s",
		  short_name(k), k->scan.tree.n, t->bytes, t->sha256,
		  check_torn_file(dirfd, t) ? "" : "; the file that kept it is gone or changed");
}

/* Announced, so the log as a whole is what it should be; this run is not all there. */
static enum finding_level removed_level(const struct check *c)
{
	return c->o->run ? FINDING_WARN : FINDING_NOTE;
}

static void say_redacted(struct run_check *k)
{
	if (k->redacted > k->unannounced)
		check_say(k->c, removed_level(k->c), "redacted", k->run->info.id,
			  "run " SHORT_ID ": %" PRIu64 " records were redacted, as announced",
			  short_name(k), k->redacted - k->unannounced);
	if (k->unannounced)
		check_say(k->c, FINDING_WARN, "redacted", k->run->info.id,
			  "run " SHORT_ID ": %" PRIu64 " records are redacted, the index does not "
			  "announce it", short_name(k), k->unannounced);
	if (k->still_there)
		check_say(k->c, FINDING_NOTE, "redacted", k->run->info.id,
			  "run " SHORT_ID ": %" PRIu64 " records announced as redacted are still there",
			  short_name(k), k->still_there);
	if (k->run->info.pruned)
		check_say(k->c, FINDING_NOTE, "pruned", k->run->info.id,
			  "run " SHORT_ID ": announced as pruned, still there", short_name(k));
}

static void say_good(struct run_check *k, int dirfd)
{
	const struct index_run *run = k->run;

	k->c->totals.valid++;
	say_redacted(k);
	if (run->stage == RUN_OPEN)
		check_say(k->c, FINDING_WARN, "open", run->info.id,
			  "run " SHORT_ID " %s: open; %" PRIu64 " records sealed, %" PRIu64
			  " bytes behind them (being written, or left by a crash)",
			  short_name(k), run->info.cmd, k->scan.tree.n, k->scan.tail);
	else if (run->stage == RUN_ORPHANED)
		say_orphan(k, dirfd);
	else
		check_say(k->c, FINDING_OK, "ok", run->info.id,
			  "run " SHORT_ID " %s: %" PRIu64 " records, closed, %s", short_name(k),
			  run->info.cmd, k->scan.tree.n,
			  k->gaps || k->holes || strcmp(buf_str(&k->lost), "{}") ? "incomplete" :
			  k->redacted ? "redacted" : "complete");
}

/* Also true for a moment between run-start and the first file, and for a crash in it. */
static void judge_absent(struct check *c, const struct index_run *run)
{
	bool none = run->stage == RUN_ORPHANED && !run->claims[run->n_claims - 1].size;

	if (check_late(c, run)->info.pruned) {
		c->totals.valid++;
		check_say(c, removed_level(c), "pruned", run->info.id,
			  "run " SHORT_ID " %s: pruned, as announced", run->info.id, run->info.cmd);
		return;
	}
	c->totals.valid += none;
	check_say(c, FINDING_WARN, none ? "orphan" : "absent", run->info.id,
		  none ? "run " SHORT_ID " %s: crashed before its first record" :
			 "run " SHORT_ID " %s is announced, its log is not there",
		  run->info.id, run->info.cmd);
}

/* Pruned while we read: files of the folder that we hold are vanishing. */
static bool has_left(struct run_check *k)
{
	return faccessat(k->c->runs, k->run->info.id, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	       check_late(k->c, k->run)->info.pruned;
}

static void judge(struct run_check *k, int dirfd, int r, int last_seq)
{
	bool good;

	if (r < 0 && r != -EBADMSG && r != -ENODATA && r != -EUCLEAN) {
		check_unreadable(k->c, k->run->info.id, r);
		return;
	}
	if (has_left(k)) {
		judge_absent(k->c, k->run);
		return;
	}
	good = judge_tail(k, r);
	good = judge_size(k) && good;
	if (good && last_seq > (int)k->scan.seq) {
		check_say(k->c, FINDING_FAIL, "order", k->run->info.id,
			  "run " SHORT_ID ": segment %06u is missing before %06d", short_name(k),
			  k->scan.seq + 1, last_seq);
		good = false;
	}
	if (good && judge_chain(k) && judge_counters(k))
		say_good(k, dirfd);
	k->c->totals.records += k->scan.tree.n;
}

static void look_into(struct run_check *k, int dirfd)
{
	int r, last_seq;

	r = check_names(k->c, dirfd, k->run->info.id, &last_seq);
	if (r < 0) {
		check_unreadable(k->c, k->run->info.id, r);
		return;
	}
	scan_init(&k->scan, dirfd, k->run->key.name);
	k->scan.may_redact = true;
	r = walk(k);
	judge(k, dirfd, r, last_seq);
}

void check_run(struct check *c, const struct index_run *run)
{
	_cleanup_(run_check_done) struct run_check k = { .c = c, .run = run, .scan.fd = -1 };
	_cleanup_fd_ int dirfd = -1;

	if (c->o->closed_only && run->stage == RUN_OPEN) {
		check_say(c, FINDING_NOTE, "open", run->info.id, "run " SHORT_ID " %s: open, not judged",
			  run->info.id, run->info.cmd);
		return;
	}
	c->totals.runs++;
	k.n_heads = run->n_claims - (run->stage != RUN_OPEN);
	dirfd = c->runs < 0 ? -ENOENT : dir_open_at(c->runs, run->info.id);
	if (dirfd == -ENOENT)
		judge_absent(c, run);
	else if (dirfd < 0)
		check_unreadable(c, run->info.id, dirfd);
	else
		look_into(&k, dirfd);
}
