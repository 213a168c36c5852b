/* SPDX-License-Identifier: MIT */
/*
 * Object -> name -> parent name, see pathtab.h. A name is found by (parent,
 * bytes) while it is the living one at its place; taken out of the hash it
 * still serves the objects and names that point to it. Names are counted by
 * their pointers and go with the last one.
 */
#include "pathtab.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cur.h"

#include <sys/random.h>

#define BUCKETS (1u << 16)
#define MARKS	(EF(UNPROVEN) | EF(CUT) | EF(UNREACHABLE))

struct name {
	struct name *parent, *next; /* next: in the bucket */
	uint64_t marks;		    /* of MARKS, for all below too */
	uint32_t hash, refs;	    /* refs: children, entries, callers */
	bool living;		    /* in the hash */
	uint16_t len;
	char *text;
};

struct entry {
	struct object obj;
	struct entry *next;	    /* in the bucket */
	struct entry *older, *newer; /* by use */
	struct name *name, *alt;    /* alt: second name of a hard link, or NULL */
};

struct pathtab {
	struct name *names[BUCKETS];
	struct entry *entries[BUCKETS];
	struct entry *oldest, *newest;
	size_t n_entries, bytes, max_objects, max_bytes;
	uint64_t evicted;
	uint32_t seed; /* so that nobody can aim at one bucket */
	struct buf path;
};

/* ---- names ---- */

static uint32_t hash_bytes(uint32_t h, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n--)
		h = (h ^ *at++) * 16777619u;
	return h;
}

static uint32_t name_hash(const struct pathtab *t, const struct name *parent, struct cur part)
{
	uint32_t h = hash_bytes(t->seed, &parent, sizeof(parent));

	h = hash_bytes(h, part.at, cur_left(&part));
	return h ^ h >> 16;
}

static struct name **name_slot(struct pathtab *t, const struct name *n)
{
	struct name **slot = &t->names[n->hash % BUCKETS];

	while (*slot != n)
		slot = &(*slot)->next;
	return slot;
}

static void name_hide(struct pathtab *t, struct name *n)
{
	if (n && n->living) {
		*name_slot(t, n) = n->next;
		n->living = false;
	}
}

static void name_show(struct pathtab *t, struct name *n)
{
	struct name **slot = &t->names[n->hash % BUCKETS];

	n->next = *slot;
	*slot = n;
	n->living = true;
}

static void name_drop(struct pathtab *t, struct name *n)
{
	while (n && !--n->refs) {
		struct name *parent = n->parent;

		name_hide(t, n);
		t->bytes -= sizeof(*n) + n->len;
		free(n->text);
		free(n);
		n = parent;
	}
}

static struct name *name_keep(struct name *n)
{
	if (n)
		n->refs++;
	return n;
}

static struct name *name_find(struct pathtab *t, const struct name *parent, struct cur part)
{
	uint32_t h = name_hash(t, parent, part);
	struct name *n = t->names[h % BUCKETS];

	for (; n; n = n->next)
		if (n->hash == h && n->parent == parent && n->len == cur_left(&part) &&
		    !memcmp(n->text, part.at, n->len))
			return n;
	return NULL;
}

/* Takes the caller's count of parent, returns one of the new name. */
static struct name *name_add(struct pathtab *t, struct name *parent, struct cur part)
{
	struct name *n = xcalloc(1, sizeof(*n));

	n->parent = parent;
	n->refs = 1;
	n->len = (uint16_t)cur_left(&part);
	n->text = xmemdup(part.at, n->len);
	n->hash = name_hash(t, parent, part);
	t->bytes += sizeof(*n) + n->len;
	name_show(t, n);
	return n;
}

/* The next part and its slash; an absolute path begins with an empty part. */
static bool next_part(struct cur *path, struct cur *ret_part)
{
	if (!path->at)
		return false;
	if (cur_until(path, '/', ret_part) == 0)
		return true;
	*ret_part = *path;
	path->at = NULL;
	return true;
}

static struct name *path_find(struct pathtab *t, struct cur path)
{
	struct name *n = NULL;
	struct cur part;

	while (next_part(&path, &part)) {
		n = name_find(t, n, part);
		if (!n)
			return NULL;
	}
	return n;
}

/*
 * The living name of part. A name that the kernel gave never shares one that
 * came from user memory: what a forged rename moved there keeps its mark.
 */
static struct name *name_make(struct pathtab *t, struct name *parent, struct cur part,
			      bool proven)
{
	struct name *n = name_find(t, parent, part);

	if (n && proven && n->marks & EF(UNPROVEN)) {
		name_hide(t, n);
		n = NULL;
	}
	if (!n)
		return name_add(t, parent, part);
	name_keep(n);
	name_drop(t, parent); /* the child holds it */
	return n;
}

/* Returns a count that the caller drops; NULL for a path that is not kept. */
static struct name *path_make(struct pathtab *t, struct str text, bool proven)
{
	struct cur path = cur_of(text.p, text.len), part;
	struct name *n = NULL;

	if (text.len > MAX_PATHTAB_PATH)
		t->evicted++;
	if (!text.len || text.len > MAX_PATHTAB_PATH)
		return NULL;
	while (next_part(&path, &part))
		n = name_make(t, n, part, proven);
	return n;
}

/* Returns the marks. A path that grew beyond the limit by moves loses its root side. */
static uint64_t name_path(const struct name *leaf, struct buf *to)
{
	const struct name *top = leaf;
	size_t len = leaf->len;
	uint64_t marks = leaf->marks;
	char *end;

	for (; top->parent && len <= MAX_PATHTAB_PATH; top = top->parent) {
		len += top->parent->len + 1u;
		marks |= top->parent->marks;
	}
	buf_reset(to);
	end = buf_grow(to, len) + len;
	for (const struct name *n = leaf;; n = n->parent) {
		end -= n->len;
		memcpy(end, n->text, n->len);
		if (n == top)
			break;
		*--end = '/';
	}
	buf_cut(to, len);
	return marks | (top->parent ? EF(CUT) : 0);
}

/*
 * Nothing moves below itself: no kernel does that, a forged name may ask for
 * it. Trees deeper than any path are taken as if they did.
 */
static bool is_below(const struct name *n, const struct name *top)
{
	for (size_t depth = 0; n; n = n->parent)
		if (n == top || ++depth > MAX_PATHTAB_PATH)
			return true;
	return false;
}

static void name_place(struct pathtab *t, struct name *n, const struct name *at)
{
	struct name *parent = n->parent;
	char *text = n->text;

	name_hide(t, n);
	t->bytes += at->len - (size_t)n->len;
	n->parent = name_keep(at->parent);
	n->text = xmemdup(at->text, at->len);
	n->len = at->len;
	n->hash = at->hash;
	name_show(t, n);
	free(text);
	name_drop(t, parent);
}

/* What was at `to` keeps its name, but is the living one no more. */
static void name_move(struct pathtab *t, struct name *from, struct name *to)
{
	if (from == to || is_below(to, from))
		return;
	name_hide(t, to);
	name_place(t, from, to);
}

static void name_exchange(struct pathtab *t, struct name *one, struct name *two)
{
	struct name was = *one;

	if (one == two || is_below(one, two) || is_below(two, one))
		return;
	was.text = xmemdup(one->text, one->len);
	name_keep(was.parent);
	name_place(t, one, two);
	name_place(t, two, &was);
	name_drop(t, was.parent);
	free(was.text);
}

/* ---- objects ---- */

static struct entry **entry_slot(struct pathtab *t, const struct object *o)
{
	uint32_t h = hash_bytes(t->seed, o, sizeof(*o));
	struct entry **slot = &t->entries[(h ^ h >> 16) % BUCKETS];

	while (*slot && memcmp(&(*slot)->obj, o, sizeof(*o)))
		slot = &(*slot)->next;
	return slot;
}
_Static_assert(sizeof(struct object) == 16, "no padding: compared as bytes");

static void use_unlink(struct pathtab *t, struct entry *e)
{
	*(e->older ? &e->older->newer : &t->oldest) = e->newer;
	*(e->newer ? &e->newer->older : &t->newest) = e->older;
}

static void use_newest(struct pathtab *t, struct entry *e)
{
	e->older = t->newest;
	e->newer = NULL;
	*(t->newest ? &t->newest->newer : &t->oldest) = e;
	t->newest = e;
}

static void entry_drop(struct pathtab *t, struct entry *e)
{
	*entry_slot(t, &e->obj) = e->next;
	use_unlink(t, e);
	name_drop(t, e->name);
	name_drop(t, e->alt);
	t->n_entries--;
	free(e);
}

static struct entry *entry_find(struct pathtab *t, const struct object *o)
{
	struct entry *e = *entry_slot(t, o);

	if (e) {
		use_unlink(t, e);
		use_newest(t, e);
	}
	return e;
}

static struct entry *entry_make(struct pathtab *t, const struct object *o)
{
	struct entry *e = entry_find(t, o), **slot;

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->obj = *o;
	slot = entry_slot(t, o);
	*slot = e;
	use_newest(t, e);
	t->n_entries++;
	return e;
}

/* Takes the count of name. */
static void entry_name(struct pathtab *t, const struct object *o, struct name *name)
{
	struct entry *e = entry_make(t, o);

	name_drop(t, e->name);
	name_drop(t, e->alt);
	e->name = name;
	e->alt = NULL;
}

static void shrink(struct pathtab *t)
{
	while (t->oldest && (t->n_entries > t->max_objects || t->bytes > t->max_bytes)) {
		entry_drop(t, t->oldest);
		t->evicted++;
	}
}

/* ---- events ---- */

static bool has_object(const struct event *e)
{
	return event_has(e, EF(DEV) | EF(INO)) && e->obj.ino;
}

static bool is_proven(const struct event *e)
{
	return !event_has(e, EF(UNPROVEN));
}

/* A name from user memory never replaces one that the kernel gave. */
static void learn_path(struct pathtab *t, const struct event *e, struct str path)
{
	struct name *n;

	if (!has_object(e) || (!is_proven(e) && entry_find(t, &e->obj)))
		return;
	n = path_make(t, path, is_proven(e));
	if (!n)
		return;
	n->marks |= e->have & MARKS;
	entry_name(t, &e->obj, n);
}

static void on_path(struct pathtab *t, const struct event *e)
{
	if (event_has(e, EF(PATH)))
		learn_path(t, e, e->path);
}

/* The object keeps its name, or takes the hard link that was seen. */
static void on_unlink(struct pathtab *t, const struct event *e)
{
	struct entry *of = has_object(e) ? entry_find(t, &e->obj) : NULL;
	struct name *n;

	if (!of)
		on_path(t, e);
	n = event_has(e, EF(PATH)) ? path_find(t, cur_of(e->path.p, e->path.len)) : NULL;
	name_hide(t, n);
	if (!of || !of->alt || !n)
		return;
	if (of->name == n) {
		name_drop(t, of->name);
		of->name = TAKE_PTR(of->alt);
	} else if (of->alt == n) {
		name_drop(t, TAKE_PTR(of->alt));
	}
}

static void on_link(struct pathtab *t, const struct event *e)
{
	struct entry *of;

	if (!has_object(e) || !event_has(e, EF(TO)))
		return;
	on_path(t, e);
	of = entry_find(t, &e->obj);
	if (!of)
		return;
	name_drop(t, of->alt);
	of->alt = path_make(t, e->to, is_proven(e));
}

static void rename_names(struct pathtab *t, const struct event *e, struct name *from,
			 struct name *to)
{
	struct object over = e->over;

	if (event_has(e, EF(EXCHANGE)))
		name_exchange(t, from, to);
	else
		name_move(t, from, to);
	from->marks |= e->have & EF(UNPROVEN);
	if (has_object(e))
		entry_name(t, &e->obj, name_keep(from));
	if (event_has(e, EF(OVER_DEV) | EF(OVER_INO)) && over.ino)
		entry_name(t, &over, name_keep(to));
}

static void on_rename(struct pathtab *t, const struct event *e)
{
	struct name *from, *to;

	if (!event_has(e, EF(PATH) | EF(TO)))
		return;
	from = path_make(t, e->path, is_proven(e));
	to = path_make(t, e->to, is_proven(e));
	if (from && to)
		rename_names(t, e, from, to);
	name_drop(t, from);
	name_drop(t, to);
}

typedef void (*learn_fn)(struct pathtab *t, const struct event *e);

static const learn_fn learners[EV_COUNT] = {
	[EV_UNLINK] = on_unlink,
	[EV_RMDIR] = on_unlink,
	[EV_LINK] = on_link,
	[EV_RENAME] = on_rename,
};

static int fill(struct pathtab *t, struct event *e)
{
	const struct entry *of = entry_find(t, &e->obj);

	if (!of)
		return -ENOENT;
	e->have |= EF(PATH) | name_path(of->name, &t->path);
	e->path = (struct str){ buf_str(&t->path), t->path.len };
	return 1;
}

int pathtab_event(struct pathtab *t, struct event *e)
{
	learn_fn learn = learners[e->kind] ? learners[e->kind] : on_path;

	learn(t, e);
	shrink(t);
	return has_object(e) && !event_has(e, EF(PATH)) ? fill(t, e) : 0;
}

uint64_t pathtab_evicted(const struct pathtab *t)
{
	return t->evicted;
}

struct pathtab *pathtab_new(size_t max_objects, size_t max_bytes)
{
	struct pathtab *t = xcalloc(1, sizeof(*t));

	t->max_objects = max_objects ? max_objects : MAX_PATHTAB_OBJECTS;
	t->max_bytes = max_bytes ? max_bytes : MAX_PATHTAB_BYTES;
	/* without random bytes the table is only slower under attack */
	(void)!getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK);
	return t;
}

void pathtab_free(struct pathtab *t)
{
	if (!t)
		return;
	while (t->oldest)
		entry_drop(t, t->oldest);
	buf_done(&t->path);
	free(t);
}
