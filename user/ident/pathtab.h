/* SPDX-License-Identifier: MIT */
/*
 * Path of each file object as last seen. The kernel sends a path once per
 * process and object; later events of that object get it from here. Names are
 * kept as a tree, so that the rename of a folder moves all that is below it in
 * one step. A name that was unlinked or replaced lives on for its old object,
 * as "path as last seen", until the object number is used again.
 *
 * Bounded: beyond the limits the objects that were not used for the longest
 * time go, and are counted. A path that rests on a name from user memory is
 * handed out with EF(UNPROVEN), a cut or unreachable one with its own mark.
 */
#ifndef IDENT_PATHTAB_H
#define IDENT_PATHTAB_H

#include "event/event.h"

#define MAX_PATHTAB_OBJECTS 131072	  /* twice the kernel's table of touches */
#define MAX_PATHTAB_BYTES   (32ull << 20) /* of names and their nodes */
#define MAX_PATHTAB_PATH    8192	  /* folder and tail of a name; longer: counted only */

struct pathtab;

/* 0 means the limit above. */
struct pathtab *pathtab_new(size_t max_objects, size_t max_bytes);
void pathtab_free(struct pathtab *t);

/*
 * Learns from the event, and gives an event that names an object without a
 * path the path that is known; it is valid until the next call. 1 = filled in,
 * 0 = nothing to do, -ENOENT = the object is not known (the event stays as it
 * is, counting it is the caller's).
 */
int pathtab_event(struct pathtab *t, struct event *e);

/* Objects forgotten, or never kept, because of the limits. */
uint64_t pathtab_evicted(const struct pathtab *t);

#endif
