/* SPDX-License-Identifier: MIT */
/* The BPF object of one tier: chosen, loaded, attached, taken down. */
#ifndef TRACE_LOAD_H
#define TRACE_LOAD_H

#include "base/buf.h"
#include "base/cur.h"
#include "facts.h"
#include "tracer.h"

#include <bpf/libbpf.h>

#define MAX_PROGRAMS 160 /* of our object, all tiers */

struct load_request {
	enum tier tier;
	uint32_t run;	  /* not 0: that is the canary's */
	int cgroup_fd;	  /* borrowed */
	uint64_t cgroup_id;
	uint32_t cgroup_level; /* the root of the hierarchy is 0 */
	size_t ring_bytes;     /* power of two, 0 = the object's default */
};

/* Words that both sides read and write while the programs run. */
struct load_words {
	__u32 *asleep;
	__u32 *canary_pid, *canary_dev;
	__u32 *iter_pid, *iter_marked;
	__u64 *canary_ino, *touch_count;
};

struct load {
	struct deedlog *skel;
	struct bpf_link *links[MAX_PROGRAMS];
	size_t links_n;
	int ring_fd, subjects_fd, touches_fd, losses_fd; /* the skeleton's */
	size_t ring_bytes, subject_bytes;
	uint32_t run; /* in the head of its records */
	struct load_words word;
	struct buf absent;  /* programs left out, each followed by a blank */
};

/* Facts about the running kernel for our object; see facts.h. */
int load_facts(const char *cache_dir, struct diag *d, struct facts *ret);
/* The sentence in d says what the kernel, the privileges or the lockdown lack. */
int load_possible(const struct facts *f, struct diag *d);
/* Does the kernel take programs of this tier's kind? Cheap; the canary proves it. */
int load_probe(enum tier t, const struct facts *f, struct diag *d);
/* May cgroup programs look up task storage? */
bool load_probe_cgroup_storage(void);
int load_tier(const struct load_request *q, const struct facts *f, struct diag *d,
	      struct load *ret);
void load_done(struct load *l);

/* Marks the threads of a process; pid 0: all tasks of the target cgroup and below. */
int load_mark_tasks(const struct load *l, pid_t pid);
/* Adds, by class, how often the kernel skipped a program because it ran already. */
void load_skips(const struct load *l, uint64_t to[EV_CLASS_COUNT]);
struct cur load_object(void);

#endif
