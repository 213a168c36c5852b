/* SPDX-License-Identifier: MIT */
/* The canonical JSON writer of json_out.h. */
#include "json_out.h"

#include "base64.h"
#include "utf8.h"

static void separate(struct buf *b)
{
	char last = b->len ? b->data[b->len - 1] : '[';

	if (last != '{' && last != '[')
		buf_addch(b, ',');
}

static void start(struct buf *b, const char *key, const char *suffix)
{
	separate(b);
	if (!key)
		return;
	buf_addch(b, '"');
	buf_addstr(b, key);
	buf_addstr(b, suffix);
	buf_add(b, "\":", 2);
}

void json_out_open(struct buf *b, const char *key, char bracket)
{
	start(b, key, "");
	buf_addch(b, bracket);
}

void json_out_close(struct buf *b, char bracket)
{
	buf_addch(b, bracket);
}

void json_out_u64(struct buf *b, const char *key, uint64_t n)
{
	start(b, key, "");
	buf_addu64(b, n);
}

void json_out_i64(struct buf *b, const char *key, int64_t n)
{
	start(b, key, "");
	buf_addi64(b, n);
}

void json_out_raw(struct buf *b, const char *key, const char *json)
{
	start(b, key, "");
	buf_addstr(b, json);
}

void json_out_bool(struct buf *b, const char *key, bool yes)
{
	json_out_raw(b, key, yes ? "true" : "false");
}

void json_out_null(struct buf *b, const char *key)
{
	json_out_raw(b, key, "null");
}

static void escape(struct buf *b, uint32_t ch)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', hex[ch >> 12 & 15], hex[ch >> 8 & 15], hex[ch >> 4 & 15],
			 hex[ch & 15] };

	if (ch == '"' || ch == '\\') {
		text[1] = (char)ch;
		buf_add(b, text, 2);
	} else {
		buf_add(b, text, sizeof(text));
	}
}

/* Writes up to the first byte that is no text; 0 if there was none. */
static int body(struct buf *b, struct cur c)
{
	for (;;) {
		const uint8_t *from = c.at;
		size_t plain = utf8_plain(&c);
		uint32_t ch;

		buf_add(b, from, plain);
		(void)cur_skip(&c, plain); /* just measured */
		if (!cur_left(&c))
			return 0;
		from = c.at;
		if (utf8_next(&c, &ch) < 0 || !ch)
			return -EBADMSG;
		if (ch == '"' || ch == '\\' || utf8_is_hidden(ch))
			escape(b, ch);
		else
			buf_add(b, from, (size_t)(c.at - from));
	}
}

static void quoted_b64(struct buf *b, const void *bytes, size_t len)
{
	buf_addch(b, '"');
	base64_add(b, bytes, len);
	buf_addch(b, '"');
}

void json_out_str(struct buf *b, const char *key, const void *bytes, size_t len)
{
	size_t at = b->len;

	start(b, key, "");
	buf_addch(b, '"');
	if (!body(b, cur_of(bytes, len))) {
		buf_addch(b, '"');
		return;
	}
	buf_cut(b, at);
	start(b, key, "_b64");
	quoted_b64(b, bytes, len);
}

void json_out_cstr(struct buf *b, const char *key, const char *text)
{
	json_out_str(b, key, text, strlen(text));
}

void json_out_elem(struct buf *b, const char *text)
{
	separate(b);
	buf_addch(b, '"');
	(void)body(b, cur_of(text, strlen(text))); /* cut at bad bytes, as promised */
	buf_addch(b, '"');
}

bool json_out_is_text(const void *bytes, size_t len)
{
	struct cur c = cur_of(bytes, len);
	uint32_t ch;

	while (cur_left(&c)) {
		(void)cur_skip(&c, utf8_plain(&c)); /* just measured */
		if (cur_left(&c) && (utf8_next(&c, &ch) < 0 || !ch))
			return false;
	}
	return true;
}

/* The next string of a NUL-separated list. */
static struct cur next_string(struct cur *list)
{
	struct cur one;

	if (cur_until(list, '\0', &one) < 0)
		(void)cur_take(list, cur_left(list), &one); /* the last one, unended */
	return one;
}

static bool all_text(struct cur list)
{
	while (cur_left(&list)) {
		struct cur one = next_string(&list);

		if (!json_out_is_text(one.at, cur_left(&one)))
			return false;
	}
	return true;
}

void json_out_strv(struct buf *b, const char *key, const void *bytes, size_t len)
{
	struct cur list = cur_of(bytes, len);
	bool text = all_text(list);

	start(b, key, text ? "" : "_b64");
	buf_addch(b, '[');
	while (cur_left(&list)) {
		struct cur one = next_string(&list);

		separate(b);
		if (!text) {
			quoted_b64(b, one.at, cur_left(&one));
			continue;
		}
		buf_addch(b, '"');
		(void)body(b, one); /* checked above */
		buf_addch(b, '"');
	}
	buf_addch(b, ']');
}
