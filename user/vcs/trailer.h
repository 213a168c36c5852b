/* SPDX-License-Identifier: MIT */
/*
 * `Deedlog-Head: ORIGIN SIZE ROOT SIGNATURE [CO-SIGNATURE]`, the line that a
 * commit carries. Pure functions over bytes; messages may hold anything.
 */
#ifndef VCS_TRAILER_H
#define VCS_TRAILER_H

#include "base/diag.h"
#include "ledger/anchor.h"

#define TRAILER_KEY "Deedlog-Head"
#define MAX_MESSAGE_HEADS 4096 /* in one message; a squash has one for each commit */

/* The value for the note that DIR/head holds; -EBADMSG if that is no signed index head. */
int trailer_of_head(struct cur note, struct buf *to);

/* Parses a value; false: nothing but a->malformed is set. */
bool trailer_parse(struct cur value, struct anchor *a);

/*
 * Adds an anchor for each line of a raw message that begins with the key, also
 * behind blanks (found in squashed text). Malformed ones are added as such.
 * -E2BIG beyond MAX_MESSAGE_HEADS.
 */
int trailer_scan(struct cur message, const char *commit, struct anchors *to);

#endif
