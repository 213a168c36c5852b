/* SPDX-License-Identifier: MIT */
/*
 * A bounded cursor over bytes that somebody else wrote. Nothing outside these
 * functions does arithmetic on input. A failed call moves nothing and returns
 * -EBADMSG. A parser ends with cur_end(): bytes left over are an error.
 */
#ifndef BASE_CUR_H
#define BASE_CUR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cur {
	const uint8_t *at, *end;
};

static inline struct cur cur_of(const void *p, size_t len)
{
	return (struct cur){ p, (const uint8_t *)p + len };
}

static inline size_t cur_left(const struct cur *c)
{
	return c->end - c->at;
}

static inline int cur_end(const struct cur *c)
{
	return c->at == c->end ? 0 : -EBADMSG;
}

static inline int cur_take(struct cur *c, size_t n, struct cur *ret_part)
{
	if (n > cur_left(c))
		return -EBADMSG;
	*ret_part = (struct cur){ c->at, c->at + n };
	c->at += n;
	return 0;
}

static inline int cur_skip(struct cur *c, size_t n)
{
	struct cur part;

	return cur_take(c, n, &part);
}

/* Up to the byte `stop`, which is taken but is no part of the result. */
static inline int cur_until(struct cur *c, uint8_t stop, struct cur *ret_part)
{
	const uint8_t *hit = cur_left(c) ? memchr(c->at, stop, cur_left(c)) : NULL;

	if (!hit)
		return -EBADMSG;
	*ret_part = (struct cur){ c->at, hit };
	c->at = hit + 1;
	return 0;
}

static inline int cur_copy(struct cur *c, void *to, size_t n)
{
	struct cur part;
	int r;

	r = cur_take(c, n, &part);
	if (r < 0)
		return r;
	memcpy(to, part.at, n);
	return 0;
}

static inline int cur_u8(struct cur *c, uint8_t *ret_n)
{
	return cur_copy(c, ret_n, 1);
}

#define CUR_LE_(bits)                                                          \
	static inline int cur_le##bits(struct cur *c, uint##bits##_t *ret_n)   \
	{                                                                      \
		uint8_t raw[bits / 8];                                         \
		uint##bits##_t n = 0;                                          \
		int r;                                                         \
                                                                               \
		r = cur_copy(c, raw, sizeof(raw));                             \
		if (r < 0)                                                     \
			return r;                                              \
		for (size_t i = sizeof(raw); i--;)                             \
			n = (uint##bits##_t)((uint64_t)n << 8 | raw[i]);       \
		*ret_n = n;                                                    \
		return 0;                                                      \
	}
CUR_LE_(16)
CUR_LE_(32)
CUR_LE_(64)

static inline bool cur_is(const struct cur *c, const char *text)
{
	size_t n = strlen(text);

	return cur_left(c) == n && !memcmp(c->at, text, n);
}

static inline bool cur_starts(const struct cur *c, const char *text)
{
	size_t n = strlen(text);

	return cur_left(c) >= n && !memcmp(c->at, text, n);
}

#endif
