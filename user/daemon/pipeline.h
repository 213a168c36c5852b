/* SPDX-License-Identifier: MIT */
/*
 * What happens to each event between the ring and the sinks: its path is
 * filled in, an exec is given its tool, adjacent writes are folded, and the
 * result goes to the run log and to the tally of the run. The tally gets
 * exactly what the run log got, so that a summary made later from the run log
 * is the same.
 */
#ifndef DAEMON_PIPELINE_H
#define DAEMON_PIPELINE_H

#include "agg/session.h"
#include "event/event.h"
#include "event/loss.h"
#include "ident/proctab.h"
#include "ledger/runlog.h"

struct pipeline;

struct pipeline_options {
	struct runlog *log; /* borrowed */
	pid_t main;	    /* the process whose end is the run's, or 0 */
	uid_t uid;	    /* files are read with these rights to name a tool */
	gid_t gid;
};

struct pipeline *pipeline_new(const struct pipeline_options *o);
void pipeline_free(struct pipeline *p);

/* An event_fn; arg is the pipeline. */
void pipeline_event(const struct event *e, void *arg);
void pipeline_flush(struct pipeline *p); /* hands on what is being folded */

/*
 * The last event of a run: to the tally, and as the line for runlog_end(),
 * borrowed until the pipeline is freed.
 */
struct str pipeline_end(struct pipeline *p, const struct event *end);

/* Adds what was lost here: storage that failed, paths that found no room. */
void pipeline_losses(const struct pipeline *p, struct loss *to);
bool pipeline_storage_failed(const struct pipeline *p);
uint64_t pipeline_repeats(const struct pipeline *p); /* reads that were counted, not listed */
uint64_t pipeline_procs(const struct pipeline *p);   /* processes seen */
bool pipeline_saw_exit(const struct pipeline *p, int *ret_code, int *ret_signal); /* of `main` */
const struct session *pipeline_session(const struct pipeline *p);
const struct proctab *pipeline_procs_known(const struct pipeline *p);

#endif
