/* SPDX-License-Identifier: MIT */
/*
 * One tracer: the loaded tier, the ring, the decoder, the freezer and the set
 * of live processes. Each tier that is allowed is tried, best first, until one
 * proves itself.
 */
#include "tracer.h"

#include "base/alloc.h"
#include "canary.h"
#include "cgroup.h"
#include "counters.h"
#include "event/decode.h"
#include "freeze.h"
#include "schemas/state.h"
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

#define CACHE_DIR "/var/cache/deedlog"
#define RELEASE_EVERY 64 /* records: space goes back while a long drain runs */

struct tracer {
	enum tier tier;
	int cgroup_fd; /* borrowed */
	struct buf skipped;
	struct load load;
	struct decoder *decoder;
	struct freeze freeze;
	struct pids live;
	struct loss faults;	/* records that did not add up */
};

static int try_tier(struct tracer *t, struct load_request *q, const struct tracer_options *o,
		    const struct facts *f, struct diag *d)
{
	int r;

	t->tier = q->tier;
	r = load_probe(q->tier, f, d);
	if (r < 0)
		return r;
	r = load_tier(q, f, d, &t->load);
	if (r < 0)
		return r;
	r = canary_run(&t->load, o->cgroup_fd, o->owned, &tiers[t->tier], d);
	if (r < 0)
		load_done(&t->load);
	return r;
}

static int try_tiers(struct tracer *t, struct load_request *q, const struct tracer_options *o,
		     const struct facts *f, struct diag *d)
{
	struct diag why;
	int r = -EINVAL;

	for (enum tier i = o->best; i <= o->worst && i < TIER_COUNT; i++) {
		q->tier = i;
		r = try_tier(t, q, o, f, &why);
		if (r >= 0)
			return 0;
		buf_addf(&t->skipped, "%stier %s: %s", t->skipped.len ? "; " : "", tier_name(i),
			 why.msg);
	}
	return diag_set(d, r, "nothing can be recorded: %s", buf_str(&t->skipped));
}

static int request_for(const struct tracer_options *o, struct diag *d, struct load_request *ret)
{
	struct stat st;
	uint32_t level = 0;
	int r;

	r = fstat(o->cgroup_fd, &st) < 0 ? -errno : cgroup_level(o->cgroup_fd, &level);
	if (r < 0)
		return diag_set(d, r, "cannot tell where the target's cgroup stands: %s",
				strerror(-r));
	*ret = (struct load_request){
		.cgroup_fd = o->cgroup_fd,
		.cgroup_id = o->by_process ? 0 : st.st_ino,
		.cgroup_level = level,
		.ring_bytes = o->ring_bytes,
		.keep = o->keep,
	};
	return 0;
}

static void tracer_freep(struct tracer **t)
{
	tracer_free(*t);
}

int tracer_new(const struct tracer_options *o, struct diag *d, struct tracer **ret_tracer)
{
	_cleanup_(tracer_freep) struct tracer *t = xcalloc(1, sizeof(*t));
	_cleanup_(facts_done) struct facts facts = FACTS_INIT;
	const char *cache = o->cache_dir ? o->cache_dir : CACHE_DIR;
	struct load_request q;
	int r;

	t->cgroup_fd = o->cgroup_fd;
	t->decoder = decoder_new();
	freeze_init(&t->freeze, o->cgroup_fd, o->owned);
	r = request_for(o, d, &q);
	if (r < 0)
		return r;
	r = load_facts(*cache ? cache : NULL, d, &facts);
	if (r < 0)
		return r;
	r = load_possible(&facts, d);
	if (r < 0)
		return r;
	r = try_tiers(t, &q, o, &facts, d);
	if (r < 0)
		return r;
	*ret_tracer = TAKE_PTR(t);
	return 0;
}

void tracer_free(struct tracer *t)
{
	if (!t)
		return;
	freeze_done(&t->freeze);
	load_done(&t->load);
	decoder_free(t->decoder);
	pids_done(&t->live);
	buf_done(&t->skipped);
	free(t);
}

enum tier tracer_tier(const struct tracer *t)
{
	return t->tier;
}

const char *tracer_skipped(const struct tracer *t)
{
	return buf_str(&t->skipped);
}

const char *tracer_absent(const struct tracer *t)
{
	return buf_str(&t->load.absent);
}

int tracer_add_process(struct tracer *t, pid_t pid, struct diag *d)
{
	int r = target_mark_process(&t->load, pid);

	if (r < 0)
		return diag_set(d, r, "cannot mark process %d: %s", pid, strerror(-r));
	pids_add(&t->live, (uint32_t)pid);
	return 0;
}

static void add_live(pid_t pid, void *arg)
{
	struct tracer *t = arg;

	pids_add(&t->live, (uint32_t)pid);
}

int tracer_add_cgroup(struct tracer *t, struct diag *d)
{
	const struct cgroup c = { .fd = t->cgroup_fd };
	int r;

	r = load_mark_tasks(&t->load, 0);
	if (r < 0)
		return diag_set(d, r, "cannot mark the tasks of the cgroup: %s", strerror(-r));
	/* Later than the marks: who ends in between has its exit on the ring. */
	r = cgroup_each(&c, add_live, t);
	if (r < 0)
		return diag_set(d, r, "cannot list the tasks of the cgroup: %s", strerror(-r));
	return 0;
}

int tracer_fd(const struct tracer *t)
{
	return t->load.maps[MAP_ring];
}

bool tracer_sleep(struct tracer *t)
{
	/* Said before the ring is looked at: a producer behind the look sees it. */
	__atomic_store_n(t->load.word.asleep, 1, __ATOMIC_SEQ_CST);
	if (!ring_waiting(&t->load.ring))
		return true;
	__atomic_store_n(t->load.word.asleep, 0, __ATOMIC_SEQ_CST);
	return false;
}

static void count_live(struct tracer *t, const struct event *e)
{
	if (e->kind == EV_EXIT)
		pids_remove(&t->live, e->pid);
	else
		pids_add(&t->live, e->pid); /* moved into the cgroup: no fork told of it */
	if (e->kind == EV_FORK)
		pids_add(&t->live, e->child);
}

/* The class that a broken record would have had, if it says so. */
static enum ev_class class_of(const void *rec, size_t len)
{
	const struct ev_head *h = rec;

	return len >= sizeof(*h) && h->kind < EV_COUNT ? event_kinds[h->kind].class : EV_CLASS_TASK;
}

/* 1: an event was handed out. */
static int take_record(struct tracer *t, const void *rec, size_t len, event_fn out, void *arg)
{
	struct event e;
	int r;

	r = decoder_record(t->decoder, rec, len, &e);
	if (r < 0)
		t->faults.n[EV_LOSS_FAULT][class_of(rec, len)]++;
	/* The canary passes the decoder too: its sequence numbers are no holes. */
	if (r <= 0 || ((const struct ev_head *)rec)->session != t->load.run)
		return 0;
	count_live(t, &e);
	out(&e, arg);
	return 1;
}

static uint64_t touches_in_table(const struct tracer *t)
{
	return __atomic_load_n(t->load.word.touch_count, __ATOMIC_RELAXED);
}

static int empty_table(struct tracer *t, event_fn out, void *arg)
{
	bool ours = !t->freeze.from;
	int r;

	(void)freeze_now(&t->freeze, "table"); /* cannot: as exact as it gets */
	r = tracer_repeats(t, out, arg);
	if (ours)
		freeze_end(&t->freeze, out, arg);
	return r;
}

int tracer_drain(struct tracer *t, size_t max, event_fn out, void *arg)
{
	const void *rec;
	size_t len, n = 0, records = 0;
	int r = 0;

	freeze_watch(&t->freeze, "ring", ring_fill(&t->load.ring), t->load.ring.size, out, arg);
	while ((!max || n < max) && (r = ring_next(&t->load.ring, &rec, &len)) > 0) {
		n += (size_t)take_record(t, rec, len, out, arg);
		if (++records % RELEASE_EVERY)
			continue;
		ring_release(&t->load.ring);
		freeze_watch(&t->freeze, "ring", ring_fill(&t->load.ring), t->load.ring.size, out, arg);
	}
	ring_release(&t->load.ring);
	freeze_watch(&t->freeze, "ring", ring_fill(&t->load.ring), t->load.ring.size, out, arg);
	if (r >= 0 && touches_in_table(t) > MAX_TOUCHES / 4 * 3)
		r = empty_table(t, out, arg);
	return r < 0 ? r : (int)n;
}

int tracer_repeats(struct tracer *t, event_fn out, void *arg)
{
	int r = counters_take_touches(&t->load, tiers[t->tier].knows_bytes, out, arg);

	if (r < 0)
		return r;
	__atomic_sub_fetch(t->load.word.touch_count, (uint64_t)r, __ATOMIC_RELAXED);
	return 0;
}

void tracer_losses(struct tracer *t, struct loss *ret)
{
	if (counters_losses(&t->load, ret) < 0)
		ret->unknown = true;
	loss_add(ret, &t->faults);
}

uint64_t tracer_pending_repeats(struct tracer *t)
{
	return counters_pending(&t->load);
}

uint64_t tracer_live(const struct tracer *t)
{
	return t->live.n;
}

int tracer_unload(void)
{
	return pool_remove();
}

void tracer_object(const void **ret_bytes, size_t *ret_len)
{
	struct cur object = load_object();

	*ret_bytes = object.at;
	*ret_len = cur_left(&object);
}
