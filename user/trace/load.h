/* SPDX-License-Identifier: MIT */
/*
 * The BPF programs of one tier: chosen and loaded (load.c), or taken out of the
 * pool where an earlier run left them, then attached (attach.c). Everything is
 * held by descriptors of our own.
 */
#ifndef TRACE_LOAD_H
#define TRACE_LOAD_H

#include "base/buf.h"
#include "base/cur.h"
#include "facts.h"
#include "pool.h"
#include "ring.h"
#include "tracer.h"

#include <linux/bpf.h>

#define MAX_PROGRAMS 160 /* of our object, all tiers */
#define PROGRAM_NAME_BYTES 40

struct load_request {
	enum tier tier;
	int cgroup_fd; /* borrowed */
	uint64_t cgroup_id;
	uint32_t cgroup_level; /* the root of the hierarchy is 0 */
	size_t ring_bytes;     /* power of two, 0 = the object's default */
	bool keep;	       /* use the pool */
};

struct program {
	char name[PROGRAM_NAME_BYTES];
	enum bpf_attach_type type;
	int fd;
};

/* Maps that user space looks at or that must stay. */
#define LOAD_MAPS(X) X(ring) X(subjects) X(touches) X(losses) X(numbers) X(calls) X(bss)
enum load_map {
#define X(name) MAP_##name,
	LOAD_MAPS(X)
#undef X
	MAP_COUNT,
};
extern const char *const load_map_names[MAP_COUNT];

/* Words that both sides read and write while the programs run. */
struct load_words {
	__u32 *asleep;
	__u32 *canary_pid, *canary_dev;
	__u32 *iter_pid, *iter_marked;
	__u64 *canary_ino, *touch_count;
};

struct load {
	struct program programs[MAX_PROGRAMS];
	size_t programs_n;
	int links[MAX_PROGRAMS];
	size_t links_n;
	int maps[MAP_COUNT];
	size_t ring_bytes, subject_bytes;
	struct ring ring;
	struct load_words word;
	void *words; /* mapped */
	size_t words_bytes;
	uint32_t run;	   /* in the head of its records */
	uint64_t touches_left; /* by the run before */
	struct buf absent; /* programs left out, each followed by a blank */
	struct slot slot;
	uint64_t skipped[EV_CLASS_COUNT]; /* by earlier runs */
};
#define LOAD_INIT { .maps = { -1, -1, -1, -1, -1, -1, -1 }, .slot = SLOT_INIT }

/* Facts about the running kernel for our object; see facts.h. */
int load_facts(const char *cache_dir, struct diag *d, struct facts *ret);
/* The sentence in d says what the kernel, the privileges or the lockdown lack. */
int load_possible(const struct facts *f, struct diag *d);
/* Does the kernel take programs of this tier's kind? Cheap; the canary proves it. */
int load_probe(enum tier t, const struct facts *f, struct diag *d);
/* May cgroup programs look up task storage? */
bool load_probe_cgroup_storage(void);

/* Verifies and loads; nothing is attached. */
int load_fresh(const struct load_request *q, const struct facts *f, struct diag *d,
	       struct load *ret);
/* Maps the words and sets them for a new run, with the next number. */
int load_map_words(const struct load_request *q, struct load *l);
struct cur load_object(void);

/* Has the tier loaded, from the pool if possible, and attaches it. */
int load_tier(const struct load_request *q, const struct facts *f, struct diag *d,
	      struct load *ret);
void load_done(struct load *l);

/* Marks the threads of a process; pid 0: all tasks of the target cgroup and below. */
int load_mark_tasks(const struct load *l, pid_t pid);
/* Adds, by class, how often the kernel skipped a program because it ran already. */
void load_skips(const struct load *l, uint64_t to[EV_CLASS_COUNT]);

#endif
