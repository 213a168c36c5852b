/* SPDX-License-Identifier: MIT */
/* The growing byte buffer of buf.h. */
#include "buf.h"

#include "alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DECIMAL_MAX 20 /* digits of UINT64_MAX */

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *b)
{
	buf_cut(b, 0);
}

void buf_cut(struct buf *b, size_t len)
{
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

char *buf_grow(struct buf *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->len, n + 1, &need))
		abort();
	if (need > b->cap) {
		b->cap = MAX(need, b->cap + b->cap / 2 + 64);
		b->data = xrealloc(b->data, b->cap, 1);
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_grow(b, n);

	if (n)
		memcpy(to, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_addch(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addu64(struct buf *b, uint64_t n)
{
	char text[DECIMAL_MAX];
	size_t at = sizeof(text);

	do {
		text[--at] = '0' + n % 10;
		n /= 10;
	} while (n);
	buf_add(b, text + at, sizeof(text) - at);
}

void buf_addi64(struct buf *b, int64_t n)
{
	if (n < 0)
		buf_addch(b, '-');
	buf_addu64(b, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	(void)vsnprintf(buf_grow(b, n), (size_t)n + 1, fmt, again); /* fits by the line above */
	va_end(again);
	b->len += n;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	*b = (struct buf)BUF_INIT;
	return s;
}
