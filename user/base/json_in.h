/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON that somebody else wrote (package.json and the like), by json-c
 * behind caps: valid UTF-8, limited depth, nothing behind the value. Its strict
 * mode still takes a key in single quotes. Our own lines are read by json_line.h.
 */
#ifndef BASE_JSON_IN_H
#define BASE_JSON_IN_H

#include "macros.h"

#define JSON_IN_MAX_DEPTH 16
#define JSON_IN_MAX_BYTES (1u << 20) /* the largest package.json files seen have a tenth of it */

struct json_in; /* an object, owned by the caller */

/* -EFBIG beyond the cap, -EBADMSG for anything that is not one JSON object. */
int json_in_object(const void *text, size_t len, struct json_in **ret_object);
void json_in_free(struct json_in *o);

/* The string under a key of the outermost object, borrowed; -ENOENT: absent or no string. */
int json_in_str(const struct json_in *o, const char *key, const char **ret_text, size_t *ret_len);

static inline void json_in_freep(struct json_in **o)
{
	json_in_free(*o);
}
#define _cleanup_json_in_ _cleanup_(json_in_freep)

#endif
