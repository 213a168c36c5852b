/* SPDX-License-Identifier: MIT */
/*
 * The writer of one run log. Its Ed25519 key lives in the signing process
 * (signer.h) from runlog_start() to runlog_end() and never touches the disk.
 *
 * The writer relies on its caller for lines that are canonical (key order of
 * the schema, "t" first, then "b"; no blanks; valid UTF-8, control characters
 * escaped) and for ticks. It adds the segment, seal and more lines itself.
 */
#ifndef LEDGER_RUNLOG_H
#define LEDGER_RUNLOG_H

#include "ledger.h"

#include <stddef.h>

struct runlog;

/* What the index says of a run before its command may start. */
struct run_facts {
	const char *cmd;    /* base name, at most 64 bytes are kept */
	uint32_t uid;
	const char *tier;   /* lsm, fmod or trace */
	const char *mode;   /* record or enforce */
	const char *policy; /* SHA-256 hex of the policy in force, or NULL */
	const char *bpf;    /* SHA-256 hex of the BPF object, or NULL */
	/*
	 * A recorder that comes back to a live target begins a new run: the id of the
	 * one before, or NULL; then the first record is the gap since `prev_until_ns`
	 * (CLOCK_BOOTTIME, 0 = unknown) with what was lost in it (JSON, NULL = unknown).
	 */
	const char *prev_run, *prev_lost;
	uint64_t prev_until_ns;
};

/* When this returns 0, run-start is sealed and fsynced: the command may exec. */
int runlog_start(struct ledger *l, const struct run_facts *facts, struct diag *d,
		 struct runlog **ret_run);
const char *runlog_id(const struct runlog *r);

/*
 * Appends one line (no newline, at most 256 KiB; longer than 8 KiB is split
 * into `more` lines). `boot_ns` is the "b" of the line. A critical line is
 * sealed at the next runlog_flush().
 */
int runlog_append(struct runlog *r, const char *line, size_t len, uint64_t boot_ns,
		  bool critical);

/* Cumulative counters as canonical JSON objects, e.g. {"ring":{"file":3}}; copied. */
void runlog_counters(struct runlog *r, const char *lost, const char *sampled_out);

/*
 * Call at the end of each ring drain and at least when *ret_deadline_ns
 * (CLOCK_BOOTTIME; UINT64_MAX = never) has come: seals by size, age (250 ms),
 * critical lines (at most each 10 ms) and silence (60 s), writes `head` leaves
 * each 60 s, and syncs what is older than 1 s. NULL d and a negative return
 * mean that storage failed: nothing sealed before is lost, the writer stays
 * usable and tries again at the next call; what came meanwhile is counted
 * under lost.disk by the caller's class.
 */
int runlog_flush(struct runlog *r, uint64_t now_ns, struct diag *d, uint64_t *ret_deadline_ns);

/*
 * `end_line` is the caller's {"t":"end",...}. Writes it, the last seal, syncs,
 * then the run-end leaf with `exit_code` or `term_signal` (the other is -1),
 * and wipes the key. Frees r in every case.
 */
int runlog_end(struct runlog *r, const char *end_line, size_t len, uint64_t boot_ns,
	       int exit_code, int term_signal, const char *why, struct diag *d);
void runlog_abandon(struct runlog *r); /* wipes and frees; the run stays open */

#endif
