/* SPDX-License-Identifier: MIT */
/*
 * A preload library that stops or fails a writer at its n-th step to the disk.
 * CRASH_AT=n: the process ends (status 99) instead of making call n, as a
 * power cut would end it, and tells on stderr which call that was. With
 * CRASH_HOW=half a write is made by half first; with CRASH_HOW=EIO or ENOSPC
 * nothing ends, that one call fails. Only the process that was started counts,
 * not its children.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long left = -1;
static const char *how;
static pid_t counted;

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("CRASH_AT");

	left = at ? strtol(at, NULL, 10) : -1;
	how = getenv("CRASH_HOW");
	counted = getpid();
}

static int is_error(void)
{
	return how && strcmp(how, "half");
}

/* Tells and ends, or returns 1 with errno set: the call is to fail. */
static int stop_here(const char *call, const char *what)
{
	fprintf(stderr, "at %s %s\n", call, what);
	if (!is_error())
		_exit(99);
	errno = strcmp(how, "EIO") ? ENOSPC : EIO;
	return 1;
}

static int is_now(void)
{
	return left > 0 && getpid() == counted && !--left;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define STEP(name, what)                        \
	do {                                    \
		if (is_now() && stop_here(#name, what)) \
			return -1;              \
	} while (0)

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (flags & O_CREAT)
		STEP(openat, path);
	return REAL(openat)(dir, path, flags, mode);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	if (is_now()) {
		if (how && !strcmp(how, "half"))
			(void)!REAL(pwrite)(fd, p, n / 2, at);
		if (stop_here("pwrite", ""))
			return -1;
	}
	return REAL(pwrite)(fd, p, n, at);
}

int fsync(int fd)
{
	STEP(fsync, "");
	return REAL(fsync)(fd);
}

int fdatasync(int fd)
{
	STEP(fdatasync, "");
	return REAL(fdatasync)(fd);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	STEP(renameat, from);
	return REAL(renameat)(from_dir, from, to_dir, to);
}

int unlinkat(int dir, const char *path, int flags)
{
	STEP(unlinkat, path);
	return REAL(unlinkat)(dir, path, flags);
}

int ftruncate(int fd, off_t n)
{
	STEP(ftruncate, "");
	return REAL(ftruncate)(fd, n);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	STEP(mkdirat, path);
	return REAL(mkdirat)(dir, path, mode);
}

int symlinkat(const char *target, int dir, const char *path)
{
	STEP(symlinkat, path);
	return REAL(symlinkat)(target, dir, path);
}
