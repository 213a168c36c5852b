/* SPDX-License-Identifier: MIT */
/*
 * Escapes for the sinks of people. esc_tty serves terminals and TSV: what
 * utf8_is_hidden() names becomes \xNN or \u{NNNN}, a byte that is no UTF-8
 * becomes \xNN, a backslash is doubled. So the text can be turned back.
 */
#ifndef BASE_ESC_H
#define BASE_ESC_H

#include "buf.h"

void esc_tty(struct buf *to, const void *bytes, size_t len);

#endif
