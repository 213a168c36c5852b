/* SPDX-License-Identifier: MIT */
/*
 * A pull parser for one line of our own making: a JSON object in the canonical
 * form of json_out.h. It accepts nothing else: no blanks, no fractions, no
 * integers beyond 2^63-1, no escape that the writer would not have written, no
 * broken UTF-8, no key twice, no nesting beyond 4, no bytes after the end.
 * So text that passes has exactly one meaning and one spelling. It allocates
 * nothing; results point into the text.
 *
 *	json_line_start(&j, text);
 *	while ((r = json_line_next(&j, &v)) > 0)
 *		...v.key, v.type; after JSON_OBJ or JSON_ARR the members follow
 *		until the 0 of that container, or call json_line_skip()
 *	if (!r)
 *		r = json_line_end(&j);
 */
#ifndef BASE_JSON_LINE_H
#define BASE_JSON_LINE_H

#include "buf.h"
#include "cur.h"

#define JSON_MAX_DEPTH 4  /* the outermost object is depth 1 */
#define JSON_MAX_KEYS 64  /* in one object; our largest schema has about half */

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_STR, JSON_OBJ, JSON_ARR };

struct json_val {
	enum json_type type;
	struct cur key;	 /* without quotes; empty in arrays */
	struct cur text; /* JSON_STR: between the quotes, still escaped; else the value's text */
	int64_t num;	 /* JSON_INT; JSON_BOOL: 0 or 1 */
};

struct json_level {
	bool is_array, started;
	size_t n_keys;
	struct cur keys[JSON_MAX_KEYS];
};

struct json_line {
	struct cur in;
	size_t depth;
	struct json_level level[JSON_MAX_DEPTH];
};

int json_line_start(struct json_line *j, struct cur text);

/* 1 = a value, 0 = end of the container last entered, -EBADMSG = not ours. */
int json_line_next(struct json_line *j, struct json_val *ret);

/* Leaves the container that `v` just entered; *ret_text (may be NULL) is all of it. */
int json_line_skip(struct json_line *j, const struct json_val *v, struct cur *ret_text);

/* The outermost object is closed and nothing follows. */
int json_line_end(const struct json_line *j);

/* The whole line obeys the rules above. */
int json_line_check(struct cur text);

/* Appends the bytes that a JSON_STR stands for. */
int json_unescape(struct cur text, struct buf *to);

/* Takes one character or escape of a string's inside, for cutting at its border. */
int json_char(struct cur *c, uint32_t *ret_char);

#endif
