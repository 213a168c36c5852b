/* SPDX-License-Identifier: MIT */
/*
 * Writes canonical JSON text onto a buffer: no blanks, integers only, strings
 * with exactly one spelling. `"` and `\` get a backslash; characters that
 * utf8_is_hidden() names become \uxxxx in lower case, so that even a raw dump
 * to a terminal is safe; everything else stays UTF-8. Text that is not valid
 * UTF-8, or holds a NUL, is written under <key>_b64 as base64.
 *
 * Commas are put by looking at the last byte. Keys are plain ASCII of ours.
 */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include "buf.h"

#include <stdbool.h>

/* key is NULL for elements of arrays and for the outermost value. */
void json_out_open(struct buf *b, const char *key, char bracket); /* '{' or '[' */
void json_out_close(struct buf *b, char bracket);		  /* '}' or ']' */
void json_out_u64(struct buf *b, const char *key, uint64_t n);	  /* at most INT64_MAX */
void json_out_i64(struct buf *b, const char *key, int64_t n);
void json_out_bool(struct buf *b, const char *key, bool yes);
void json_out_null(struct buf *b, const char *key);
void json_out_raw(struct buf *b, const char *key, const char *json); /* canonical already */

/* Adds the suffix _b64 to the key by itself; key is never NULL here. */
void json_out_str(struct buf *b, const char *key, const void *bytes, size_t len);
void json_out_cstr(struct buf *b, const char *key, const char *text);

/* A string of ours as an element: valid UTF-8 without NUL, or it is cut there. */
void json_out_elem(struct buf *b, const char *text);

/*
 * An array of strings, each ended by a NUL (the last one may lack it), as argv
 * comes from the kernel. If one is not valid UTF-8, all are base64 under
 * <key>_b64. No bytes at all is the empty array.
 */
void json_out_strv(struct buf *b, const char *key, const void *bytes, size_t len);

/* True if json_out_str() would write these bytes as text. */
bool json_out_is_text(const void *bytes, size_t len);

#endif
