/* SPDX-License-Identifier: MIT */
/*
 * Folds adjacent writes: consecutive write events of one process to one object
 * become one with summed ops and bytes. Nothing vanishes: who, where, how
 * often and how much stay. Anything else in between ends the fold, so the
 * order of events is kept.
 */
#ifndef EVENT_FOLD_H
#define EVENT_FOLD_H

#include "event.h"

struct fold;

struct fold *fold_new(event_fn out, void *arg);
void fold_free(struct fold *f); /* flushes */
void fold_event(struct fold *f, const struct event *e);
void fold_flush(struct fold *f); /* hands out what is held; call before each seal */

#endif
