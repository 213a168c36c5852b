/* SPDX-License-Identifier: MIT */
/*
 * Ring records to events, see decode.h. A body is described by a row: its
 * size, where its slices stand, and the function that names its fields. The
 * bytes behind it must be exactly those of the slices.
 */
#include "decode.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cur.h"
#include "chain.h"
#include "name.h"
#include "peer.h"

#include <sys/stat.h>

#define MAX_SLICES 4
#define NOBODY 0xffffffffu /* owner or group that chown leaves alone */

union body {
	struct ev_head head;
	struct ev_task task;
	struct ev_file file;
	struct ev_name name;
	struct ev_net net;
	struct ev_exec exec;
	struct ev_part part;
};

struct lane { /* records of one CPU */
	uint64_t next, seen;
};

struct decoder {
	struct chains *chains;
	struct lane *lanes;
	size_t n_lanes;
	struct buf path, to, name, cwd, addr, text; /* bytes of the event handed out */
	struct buf argv, scripts;
};

/* One record taken apart. */
struct parts {
	union body body;
	struct slice slice[MAX_SLICES]; /* in the order of the body's row */
};

struct body_row {
	size_t size;
	size_t n_slices;
	size_t slices[MAX_SLICES]; /* offsets in the body */
	int (*fill)(struct decoder *d, const struct parts *p, struct event *e);
};

struct decoder *decoder_new(void)
{
	struct decoder *d = xcalloc(1, sizeof(*d));

	d->chains = chains_new();
	return d;
}

void decoder_free(struct decoder *d)
{
	struct buf *bufs[] = { &d->path, &d->to,   &d->name, &d->cwd,
			       &d->addr, &d->text, &d->argv, &d->scripts };

	if (!d)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(bufs); i++)
		buf_done(bufs[i]);
	chains_free(d->chains);
	free(d->lanes);
	free(d);
}

/* ---- sequence numbers: a program may be overtaken on its CPU, so holes are
 * what is below the highest number and never came ------------------------- */

static void saw(struct decoder *d, const struct ev_head *h)
{
	struct lane *lane;

	if (h->cpu >= d->n_lanes) {
		size_t n = (size_t)h->cpu + 1;

		d->lanes = xrealloc(d->lanes, n, sizeof(*d->lanes));
		memset(d->lanes + d->n_lanes, 0, (n - d->n_lanes) * sizeof(*d->lanes));
		d->n_lanes = n;
	}
	lane = &d->lanes[h->cpu];
	lane->seen++;
	lane->next = MAX(lane->next, h->seq + 1);
}

uint64_t decoder_holes(const struct decoder *d)
{
	uint64_t holes = 0;

	for (size_t i = 0; i < d->n_lanes; i++)
		holes += d->lanes[i].next - MIN(d->lanes[i].seen, d->lanes[i].next);
	return holes;
}

/* ---- fields that several bodies share ------------------------------------- */

static struct str text_of(const struct buf *b)
{
	return (struct str){ buf_str(b), b->len };
}

static void set_object(const struct ev_object *o, struct object *to, uint64_t fields,
		       struct event *e)
{
	*to = (struct object){ .ino = o->ino, .dev = o->dev, .gen = o->gen };
	if (o->ino)
		e->have |= fields;
}

/* Composes a name out of a directory and what the caller gave below it. */
static int set_name(const struct slice *dir, const struct slice *tail, struct buf *store,
		    struct str *to, uint64_t field, struct event *e)
{
	uint16_t flags = dir->flags | (tail ? tail->flags : 0);
	int r;

	buf_reset(store);
	r = name_join(dir, tail, store);
	if (r <= 0)
		return r;
	*to = text_of(store);
	e->have |= field;
	if (flags & EV_S_CUT)
		e->have |= EF(CUT);
	if (flags & EV_S_UNREACHABLE)
		e->have |= EF(UNREACHABLE);
	return 0;
}

static void set_text(const struct slice *s, struct buf *store, struct str *to, uint64_t field,
		     struct event *e)
{
	buf_reset(store);
	buf_add(store, s->bytes.at, cur_left(&s->bytes));
	*to = text_of(store);
	e->have |= field;
}

/* ---- one function a body --------------------------------------------------- */

static int fill_task(struct decoder *d, const struct parts *p, struct event *e)
{
	uint32_t status = (uint32_t)p->body.task.status;
	uint32_t killer = status & 0x7f;

	e->child = p->body.task.child;
	e->signal = killer;
	e->code = status >> 8 & 0xff;
	buf_reset(&d->text);
	buf_addu64(&d->text, p->body.task.cgroup);
	e->cgroup = text_of(&d->text);
	e->have |= EF(CHILD) | EF(CGROUP) | (killer ? EF(SIGNAL) : EF(CODE));
	if (e->kind == EV_EXIT)
		chains_drop(d->chains, e->pid);
	return 0;
}

static int fill_file(struct decoder *d, const struct parts *p, struct event *e)
{
	const struct ev_file *f = &p->body.file;

	set_object(&f->obj, &e->obj, EF(DEV) | EF(INO) | EF(GEN), e);
	e->ops = 1;
	e->bytes = f->bytes;
	e->access = f->access & 3;
	e->have |= EF(OPS);
	if (e->access)
		e->have |= EF(ACCESS);
	if (f->head.flags & EV_F_BYTES)
		e->have |= EF(BYTES) | EF(SIZE);
	return set_name(&p->slice[0], &p->slice[1], &d->path, &e->path, EF(PATH), e);
}

static void set_owner(const struct ev_name *n, struct event *e)
{
	e->owner = n->owner;
	e->group = n->group;
	if (n->owner != NOBODY)
		e->have |= EF(OWNER);
	if (n->group != NOBODY)
		e->have |= EF(GROUP);
}

static void set_mode(const struct ev_name *n, struct event *e)
{
	/* a rename tells what kind of thing moved, the others which bits were set */
	e->mode = e->kind == EV_RENAME ? n->obj.mode : n->mode;
	e->rdev = n->rdev;
	if (e->mode || e->kind != EV_RENAME)
		e->have |= EF(MODE);
	if (S_ISCHR(n->mode) || S_ISBLK(n->mode))
		e->have |= EF(RDEV);
}

static int fill_name(struct decoder *d, const struct parts *p, struct event *e)
{
	const struct ev_name *n = &p->body.name;
	int r;

	set_object(&n->obj, &e->obj, EF(DEV) | EF(INO) | EF(GEN), e);
	set_object(&n->over, &e->over, EF(OVER_DEV) | EF(OVER_INO) | EF(OVER_GEN), e);
	set_mode(n, e);
	set_owner(n, e);
	r = set_name(&p->slice[0], &p->slice[1], &d->path, &e->path, EF(PATH), e);
	if (r < 0)
		return r;
	if (e->kind == EV_SYMLINK) {
		/* the text of a link is no path of ours: taken as it is */
		set_text(&p->slice[3], &d->to, &e->to, EF(TARGET), e);
		return 0;
	}
	return set_name(&p->slice[2], &p->slice[3], &d->to, &e->to, EF(TO), e);
}

static int fill_net(struct decoder *d, const struct parts *p, struct event *e)
{
	const struct ev_net *n = &p->body.net;
	struct peer peer = { .family = n->family, .type = n->type, .protocol = n->protocol };
	int r;

	buf_reset(&d->addr);
	buf_reset(&d->text);
	r = peer_parse(&peer, p->slice[0].bytes, &d->text, &d->addr);
	if (r < 0)
		return r;
	e->proto = text_of(&d->text);
	e->addr = text_of(&d->addr);
	e->port = peer.port;
	e->have |= EF(PROTO) | (peer.has_addr ? EF(ADDR) : 0) | (peer.has_port ? EF(PORT) : 0);
	return 0;
}

static int fill_exec(struct decoder *d, const struct parts *p, struct event *e)
{
	const struct ev_exec *x = &p->body.exec;
	int r;

	e->uid = x->uid;
	set_object(&x->obj, &e->obj, EF(DEV) | EF(INO) | EF(GEN), e);
	e->have |= EF(UID) | EF(ARGV) | EF(SCRIPTS);
	if (!x->obj.nlink && x->obj.ino)
		e->have |= EF(FILELESS);
	set_text(&p->slice[1], &d->name, &e->name, EF(NAME), e);
	r = set_name(&p->slice[0], NULL, &d->path, &e->path, EF(PATH), e);
	if (!r)
		r = set_name(&p->slice[2], NULL, &d->cwd, &e->cwd, EF(CWD), e);
	if (r < 0)
		return r;
	buf_reset(&d->argv);
	buf_reset(&d->scripts);
	chains_take(d->chains, &x->head, e, &d->argv, &d->scripts);
	e->argv = text_of(&d->argv);
	e->scripts = text_of(&d->scripts);
	if (!e->scripts.len)
		e->have &= ~EF(SCRIPTS);
	if (e->argv.len < x->argv_bytes)
		e->have |= EF(CUT);
	return 0;
}

static int fill_part(struct decoder *d, const struct parts *p, struct event *e)
{
	(void)e; /* a part is no event */
	return chains_add(d->chains, &p->body.part, &p->slice[0]);
}

#define AT(type, member) offsetof(struct type, member)

static const struct body_row row_task = { sizeof(struct ev_task), 0, { 0 }, fill_task };
static const struct body_row row_file = {
	sizeof(struct ev_file), 2, { AT(ev_file, path), AT(ev_file, tail) }, fill_file
};
static const struct body_row row_name = {
	sizeof(struct ev_name), 4,
	{ AT(ev_name, path), AT(ev_name, tail), AT(ev_name, to), AT(ev_name, to_tail) }, fill_name
};
static const struct body_row row_net = {
	sizeof(struct ev_net), 1, { AT(ev_net, addr) }, fill_net
};
static const struct body_row row_exec = {
	sizeof(struct ev_exec), 3,
	{ AT(ev_exec, path), AT(ev_exec, name), AT(ev_exec, cwd) }, fill_exec
};
static const struct body_row row_part = {
	sizeof(struct ev_part), 1, { AT(ev_part, bytes) }, fill_part
};

#define ROW_TASK &row_task
#define ROW_FILE &row_file
#define ROW_NAME &row_name
#define ROW_NET &row_net
#define ROW_EXEC &row_exec
#define ROW_NONE NULL /* never on the ring */
#define EV(NAME, word, class, body, fields) [EV_##NAME] = ROW_##body,
static const struct body_row *const rows[] = {
#include "schemas/event.def"
	[EV_PART] = &row_part,
};
#undef EV

/* Flags of the head that are fields of the event. */
static const struct {
	uint8_t wire;
	uint64_t field;
} head_flags[] = {
	{ EV_F_UNPROVEN, EF(UNPROVEN) }, { EV_F_MAPPED, EF(MAPPED) },
	{ EV_F_CREATED, EF(CREATED) },	 { EV_F_EXCHANGE, EF(EXCHANGE) },
	{ EV_F_WHITEOUT, EF(WHITEOUT) }, { EV_F_FILELESS, EF(FILELESS) },
};

static int take_slices(const struct body_row *row, struct cur *c, struct parts *p)
{
	for (size_t i = 0; i < row->n_slices; i++) {
		const struct ev_slice *s = (const void *)((char *)&p->body + row->slices[i]);

		p->slice[i].flags = s->flags;
		if (cur_take(c, s->len, &p->slice[i].bytes) < 0)
			return -EBADMSG;
	}
	return cur_end(c);
}

static void set_head(const struct ev_head *h, struct event *e)
{
	*e = (struct event){
		.kind = h->kind, .boot_ns = h->boot_ns, .pid = h->pid, .have = EF(PID),
	};
	for (size_t i = 0; i < ARRAY_SIZE(head_flags); i++)
		if (h->flags & head_flags[i].wire)
			e->have |= head_flags[i].field;
}

int decoder_record(struct decoder *d, const void *rec, size_t len, struct event *ret)
{
	struct parts p = { 0 };
	struct cur c = cur_of(rec, len), peek = c;
	const struct body_row *row;
	struct event e;
	int r;

	r = cur_copy(&peek, &p.body.head, sizeof(p.body.head));
	if (r < 0)
		return r;
	saw(d, &p.body.head);
	row = rows[p.body.head.kind];
	if (!row || cur_copy(&c, &p.body, row->size) < 0)
		return -EBADMSG;
	r = take_slices(row, &c, &p);
	if (r < 0)
		return r;
	set_head(&p.body.head, &e);
	r = row->fill(d, &p, &e);
	if (r < 0 || p.body.head.kind == EV_PART)
		return r;
	e.have &= event_kinds[e.kind].fields;
	*ret = e;
	return 1;
}
