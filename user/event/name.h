/* SPDX-License-Identifier: MIT */
/*
 * Names as bpf/ sends them: components leaf first, or a string, or a directory
 * leaf first with a string below it. What comes out is one path from the root
 * on, without "." and "..". A path whose root side is missing does not start
 * with a slash.
 */
#ifndef EVENT_NAME_H
#define EVENT_NAME_H

#include "base/buf.h"
#include "base/cur.h"

struct slice {
	struct cur bytes;
	uint16_t flags; /* EV_S_* */
};

/*
 * Appends `dir`, and `tail` (may be NULL) below it. 1 = there is a name, 0 =
 * nothing was sent, -EBADMSG = lengths that do not add up or a NUL byte.
 */
int name_join(const struct slice *dir, const struct slice *tail, struct buf *to);

/* Appends `tail` to the path in `to`; an absolute tail replaces it. */
void name_below(struct buf *to, struct cur tail);

#endif
