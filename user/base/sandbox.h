/* SPDX-License-Identifier: MIT */
/*
 * Gives away what a process does not need, for good. Relies on a kernel with
 * seccomp filters; a process that cannot be confined must not go on.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stddef.h>

/* No core file, no ptrace by others of our user, no /proc/PID/mem. -errno */
int sandbox_hide_memory(void);

/* Closes every descriptor but this one. -errno */
int sandbox_keep_only(int fd);

/*
 * From now on any system call but these (numbers of this architecture, at most
 * 32) kills the process. Also sets no_new_privs. -errno
 */
int sandbox_calls_only(const int *calls, size_t n);

#endif
