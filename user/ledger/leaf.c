/* SPDX-License-Identifier: MIT */
/* Salted leaves, see leaf.h. */
#include "leaf.h"

#include "base/base64.h"
#include "salt.h"
#include "sha256.h"

#define SALT_TEXT 22 /* its base64url characters */
#define OPEN "{\"s\":\""
#define MID "\","
#define HEAD_LEN (sizeof(OPEN) - 1 + SALT_TEXT + sizeof(MID) - 1)
#define HASH_TEXT BASE64_LEN(sizeof(struct hash))

_Static_assert(SALT_KEY_LEN == SALT_KEY_BYTES, "one kind of salt key");
_Static_assert(HEAD_LEN == LEAF_SALT_BYTES + 1, "the line gives its { away");

/* A block has one key: the work on it is done once. */
static const struct salter *salter_of(const uint8_t key[SALT_KEY_LEN])
{
	static uint8_t last_key[SALT_KEY_LEN];
	static struct salter last;
	static bool known;

	if (!known || memcmp(last_key, key, sizeof(last_key)))
		salter_init(&last, key);
	memcpy(last_key, key, sizeof(last_key));
	known = true;
	return &last;
}

/* What a leaf begins with, in place of the line's "{". */
static void put_head(char to[HEAD_LEN], const uint8_t salt_key[SALT_KEY_LEN], uint64_t index)
{
	uint8_t salt[SALT_LEN];

	salter_salt(salter_of(salt_key), index, salt);
	memcpy(to, OPEN, sizeof(OPEN) - 1);
	to = base64url_put(to + sizeof(OPEN) - 1, salt, sizeof(salt));
	memcpy(to, MID, sizeof(MID) - 1);
}

void leaf_hash(const uint8_t salt_key[SALT_KEY_LEN], uint64_t index, struct cur line,
	       struct hash *ret)
{
	char head[1 + HEAD_LEN] = { 0 };

	put_head(head + 1, salt_key, index);
	(void)cur_skip(&line, 1); /* line_check() saw the "{" */
	sha256_two(head, sizeof(head), line.at, cur_left(&line), ret->b);
}

void leaf_text(const uint8_t salt_key[SALT_KEY_LEN], uint64_t index, struct cur line,
	       struct buf *to)
{
	char head[HEAD_LEN];

	put_head(head, salt_key, index);
	(void)cur_skip(&line, 1); /* line_check() saw the "{" */
	buf_add(to, head, sizeof(head));
	buf_add(to, line.at, cur_left(&line));
}

void leaf_out_redacted(const struct hash *h, struct buf *to)
{
	buf_addstr(to, LEAF_REDACTED);
	base64_add(to, h->b, sizeof(h->b));
	buf_add(to, "\"}", 2);
}

static void hash_text(struct cur text, struct hash *ret)
{
	sha256_two("", 1, text.at, cur_left(&text), ret->b); /* a zero byte first */
}

static int take_redacted(struct cur in, struct hash *ret)
{
	struct cur text;

	if (cur_skip(&in, sizeof(LEAF_REDACTED) - 1) < 0 || cur_take(&in, HASH_TEXT, &text) < 0 ||
	    base64_exact(text, ret->b, sizeof(ret->b)) < 0 || !cur_is(&in, "\"}"))
		return -EBADMSG;
	return 0;
}

/* The salt's own spelling needs no check: it is hashed as it stands. */
static bool is_salt(const struct cur *c)
{
	for (const uint8_t *at = c->at; at < c->end; at++)
		if (!memchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
			    *at, 64))
			return false;
	return true;
}

int leaf_parse(struct cur text, struct hash *ret, struct cur *ret_rest)
{
	struct cur in = text, salt, mid;

	*ret_rest = (struct cur){ text.end, text.end };
	if (cur_starts(&in, LEAF_REDACTED))
		return take_redacted(in, ret);
	if (!cur_starts(&in, OPEN) || cur_skip(&in, sizeof(OPEN) - 1) < 0 ||
	    cur_take(&in, SALT_TEXT, &salt) < 0 || !is_salt(&salt) ||
	    cur_take(&in, sizeof(MID) - 1, &mid) < 0 || !cur_is(&mid, MID) || !cur_left(&in))
		return -EBADMSG;
	hash_text(text, ret);
	*ret_rest = in;
	return 0;
}
