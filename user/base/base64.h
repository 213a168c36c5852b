/* SPDX-License-Identifier: MIT */
/*
 * Base64 (RFC 4648) with one spelling per value: decoding refuses wrong
 * padding, blanks and bits behind the last byte.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "buf.h"
#include "cur.h"

#define BASE64_LEN(n) (((n) + 2) / 3 * 4) /* characters of n bytes, padded */

/* Writes to `to`, returns the end. The url form has - and _ and no padding. */
char *base64_put(char *to, const void *bytes, size_t n);
char *base64url_put(char *to, const void *bytes, size_t n);

void base64_add(struct buf *b, const void *bytes, size_t n);

/* Appends the decoded bytes; -EBADMSG leaves b as it was. */
int base64_decode(struct cur text, struct buf *b);

/* The text must stand for exactly n bytes. */
int base64_exact(struct cur text, void *to, size_t n);

#endif
