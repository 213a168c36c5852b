/* SPDX-License-Identifier: MIT */
/*
 * Two passes over the kernel's types: the first finds what is named in the
 * wish, the second copies that and everything embedded in it. What is only
 * pointed to is left out: CO-RE compares pointers by kind alone.
 */
#include "kbtf.h"

#include "base/alloc.h"
#include "base/macros.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Blanks, so that no type of the kernel can have these names. */
#define ENUM_HOOKS "deedlog hooks"
#define ENUM_PARAMS "deedlog params"
#define ENUM_VALUES "deedlog values"
#define ENUM_KEY "deedlog key"
#define KEY_BYTES 20

void names_add(struct names *l, const char *name)
{
	if (!(l->n & (l->n - 1))) /* full at powers of two */
		l->v = xrealloc(l->v, l->n ? 2 * l->n : 1, sizeof(*l->v));
	l->v[l->n++] = name;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void names_sort(struct names *l)
{
	size_t kept = 0;

	if (!l->n)
		return;
	qsort(l->v, l->n, sizeof(*l->v), by_name);
	for (size_t i = 1; i < l->n; i++)
		if (strcmp(l->v[kept], l->v[i]))
			l->v[++kept] = l->v[i];
	l->n = kept + 1;
}

void names_done(struct names *l)
{
	free(l->v);
	*l = (struct names){ 0 };
}

bool names_have(const struct names *l, const char *name)
{
	return l->n && bsearch(&name, l->v, l->n, sizeof(*l->v), by_name);
}

struct extract {
	const struct btf *from;
	const struct kbtf_wish *wish;
	struct btf *to;
	uint32_t *new_id; /* by id in `from`; 0 = not taken */
	uint32_t *order;  /* ids in `from` as they were taken */
	uint32_t n;
	struct names hooks; /* found: name and id */
	uint32_t *hook_ids;
	struct names values;
	int32_t *value_of;
};

static void extract_done(struct extract *x)
{
	free(x->new_id);
	free(x->order);
	free(x->hook_ids);
	free(x->value_of);
	names_done(&x->hooks);
	names_done(&x->values);
	btf__free(x->to);
}

/* What has a size of its own. A prototype stands only behind pointers. */
static bool is_data(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_FUNC:
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_VAR:
	case BTF_KIND_DATASEC:
	case BTF_KIND_DECL_TAG:
		return false;
	}
	return true;
}

static void take(struct extract *x, uint32_t id)
{
	if (!id || x->new_id[id] || !is_data(btf__type_by_id(x->from, id)))
		return;
	x->order[x->n++] = id;
	x->new_id[id] = x->n;
}

/* Calls fn with each place in t that names another type which t embeds. */
static void each_ref(struct btf_type *t, void (*fn)(struct extract *x, uint32_t *ref),
		     struct extract *x)
{
	if (btf_is_composite(t)) {
		for (int i = 0; i < btf_vlen(t); i++)
			fn(x, &btf_members(t)[i].type);
	} else if (btf_is_array(t)) {
		fn(x, &btf_array(t)->type);
		fn(x, &btf_array(t)->index_type);
	} else if (btf_is_mod(t) || btf_is_typedef(t) || btf_kind(t) == BTF_KIND_TYPE_TAG) {
		fn(x, &t->type);
	}
}

static void take_ref(struct extract *x, uint32_t *ref)
{
	take(x, *ref);
}

static void renumber_ref(struct extract *x, uint32_t *ref)
{
	*ref = x->new_id[*ref];
}

static void find_hook(struct extract *x, uint32_t id, const char *name)
{
	/* Static functions may share a name; libbpf takes the first, so do we. */
	for (size_t i = 0; i < x->hooks.n; i++)
		if (!strcmp(x->hooks.v[i], name))
			return;
	x->hook_ids[x->hooks.n] = id;
	names_add(&x->hooks, name);
}

static void find_values(struct extract *x, const struct btf_type *t)
{
	const struct btf_enum *e = btf_enum(t);
	const char *name;

	for (int i = 0; i < btf_vlen(t); i++) {
		name = btf__name_by_offset(x->from, e[i].name_off);
		if (!names_have(&x->wish->values, name) || x->values.n == x->wish->values.n)
			continue;
		x->value_of[x->values.n] = e[i].val;
		names_add(&x->values, name);
	}
}

static bool can_be_hook(const struct btf_type *t)
{
	return btf_is_func(t) || btf_is_typedef(t);
}

static void find(struct extract *x)
{
	uint32_t count = btf__type_cnt(x->from);
	const struct btf_type *t;
	const char *name;

	for (uint32_t id = 1; id < count; id++) {
		t = btf__type_by_id(x->from, id);
		name = btf__name_by_offset(x->from, t->name_off);
		if (btf_is_enum(t))
			find_values(x, t);
		if (!*name)
			continue;
		if (is_data(t) && names_have(&x->wish->types, name))
			take(x, id);
		if (can_be_hook(t) && names_have(&x->wish->hooks, name))
			find_hook(x, id, name);
	}
}

static int copy(struct extract *x)
{
	struct btf_type *t;
	int id;

	/* x->n grows while it runs: what is taken takes what it embeds. */
	for (uint32_t i = 0; i < x->n; i++)
		each_ref((struct btf_type *)btf__type_by_id(x->from, x->order[i]), take_ref, x);
	for (uint32_t i = 0; i < x->n; i++) {
		id = btf__add_type(x->to, x->from, btf__type_by_id(x->from, x->order[i]));
		if (id < 0)
			return id;
		t = (struct btf_type *)btf__type_by_id(x->to, (uint32_t)id);
		if (btf_is_ptr(t))
			t->type = 0;
		each_ref(t, renumber_ref, x);
	}
	return 0;
}

static int32_t count_params(const struct btf *b, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(b, id);
	bool tracepoint = btf_is_typedef(t); /* typedef -> pointer -> prototype */

	while (t && (btf_is_typedef(t) || btf_is_ptr(t) || btf_is_func(t)))
		t = btf__type_by_id(b, t->type);
	if (!t || !btf_is_func_proto(t))
		return -1;
	return (int32_t)btf_vlen(t) - tracepoint; /* the first is the kernel's own */
}

static int add_value(struct btf *to, const char *name, int32_t value)
{
	return btf__add_enum_value(to, name, value);
}

static int write_facts(struct extract *x)
{
	char key[KEY_BYTES];
	int r;

	r = btf__add_enum(x->to, ENUM_HOOKS, 4);
	for (size_t i = 0; r >= 0 && i < x->hooks.n; i++)
		r = add_value(x->to, x->hooks.v[i], (int32_t)x->hook_ids[i]);
	if (r >= 0)
		r = btf__add_enum(x->to, ENUM_PARAMS, 4);
	for (size_t i = 0; r >= 0 && i < x->hooks.n; i++)
		r = add_value(x->to, x->hooks.v[i], count_params(x->from, x->hook_ids[i]));
	if (r >= 0)
		r = btf__add_enum(x->to, ENUM_VALUES, 4);
	for (size_t i = 0; r >= 0 && i < x->values.n; i++)
		r = add_value(x->to, x->values.v[i], x->value_of[i]);
	if (r >= 0)
		r = btf__add_enum(x->to, ENUM_KEY, 4);
	(void)snprintf(key, sizeof(key), "%016llx", (unsigned long long)x->wish->key); /* fits */
	if (r >= 0)
		r = add_value(x->to, key, 1);
	return r < 0 ? r : 0;
}

int kbtf_extract(const struct btf *kernel, const struct kbtf_wish *w, struct btf **ret)
{
	uint32_t count = btf__type_cnt(kernel);
	_cleanup_(extract_done) struct extract x = {
		.from = kernel,
		.wish = w,
		.to = btf__new_empty(),
		.new_id = xcalloc(count, sizeof(uint32_t)),
		.order = xcalloc(count, sizeof(uint32_t)),
		.hook_ids = xcalloc(w->hooks.n + 1, sizeof(uint32_t)),
		.value_of = xcalloc(w->values.n + 1, sizeof(int32_t)),
	};
	int r;

	if (!x.to)
		return -ENOMEM;
	find(&x);
	r = copy(&x);
	if (r < 0)
		return r;
	r = write_facts(&x);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(x.to);
	return 0;
}

static int32_t fact(const struct btf *b, const char *table, const char *name, int32_t absent)
{
	int32_t id = btf__find_by_name_kind(b, table, BTF_KIND_ENUM);
	const struct btf_type *t;
	const struct btf_enum *e;

	if (id < 0)
		return absent;
	t = btf__type_by_id(b, (uint32_t)id);
	e = btf_enum(t);
	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(b, e[i].name_off), name))
			return e[i].val;
	return absent;
}

bool kbtf_is_for(const struct btf *b, uint64_t key)
{
	char name[KEY_BYTES];

	(void)snprintf(name, sizeof(name), "%016llx", (unsigned long long)key); /* fits */
	return fact(b, ENUM_KEY, name, 0);
}

int32_t kbtf_hook(const struct btf *b, const char *name)
{
	return fact(b, ENUM_HOOKS, name, 0);
}

int32_t kbtf_params(const struct btf *b, const char *name)
{
	return fact(b, ENUM_PARAMS, name, -1);
}

int32_t kbtf_value(const struct btf *b, const char *name)
{
	return fact(b, ENUM_VALUES, name, -1);
}
