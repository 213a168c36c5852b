/* SPDX-License-Identifier: MIT */
/*
 * What is not in the record, counted by cause and class. `unknown` marks a
 * count that cannot be had; it is written as null, which is not zero.
 */
#ifndef EVENT_LOSS_H
#define EVENT_LOSS_H

#include "base/buf.h"
#include "event.h"

struct loss {
	uint64_t n[EV_LOSS_COUNT][EV_CLASS_COUNT];
	bool unknown;
};

uint64_t loss_total(const struct loss *l);
void loss_add(struct loss *l, const struct loss *more);

/* {"ring":{"file":3}}, {} when nothing was lost, null when unknown. */
void loss_to_json(const struct loss *l, struct buf *to);
int loss_from_json(const char *text, size_t len, struct loss *ret);

#endif
