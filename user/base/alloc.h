/* SPDX-License-Identifier: MIT */
/*
 * Memory that is there or the process is not: running out of it aborts.
 * Every size derived from input is checked against a named cap first.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

void *xcalloc(size_t n, size_t size);		  /* zeroed */
void *xrealloc(void *p, size_t n, size_t size);	  /* not zeroed beyond the old end */
void *xmemdup(const void *p, size_t len);	  /* one NUL byte is added behind */
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
