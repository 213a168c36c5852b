/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer, also used as string builder: one NUL byte, not
 * counted in len, always stands behind the data. A zeroed struct is empty.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "macros.h"

#include <stdint.h>

struct buf {
	char *data; /* NULL while nothing was added */
	size_t len, cap;
};

#define BUF_INIT { 0 }
#define _cleanup_buf_ _cleanup_(buf_done)

void buf_done(struct buf *b);
void buf_reset(struct buf *b); /* empties, keeps the memory */
void buf_cut(struct buf *b, size_t len); /* len <= b->len */
char *buf_grow(struct buf *b, size_t n); /* room for n more bytes, not counted yet */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_addch(struct buf *b, char c);
void buf_addstr(struct buf *b, const char *s);
void buf_addu64(struct buf *b, uint64_t n); /* decimal */
void buf_addi64(struct buf *b, int64_t n);
void buf_addf(struct buf *b, const char *fmt, ...) _printf_(2, 3);
const char *buf_str(const struct buf *b); /* "" when empty; borrowed */
char *buf_take(struct buf *b); /* the caller owns the string; b is empty */

#endif
