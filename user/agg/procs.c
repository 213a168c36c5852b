/* SPDX-License-Identifier: MIT */
/* The tree of processes, see procs.h. */
#include "procs.h"

#include "base/alloc.h"
#include "base/macros.h"

static void free_image(const struct image *i)
{
	free((void *)i->exe.p);
	free((void *)i->argv.p);
}

void procs_done(struct procs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->all[i]->n_images; k++)
			free_image(&p->all[i]->images[k]);
		free(p->all[i]->images);
		free(p->all[i]);
	}
	free(p->all);
	map_done(&p->by_pid);
	*p = (struct procs){ 0 };
}

struct process *procs_find(const struct procs *p, uint32_t pid)
{
	return map_get(&p->by_pid, &pid, sizeof(pid));
}

static struct process *add(struct procs *p, uint32_t pid, uint64_t boot_ns)
{
	struct process *one;

	if (p->n == MAX_PROCESSES) {
		p->overflow++;
		return NULL;
	}
	one = xcalloc(1, sizeof(*one));
	one->pid = pid;
	one->begin_ns = boot_ns;
	one->index = p->n;
	if (p->n == p->cap) {
		p->cap = p->cap * 2 + 16;
		p->all = xrealloc(p->all, p->cap, sizeof(struct process *));
	}
	p->all[p->n++] = one;
	*map_slot(&p->by_pid, &pid, sizeof(pid)) = one;
	return one;
}

static struct process *of(struct procs *p, uint32_t pid, uint64_t boot_ns)
{
	struct process *one = procs_find(p, pid);

	return one ? one : add(p, pid, boot_ns);
}

static void adopt(struct process *parent, struct process *child)
{
	child->parent = parent;
	if (parent->last_child)
		parent->last_child->sibling = child;
	else
		parent->child = child;
	parent->last_child = child;
}

static void on_fork(struct procs *p, const struct event *e)
{
	struct process *parent = of(p, e->pid, e->boot_ns);
	struct process *child = parent ? add(p, e->child, e->boot_ns) : NULL;

	if (child)
		adopt(parent, child);
}

static struct str keep(struct procs *p, struct str s, size_t cap)
{
	size_t len = MIN(s.len, cap);

	if (p->text + len > MAX_PROCS_TEXT) {
		p->overflow++;
		len = 0;
	}
	p->text += len;
	return (struct str){ xmemdup(len ? s.p : "", len), len };
}

static struct image *next_image(struct procs *p, struct process *one)
{
	if (one->n_images == MAX_IMAGES) {
		p->text -= one->images[0].exe.len + one->images[0].argv.len;
		free_image(&one->images[0]);
		memmove(one->images, one->images + 1, (MAX_IMAGES - 1) * sizeof(*one->images));
		return &one->images[MAX_IMAGES - 1];
	}
	one->images = xrealloc(one->images, one->n_images + 1, sizeof(*one->images));
	return &one->images[one->n_images++];
}

static void on_exec(struct procs *p, const struct event *e)
{
	struct process *one = of(p, e->pid, e->boot_ns);

	if (!one)
		return;
	one->execs++;
	*next_image(p, one) = (struct image){
		.exe = keep(p, e->path, SIZE_MAX),
		.argv = keep(p, e->argv, MAX_ARGV_KEPT),
		.cut = e->argv.len > MAX_ARGV_KEPT,
	};
}

static void on_end(struct procs *p, const struct event *e)
{
	struct process *one = of(p, e->pid, e->boot_ns);

	if (!one)
		return;
	one->ended = true;
	one->killed = event_has(e, EF(SIGNAL));
	one->code = e->code;
	one->signal = e->signal;
}

static void on_begin(struct procs *p, const struct event *e)
{
	(void)of(p, e->pid, e->boot_ns); /* the first one, before anything that it does */
}

static void (*const handlers[EV_COUNT])(struct procs *p, const struct event *e) = {
	[EV_BEGIN] = on_begin,
	[EV_FORK] = on_fork,
	[EV_EXEC] = on_exec,
	[EV_EXIT] = on_end,
};

void procs_event(struct procs *p, const struct event *e)
{
	if (handlers[e->kind] && event_has(e, EF(PID)))
		handlers[e->kind](p, e);
}

/* ---- the walk: down, across, up ------------------------------------------- */

static const struct process *next_root(const struct procs *p, const struct process *after)
{
	for (size_t i = after ? after->index + 1 : 0; i < p->n; i++)
		if (!p->all[i]->parent)
			return p->all[i];
	return NULL;
}

const struct process *procs_next(const struct procs *p, const struct process *at, size_t *ret_depth)
{
	if (at && at->child) {
		++*ret_depth;
		return at->child;
	}
	while (at && !at->sibling && at->parent) {
		--*ret_depth;
		at = at->parent;
	}
	if (at && at->parent)
		return at->sibling;
	*ret_depth = 0;
	return next_root(p, at);
}
