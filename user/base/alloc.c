/* SPDX-License-Identifier: MIT */
/* Allocation that aborts on failure, see alloc.h. */
#include "alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_abort(void *p)
{
	if (!p)
		abort();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return or_abort(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return or_abort(reallocarray(p, n ? n : 1, size ? size : 1));
}

void *xmemdup(const void *p, size_t len)
{
	char *copy = xcalloc(len + 1, 1);

	if (len)
		memcpy(copy, p, len);
	return copy;
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	return s;
}
