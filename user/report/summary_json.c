/* SPDX-License-Identifier: MIT */
/* The summary as JSON, see summary.h. A key that is absent means: not known. */
#include "summary.h"

#include "base/json_out.h"

/* Sums of numbers that the target chose may leave what a JSON integer of ours can hold. */
static void put_u64(struct buf *to, const char *key, uint64_t n)
{
	json_out_u64(to, key, MIN(n, (uint64_t)INT64_MAX));
}

static void put_str(struct buf *to, const char *key, struct str s)
{
	if (s.len)
		json_out_str(to, key, s.p, s.len);
}

static void put_tool(const struct session *s, struct buf *to)
{
	const struct tool_deed *t = session_headline(s);

	json_out_open(to, "tool", '{');
	put_str(to, "name", session_name(s));
	if (t) {
		put_str(to, "version", t->version);
		put_str(to, "purl", t->purl);
	}
	json_out_close(to, '}');
}

static void put_tools(const struct session *s, struct buf *to)
{
	const struct tool_deed *t;
	size_t at = 0;

	json_out_open(to, "tools", '[');
	while ((t = session_tool(s, &at))) {
		json_out_open(to, NULL, '{');
		put_str(to, "name", t->name);
		put_str(to, "version", t->version);
		put_str(to, "purl", t->purl);
		put_str(to, "path", t->path);
		put_u64(to, "count", t->count);
		json_out_bool(to, "launcher", t->launcher);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

static void put_begin(const struct session *s, struct buf *to)
{
	const struct event *b = &s->begin;

	if (event_has(b, EF(TIER)))
		json_out_str(to, "tier", b->tier.p, b->tier.len);
	if (event_has(b, EF(ARGV)))
		json_out_strv(to, "argv", b->argv.p, b->argv.len);
	if (event_has(b, EF(CWD)))
		json_out_str(to, "cwd", b->cwd.p, b->cwd.len);
	if (event_has(b, EF(LABEL)))
		json_out_str(to, "label", b->label.p, b->label.len);
	if (event_has(b, EF(UID)))
		put_u64(to, "uid", b->uid);
	json_out_bool(to, "attached", event_has(b, EF(ATTACHED)));
}

static void put_exit(const struct session *s, struct buf *to)
{
	uint64_t until = s->exit_seen ? s->exit_ns : s->end_ns;

	if (s->begun && until > s->begin_ns)
		put_u64(to, "duration_ns", until - s->begin_ns);
	json_out_open(to, "exit", '{');
	if (s->has_exit)
		put_u64(to, s->killed ? "signal" : "code", s->killed ? s->signal : s->code);
	json_out_close(to, '}');
}

static void put_gaps(const struct session *s, struct buf *to)
{
	json_out_open(to, "gaps", '[');
	for (size_t i = 0; i < s->n_gaps; i++) {
		json_out_open(to, NULL, '{');
		put_str(to, "why", s->gaps[i].why);
		put_u64(to, "from_ns", s->gaps[i].from);
		if (s->gaps[i].until)
			put_u64(to, "until_ns", s->gaps[i].until);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

static void put_record(const struct session *s, struct buf *to)
{
	_cleanup_buf_ struct buf lost = BUF_INIT;

	json_out_bool(to, "ended", s->ended);
	json_out_bool(to, "complete", session_complete(s));
	if (s->has_lost && !s->lost.unknown) {
		loss_to_json(&s->lost, &lost);
		put_u64(to, "lost", loss_total(&s->lost));
		json_out_raw(to, "lost_by", buf_str(&lost));
	}
	put_gaps(s, to);
	put_u64(to, "freezes", s->freezes);
	put_u64(to, "frozen_ns", s->frozen_ns);
	put_u64(to, "overflow", session_overflow(s));
	put_u64(to, "unproven", s->files.unproven);
}

static void put_zone(const char *key, const struct zone_count *z, struct buf *to)
{
	json_out_open(to, key, '{');
	put_u64(to, "read", z->read);
	put_u64(to, "written", z->written);
	put_u64(to, "created", z->created);
	put_u64(to, "removed", z->removed);
	put_u64(to, "renamed", z->renamed);
	put_u64(to, "temporary", z->temporary);
	json_out_close(to, '}');
}

static void put_zones(const struct counts *c, struct buf *to)
{
	put_zone("workspace", &c->zone[ZONE_WORKSPACE], to);
	json_out_open(to, "zones", '{');
	for (size_t i = 0; i < ZONE_COUNT; i++)
		put_zone(zone_name((enum zone)i), &c->zone[i], to);
	put_zone("unnamed", &c->zone[ZONE_COUNT], to);
	json_out_close(to, '}');
}

/* Kinds that the kernel counts; what we make ourselves is no operation of the target. */
static void put_ops(const struct session *s, struct buf *to)
{
	json_out_open(to, "ops", '{');
	for (int kind = 0; kind < EV_BEGIN; kind++)
		if (kind != EV_REPEAT)
			put_u64(to, event_kinds[kind].word, s->ops[kind]);
	json_out_close(to, '}');
	if (!s->read_unknown)
		put_u64(to, "read_bytes", s->read_bytes);
	if (!s->written_unknown)
		put_u64(to, "written_bytes", s->written_bytes);
}

static void put_peer(const struct peer_deed *p, uint64_t count, struct buf *to)
{
	json_out_open(to, NULL, '{');
	put_str(to, "name", p->name);
	put_str(to, "addr", p->addr);
	if (p->has_port)
		put_u64(to, "port", p->port);
	put_str(to, "proto", p->proto);
	put_u64(to, "count", count);
	if (p->loopback || p->local)
		json_out_bool(to, p->loopback ? "loopback" : "local", true);
	json_out_close(to, '}');
}

static void put_network(const struct session *s, const struct counts *c, struct buf *to)
{
	const struct peer_deed *p;
	size_t at = 0;

	json_out_open(to, "network", '{');
	put_u64(to, "requests", c->requests);
	json_out_open(to, "peers", '[');
	while ((p = session_peer(s, &at)))
		if (p->connects + p->sends)
			put_peer(p, p->connects + p->sends, to);
	json_out_close(to, ']');
	json_out_open(to, "bound", '[');
	for (at = 0; (p = session_peer(s, &at));)
		if (p->binds)
			put_peer(p, p->binds, to);
	json_out_close(to, ']');
	json_out_close(to, '}');
}

static void put_programs(const struct session *s, struct buf *to)
{
	const struct program *p;
	size_t at = 0;

	json_out_open(to, "programs", '[');
	while ((p = session_program(s, &at))) {
		json_out_open(to, NULL, '{');
		put_str(to, "path", p->path);
		put_u64(to, "count", p->count);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

static void put_left(const struct session *s, struct buf *to)
{
	json_out_open(to, "left", '[');
	for (size_t i = 0; i < s->n_left; i++) {
		json_out_open(to, NULL, '{');
		put_u64(to, "pid", s->left[i].pid);
		put_str(to, "name", s->left[i].name);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

void summary_json(const struct session *s, const char *run, struct buf *to)
{
	struct counts c;

	session_count(s, &c);
	buf_addch(to, '{'); /* whatever stands before it in the buffer */
	json_out_cstr(to, "schema", SUMMARY_SCHEMA);
	if (run)
		json_out_cstr(to, "run", run);
	put_tool(s, to);
	put_begin(s, to);
	put_exit(s, to);
	put_record(s, to);
	put_zones(&c, to);
	put_ops(s, to);
	put_network(s, &c, to);
	put_programs(s, to);
	put_tools(s, to);
	put_left(s, to);
	put_u64(to, "processes", s->procs.n);
	put_u64(to, "denied", 0); /* record mode: no rule refuses anything */
	json_out_close(to, '}');
	buf_addch(to, '\n');
}
