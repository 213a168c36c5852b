/* SPDX-License-Identifier: MIT */
/*
 * An in-toto Statement v1 with the predicate runtime-trace v0.1 about one
 * commit: which runs were recorded since the commit before it, what they
 * counted, the programs, peers and changed files. Pure mapping; lists are cut at
 * named limits and say how many entries they left out.
 */
#ifndef EXPORT_INTOTO_H
#define EXPORT_INTOTO_H

#include "agg/session.h"

#define INTOTO_TYPE	"application/vnd.in-toto+json"
#define INTOTO_PREDICATE "https://in-toto.io/attestation/runtime-trace/v0.1"
#define INTOTO_URI	"https://deedlog.invalid/runtime-trace/1" /* monitor and our own fields */

#define MAX_INTOTO_RUNS	 16
#define MAX_INTOTO_NAME	 64	/* bytes of a tool's name, and of its package URL */
#define MAX_INTOTO_LIST	 100	/* entries of each list over all runs */
#define MAX_INTOTO_BYTES 36864	/* of lists; with all runs an envelope stays below 100 KiB */

struct intoto_run {
	const struct session *s;
	const char *origin; /* of the run log */
	uint64_t size;	    /* leaves, */
	const char *root;   /* and the hash over them, hex */
};

struct intoto_commit {
	const char *sha, *host; /* host: 64 hex digits that stand for the machine */
	const struct intoto_run *runs;
	size_t n_runs;
	uint64_t runs_left_out;
};

void intoto_statement(const struct intoto_commit *c, struct buf *to);

#endif
