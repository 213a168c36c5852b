/* SPDX-License-Identifier: MIT */
/* The strict line parser of json_line.h. */
#include "json_line.h"

#include "macros.h"
#include "num.h"
#include "utf8.h"

static bool peek(const struct cur *c, char want)
{
	return cur_left(c) && *c->at == (uint8_t)want;
}

static int expect(struct cur *c, char want)
{
	if (!peek(c, want))
		return -EBADMSG;
	return cur_skip(c, 1);
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind the backslash: only what the writer escapes, only as it does. */
static int escaped(struct cur *c, uint32_t *ret_char)
{
	uint32_t ch = 0;
	uint8_t byte;

	if (cur_u8(c, &byte) < 0)
		return -EBADMSG;
	if (byte != 'u') {
		*ret_char = byte;
		return byte == '"' || byte == '\\' ? 0 : -EBADMSG;
	}
	for (int i = 0; i < 4; i++) {
		int d = cur_u8(c, &byte) < 0 ? -1 : hex_digit(byte);

		if (d < 0)
			return -EBADMSG;
		ch = ch << 4 | (uint32_t)d;
	}
	*ret_char = ch;
	return ch && utf8_is_hidden(ch) ? 0 : -EBADMSG;
}

int json_char(struct cur *c, uint32_t *ret_char)
{
	struct cur at = *c;
	int r;

	if (peek(&at, '\\')) {
		(void)cur_skip(&at, 1); /* just seen */
		r = escaped(&at, ret_char);
	} else {
		r = utf8_next(&at, ret_char);
		if (!r && (*ret_char == '"' || utf8_is_hidden(*ret_char)))
			r = -EBADMSG;
	}
	if (!r)
		*c = at;
	return r;
}

/* A whole string with its quotes; *ret is what stands between them. */
static int string(struct cur *c, struct cur *ret)
{
	const uint8_t *from;
	uint32_t ch;
	int r;

	r = expect(c, '"');
	if (r < 0)
		return r;
	from = c->at;
	for (;;) {
		(void)cur_skip(c, utf8_plain(c)); /* just measured */
		if (peek(c, '"'))
			break;
		r = json_char(c, &ch);
		if (r < 0)
			return r;
	}
	*ret = (struct cur){ from, c->at };
	return expect(c, '"');
}

static int enter(struct json_line *j, bool is_array)
{
	struct json_level *l;

	if (j->depth == JSON_MAX_DEPTH)
		return -EBADMSG;
	l = &j->level[j->depth++];
	l->is_array = is_array;
	l->started = false;
	l->n_keys = 0;
	return cur_skip(&j->in, 1);
}

int json_line_start(struct json_line *j, struct cur text)
{
	j->in = text;
	j->depth = 0;
	return peek(&text, '{') ? enter(j, false) : -EBADMSG;
}

static int new_key(struct json_level *l, struct cur key)
{
	if (!cur_left(&key) || l->n_keys == JSON_MAX_KEYS)
		return -EBADMSG;
	for (size_t i = 0; i < l->n_keys; i++)
		if (cur_left(&l->keys[i]) == cur_left(&key) &&
		    !memcmp(l->keys[i].at, key.at, cur_left(&key)))
			return -EBADMSG;
	l->keys[l->n_keys++] = key;
	return 0;
}

static int key(struct json_line *j, struct json_level *l, struct cur *ret_key)
{
	int r;

	*ret_key = (struct cur){ j->in.at, j->in.at };
	if (l->is_array)
		return 0;
	r = string(&j->in, ret_key);
	if (!r)
		r = new_key(l, *ret_key);
	return r ? r : expect(&j->in, ':');
}

static int integer(struct cur *c, struct json_val *v)
{
	const uint8_t *at = c->at;

	while (at < c->end && (*at == '-' || (*at >= '0' && *at <= '9')))
		at++;
	v->type = JSON_INT;
	if (cur_take(c, (size_t)(at - c->at), &v->text) < 0)
		return -EBADMSG;
	return num_i64((const char *)v->text.at, cur_left(&v->text), &v->num) < 0 ? -EBADMSG : 0;
}

static int word(struct cur *c, struct json_val *v)
{
	static const struct {
		const char *text;
		enum json_type type;
		int64_t num;
	} words[] = {
		{ "null", JSON_NULL, 0 },
		{ "true", JSON_BOOL, 1 },
		{ "false", JSON_BOOL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!cur_starts(c, words[i].text))
			continue;
		v->type = words[i].type;
		v->num = words[i].num;
		return cur_take(c, strlen(words[i].text), &v->text);
	}
	return integer(c, v);
}

static int value(struct json_line *j, struct json_val *v)
{
	bool is_array = peek(&j->in, '[');

	v->num = 0;
	v->text = (struct cur){ j->in.at, j->in.at };
	if (is_array || peek(&j->in, '{')) {
		v->type = is_array ? JSON_ARR : JSON_OBJ;
		return enter(j, is_array);
	}
	if (peek(&j->in, '"')) {
		v->type = JSON_STR;
		return string(&j->in, &v->text);
	}
	return word(&j->in, v);
}

int json_line_next(struct json_line *j, struct json_val *ret)
{
	struct json_level *l;
	int r = 0;

	if (!j->depth)
		return -EBADMSG;
	l = &j->level[j->depth - 1];
	if (peek(&j->in, l->is_array ? ']' : '}')) {
		j->depth--;
		return cur_skip(&j->in, 1);
	}
	if (l->started)
		r = expect(&j->in, ',');
	l->started = true;
	if (!r)
		r = key(j, l, &ret->key);
	if (!r)
		r = value(j, ret);
	return r < 0 ? r : 1;
}

int json_line_skip(struct json_line *j, const struct json_val *v, struct cur *ret_text)
{
	size_t outside = j->depth - 1;
	struct json_val inner;

	while (j->depth > outside)
		if (json_line_next(j, &inner) < 0)
			return -EBADMSG;
	if (ret_text)
		*ret_text = (struct cur){ v->text.at, j->in.at };
	return 0;
}

int json_line_end(const struct json_line *j)
{
	return j->depth ? -EBADMSG : cur_end(&j->in);
}

int json_line_check(struct cur text)
{
	struct json_line j;
	struct json_val v;
	int r;

	r = json_line_start(&j, text);
	while (!r && j.depth)
		r = json_line_next(&j, &v) < 0 ? -EBADMSG : 0;
	return r ? r : json_line_end(&j);
}

static void add_utf8(struct buf *to, uint32_t ch)
{
	/* an escape stands for a hidden character: at most three bytes */
	if (ch < 0x80) {
		buf_addch(to, (char)ch);
		return;
	}
	if (ch < 0x800) {
		buf_addch(to, (char)(0xc0 | ch >> 6));
	} else {
		buf_addch(to, (char)(0xe0 | ch >> 12));
		buf_addch(to, (char)(0x80 | (ch >> 6 & 0x3f)));
	}
	buf_addch(to, (char)(0x80 | (ch & 0x3f)));
}

int json_unescape(struct cur text, struct buf *to)
{
	while (cur_left(&text)) {
		const uint8_t *from = text.at;
		uint32_t ch;

		if (json_char(&text, &ch) < 0)
			return -EBADMSG;
		if (*from == '\\')
			add_utf8(to, ch);
		else
			buf_add(to, from, (size_t)(text.at - from));
	}
	return 0;
}
