/* SPDX-License-Identifier: MIT */
/* What each attach tier is made of, needs and cannot do: one row each, best first. */
#ifndef TRACE_TIER_H
#define TRACE_TIER_H

#include "tracer.h"

#include <linux/bpf.h>

#define MAX_TIER_PREFIXES 5

struct tier_row {
	const char *name;
	const char *limits; /* what it cannot see or stop; "" = nothing */
	const char *prefixes[MAX_TIER_PREFIXES]; /* of the names of its programs */
	const char *probe;  /* section of a program that shows whether the kernel takes this kind; NULL */
	bool stops_files;   /* the canary's open and exec must be refused too */
	bool knows_bytes;   /* its reads and writes tell how much was moved */
	bool by_cgroup;	    /* refuses through cgroup programs: only who is in the cgroup */
};
extern const struct tier_row tiers[TIER_COUNT];

/* Is the program part of the tier? */
bool tier_has(enum tier t, const char *program);
/* May the kernel refuse the program without the tier being worth nothing? */
bool tier_can_miss(const char *program);

/* A way in which a program is hooked up, told by its section. */
struct hook_kind {
	const char *section; /* "lsm/" */
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	const char *target; /* prefix of the attach target in the kernel's BTF */
};
extern const struct hook_kind hook_kinds[];
extern const size_t hook_kinds_count;

/* NULL: a section that has no target in BTF. *ret_hook is what stands behind the slash. */
const struct hook_kind *hook_kind_of(const char *section, const char **ret_hook);

#endif
