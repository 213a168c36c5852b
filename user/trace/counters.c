/* SPDX-License-Identifier: MIT */
/* Map reads in batches: one call for some thousand entries. */
#include "counters.h"

#include "base/alloc.h"
#include "base/timeutil.h"
#include "schemas/state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#define BATCH 4096 /* entries; more than any bucket of the table has */

int counters_losses(const struct load *l, struct loss *ret)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *value = NULL;
	uint32_t key;

	if (cpus < 0)
		return cpus;
	value = xcalloc((size_t)cpus, sizeof(*value));
	*ret = (struct loss){ 0 };
	for (uint32_t cause = 0; cause < EV_LOSS_COUNT; cause++) {
		for (uint32_t class = 0; class < EV_CLASS_COUNT; class++) {
			key = cause * EV_CLASS_COUNT + class;
			if (bpf_map_lookup_elem(l->maps[MAP_losses], &key, value) < 0)
				return -errno;
			for (int cpu = 0; cpu < cpus; cpu++)
				ret->n[cause][class] += value[cpu];
		}
	}
	load_skips(l, ret->n[EV_LOSS_BUSY]);
	for (uint32_t class = 0; class < EV_CLASS_COUNT; class++)
		ret->n[EV_LOSS_BUSY][class] -= l->skipped[class];
	return 0;
}

struct batch {
	struct touch_key key[BATCH];
	struct touch touch[BATCH];
	uint32_t n;
};

static int read_part(int fd, uint32_t *from, uint32_t *to, struct batch *b, bool take)
{
	if (take)
		return bpf_map_lookup_and_delete_batch(fd, from, to, b->key, b->touch, &b->n, NULL);
	return bpf_map_lookup_batch(fd, from, to, b->key, b->touch, &b->n, NULL);
}

/* Calls fn for each part of the table; 0 or -errno. */
static int each_batch(const struct load *l, bool take,
		      void (*fn)(const struct batch *b, void *arg), void *arg)
{
	_cleanup_free_ struct batch *b = xcalloc(1, sizeof(*b));
	int fd = l->maps[MAP_touches];
	uint32_t at = 0;
	bool first = true;
	int r = 0;

	while (r != -ENOENT) {
		b->n = BATCH;
		r = read_part(fd, first ? NULL : &at, &at, b, take);
		if (r < 0 && r != -ENOENT) /* that one says: this was the last part */
			return r;
		fn(b, arg);
		first = false;
	}
	return 0;
}

struct taker {
	event_fn out;
	void *arg;
	uint64_t have;
	int n;
};

static void hand_out(const struct batch *b, void *arg)
{
	struct taker *t = arg;
	struct event e = { .kind = EV_REPEAT, .boot_ns = time_boot_ns() };

	for (uint32_t i = 0; i < b->n; i++) {
		if (!b->touch[i].ops)
			continue;
		e.have = t->have;
		e.pid = b->key[i].pid;
		e.obj = (struct object){ b->key[i].ino, b->key[i].dev, b->key[i].gen };
		e.ops = b->touch[i].ops;
		e.bytes = b->touch[i].bytes;
		t->out(&e, t->arg);
	}
	t->n += (int)b->n;
}

int counters_take_touches(const struct load *l, bool knows_bytes, event_fn out, void *arg)
{
	struct taker t = {
		.out = out,
		.arg = arg,
		.have = EF(PID) | EF(DEV) | EF(INO) | EF(GEN) | EF(OPS) |
			(knows_bytes ? EF(BYTES) : 0),
	};
	int r = each_batch(l, true, hand_out, &t);

	return r < 0 ? r : t.n;
}

static void sum(const struct batch *b, void *arg)
{
	uint64_t *total = arg;

	for (uint32_t i = 0; i < b->n; i++)
		*total += b->touch[i].ops;
}

uint64_t counters_pending(const struct load *l)
{
	uint64_t total = 0;

	(void)each_batch(l, false, sum, &total); /* a part is better than nothing: this is for display */
	return total;
}
