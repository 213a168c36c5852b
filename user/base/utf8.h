/* SPDX-License-Identifier: MIT */
/*
 * Strict UTF-8 (no surrogates, no overlong forms, at most U+10FFFF), and the
 * characters that every sink must show as escapes because they move, hide or
 * reorder the text around them.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "cur.h"

/* Takes one character; -EBADMSG (nothing taken) where the bytes are no UTF-8. */
int utf8_next(struct cur *c, uint32_t *ret_char);

/* C0, DEL, C1, line separators, bidirectional controls, zero-width characters. */
bool utf8_is_hidden(uint32_t ch);

/* Bytes of printable ASCII without `"` and `\` at the start of c. */
size_t utf8_plain(const struct cur *c);

#endif
