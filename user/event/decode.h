/* SPDX-License-Identifier: MIT */
/*
 * Ring records to events. The kernel side is ours, the bytes in it are the
 * target's: every length is checked, a record that does not add up is counted
 * under lost.fault and dropped, never trusted.
 */
#ifndef EVENT_DECODE_H
#define EVENT_DECODE_H

#include "event.h"
#include "loss.h"

struct decoder; /* keeps the parts of execs that are under way, and sequence numbers */

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);

/*
 * 1 = *ret is an event, valid until the next call; 0 = a part, kept; -EBADMSG
 * = malformed. An event of a file whose path was sent before for that process
 * comes without EF(PATH).
 */
int decoder_record(struct decoder *d, const void *rec, size_t len, struct event *ret);

/* Records missing by sequence number, all CPUs; equals the kernel's own count of losses. */
uint64_t decoder_holes(const struct decoder *d);

#endif
