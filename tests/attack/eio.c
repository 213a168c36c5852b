/* SPDX-License-Identifier: MIT */
/*
 * A preload library: the EIO_AT-th fdatasync fails with EIO, as a bad disk
 * would make it. A later fdatasync or fsync on that descriptor aborts: the
 * kernel may have dropped the pages, so a success would be a lie.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

int fdatasync(int fd);
int fsync(int fd);
int close(int fd);

static int calls, bad_fd = -1;

static void refuse_again(int fd)
{
	if (fd == bad_fd)
		abort();
}

int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	const char *at = getenv("EIO_AT");

	refuse_again(fd);
	if (at && ++calls == strtol(at, NULL, 10)) {
		bad_fd = fd;
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int fsync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	refuse_again(fd);
	return real(fd);
}

int close(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

	if (fd == bad_fd)
		bad_fd = -1; /* the number may come back for another file */
	return real(fd);
}
