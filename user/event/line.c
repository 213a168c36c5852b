/* SPDX-License-Identifier: MIT */
/*
 * Events as lines and back. Both directions walk the field table; a type has
 * one row here with its writer and its reader. Relies on json_out.h for the one
 * spelling of a value and on json_line.h to refuse every other spelling.
 */
#include "line.h"

#include "base/base64.h"
#include "base/json_line.h"
#include "base/json_out.h"
#include "field.h"

#define B64 "_b64"

static const char *const access_words[] = { NULL, "r", "w", "rw" };

/* ---- writing ------------------------------------------------------------- */

static void put_u32(struct buf *to, const char *key, const void *member)
{
	json_out_u64(to, key, *(const uint32_t *)member);
}

/*
 * JSON integers of ours end at 2^63-1. A file system may hand out inode numbers
 * beyond; they are written as the negative number of the same 64 bits.
 */
static void put_u64(struct buf *to, const char *key, const void *member)
{
	json_out_i64(to, key, (int64_t)*(const uint64_t *)member);
}

static void put_str(struct buf *to, const char *key, const void *member)
{
	const struct str *s = member;

	json_out_str(to, key, s->p, s->len);
}

static void put_strs(struct buf *to, const char *key, const void *member)
{
	const struct str *s = member;

	json_out_strv(to, key, s->p, s->len);
}

static void put_flag(struct buf *to, const char *key, const void *member)
{
	(void)member; /* a flag is its presence */
	json_out_u64(to, key, 1);
}

static void put_access(struct buf *to, const char *key, const void *member)
{
	json_out_cstr(to, key, access_words[*(const uint32_t *)member & 3]);
}

static void put_obj(struct buf *to, const char *key, const void *member)
{
	const struct str *s = member;

	json_out_raw(to, key, "");
	buf_add(to, s->p, s->len);
}

/* ---- reading: -EBADMSG for a value that the writer does not write --------- */

struct value {
	struct json_line *line;
	const struct json_val *v;
	bool b64; /* the key ended in _b64 */
	struct buf *store;
};

static int get_u32(const struct value *in, void *member)
{
	if (in->v->type != JSON_INT || in->v->num < 0 || in->v->num > UINT32_MAX)
		return -EBADMSG;
	*(uint32_t *)member = (uint32_t)in->v->num;
	return 0;
}

static int get_u64(const struct value *in, void *member)
{
	if (in->v->type != JSON_INT)
		return -EBADMSG;
	*(uint64_t *)member = (uint64_t)in->v->num;
	return 0;
}

/* Appends one string to the store; *ret_text: it could have been written as text. */
static int add_string(const struct value *in, const struct json_val *v, bool *ret_text)
{
	size_t from = in->store->len;
	int r;

	if (v->type != JSON_STR)
		return -EBADMSG;
	*ret_text = true;
	if (!in->b64)
		return json_unescape(v->text, in->store);
	r = base64_decode(v->text, in->store);
	if (r < 0)
		return r;
	*ret_text = json_out_is_text(buf_str(in->store) + from, in->store->len - from);
	return 0;
}

static struct str stored(const struct value *in, size_t from)
{
	return (struct str){ buf_str(in->store) + from, in->store->len - from };
}

static int get_str(const struct value *in, void *member)
{
	size_t from = in->store->len;
	bool text;
	int r;

	r = add_string(in, in->v, &text);
	if (r < 0)
		return r;
	if (in->b64 && text)
		return -EBADMSG;
	*(struct str *)member = stored(in, from);
	return 0;
}

static int get_strs(const struct value *in, void *member)
{
	size_t from = in->store->len;
	bool all_text = true, text;
	struct json_val item;
	int r;

	if (in->v->type != JSON_ARR)
		return -EBADMSG;
	while ((r = json_line_next(in->line, &item)) > 0) {
		size_t at = in->store->len;

		r = add_string(in, &item, &text);
		if (r < 0)
			return r;
		if (memchr(buf_str(in->store) + at, '\0', in->store->len - at))
			return -EBADMSG; /* in memory the NUL ends an item */
		all_text &= text;
		buf_addch(in->store, '\0');
	}
	if (r < 0 || (in->b64 && all_text))
		return -EBADMSG;
	*(struct str *)member = stored(in, from);
	return 0;
}

static int get_flag(const struct value *in, void *member)
{
	(void)member; /* a flag is its presence */
	return in->v->type == JSON_INT && in->v->num == 1 ? 0 : -EBADMSG;
}

static int get_access(const struct value *in, void *member)
{
	for (uint32_t i = 1; i < ARRAY_SIZE(access_words); i++) {
		if (in->v->type == JSON_STR && cur_is(&in->v->text, access_words[i])) {
			*(uint32_t *)member = i;
			return 0;
		}
	}
	return -EBADMSG;
}

static int get_obj(const struct value *in, void *member)
{
	bool nested = in->v->type == JSON_OBJ || in->v->type == JSON_ARR;
	struct cur text = in->v->text;
	size_t from = in->store->len;

	if (!nested && in->v->type != JSON_NULL)
		return -EBADMSG;
	if (nested && json_line_skip(in->line, in->v, &text) < 0)
		return -EBADMSG;
	buf_add(in->store, text.at, cur_left(&text));
	*(struct str *)member = stored(in, from);
	return 0;
}

static const struct {
	void (*put)(struct buf *to, const char *key, const void *member);
	int (*get)(const struct value *in, void *member);
	bool may_be_b64;
} types[FIELD_TYPE_COUNT] = {
	[FIELD_U32] = { put_u32, get_u32, false },
	[FIELD_U64] = { put_u64, get_u64, false },
	[FIELD_STR] = { put_str, get_str, true },
	[FIELD_STRS] = { put_strs, get_strs, true },
	[FIELD_FLAG] = { put_flag, get_flag, false },
	[FIELD_ACCESS] = { put_access, get_access, false },
	[FIELD_OBJ] = { put_obj, get_obj, false },
};

/* ---- the line ------------------------------------------------------------ */

void event_to_line(const struct event *e, struct buf *to)
{
	uint64_t left = e->have & event_kinds[e->kind].fields;

	buf_addch(to, '{'); /* whatever stands before it in the buffer */
	json_out_cstr(to, "t", event_kinds[e->kind].word);
	json_out_u64(to, "b", e->boot_ns);
	while (left) {
		const struct field *f = &event_fields[field_take(&left)];

		types[f->type].put(to, f->key, field_of_const(e, f));
	}
	json_out_close(to, '}');
}

static int bad(struct diag *d, const struct cur *key, const char *what)
{
	return diag_set(d, -EBADMSG, "record: %.*s: %s", (int)MIN(cur_left(key), (size_t)64),
			(const char *)key->at, what);
}

static int kind_of(const struct json_val *v, struct diag *d, enum ev_kind *ret)
{
	for (int i = 0; i < EV_COUNT; i++) {
		if (cur_is(&v->text, event_kinds[i].word)) {
			*ret = (enum ev_kind)i;
			return 0;
		}
	}
	return diag_set(d, -ENOMSG, "record: a kind this version does not know: %.*s",
			(int)MIN(cur_left(&v->text), (size_t)64), (const char *)v->text.at);
}

static int head(struct json_line *j, struct diag *d, struct event *e)
{
	struct json_val v;
	int r;

	if (json_line_next(j, &v) <= 0 || !cur_is(&v.key, "t") || v.type != JSON_STR)
		return diag_set(d, -EBADMSG, "record: t: must come first");
	r = kind_of(&v, d, &e->kind);
	if (r < 0)
		return r;
	if (json_line_next(j, &v) <= 0 || !cur_is(&v.key, "b") || v.type != JSON_INT || v.num < 0)
		return diag_set(d, -EBADMSG, "record: b: must come second");
	e->boot_ns = (uint64_t)v.num;
	return 0;
}

static bool is_key(const struct cur *key, const struct field *f, bool *ret_b64)
{
	size_t n = strlen(f->key);

	if (!cur_starts(key, f->key))
		return false;
	*ret_b64 = cur_left(key) == n + sizeof(B64) - 1 && types[f->type].may_be_b64 &&
		   !memcmp(key->at + n, B64, sizeof(B64) - 1);
	return *ret_b64 || cur_left(key) == n;
}

/* Keys come in the order of the table, so the fields up to a match are used up. */
static int member(const struct value *in, uint64_t *left, struct diag *d, struct event *e)
{
	struct value with = *in;

	while (*left) {
		size_t i = field_take(left);
		const struct field *f = &event_fields[i];

		if (!is_key(&in->v->key, f, &with.b64))
			continue;
		if (types[f->type].get(&with, field_of(e, f)) < 0)
			return bad(d, &in->v->key, "not a value that belongs here");
		e->have |= 1ull << i;
		return 0;
	}
	return bad(d, &in->v->key, "unknown, repeated or out of order");
}

int event_from_line(const char *line, size_t len, struct buf *store, struct diag *d,
		    struct event *ret)
{
	struct json_line j;
	struct json_val v;
	struct value in = { .line = &j, .v = &v, .store = store };
	struct event e = { 0 };
	uint64_t left;
	int r;

	buf_reset(store);
	(void)buf_grow(store, len + 1); /* no value decodes to more: the store stays where it is */
	if (json_line_start(&j, cur_of(line, len)) < 0)
		return diag_set(d, -EBADMSG, "record: not a JSON object");
	r = head(&j, d, &e);
	if (r < 0)
		return r;
	left = event_kinds[e.kind].fields;
	while ((r = json_line_next(&j, &v)) > 0) {
		r = member(&in, &left, d, &e);
		if (r < 0)
			return r;
	}
	if (r < 0 || json_line_end(&j) < 0)
		return diag_set(d, -EBADMSG, "record: not canonical JSON");
	*ret = e;
	return 0;
}
