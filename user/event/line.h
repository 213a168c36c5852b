/* SPDX-License-Identifier: MIT */
/* An event as one canonical JSON line, the text that the ledger hashes. */
#ifndef EVENT_LINE_H
#define EVENT_LINE_H

#include "base/buf.h"
#include "base/diag.h"
#include "event.h"

/* Appends the line to `to`, without newline. */
void event_to_line(const struct event *e, struct buf *to);

/*
 * Reads a line back. Decoded strings live in `store`, which is emptied first
 * and must outlive *ret. -EBADMSG with a diag naming the key: not a line that
 * event_to_line() could have written. -ENOMSG: a `t` this version does not know.
 */
int event_from_line(const char *line, size_t len, struct buf *store, struct diag *d,
		    struct event *ret);

#endif
