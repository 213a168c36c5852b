/* SPDX-License-Identifier: MIT */
/* in-toto statements, see intoto.h. */
#include "intoto.h"

#include "base/json_out.h"

#include <ctype.h>

/* Sums of numbers that the target chose may leave what a JSON integer of ours can hold. */
static void put_u64(struct buf *to, const char *key, uint64_t n)
{
	json_out_u64(to, key, MIN(n, (uint64_t)INT64_MAX));
}

/* Chosen by the target: a long one must not make the statement too large to be signed. */
static void put_name(struct buf *to, const char *key, struct str s)
{
	if (s.len)
		json_out_str(to, key, s.p, MIN(s.len, (size_t)MAX_INTOTO_NAME));
}

/* Bytes that a URI path may have as they are; all others are escaped. */
static void add_uri_path(struct buf *to, struct str path)
{
	for (size_t i = 0; i < path.len; i++) {
		unsigned char ch = (unsigned char)path.p[i];

		if (isalnum(ch) || memchr("/-._~", ch, 5))
			buf_addch(to, (char)ch);
		else
			buf_addf(to, "%%%02X", ch);
	}
}

static void put_file_uri(struct buf *to, struct str path)
{
	_cleanup_buf_ struct buf uri = BUF_INIT;

	buf_addstr(&uri, "file://");
	add_uri_path(&uri, path);
	json_out_cstr(to, "uri", buf_str(&uri));
}

/* ---- lists with a limit ------------------------------------------------------------ */

struct list {
	struct buf out; /* elements */
	uint64_t n, left_out;
};

static bool list_room(struct list *l, size_t need)
{
	if (l->n < MAX_INTOTO_LIST && l->out.len + need < MAX_INTOTO_BYTES / 3) {
		l->n++;
		return true;
	}
	l->left_out++;
	return false;
}

static void put_list(struct buf *to, const char *key, const struct list *l)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "[%s]", buf_str(&l->out));
	json_out_raw(to, key, buf_str(&text));
}

struct lists {
	struct list process, network, files;
};

static void lists_done(struct lists *l)
{
	buf_done(&l->process.out);
	buf_done(&l->network.out);
	buf_done(&l->files.out);
}

static void add_process(struct list *l, const struct program *p)
{
	if (!p->path.len || p->path.p[0] != '/' || !list_room(l, 3 * p->path.len + 128))
		return;
	json_out_open(&l->out, NULL, '{');
	put_file_uri(&l->out, p->path);
	json_out_open(&l->out, "annotations", '{');
	put_u64(&l->out, "executions", p->count);
	json_out_close(&l->out, '}');
	json_out_close(&l->out, '}');
}

static void add_peer(struct list *l, const struct peer_deed *p)
{
	_cleanup_buf_ struct buf uri = BUF_INIT;
	bool v6 = p->addr.len && memchr(p->addr.p, ':', p->addr.len);

	if (p->local || !p->addr.len || !(p->connects + p->sends) ||
	    !list_room(l, 3 * p->addr.len + 256))
		return;
	add_uri_path(&uri, p->proto);
	buf_addstr(&uri, v6 ? "://[" : "://");
	buf_add(&uri, p->addr.p, p->addr.len); /* the kernel's numbers, written by us */
	buf_addstr(&uri, v6 ? "]" : "");
	if (p->has_port)
		buf_addf(&uri, ":%u", p->port);
	json_out_open(&l->out, NULL, '{');
	json_out_cstr(&l->out, "uri", buf_str(&uri));
	json_out_open(&l->out, "annotations", '{');
	put_u64(&l->out, "requests", p->connects + p->sends);
	json_out_bool(&l->out, "loopback", p->loopback);
	json_out_close(&l->out, '}');
	json_out_close(&l->out, '}');
}

/* Changed files before anything else: the statement is about a change. */
static void add_files(struct list *l, const struct session *s)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = s->files.files[i];

		if (!tally_counts(f) || !(f->deeds & (DEED_WROTE | DEED_GONE)) ||
		    (f->deeds & (DEED_BORN | DEED_GONE)) == (DEED_BORN | DEED_GONE))
			continue;
		buf_reset(&path);
		tally_path(&s->files, f, &path);
		if (!path.len || path.data[0] != '/' || !list_room(l, 3 * path.len + 128))
			continue;
		json_out_open(&l->out, NULL, '{');
		put_file_uri(&l->out, (struct str){ path.data, path.len });
		json_out_open(&l->out, "annotations", '{');
		json_out_cstr(&l->out, "access", f->deeds & DEED_GONE ? "removed" : "written");
		json_out_close(&l->out, '}');
		json_out_close(&l->out, '}');
	}
}

static void add_run(struct lists *l, const struct session *s)
{
	const struct peer_deed *peer;
	const struct program *p;
	size_t at = 0;

	while ((p = session_program(s, &at)))
		add_process(&l->process, p);
	for (at = 0; (peer = session_peer(s, &at));)
		add_peer(&l->network, peer);
	add_files(&l->files, s);
}

/* ---- one run ------------------------------------------------------------------------ */

static void put_counts(struct buf *to, const struct session *s)
{
	struct counts c;

	session_count(s, &c);
	json_out_open(to, "workspace", '{');
	put_u64(to, "read", c.zone[ZONE_WORKSPACE].read);
	put_u64(to, "written", c.zone[ZONE_WORKSPACE].written);
	put_u64(to, "created", c.zone[ZONE_WORKSPACE].created);
	put_u64(to, "removed", c.zone[ZONE_WORKSPACE].removed);
	json_out_close(to, '}');
	put_u64(to, "secrets_read", c.zone[ZONE_SECRET].read);
	put_u64(to, "network_requests", c.requests);
	put_u64(to, "processes", s->procs.n);
	json_out_bool(to, "complete", session_complete(s));
	if (s->has_lost && !s->lost.unknown)
		put_u64(to, "lost", loss_total(&s->lost));
}

static void put_run(struct buf *to, const struct intoto_run *r)
{
	const struct tool_deed *t = session_headline(r->s);

	json_out_open(to, NULL, '{');
	json_out_cstr(to, "name", r->origin);
	json_out_open(to, "digest", '{');
	json_out_cstr(to, "sha256", r->root);
	json_out_close(to, '}');
	json_out_open(to, "annotations", '{');
	put_u64(to, "size", r->size);
	put_name(to, "tool", session_name(r->s));
	if (t)
		put_name(to, "purl", t->purl);
	if (event_has(&r->s->begin, EF(TIER)))
		put_name(to, "tier", r->s->begin.tier);
	put_counts(to, r->s);
	json_out_close(to, '}');
	json_out_close(to, '}');
}

static void put_runs(struct buf *to, const struct intoto_commit *c, const struct lists *l)
{
	json_out_open(to, INTOTO_URI, '{');
	json_out_open(to, "runs", '[');
	for (size_t i = 0; i < c->n_runs; i++)
		put_run(to, &c->runs[i]);
	json_out_close(to, ']');
	json_out_open(to, "left_out", '{');
	put_u64(to, "runs", c->runs_left_out);
	put_u64(to, "process", l->process.left_out);
	put_u64(to, "network", l->network.left_out);
	put_u64(to, "fileAccess", l->files.left_out);
	json_out_close(to, '}');
	json_out_close(to, '}');
}

/* ---- all --------------------------------------------------------------------------------- */

static void put_monitor(struct buf *to, const struct intoto_commit *c)
{
	_cleanup_buf_ struct buf host = BUF_INIT;

	json_out_open(to, "monitor", '{');
	json_out_cstr(to, "type", INTOTO_URI);
	json_out_close(to, '}');
	buf_addf(&host, "urn:deedlog:machine:%s", c->host);
	json_out_open(to, "monitoredProcess", '{');
	json_out_cstr(to, "hostID", buf_str(&host));
	json_out_cstr(to, "type", INTOTO_URI);
	json_out_cstr(to, "event", c->sha);
	json_out_close(to, '}');
}

static void put_subject(struct buf *to, const char *sha)
{
	json_out_open(to, "subject", '[');
	json_out_open(to, NULL, '{');
	json_out_open(to, "digest", '{');
	json_out_cstr(to, "gitCommit", sha);
	json_out_close(to, '}');
	json_out_close(to, '}');
	json_out_close(to, ']');
}

void intoto_statement(const struct intoto_commit *c, struct buf *to)
{
	_cleanup_(lists_done) struct lists l = { 0 };

	for (size_t i = 0; i < c->n_runs; i++)
		add_run(&l, c->runs[i].s);
	json_out_open(to, NULL, '{');
	json_out_cstr(to, "_type", "https://in-toto.io/Statement/v1");
	put_subject(to, c->sha);
	json_out_cstr(to, "predicateType", INTOTO_PREDICATE);
	json_out_open(to, "predicate", '{');
	put_monitor(to, c);
	json_out_open(to, "monitorLog", '{');
	put_list(to, "process", &l.process);
	put_list(to, "network", &l.network);
	put_list(to, "fileAccess", &l.files);
	json_out_close(to, '}');
	put_runs(to, c, &l);
	json_out_close(to, '}');
	json_out_close(to, '}');
}
