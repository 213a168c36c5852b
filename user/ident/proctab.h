/* SPDX-License-Identifier: MIT */
/*
 * Who is who: pid -> parent, executable, argv[0], tool. Fed by the event
 * stream. A process that ended stays while a child of it lives, so that a
 * lineage can be told; a pid that is used again is a new process.
 */
#ifndef IDENT_PROCTAB_H
#define IDENT_PROCTAB_H

#include "event/event.h"

#define MAX_PROCS     32768 /* default pid_max; more are not named, and counted */
#define MAX_PROC_TEXT 1024  /* bytes kept of one text: the end of a path, the start of argv[0] */

/* What a process runs; children share it until they exec. Empty texts: not known. */
struct proc_image {
	char *exe, *argv0, *tool;
	uint32_t refs; /* of the table */
};

struct proc {
	uint32_t pid;
	bool ended;
	struct proc *parent;	    /* NULL: began before the run, or not known */
	const struct proc_image *image;  /* never NULL */
	uint64_t execs;
	/* of the table */
	struct proc *next;
	uint32_t refs;
	bool listed;
};

struct proctab;

struct proctab *proctab_new(void);
void proctab_free(struct proctab *t);
void proctab_event(struct proctab *t, const struct event *e);

/* NULL: not known. Borrowed until the next event. */
const struct proc *proctab_find(const struct proctab *t, uint32_t pid);

/* The tool's name, else the base name of the executable, else of argv[0], else "". Never NULL. */
const char *proctab_name(const struct proctab *t, uint32_t pid);

uint64_t proctab_unnamed(const struct proctab *t); /* processes that found no room */

#endif
