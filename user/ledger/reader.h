/* SPDX-License-Identifier: MIT */
/*
 * Reads a run log back, block by block. A line is handed out only after the
 * seal behind it was checked against the run key that the index names; `more`
 * lines are joined first, so that the caller sees the bytes the writer gave to
 * runlog_append(). segment, seal and more lines are not handed out, nor what was
 * redacted.
 */
#ifndef LEDGER_READER_H
#define LEDGER_READER_H

#include "ledger.h"

#include <stddef.h>

struct reader;

struct record {
	uint64_t leaf;	  /* index in the run log */
	const char *line; /* borrowed until the next call, NUL behind it */
	size_t len;
};

int reader_open(struct ledger *l, const char *run_id, struct diag *d, struct reader **ret_reader);

/* 1 = *ret holds a record, 0 = end of the sealed part, < 0 = damage (see d). */
int reader_next(struct reader *r, struct diag *d, struct record *ret);

/* True once 0 was returned and the index holds the run-end of these very records. */
bool reader_closed(const struct reader *r);
void reader_free(struct reader *r);
static inline void reader_freep(struct reader **r)
{
	reader_free(*r);
}
#define _cleanup_reader_ _cleanup_(reader_freep)

#endif
