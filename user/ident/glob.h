/* SPDX-License-Identifier: MIT */
/*
 * The glob of the path tables, over bytes: `*` and `?` stay within one path
 * component, `**` is zero or more whole components, so `dir/` followed by `**`
 * also matches dir itself. No braces, no brackets, no escapes. Each restart of
 * `**` moves on by one component, so the time is at most (bytes of the path) x
 * (bytes of the pattern): a path cannot make it slow.
 */
#ifndef IDENT_GLOB_H
#define IDENT_GLOB_H

#include "base/cur.h"

/* The whole path must match. Empty components of either side are passed over. */
bool glob_match(struct cur pattern, struct cur path);

/* One component against a pattern of `*` and `?`. */
bool glob_match_part(struct cur pattern, struct cur part);

/* Takes the next component that is not empty; false at the end. */
bool path_next(struct cur *path, struct cur *ret_part);

#endif
