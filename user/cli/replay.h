/* SPDX-License-Identifier: MIT */
/* Reads one recorded run back and hands out its events. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "cli.h"
#include "event/event.h"
#include "ledger/reader.h"

struct replay {
	char run[RUN_ID_LEN + 1];
	uint64_t unknown; /* records of kinds that this version does not know */
	bool open;	  /* the run has no end yet: what was read may be a part */
};

/* The whole id behind a prefix, as replay_run() finds it; only ret->run is set. */
int replay_find(const char *dir, const char *prefix, struct diag *d, struct replay *ret);

/*
 * `prefix` of a run's id, or NULL for the newest. Events that were sealed are
 * handed out; a damaged rest is an error after them.
 */
int replay_run(const char *dir, const char *prefix, event_fn each, void *arg, struct diag *d,
	       struct replay *ret);

/* What a reader should know besides the data, on stderr. */
void replay_remarks(const struct replay *r);

#endif
