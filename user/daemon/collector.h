/* SPDX-License-Identifier: MIT */
/*
 * The recorder of one run: owns the target's cgroup, the tracer and the run
 * log, and works until the target is gone. It is a process of its own, so that
 * neither the terminal's signals nor the death of its front end the record.
 */
#ifndef DAEMON_COLLECTOR_H
#define DAEMON_COLLECTOR_H

#include "event/event.h"
#include "trace/tracer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector_options {
	int link;	 /* to the front, see link.h */
	const char *dir; /* ledger, absolute */
	enum tier best, worst;
	uint64_t detach_after_ns; /* after the command's end; UINT64_MAX: wait for everything */
	bool json;		  /* form of the summary */
	bool keep;		  /* leave the kernel's programs loaded for the next run */
	bool timing;		  /* tell how long each phase took */

	/*
	 * Target: a command that the front announces, born in a cgroup made for
	 * it, or what runs already: a foreign cgroup, or (cgroup NULL) a process.
	 */
	bool attach;
	const char *cgroup;
	pid_t pid;

	/* for the begin line */
	const char *name; /* of the command, for the index */
	struct str argv, cwd, home, label;
	uid_t uid;
	gid_t gid;
};

/*
 * Runs to the end. Never prints: everything worth knowing goes over the link.
 * Returns the exit status of the process.
 */
int collector_main(const struct collector_options *o);

#endif
