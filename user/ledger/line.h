/* SPDX-License-Identifier: MIT */
/*
 * Lines: what one may hold, and how a record longer than a line is split into
 * `more` lines and joined again. Splitting and joining are pure functions on
 * canonical text, and join(split(text)) is the same bytes.
 */
#ifndef LEDGER_LINE_H
#define LEDGER_LINE_H

#include "base/buf.h"
#include "base/cur.h"
#include "member.h"

#define RECORD_MAX_BYTES (256u << 10) /* one record, over all its lines */
#define LINE_MAX_CUTS 4		      /* values of one record that may be cut */

/* What a log may hold: canonical, begins {" , no key s or h at top level. -EBADMSG */
int line_check(struct cur line);

/*
 * Appends the lines of one record, each with its newline; `leaf` is the index
 * that the first one will have. Returns how many (1 if it is short enough), or
 * -EBADMSG: not canonical or uses a key of ours (s h more); -EMSGSIZE: longer
 * than RECORD_MAX_BYTES, or what is too long is no string or array.
 */
int line_split(struct cur text, uint64_t leaf, struct buf *to);

/* True if the line says that `more` lines follow; *ret_n is how many. */
bool line_has_more(struct cur line, uint64_t *ret_n);

struct line_cut {
	struct buf key, value; /* value: JSON text as joined so far */
};

struct line_join {
	struct buf head; /* the first line as it stands */
	uint64_t leaf, got, want;
	size_t n_cuts;
	struct line_cut cuts[LINE_MAX_CUTS];
};

void line_join_done(struct line_join *j);
/* `head` is a line with `more`, `leaf` its index. */
int line_join_start(struct line_join *j, struct cur head, uint64_t leaf);
/* 0 = more to come, 1 = that was the last, -EBADMSG = does not belong there. */
int line_join_add(struct line_join *j, struct cur line);
/* The record; only after line_join_add() returned 1. -EBADMSG. */
int line_join_finish(const struct line_join *j, struct buf *to);

#endif
