/* SPDX-License-Identifier: MIT */
/*
 * setfsuid() and setfsgid(), see fsuser.h. Both tell only the value of before;
 * asking with -1 changes nothing and shows what is in force. Leaving uid 0
 * takes the file capabilities out of the effective set (capabilities(7)).
 */
#include "fsuser.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/fsuid.h>

static int set_both(uid_t uid, gid_t gid)
{
	(void)setfsgid(gid); /* checked below */
	(void)setfsuid(uid);
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid ? 0 :
										       -EPERM;
}

int fsuser_enter(uint32_t uid, uint32_t gid, struct fsuser *ret_before)
{
	struct fsuser now = { (uid_t)setfsuid((uid_t)-1), (gid_t)setfsgid((gid_t)-1) };
	int r;

	r = set_both(uid, gid);
	if (r < 0) {
		fsuser_leave(&now);
		return r;
	}
	*ret_before = now;
	return 0;
}

void fsuser_leave(const struct fsuser *before)
{
	if (set_both(before->uid, before->gid) < 0)
		abort();
}
