/* SPDX-License-Identifier: MIT */
/*
 * The fold of fold.h. Holds at most one write, with its path copied, until an
 * event comes that is not a further write of the same process to the same
 * object.
 */
#include "fold.h"

#include "base/alloc.h"
#include "base/buf.h"

struct fold {
	event_fn out;
	void *arg;
	struct event held; /* kind WRITE; held.path points into `path` */
	bool holds;
	struct buf path;
};

struct fold *fold_new(event_fn out, void *arg)
{
	struct fold *f = xcalloc(1, sizeof(*f));

	f->out = out;
	f->arg = arg;
	return f;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	fold_flush(f);
	buf_done(&f->path);
	free(f);
}

void fold_flush(struct fold *f)
{
	if (f->holds)
		f->out(&f->held, f->arg);
	f->holds = false;
}

static bool same_object(const struct object *a, const struct object *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->gen == b->gen;
}

static bool same_path(const struct event *a, const struct event *b)
{
	return a->path.len == b->path.len && !memcmp(a->path.p, b->path.p, a->path.len);
}

/* A path that only one of them has says nothing against them being one file. */
static bool continues(const struct fold *f, const struct event *e)
{
	uint64_t flags = EF(MAPPED) | EF(UNPROVEN) | EF(CUT) | EF(UNREACHABLE);
	uint64_t where = e->have & f->held.have & EF(PATH);

	return f->holds && e->kind == EV_WRITE && e->pid == f->held.pid &&
	       event_has(e, EF(INO)) && same_object(&e->obj, &f->held.obj) &&
	       (e->have & flags) == (f->held.have & flags) && (!where || same_path(e, &f->held));
}

static uint64_t ops_of(const struct event *e)
{
	return event_has(e, EF(OPS)) ? e->ops : 1;
}

static void hold_path(struct fold *f, const struct event *e)
{
	buf_reset(&f->path);
	buf_add(&f->path, e->path.p, e->path.len);
	f->held.path = (struct str){ buf_str(&f->path), f->path.len };
	f->held.have |= EF(PATH);
}

static void add(struct fold *f, const struct event *e)
{
	f->held.ops = ops_of(&f->held) + ops_of(e);
	f->held.have |= EF(OPS);
	f->held.bytes += e->bytes;
	if (!event_has(e, EF(BYTES)))
		f->held.have &= ~EF(BYTES); /* a sum with an unknown part is unknown */
	if (event_has(e, EF(PATH)) && !event_has(&f->held, EF(PATH)))
		hold_path(f, e);
}

void fold_event(struct fold *f, const struct event *e)
{
	if (continues(f, e)) {
		add(f, e);
		return;
	}
	fold_flush(f);
	if (e->kind != EV_WRITE || !event_has(e, EF(INO))) {
		f->out(e, f->arg);
		return;
	}
	f->held = *e;
	f->holds = true;
	if (event_has(e, EF(PATH)))
		hold_path(f, e);
}
