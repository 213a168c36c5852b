/* SPDX-License-Identifier: MIT */
/*
 * The fold of session.h: one handler per kind of event for what is not about
 * files (tally.c) or the tree of processes (procs.c).
 */
#include "session.h"

#include "base/alloc.h"
#include "event/field.h"
#include "launcher.h"

#include <arpa/inet.h>
#include <netinet/in.h>

struct session *session_new(void)
{
	struct session *s = xcalloc(1, sizeof(*s));

	tally_init(&s->files);
	return s;
}

/* ---- owned text -------------------------------------------------------------- */

static void drop(struct str *s)
{
	free((void *)s->p);
	*s = (struct str){ 0 };
}

static struct str keep(struct str s, size_t cap)
{
	size_t len = MIN(s.len, cap);

	return (struct str){ xmemdup(len ? s.p : "", len), len };
}

static struct str keep_field(const struct event *e, uint64_t field, struct str s)
{
	return event_has(e, field) ? keep(s, MAX_SESSION_TEXT) : keep((struct str){ 0 }, 0);
}

/* ---- rows: a table by key whose values start with nothing --------------------- */

static void *row(struct rows *rows, const struct buf *key, size_t size, size_t max, bool *ret_new)
{
	void **at = map_slot(&rows->by_key, buf_str(key), key->len);

	*ret_new = !*at;
	if (*at)
		return *at;
	if (rows->by_key.live > max) {
		map_remove(&rows->by_key, buf_str(key), key->len);
		rows->overflow++;
		return NULL;
	}
	*at = xcalloc(1, size);
	return *at;
}

static void key_add(struct buf *key, struct str s)
{
	buf_addu64(key, MIN(s.len, (size_t)MAX_SESSION_TEXT));
	buf_addch(key, ' ');
	buf_add(key, s.p, MIN(s.len, (size_t)MAX_SESSION_TEXT));
}

static void rows_done(struct rows *rows, void (*done)(void *row))
{
	size_t at = 0;
	void *one;

	while ((one = map_next(&rows->by_key, &at))) {
		done(one);
		free(one);
	}
	map_done(&rows->by_key);
}

/* ---- peers ------------------------------------------------------------------- */

static bool is_loopback4(const struct in_addr *a)
{
	uint32_t ip = ntohl(a->s_addr);

	return ip >> 24 == 127 || !ip; /* 0.0.0.0 as destination is this host */
}

/* Addresses are ours: text that inet_ntop() made. */
static bool is_loopback(struct str addr)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr six;
	struct in_addr four;

	if (addr.len >= sizeof(text))
		return false;
	memcpy(text, addr.p, addr.len);
	text[addr.len] = '\0';
	if (inet_pton(AF_INET, text, &four) == 1)
		return is_loopback4(&four);
	return inet_pton(AF_INET6, text, &six) == 1 &&
	       (IN6_IS_ADDR_LOOPBACK(&six) || IN6_IS_ADDR_UNSPECIFIED(&six));
}

static void peer_done(void *row)
{
	struct peer_deed *p = row;

	drop(&p->proto);
	drop(&p->addr);
	drop(&p->name);
}

/* Families that end at this machine: other programs, the kernel. */
static bool is_local(struct str proto)
{
	static const char *const words[] = { "unix", "netlink" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (proto.len == strlen(words[i]) && !memcmp(proto.p, words[i], proto.len))
			return true;
	return false;
}

static struct peer_deed *peer_of(struct session *s, const struct event *e)
{
	_cleanup_buf_ struct buf key = BUF_INIT;
	struct peer_deed *p;
	bool is_new;

	key_add(&key, event_has(e, EF(PROTO)) ? e->proto : (struct str){ 0 });
	key_add(&key, event_has(e, EF(ADDR)) ? e->addr : (struct str){ 0 });
	if (event_has(e, EF(PORT)))
		buf_addu64(&key, e->port);
	p = row(&s->peers, &key, sizeof(*p), MAX_SESSION_PEERS, &is_new);
	if (!p || !is_new)
		return p;
	p->proto = keep_field(e, EF(PROTO), e->proto);
	p->addr = keep_field(e, EF(ADDR), e->addr);
	p->name = keep_field(e, EF(NAME), e->name);
	p->has_port = event_has(e, EF(PORT));
	p->port = e->port;
	p->local = is_local(p->proto);
	p->loopback = p->has_port && is_loopback(p->addr);
	return p;
}

static void on_connect(struct session *s, const struct event *e)
{
	struct peer_deed *p = peer_of(s, e);

	if (p)
		p->connects++;
}

static void on_send(struct session *s, const struct event *e)
{
	struct peer_deed *p = peer_of(s, e);

	if (p)
		p->sends++;
}

static void on_bind(struct session *s, const struct event *e)
{
	struct peer_deed *p = peer_of(s, e);

	if (p)
		p->binds++;
}

/* ---- programs and tools -------------------------------------------------------- */

static void program_done(void *row)
{
	drop(&((struct program *)row)->path);
}

static void on_exec(struct session *s, const struct event *e)
{
	_cleanup_buf_ struct buf key = BUF_INIT;
	struct program *p;
	bool is_new;

	key_add(&key, event_has(e, EF(PATH)) ? e->path : (struct str){ 0 });
	p = row(&s->programs, &key, sizeof(*p), MAX_SESSION_PROGRAMS, &is_new);
	if (!p)
		return;
	if (is_new)
		p->path = keep_field(e, EF(PATH), e->path);
	p->count++;
}

static void tool_done_row(void *row)
{
	struct tool_deed *t = row;

	drop(&t->name);
	drop(&t->version);
	drop(&t->purl);
	drop(&t->path);
}

static struct str argv_of(const struct session *s, uint32_t pid)
{
	const struct process *p = procs_find(&s->procs, pid);

	return p && p->n_images ? p->images[p->n_images - 1].argv : (struct str){ "", 0 };
}

static struct tool_deed *tool_row(struct session *s, const struct event *e, bool launcher)
{
	_cleanup_buf_ struct buf key = BUF_INIT;
	struct tool_deed *t;
	bool is_new;

	buf_addu64(&key, launcher);
	key_add(&key, event_has(e, EF(NAME)) ? e->name : (struct str){ 0 });
	key_add(&key, event_has(e, EF(VERSION)) ? e->version : (struct str){ 0 });
	key_add(&key, event_has(e, EF(PURL)) ? e->purl : (struct str){ 0 });
	t = row(&s->tools, &key, sizeof(*t), MAX_SESSION_TOOLS, &is_new);
	if (!t || !is_new)
		return t;
	t->pid = e->pid;
	t->launcher = launcher;
	t->name = keep_field(e, EF(NAME), e->name);
	t->version = keep_field(e, EF(VERSION), e->version);
	t->purl = keep_field(e, EF(PURL), e->purl);
	t->path = keep_field(e, EF(PATH), e->path);
	return t;
}

static void on_tool(struct session *s, const struct event *e)
{
	struct str path = event_has(e, EF(PATH)) ? e->path : (struct str){ "", 0 };
	struct str name = event_has(e, EF(NAME)) ? e->name : (struct str){ "", 0 };
	bool launcher = launcher_is(name, path, argv_of(s, e->pid));
	struct tool_deed *t = tool_row(s, e, launcher);

	if (!t)
		return;
	t->count++;
	if (launcher)
		s->launcher = t;
	else if (!s->tool)
		s->tool = t;
}

/* ---- the run itself ------------------------------------------------------------- */

/* Calls fn on every text that e has. */
static void each_text(struct event *e, void (*fn)(struct str *text))
{
	uint64_t left = e->have & event_kinds[e->kind].fields;

	while (left) {
		const struct field *f = &event_fields[field_take(&left)];

		if (field_is_text(f->type))
			fn(field_of(e, f));
	}
}

static void own(struct str *text)
{
	*text = keep(*text, EV_ARGV_BYTES);
}

static void on_begin(struct session *s, const struct event *e)
{
	if (s->begun)
		return;
	s->begun = true;
	s->begin_ns = e->boot_ns;
	s->begin = *e;
	each_text(&s->begin, own);
}

static void set_exit(struct session *s, const struct event *e)
{
	s->has_exit = event_has(e, EF(CODE)) || event_has(e, EF(SIGNAL));
	s->killed = event_has(e, EF(SIGNAL));
	s->code = e->code;
	s->signal = e->signal;
}

static void on_exit_of(struct session *s, const struct event *e)
{
	if (!s->begun || s->exit_seen || e->pid != s->begin.pid)
		return;
	s->exit_seen = true;
	s->exit_ns = e->boot_ns;
	set_exit(s, e);
}

static void on_end(struct session *s, const struct event *e)
{
	s->ended = true;
	s->end_ns = e->boot_ns;
	if (!s->exit_seen)
		set_exit(s, e);
	s->has_lost = event_has(e, EF(LOST)) && !loss_from_json(e->lost.p, e->lost.len, &s->lost);
}

static void on_freeze(struct session *s, const struct event *e)
{
	s->freezes++;
	if (event_has(e, EF(FROM) | EF(UNTIL)) && e->until > e->from)
		s->frozen_ns += e->until - e->from;
}

static void on_gap(struct session *s, const struct event *e)
{
	if (s->n_gaps == MAX_SESSION_NOTES) {
		s->notes_overflow++;
		return;
	}
	s->gaps = xrealloc(s->gaps, s->n_gaps + 1, sizeof(*s->gaps));
	s->gaps[s->n_gaps++] = (struct gap){ e->from, e->until, keep_field(e, EF(WHY), e->why) };
}

static void on_left(struct session *s, const struct event *e)
{
	if (s->n_left == MAX_SESSION_NOTES) {
		s->notes_overflow++;
		return;
	}
	s->left = xrealloc(s->left, s->n_left + 1, sizeof(*s->left));
	s->left[s->n_left++] = (struct left){ e->pid, keep_field(e, EF(NAME), e->name) };
}

/* ---- counting ---------------------------------------------------------------------- */

static void on_read(struct session *s, const struct event *e)
{
	s->read_bytes += event_has(e, EF(BYTES)) ? e->bytes : 0;
	s->read_unknown |= !event_has(e, EF(BYTES));
}

static void on_write(struct session *s, const struct event *e)
{
	s->written_bytes += event_has(e, EF(BYTES)) ? e->bytes : 0;
	s->written_unknown |= !event_has(e, EF(BYTES));
}

static void (*const handlers[EV_COUNT])(struct session *s, const struct event *e) = {
	[EV_BEGIN] = on_begin,	   [EV_END] = on_end,	[EV_EXIT] = on_exit_of,
	[EV_EXEC] = on_exec,	   [EV_TOOL] = on_tool, [EV_CONNECT] = on_connect,
	[EV_SEND] = on_send,	   [EV_BIND] = on_bind, [EV_FREEZE] = on_freeze,
	[EV_GAP] = on_gap,	   [EV_LEFT] = on_left, [EV_READ] = on_read,
	[EV_REPEAT] = on_read,	   [EV_WRITE] = on_write,
};

void session_event(struct session *s, const struct event *e)
{
	enum ev_kind as = e->kind == EV_REPEAT ? EV_READ : e->kind;

	s->ops[as] += event_has(e, EF(OPS)) ? e->ops : 1;
	procs_event(&s->procs, e);
	tally_event(&s->files, e);
	if (handlers[e->kind])
		handlers[e->kind](s, e);
}

static void count_deeds(const struct file *f, struct zone_count *r, struct zone_count *w)
{
	if (f->deeds & DEED_BORN && f->deeds & DEED_GONE) {
		w->temporary++;
		return;
	}
	r->read += !!(f->deeds & DEED_READ);
	w->written += !!(f->deeds & DEED_WROTE);
	w->created += !!(f->deeds & DEED_BORN);
	w->removed += !!(f->deeds & DEED_GONE);
	w->renamed += !!(f->deeds & DEED_RENAMED);
}

/*
 * Once where it lies and, if it is sensitive, once more as that. Sensitivity
 * goes by the deed: `.env` is secret when read, a hook persists when written.
 */
static void count_file(const struct session *s, const struct zone_ctx *ctx, const struct file *f,
		       struct buf *path, struct counts *to)
{
	struct zone_count none = { 0 };
	enum zone place, read, write;
	struct str name;

	buf_reset(path);
	tally_path(&s->files, f, path);
	name = (struct str){ buf_str(path), path->len };
	if (!name.len) {
		count_deeds(f, &to->zone[ZONE_COUNT], &to->zone[ZONE_COUNT]);
		return;
	}
	place = zone_place_of(ctx, name, ZONE_READ | ZONE_WRITE);
	count_deeds(f, &to->zone[place], &to->zone[place]);
	read = zone_of(ctx, name, ZONE_READ);
	write = zone_of(ctx, name, ZONE_WRITE);
	count_deeds(f, zone_is_sensitive(read) ? &to->zone[read] : &none,
		    zone_is_sensitive(write) ? &to->zone[write] : &none);
}

static bool is_request(const struct peer_deed *p)
{
	return !p->loopback && !p->local && p->connects + p->sends;
}

void session_count(const struct session *s, struct counts *ret)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	const struct peer_deed *p;
	struct zone_ctx ctx;
	size_t at = 0;

	*ret = (struct counts){ 0 };
	session_zones(s, &ctx);
	for (size_t i = 0; i < s->files.n; i++)
		if (tally_counts(s->files.files[i]))
			count_file(s, &ctx, s->files.files[i], &path, ret);
	while ((p = session_peer(s, &at)))
		if (is_request(p))
			ret->requests += p->connects + p->sends;
}

/* ---- asking ------------------------------------------------------------------------- */

/* The package folder of the tool, as far as its path shows it: .../node_modules/NAME. */
static struct str tool_root(const struct tool_deed *t)
{
	_cleanup_buf_ struct buf want = BUF_INIT;
	const char *hit;

	if (!t || !t->name.len)
		return (struct str){ "", 0 };
	buf_addstr(&want, "/node_modules/");
	buf_add(&want, t->name.p, t->name.len);
	buf_addch(&want, '/');
	hit = memmem(t->path.p, t->path.len, want.data, want.len);
	if (!hit)
		return (struct str){ "", 0 };
	return (struct str){ t->path.p, (size_t)(hit - t->path.p) + want.len - 1 };
}

static bool is_ours(const void *procs, uint32_t pid)
{
	return procs_find(procs, pid);
}

void session_zones(const struct session *s, struct zone_ctx *ret)
{
	const struct str none = { "", 0 };

	*ret = (struct zone_ctx){
		.workspace = event_has(&s->begin, EF(WORKSPACE)) ? s->begin.workspace : none,
		.home = event_has(&s->begin, EF(HOME)) ? s->begin.home : none,
		.tool_root = tool_root(session_headline(s)),
		.uid = s->begin.uid,
		.is_ours = is_ours,
		.procs = &s->procs,
	};
}

const struct peer_deed *session_peer(const struct session *s, size_t *at)
{
	return map_next(&s->peers.by_key, at);
}

const struct program *session_program(const struct session *s, size_t *at)
{
	return map_next(&s->programs.by_key, at);
}

const struct tool_deed *session_tool(const struct session *s, size_t *at)
{
	return map_next(&s->tools.by_key, at);
}

const struct tool_deed *session_headline(const struct session *s)
{
	return s->tool ? s->tool : s->launcher;
}

static struct str base_name(struct str path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	size_t skip = slash ? (size_t)(slash - path.p) + 1 : 0;

	return (struct str){ path.p + skip, path.len - skip };
}

struct str session_name(const struct session *s)
{
	const struct tool_deed *t = session_headline(s);
	size_t at = 0;
	const struct program *p = session_program(s, &at);

	if (t && t->name.len)
		return t->name;
	if (p && p->path.len)
		return base_name(p->path);
	if (event_has(&s->begin, EF(ARGV)) && s->begin.argv.len)
		return base_name((struct str){ s->begin.argv.p,
					       strnlen(s->begin.argv.p, s->begin.argv.len) });
	return (struct str){ "", 0 };
}

uint64_t session_peers(const struct session *s)
{
	const struct peer_deed *p;
	uint64_t n = 0;
	size_t at = 0;

	while ((p = session_peer(s, &at)))
		n += is_request(p);
	return n;
}

static bool is_text(struct str s, const char *want)
{
	return s.len == strlen(want) && !memcmp(s.p, want, s.len);
}

bool session_complete(const struct session *s)
{
	for (size_t i = 0; i < s->n_gaps; i++)
		if (!is_text(s->gaps[i].why, "before-attach"))
			return false;
	return s->ended && s->has_lost && !s->lost.unknown && !loss_total(&s->lost);
}

uint64_t session_overflow(const struct session *s)
{
	return s->files.overflow + s->procs.overflow + s->peers.overflow + s->programs.overflow +
	       s->tools.overflow + s->notes_overflow;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	each_text(&s->begin, drop); /* without a begin there is none */
	for (size_t i = 0; i < s->n_gaps; i++)
		drop(&s->gaps[i].why);
	for (size_t i = 0; i < s->n_left; i++)
		drop(&s->left[i].name);
	free(s->gaps);
	free(s->left);
	rows_done(&s->peers, peer_done);
	rows_done(&s->programs, program_done);
	rows_done(&s->tools, tool_done_row);
	procs_done(&s->procs);
	tally_done(&s->files);
	free(s);
}
