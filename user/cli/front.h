/* SPDX-License-Identifier: MIT */
/*
 * The front of a recording: the process that the user sees. It stays in the
 * foreground group as the command's parent, passes signals and stops on, and
 * starts the collector beside it. The command execs only after the collector
 * said that it records.
 */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include "base/buf.h"
#include "daemon/collector.h"
#include "daemon/link.h"
#include "who.h"

struct front_options {
	char **argv; /* of the command; NULL: attach */
	const struct who *who;
	struct collector_options *collector; /* `link` is filled in here */
	bool quiet; /* no notes while it runs */
};

struct front_result {
	int status;	/* wait status of the command */
	int exec_errno; /* why the command could not be executed, 0 = it was */
	bool orphaned;	/* the collector died: the rest is not recorded */
	struct link_done done;
	struct buf summary;
};

/* -errno with d: nothing was started, the command did not run. */
int front_run(const struct front_options *o, struct diag *d, struct front_result *ret);

/* Dies of the same signal as the command did, without a core of our own. */
_noreturn_ void front_die_of(int sig);

#endif
