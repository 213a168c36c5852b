/* SPDX-License-Identifier: MIT */
/*
 * Loads and attaches the BPF programs of the best tier that proves itself,
 * marks the target, and turns the ring into events. The only room that knows
 * libbpf.
 *
 * Needs CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN (or root) and Linux 6.1 with BTF.
 */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include "base/diag.h"
#include "event/event.h"
#include "event/loss.h"

#include <sys/types.h>

/* Best first. */
enum tier { TIER_LSM, TIER_FMOD, TIER_TRACE, TIER_COUNT };
const char *tier_name(enum tier t);	   /* "lsm" "fmod" "trace" */
const char *tier_limits(enum tier t);	   /* one sentence: what it cannot see or stop; "" = nothing */
int tier_from_name(const char *name, enum tier *ret_tier);

struct tracer;

struct tracer_options {
	enum tier best, worst; /* tiers to try, from..to */
	int cgroup_fd;	       /* cgroup v2 folder of the target, borrowed */
	bool owned;	       /* the cgroup is ours: it may be frozen, the canary may join it */
	bool by_process;       /* being in the cgroup makes nobody a part of the target */
	size_t ring_bytes;     /* a power of two, 0 = default (8 MiB) */
	/*
	 * Where facts about this kernel are kept: NULL = /var/cache/deedlog, "" =
	 * nowhere. Only a folder of our own user with mode 0700 is trusted;
	 * without one each start takes some 100 ms longer.
	 */
	const char *cache_dir;
	/*
	 * Leave the loaded programs and maps (some 20 MiB of kernel memory, attached
	 * to nothing) for the next run, pinned in a BPF file system in a folder of
	 * ours with mode 0700: it starts in a few milliseconds instead of some 80.
	 * tracer_unload() removes them.
	 */
	bool keep;
};

/*
 * Returns with recording armed: every program attached, and the tier proven by
 * a canary that joined the target cgroup (one open, connect and exec were
 * refused and seen; tier trace: the connect). The diag of a failure says what
 * each tier lacked.
 */
int tracer_new(const struct tracer_options *o, struct diag *d, struct tracer **ret_tracer);
void tracer_free(struct tracer *t); /* detaches */
enum tier tracer_tier(const struct tracer *t);
/* Why better tiers were not taken, one clause each; "" = the best one was. */
const char *tracer_skipped(const struct tracer *t);
/* Optional programs that this kernel has no hook for, separated by blanks. */
const char *tracer_absent(const struct tracer *t);

/* Marks a process, its threads and all that they fork from now on. */
int tracer_add_process(struct tracer *t, pid_t pid, struct diag *d);
/* Marks every task that is in the target cgroup or below. */
int tracer_add_cgroup(struct tracer *t, struct diag *d);

/* Readable when records wait and the collector said it sleeps. */
int tracer_fd(const struct tracer *t);
/* Call before blocking; false: records came meanwhile, drain again. */
bool tracer_sleep(struct tracer *t);
/*
 * Hands out everything on the ring, in order, at most `max` events (0 = all).
 * Freezes the target's own cgroup above 3/4 of the ring and thaws it below
 * 1/4; each freeze becomes an EV_FREEZE event. Returns the number handed out.
 */
int tracer_drain(struct tracer *t, size_t max, event_fn out, void *arg);
/*
 * Empties the kernel's table of repeated reads into EV_REPEAT events. Exact
 * when the target is frozen or gone, else reads of that moment may be missed.
 * tracer_drain() calls it when the table is 3/4 full.
 */
int tracer_repeats(struct tracer *t, event_fn out, void *arg);
/* Cumulative since tracer_new(), kernel and decoder. */
void tracer_losses(struct tracer *t, struct loss *ret);
/* Reads counted in the kernel's table and not yet handed out as EV_REPEAT. */
uint64_t tracer_pending_repeats(struct tracer *t);
/* Live processes of the target as the events tell. */
uint64_t tracer_live(const struct tracer *t);
/* Removes what runs with `keep` left. The number of sets that are still in use, or -errno. */
int tracer_unload(void);
/* SHA-256 material: the BPF object that was loaded. */
void tracer_object(const void **ret_bytes, size_t *ret_len);

#endif
