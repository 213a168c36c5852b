/* SPDX-License-Identifier: MIT */
/*
 * Who an exec is: the script that an interpreter runs, or the executable, and
 * the package that it belongs to. Never from comm, which any process may set.
 *
 * Limits: files are read when the event is handled, not when the exec was; in
 * another mount namespace than ours the name may be that of another file. So
 * a tool is what its files claim to be.
 */
#ifndef IDENT_TOOL_H
#define IDENT_TOOL_H

#include "event/event.h"
#include "owner.h"

#define MAX_TOOL_NAME 255 /* one path component */

/* Of one exec event, all borrowed. */
struct tool_query {
	struct str exe;	    /* absolute path of the executable */
	struct str scripts; /* of a #! chain, outermost first, each ends in NUL */
	struct str argv;    /* each ends in NUL */
	struct str cwd;	    /* absolute */
	uint32_t uid, gid;  /* files are read with their rights */
};

struct tool {
	char *name;	   /* of an npm package or a module, else base name; "" if even that is not known */
	char *path;	   /* script or executable that decided, resolved where that worked */
	struct package of; /* all NULL: not known */
};

/* Fills *ret, which the caller frees with tool_done(). */
void tool_identify(const struct tool_query *q, struct tool *ret);
void tool_done(struct tool *t);

#endif
