/* SPDX-License-Identifier: MIT */
/* Paths out of slices, see name.h. */
#include "name.h"

#include "schemas/event.h"

static bool has_nul(const struct cur *c)
{
	return cur_left(c) && memchr(c->at, '\0', cur_left(c));
}

static int next_component(struct cur *c, struct cur *ret)
{
	uint8_t n;

	if (cur_u8(c, &n) < 0 || !n || cur_take(c, n, ret) < 0)
		return -EBADMSG;
	return has_nul(ret) ? -EBADMSG : 0;
}

/* A length byte and its name take the room of a slash and that name: filled from the end. */
static int turn_round(struct cur c, bool cut, struct buf *to)
{
	size_t len = cur_left(&c), at = len, from = to->len;
	char *text = buf_grow(to, len);
	struct cur name;

	while (cur_left(&c)) {
		if (next_component(&c, &name) < 0)
			return -EBADMSG;
		at -= cur_left(&name);
		memcpy(text + at, name.at, cur_left(&name));
		text[--at] = '/';
	}
	to->len += len;
	text[len] = '\0';
	if (cut && len) {
		memmove(to->data + from, to->data + from + 1, len); /* the NUL moves along */
		to->len--;
	}
	return 0;
}

static int add_dir(const struct slice *s, struct buf *to)
{
	if (s->flags & EV_S_LEAF_FIRST)
		return turn_round(s->bytes, s->flags & EV_S_CUT, to);
	if (has_nul(&s->bytes))
		return -EBADMSG;
	buf_add(to, s->bytes.at, cur_left(&s->bytes));
	return 0;
}

/* A path under construction: what stands before `from` in the buffer is not ours. */
struct path {
	struct buf *to;
	size_t from;
	bool rooted;
};

static void up(const struct path *p)
{
	struct buf *to = p->to;

	while (to->len > p->from && to->data[to->len - 1] != '/')
		buf_cut(to, to->len - 1);
	if (to->len > p->from)
		buf_cut(to, to->len - 1);
}

static void step(const struct path *p, const struct cur *name)
{
	if (!cur_left(name) || cur_is(name, "."))
		return;
	if (cur_is(name, "..")) {
		up(p);
		return;
	}
	if (p->rooted || p->to->len > p->from)
		buf_addch(p->to, '/');
	buf_add(p->to, name->at, cur_left(name));
}

static void walk(const struct path *p, struct cur tail)
{
	struct cur name;

	while (cur_left(&tail)) {
		if (cur_until(&tail, '/', &name) < 0)
			(void)cur_take(&tail, cur_left(&tail), &name); /* all that is left */
		step(p, &name);
	}
	if (p->rooted && p->to->len == p->from)
		buf_addch(p->to, '/');
}

static bool is_empty(const struct slice *s)
{
	return !s || !cur_left(&s->bytes);
}

/* The root directory has no components: then the flag alone says that it was sent. */
static bool starts_at_root(const struct slice *dir, const struct slice *tail)
{
	if (dir->flags & EV_S_LEAF_FIRST)
		return !(dir->flags & EV_S_CUT);
	return cur_starts(is_empty(dir) && tail ? &tail->bytes : &dir->bytes, "/");
}

int name_join(const struct slice *dir, const struct slice *tail, struct buf *to)
{
	struct path p = { .to = to, .from = to->len };
	int r;

	if (is_empty(dir) && is_empty(tail) && !(dir->flags & EV_S_LEAF_FIRST))
		return 0;
	if (tail && has_nul(&tail->bytes))
		return -EBADMSG;
	p.rooted = starts_at_root(dir, tail);
	r = add_dir(dir, to);
	if (r < 0)
		return r;
	if (to->len == p.from + 1 && p.rooted)
		buf_cut(to, p.from); /* a directory "/" as string: the slash comes with the name */
	walk(&p, tail ? tail->bytes : cur_of("", 0));
	return 1;
}

void name_below(struct buf *to, struct cur tail)
{
	bool absolute = cur_starts(&tail, "/");
	struct path p = { .to = to, .from = 0, .rooted = absolute };

	if (absolute)
		buf_reset(to);
	else
		p.rooted = to->len && to->data[0] == '/';
	if (to->len == 1 && p.rooted)
		buf_reset(to);
	walk(&p, tail);
}
