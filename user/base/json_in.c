/* SPDX-License-Identifier: MIT */
/* json-c behind caps, see json_in.h. The only file that includes it. */
#include "json_in.h"

#include <errno.h>
#include <json-c/json.h>

static void tokener_freep(struct json_tokener **t)
{
	if (*t)
		json_tokener_free(*t);
}

int json_in_object(const void *text, size_t len, struct json_in **ret_object)
{
	_cleanup_(tokener_freep) struct json_tokener *t = NULL;
	struct json_object *o;

	if (len > JSON_IN_MAX_BYTES)
		return -EFBIG;
	t = json_tokener_new_ex(JSON_IN_MAX_DEPTH);
	if (!t)
		abort();
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, text, (int)len);
	if (json_object_is_type(o, json_type_object) &&
	    json_tokener_get_error(t) == json_tokener_success) {
		*ret_object = (struct json_in *)o;
		return 0;
	}
	json_object_put(o);
	return -EBADMSG;
}

void json_in_free(struct json_in *o)
{
	json_object_put((struct json_object *)o);
}

int json_in_str(const struct json_in *o, const char *key, const char **ret_text, size_t *ret_len)
{
	struct json_object *v;

	if (!json_object_object_get_ex((const struct json_object *)o, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return -ENOENT;
	*ret_text = json_object_get_string(v);
	*ret_len = (size_t)json_object_get_string_len(v);
	return 0;
}
