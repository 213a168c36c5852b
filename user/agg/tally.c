/* SPDX-License-Identifier: MIT */
/* Deeds on files, by name and by object, see tally.h. */
#include "tally.h"

#include "base/alloc.h"
#include "base/cur.h"

#include <sys/stat.h>

#define NAME_KEY_ROOM (sizeof(uint32_t) + MAX_TALLY_PATH)

struct name_key {
	uint8_t bytes[NAME_KEY_ROOM];
	size_t len;
};

/* ---- files and their names ------------------------------------------------ */

static bool has_room(struct tally *t, size_t bytes)
{
	if (t->n < MAX_TALLY_NAMES && t->bytes + bytes <= MAX_TALLY_BYTES)
		return true;
	t->overflow++;
	return false;
}

static struct file *add_file(struct tally *t, struct file *parent, const void *name, size_t len)
{
	struct file *f;

	if (!has_room(t, len))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->parent = parent;
	f->name = xmemdup(name, len);
	f->len = len;
	f->id = (uint32_t)t->n;
	t->bytes += len;
	if (t->n == t->cap) {
		t->cap = t->cap * 2 + 64;
		t->files = xrealloc(t->files, t->cap, sizeof(struct file *));
	}
	t->files[t->n++] = f;
	return f;
}

void tally_init(struct tally *t)
{
	*t = (struct tally){ 0 };
	t->root = add_file(t, NULL, "", 0);
	t->loose = add_file(t, NULL, "", 0);
}

void tally_done(struct tally *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free((void *)t->files[i]->from.p);
		free(t->files[i]->name);
		free(t->files[i]);
	}
	free(t->files);
	map_done(&t->names);
	map_done(&t->objects);
	*t = (struct tally){ 0 };
}

static void set_key(struct name_key *k, const struct file *parent, const void *name, size_t len)
{
	memcpy(k->bytes, &parent->id, sizeof(parent->id));
	memcpy(k->bytes + sizeof(parent->id), name, len); /* len <= MAX_TALLY_PATH: part of a path */
	k->len = sizeof(parent->id) + len;
}

static struct file *child(struct tally *t, struct file *parent, const struct cur *name, bool make)
{
	struct name_key k;
	struct file *f;

	set_key(&k, parent, name->at, cur_left(name));
	f = map_get(&t->names, k.bytes, k.len);
	if (f || !make)
		return f;
	f = add_file(t, parent, name->at, cur_left(name));
	if (!f)
		return NULL;
	*map_slot(&t->names, k.bytes, k.len) = f;
	parent->below++;
	return f;
}

/* The file of that name; NULL: not known, or no room to make it. */
static struct file *lookup(struct tally *t, struct str path, bool make)
{
	struct cur left = cur_of(path.p, path.len), name;
	struct file *f = cur_starts(&left, "/") ? t->root : t->loose;

	if (path.len > MAX_TALLY_PATH) {
		t->overflow += make;
		return NULL;
	}
	while (f && cur_left(&left)) {
		if (cur_until(&left, '/', &name) < 0)
			(void)cur_take(&left, cur_left(&left), &name); /* all that is left */
		if (cur_left(&name))
			f = child(t, f, &name, make);
	}
	return f;
}

void tally_path(const struct tally *t, const struct file *f, struct buf *to)
{
	const struct file *way[MAX_TALLY_DEPTH];
	size_t n = 0;

	for (; f->parent && n < MAX_TALLY_DEPTH; f = f->parent)
		way[n++] = f;
	if (f == t->root && !n)
		buf_addch(to, '/');
	for (size_t i = n; i--;) {
		if (f == t->root || i + 1 < n)
			buf_addch(to, '/');
		buf_add(to, way[i]->name, way[i]->len);
	}
}

/* ---- objects --------------------------------------------------------------- */

/* What stands for f now; the way is shortened, so that long chains stay cheap. */
static struct file *now(struct file *f)
{
	struct file *last = f;

	while (last->into)
		last = last->into;
	while (f->into) {
		struct file *next = f->into;

		f->into = last;
		f = next;
	}
	return last;
}

static struct file *by_object(struct tally *t, const struct object *o)
{
	struct file *f = o->ino ? map_get(&t->objects, o, sizeof(*o)) : NULL;

	return f ? now(f) : NULL;
}

/* A name that lives keeps its object: the second name of a file is an alias of the first. */
static void bind(struct tally *t, struct file *f, const struct object *o)
{
	struct file **at;

	if (!o->ino)
		return;
	at = (struct file **)map_slot(&t->objects, o, sizeof(*o));
	if (!*at || now(*at)->deeds & DEED_GONE)
		*at = f;
	if (*at == f)
		f->obj = *o;
}

static struct object object_of(const struct event *e)
{
	return event_has(e, EF(INO)) ? e->obj : (struct object){ 0 };
}

/* The one that an event on content means: its name if known, else its object. */
static struct file *file_of(struct tally *t, const struct event *e)
{
	struct object o = object_of(e);
	struct file *named = event_has(e, EF(PATH)) ? lookup(t, e->path, false) : NULL;
	struct file *f = named && named->deeds & DEED_KNOWN ? named : by_object(t, &o);

	if (f && f != named && f->deeds & DEED_GONE && event_has(e, EF(PATH)))
		f = NULL; /* the number of a removed file is in use again */
	if (!f && event_has(e, EF(PATH)))
		f = lookup(t, e->path, true);
	else if (!f)
		f = add_file(t, NULL, "", 0);
	if (f)
		bind(t, f, &o);
	return f;
}

/* The one that an event on a name means: that name and no other. */
static struct file *name_of(struct tally *t, const struct event *e)
{
	struct object o = object_of(e);
	struct file *f;

	if (!event_has(e, EF(PATH)))
		return file_of(t, e);
	f = lookup(t, e->path, true);
	if (f)
		bind(t, f, &o);
	return f;
}

/* ---- deeds ------------------------------------------------------------------ */

static void on_read(struct tally *t, const struct event *e)
{
	struct file *f = file_of(t, e);

	if (f)
		f->deeds |= DEED_READ | DEED_KNOWN;
}

static void on_write(struct tally *t, const struct event *e)
{
	struct file *f = file_of(t, e);

	if (f)
		f->deeds |= DEED_WROTE | DEED_KNOWN;
}

/* A name comes into being: new if nothing says that it was there before. */
static void appear(struct file *f)
{
	if (!(f->deeds & DEED_KNOWN))
		f->deeds |= DEED_BORN;
	f->deeds |= DEED_WROTE | DEED_KNOWN;
	f->deeds &= ~(uint32_t)(DEED_GONE | DEED_MOVED);
}

static void on_create(struct tally *t, const struct event *e)
{
	struct file *f = name_of(t, e);

	if (!f)
		return;
	appear(f);
	if (e->kind == EV_MKDIR)
		f->deeds |= DEED_FOLDER;
}

static void on_open(struct tally *t, const struct event *e)
{
	struct file *f = event_has(e, EF(CREATED)) ? name_of(t, e) : file_of(t, e);

	if (!f)
		return;
	if (event_has(e, EF(CREATED)))
		appear(f);
	f->deeds |= DEED_KNOWN;
}

static void on_unlink(struct tally *t, const struct event *e)
{
	struct file *f = name_of(t, e);

	if (!f)
		return;
	f->deeds |= DEED_GONE | DEED_KNOWN;
	if (e->kind == EV_RMDIR)
		f->deeds |= DEED_FOLDER;
	if (f->heir)
		bind(t, now(f->heir), &f->obj);
}

static void on_link(struct tally *t, const struct event *e)
{
	struct file *f = name_of(t, e), *link;

	link = event_has(e, EF(TO)) ? lookup(t, e->to, true) : NULL;
	if (link)
		appear(link);
	if (!f)
		return;
	f->deeds |= DEED_KNOWN;
	f->heir = link == f ? NULL : link;
}

/* True if f stands on the way from the root to `at`, or the way is too long to tell. */
static bool is_above(const struct file *f, const struct file *at)
{
	size_t n = 0;

	for (; at; at = at->parent)
		if (at == f || ++n == MAX_TALLY_DEPTH)
			return true;
	return false;
}

static void unname(struct tally *t, const struct file *f)
{
	struct name_key k;

	set_key(&k, f->parent, f->name, f->len);
	map_remove(&t->names, k.bytes, k.len);
	f->parent->below--;
}

/* The name must be free; f takes over its bytes. */
static void rename_as(struct tally *t, struct file *f, struct file *parent, char *name, size_t len)
{
	struct name_key k;

	f->parent = parent;
	f->name = name;
	f->len = len;
	set_key(&k, parent, name, len);
	*map_slot(&t->names, k.bytes, k.len) = f;
	parent->below++;
}

static void swap_names(struct tally *t, struct file *a, struct file *b)
{
	struct file *parent = a->parent;
	char *name = a->name;
	size_t len = a->len;

	unname(t, a);
	unname(t, b);
	rename_as(t, a, b->parent, b->name, b->len);
	rename_as(t, b, parent, name, len);
}

/* A file that was there before the run left this name: a new one here is no new name. */
static void leave_ghost(struct tally *t, const struct event *e)
{
	struct file *ghost = lookup(t, e->path, true);

	if (ghost)
		ghost->deeds |= DEED_KNOWN | DEED_GONE | DEED_MOVED;
}

static void note_first_name(struct tally *t, struct file *f)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	if (f->deeds & (DEED_BORN | DEED_RENAMED))
		return;
	f->deeds |= DEED_RENAMED;
	tally_path(t, f, &path);
	if (t->bytes + path.len > MAX_TALLY_BYTES)
		return; /* that it was renamed is kept, its first name is not */
	f->from = (struct str){ xmemdup(buf_str(&path), path.len), path.len };
	t->bytes += path.len;
}

/* What stood at the new name is replaced: its deeds are now those of f. */
static void absorb(struct file *f, struct file *old, bool replaced)
{
	bool was_known = old->deeds & DEED_KNOWN;

	f->deeds |= old->deeds & DEED_READ;
	if (f->deeds & DEED_BORN && (was_known ? !(old->deeds & DEED_BORN) : replaced))
		f->deeds &= ~(uint32_t)DEED_BORN;
	old->into = f;
}

static void move(struct tally *t, struct file *f, struct file *to, const struct event *e)
{
	bool born = f->deeds & DEED_BORN;
	char *name = xmemdup(to->name, to->len);

	note_first_name(t, f);
	unname(t, f);
	unname(t, to);
	free(f->name);
	absorb(f, to, event_has(e, EF(OVER_INO)));
	rename_as(t, f, to->parent, name, to->len);
	if (!born && !(f->deeds & DEED_FOLDER))
		leave_ghost(t, e);
}

static bool is_folder(const struct file *f, const struct event *e)
{
	return f->below || (event_has(e, EF(MODE)) && S_ISDIR(e->mode));
}

static void on_rename(struct tally *t, const struct event *e)
{
	struct file *f = name_of(t, e);
	struct file *to = event_has(e, EF(TO)) ? lookup(t, e->to, true) : NULL;

	if (!f || !to || f == to || !f->parent || !to->parent)
		return;
	if (is_above(f, to) || is_above(to, f)) {
		t->overflow++; /* no kernel does that: names that do not add up */
		return;
	}
	f->deeds |= DEED_KNOWN | DEED_WROTE | (is_folder(f, e) ? DEED_FOLDER : 0);
	f->deeds &= ~(uint32_t)(DEED_GONE | DEED_MOVED);
	if (event_has(e, EF(EXCHANGE))) {
		to->deeds |= DEED_KNOWN | DEED_WROTE;
		swap_names(t, f, to);
		return;
	}
	move(t, f, to, e);
}

static void (*const handlers[EV_COUNT])(struct tally *t, const struct event *e) = {
	[EV_OPEN] = on_open,	 [EV_READ] = on_read,	   [EV_REPEAT] = on_read,
	[EV_WRITE] = on_write,	 [EV_TRUNCATE] = on_write, [EV_CREATE] = on_create,
	[EV_MKNOD] = on_create,	 [EV_SYMLINK] = on_create, [EV_MKDIR] = on_create,
	[EV_UNLINK] = on_unlink, [EV_RMDIR] = on_unlink,   [EV_LINK] = on_link,
	[EV_RENAME] = on_rename,
};

void tally_event(struct tally *t, const struct event *e)
{
	if (!handlers[e->kind])
		return;
	t->unproven += event_has(e, EF(UNPROVEN));
	handlers[e->kind](t, e);
}

bool tally_counts(const struct file *f)
{
	const uint32_t deeds = DEED_READ | DEED_WROTE | DEED_GONE;

	return f->deeds & deeds && !(f->deeds & (DEED_FOLDER | DEED_MOVED)) && !f->into;
}
