/* SPDX-License-Identifier: MIT */
/*
 * Small language helpers. Ownership is visible at the declaration: a local
 * that owns something carries a _cleanup_ attribute, starts as NULL or -1 and
 * gives its value away through TAKE_PTR or TAKE_FD.
 */
#ifndef BASE_MACROS_H
#define BASE_MACROS_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _unused_ __attribute__((unused))
#define _noreturn_ __attribute__((noreturn))

#define TAKE_PTR(p)                          \
	({                                   \
		__typeof__(p) taken_ = (p);  \
		(p) = NULL;                  \
		taken_;                      \
	})
#define TAKE_FD(fd)              \
	({                       \
		int taken_ = (fd); \
		(fd) = -1;       \
		taken_;          \
	})

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* nothing was written through it that still counts */
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_fd_ _cleanup_(closep)

#endif
