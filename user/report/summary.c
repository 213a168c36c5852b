/* SPDX-License-Identifier: MIT */
/* The summary for people, see summary.h; the JSON form is in summary_json.c. */
#include "summary.h"

#include "base/alloc.h"
#include "say.h"
#include "trace/tracer.h"

#define SHORT_ID 8 /* characters of a run's id in the text */

/* ---- first line: who, how long, how it ended -------------------------------- */

static void say_tool(const struct session *s, struct buf *to)
{
	const struct tool_deed *t = session_headline(s);
	struct str name = session_name(s);

	if (!name.len)
		buf_addstr(to, "unknown tool");
	say_text(to, name);
	if (t && t->version.len) {
		buf_addch(to, ' ');
		say_text(to, t->version);
	}
	if (t && t->purl.len) {
		buf_addstr(to, " (");
		say_text(to, t->purl);
		buf_addch(to, ')');
	}
}

static void say_head(const struct session *s, const char *run, struct buf *to)
{
	uint64_t until = s->exit_seen ? s->exit_ns : s->end_ns;

	buf_addstr(to, "deedlog");
	if (run)
		buf_addf(to, "  session %.*s", SHORT_ID, run);
	buf_addstr(to, "  ");
	say_tool(s, to);
	if (s->begun && until > s->begin_ns) {
		buf_addstr(to, "  ");
		say_duration(to, until - s->begin_ns);
	}
	buf_addstr(to, "  ");
	say_exit(to, s->has_exit, s->killed, s->code, s->signal);
	buf_addch(to, '\n');
}

/* ---- lines with a label -------------------------------------------------------- */

/* Items of one line: the label comes with the first, so that no item means no line. */
struct list {
	struct buf *to;
	const char *label, *between;
	uint64_t n, more;
};

static bool list_item(struct list *l)
{
	if (l->n >= SUMMARY_LIST_MAX) {
		l->more++;
		return false;
	}
	if (!l->n++)
		buf_addf(l->to, "  %-10s  ", l->label);
	else
		buf_addstr(l->to, l->between);
	return true;
}

static void list_end(const struct list *l)
{
	if (l->more)
		buf_addf(l->to, "%s%llu more", l->between, (unsigned long long)l->more);
	if (l->n)
		buf_addch(l->to, '\n');
}

static void say_changes(const struct zone_count *w, struct buf *to)
{
	struct list l = { .to = to, .label = "changed", .between = ", " };
	const struct {
		uint64_t n;
		const char *word;
	} rows[] = {
		{ w->created, "created" },
		{ w->removed, "removed" },
		{ w->renamed, "renamed" },
		{ w->temporary, "made and removed again" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].n && list_item(&l))
			buf_addf(to, "%s %llu", rows[i].word, (unsigned long long)rows[i].n);
	list_end(&l);
}

static void say_workspace(const struct session *s, const struct counts *c, struct buf *to)
{
	const struct zone_count *w = &c->zone[ZONE_WORKSPACE];

	buf_addstr(to, "  read ");
	say_count(to, w->read, "file", "files");
	buf_addf(to, "   wrote %llu   executed %llu   network %llu\n", (unsigned long long)w->written,
		 (unsigned long long)s->programs.by_key.live, (unsigned long long)c->requests);
	say_changes(w, to);
}

static const char *zone_word(size_t zone)
{
	return zone == ZONE_COUNT ? "unnamed" : zone_name((enum zone)zone);
}

static void say_zone(struct list *l, size_t zone, const struct zone_count *z)
{
	if (!(z->read || z->written || z->removed) || !list_item(l))
		return;
	buf_addstr(l->to, zone_word(zone));
	if (z->read)
		buf_addf(l->to, " read %llu", (unsigned long long)z->read);
	if (z->written)
		buf_addf(l->to, " wrote %llu", (unsigned long long)z->written);
	if (z->removed)
		buf_addf(l->to, " removed %llu", (unsigned long long)z->removed);
}

static void say_elsewhere(const struct counts *c, struct buf *to)
{
	struct list l = { .to = to, .label = "elsewhere", .between = ", " };

	for (size_t i = 0; i <= ZONE_COUNT; i++)
		if (i != ZONE_WORKSPACE && !zone_is_sensitive((enum zone)i)) /* these have a line */
			say_zone(&l, i, &c->zone[i]);
	list_end(&l);
}

/* ---- what is worth its own line -------------------------------------------------- */

static void say_sensitive_file(struct list *l, const struct zone_ctx *ctx, const struct file *f,
			       struct str path)
{
	bool read = f->deeds & DEED_READ && zone_is_sensitive(zone_of(ctx, path, ZONE_READ));
	bool wrote = f->deeds & (DEED_WROTE | DEED_GONE) &&
		     zone_is_sensitive(zone_of(ctx, path, ZONE_WRITE));

	if (!(read || wrote) || !list_item(l))
		return;
	say_text(l->to, path);
	buf_addstr(l->to, read && wrote ? " (read and changed)" : read ? " (read)" : " (changed)");
}

static void say_sensitive(const struct session *s, struct buf *to)
{
	struct list l = { .to = to, .label = "sensitive", .between = ", " };
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct zone_ctx ctx;

	session_zones(s, &ctx);
	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = s->files.files[i];

		if (!tally_counts(f))
			continue;
		buf_reset(&path);
		tally_path(&s->files, f, &path);
		if (path.len)
			say_sensitive_file(&l, &ctx, f, (struct str){ path.data, path.len });
	}
	list_end(&l);
}

/* Loopback and sockets of this host come in `show`: here only who left it. */
static void say_peers(const struct session *s, struct buf *to)
{
	struct list l = { .to = to, .label = "network", .between = ", " };
	const struct peer_deed *p;
	size_t at = 0;

	while ((p = session_peer(s, &at))) {
		uint64_t calls = p->connects + p->sends;

		if (p->loopback || p->local || !calls || !list_item(&l))
			continue;
		say_peer(to, p);
		if (calls > 1)
			buf_addf(to, " (%llu times)", (unsigned long long)calls);
	}
	list_end(&l);
}

static void say_left(const struct session *s, struct buf *to)
{
	struct list l = { .to = to, .label = "still runs", .between = ", " };

	for (size_t i = 0; i < s->n_left; i++) {
		if (!list_item(&l))
			continue;
		say_text(to, s->left[i].name);
		buf_addf(to, " (pid %u)", s->left[i].pid);
	}
	list_end(&l);
}

/* ---- last line: how good the record is --------------------------------------------- */

static void say_cause(const uint64_t *n, const char *cause, const char **between, struct buf *to)
{
	uint64_t sum = 0;

	for (int class = 0; class < EV_CLASS_COUNT; class++)
		sum += n[class];
	if (!sum)
		return;
	buf_addf(to, "%s%s %llu", *between, cause, (unsigned long long)sum);
	*between = ", ";
}

static void say_lost(const struct session *s, struct buf *to)
{
	const char *between = "";

	if (!s->ended)
		buf_addstr(to, ", not ended");
	else if (!s->has_lost || s->lost.unknown)
		buf_addstr(to, ", losses unknown");
	else if (!loss_total(&s->lost))
		buf_addstr(to, session_complete(s) ? ", complete" : "");
	else {
		buf_addf(to, ", %llu lost (", (unsigned long long)loss_total(&s->lost));
		for (int cause = 0; cause < EV_LOSS_COUNT; cause++)
			say_cause(s->lost.n[cause], event_loss_words[cause], &between, to);
		buf_addch(to, ')');
	}
}

static void say_tier(const struct session *s, struct buf *to)
{
	_cleanup_free_ char *name = NULL;
	enum tier tier;

	if (!event_has(&s->begin, EF(TIER))) {
		buf_addstr(to, "tier unknown");
		return;
	}
	name = xmemdup(s->begin.tier.p, s->begin.tier.len);
	buf_addstr(to, "tier ");
	say_text(to, s->begin.tier);
	if (!tier_from_name(name, &tier) && *tier_limits(tier))
		buf_addf(to, " (%s)", tier_limits(tier));
}

static void say_recorder(const struct session *s, struct buf *to)
{
	buf_addf(to, "  %-10s  ", "recorder");
	say_tier(s, to);
	say_lost(s, to);
	for (size_t i = 0; i < s->n_gaps; i++) {
		buf_addstr(to, ", gap ");
		say_text(to, s->gaps[i].why);
	}
	if (session_overflow(s))
		buf_addf(to, ", counts are lower limits (%llu events beyond the summary's memory)",
			 (unsigned long long)session_overflow(s));
	if (s->ended)
		buf_addstr(to, ", sealed");
	buf_addch(to, '\n');
}

void summary_text(const struct session *s, const char *run, struct buf *to)
{
	struct counts c;

	session_count(s, &c);
	say_head(s, run, to);
	say_workspace(s, &c, to);
	say_elsewhere(&c, to);
	say_sensitive(s, to);
	say_peers(s, to);
	say_left(s, to);
	say_recorder(s, to);
}

void summary_sentence(const struct session *s, struct buf *to)
{
	const struct tool_deed *t = session_headline(s);
	struct counts c;

	session_count(s, &c);
	say_text(to, session_name(s));
	if (t && t->version.len) {
		buf_addch(to, ' ');
		say_text(to, t->version);
	}
	buf_addstr(to, " read ");
	say_count(to, c.zone[ZONE_WORKSPACE].read, "file", "files");
	buf_addf(to, ", wrote %llu, made ", (unsigned long long)c.zone[ZONE_WORKSPACE].written);
	say_count(to, c.requests, "network request", "network requests");
	if (!session_complete(s))
		buf_addstr(to, " (record incomplete)");
	buf_addch(to, '\n');
}
