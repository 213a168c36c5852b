/* SPDX-License-Identifier: MIT */
/*
 * Reading files with the rights of the traced user. What a path leads to is
 * up to that user, so root's rights must not follow it. Holds for the calling
 * thread; supplementary groups stay those of the caller.
 */
#ifndef IDENT_FSUSER_H
#define IDENT_FSUSER_H

#include <stdint.h>
#include <sys/types.h>

struct fsuser {
	uid_t uid;
	gid_t gid;
};

/* -EPERM: the rights could not be taken, nothing has changed. */
int fsuser_enter(uint32_t uid, uint32_t gid, struct fsuser *ret_before);

/* Aborts if the rights of before cannot be had back. */
void fsuser_leave(const struct fsuser *before);

#endif
