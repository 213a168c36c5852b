/* SPDX-License-Identifier: MIT */
/* refs/notes/deedlog: signed statements about commits, one envelope a line. */
#ifndef VCS_NOTES_H
#define VCS_NOTES_H

#include "git.h"

#define NOTES_REF "refs/notes/deedlog"

/* Does this repository want notes (`deedlog hook install --notes`)? */
bool notes_wanted(const struct git *g);

/* Adds one line to the note of a commit; what stands there stays. */
int notes_add(const struct git *g, const char *commit, const struct buf *line, struct diag *d);

#endif
