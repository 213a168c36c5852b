/* SPDX-License-Identifier: MIT */
/* Processes by pid, see proctab.h. Images and processes go with their last user. */
#include "proctab.h"

#include "base/alloc.h"
#include "base/macros.h"

#define BUCKETS 4096u

struct proctab {
	struct proc *procs[BUCKETS];
	size_t n;
	uint64_t unnamed;
};

static void image_drop(const struct proc_image *shared)
{
	struct proc_image *i = (struct proc_image *)shared;

	if (!i || --i->refs)
		return;
	free(i->exe);
	free(i->argv0);
	free(i->tool);
	free(i);
}

static const struct proc_image *image_keep(const struct proc_image *shared)
{
	struct proc_image *i = (struct proc_image *)shared;

	i->refs++;
	return i;
}

static char *text_start(struct str s)
{
	return xmemdup(s.p ? s.p : "", MIN(s.len, (size_t)MAX_PROC_TEXT));
}

static char *text_end(struct str s)
{
	size_t len = MIN(s.len, (size_t)MAX_PROC_TEXT);

	return xmemdup(s.p ? s.p + (s.len - len) : "", len);
}

static struct proc_image *image_new(struct str exe, struct str argv)
{
	struct proc_image *i = xcalloc(1, sizeof(*i));

	i->refs = 1;
	i->exe = text_end(exe);
	i->argv0 = text_start((struct str){ argv.p, argv.len ? strnlen(argv.p, argv.len) : 0 });
	i->tool = xstrdup("");
	return i;
}

static struct proc **slot_of(const struct proctab *t, uint32_t pid)
{
	struct proc **slot = (struct proc **)&t->procs[pid % BUCKETS];

	while (*slot && (*slot)->pid != pid)
		slot = &(*slot)->next;
	return slot;
}

static void proc_unlist(struct proctab *t, struct proc *p)
{
	if (!p->listed)
		return;
	*slot_of(t, p->pid) = p->next;
	p->listed = false;
}

static void proc_drop(struct proctab *t, struct proc *p)
{
	while (p && !--p->refs) {
		struct proc *parent = p->parent;

		proc_unlist(t, p);
		image_drop(p->image);
		free(p);
		t->n--;
		p = parent;
	}
}

/* Takes the count of image. NULL when the table is full. */
static struct proc *proc_add(struct proctab *t, uint32_t pid, const struct proc_image *image)
{
	struct proc *p, **slot;

	if (t->n >= MAX_PROCS) {
		image_drop(image);
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	*p = (struct proc){ .pid = pid, .image = image, .refs = 1, .listed = true };
	slot = slot_of(t, pid);
	*slot = p;
	t->n++;
	return p;
}

/* The table's own count goes: from now on only children hold it. */
static void proc_end(struct proctab *t, struct proc *p)
{
	if (p && !p->ended) {
		p->ended = true;
		proc_drop(t, p);
	}
}

static struct proc *proc_get(struct proctab *t, uint32_t pid)
{
	struct proc *p = *slot_of(t, pid);

	return p ? p : proc_add(t, pid, image_new(str_of(""), str_of("")));
}

static void on_fork(struct proctab *t, const struct event *e)
{
	struct proc *parent = proc_get(t, e->pid), *old = *slot_of(t, e->child), *p;

	if (parent && old == parent)
		return;
	if (old) {
		proc_unlist(t, old);
		proc_end(t, old);
	}
	p = parent ? proc_add(t, e->child, image_keep(parent->image)) : NULL;
	if (!p) {
		t->unnamed++;
		return;
	}
	p->parent = parent;
	parent->refs++;
}

static void on_exec(struct proctab *t, const struct event *e)
{
	struct proc *p = proc_get(t, e->pid);
	struct str exe = event_has(e, EF(PATH)) ? e->path : e->name;

	if (!p)
		return;
	image_drop(p->image);
	p->image = image_new(exe, e->argv);
	p->execs += e->kind == EV_EXEC;
}

/* Children of before keep the name that they had. */
static void on_tool(struct proctab *t, const struct event *e)
{
	struct proc *p = proc_get(t, e->pid);
	struct proc_image *i;

	if (!p)
		return;
	i = image_new(str_of(p->image->exe), str_of(p->image->argv0));
	free(i->tool);
	i->tool = text_start(e->name);
	image_drop(p->image);
	p->image = i;
}

static void on_exit_(struct proctab *t, const struct event *e)
{
	proc_end(t, *slot_of(t, e->pid));
}

typedef void (*learn_fn)(struct proctab *t, const struct event *e);

static const learn_fn learners[EV_COUNT] = {
	[EV_BEGIN] = on_exec, [EV_FORK] = on_fork, [EV_EXEC] = on_exec,
	[EV_TOOL] = on_tool,  [EV_EXIT] = on_exit_,
};

void proctab_event(struct proctab *t, const struct event *e)
{
	if (learners[e->kind] && event_has(e, EF(PID)))
		learners[e->kind](t, e);
}

const struct proc *proctab_find(const struct proctab *t, uint32_t pid)
{
	return *slot_of(t, pid);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *proctab_name(const struct proctab *t, uint32_t pid)
{
	const struct proc *p = proctab_find(t, pid);

	if (!p)
		return "";
	if (*p->image->tool)
		return p->image->tool;
	return base_name(*p->image->exe ? p->image->exe : p->image->argv0);
}

uint64_t proctab_unnamed(const struct proctab *t)
{
	return t->unnamed;
}

struct proctab *proctab_new(void)
{
	return xcalloc(1, sizeof(struct proctab));
}

/* Whoever is still there; parents may go with their last child, so count down. */
static void drop_all(struct proctab *t, struct proc **slot)
{
	while (*slot) {
		struct proc *p = *slot;

		*slot = p->next;
		p->listed = false;
		proc_end(t, p);
	}
}

void proctab_free(struct proctab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		drop_all(t, &t->procs[i]);
	free(t);
}
