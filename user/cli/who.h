/* SPDX-License-Identifier: MIT */
/*
 * Whom the traced command runs as. Under sudo only the recorder is raised: the
 * command gets the identity, groups, environment and umask of who typed sudo.
 */
#ifndef CLI_WHO_H
#define CLI_WHO_H

#include "base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

struct who {
	bool change; /* false: stay what we are, the rest is still filled */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int n_groups;
	char *home;
	char **env; /* of the command */
	mode_t umask;
};

/*
 * `user`: a login name that --user gave, or NULL. Reads the user database now,
 * so that the command's side does not have to.
 */
int who_find(const char *user, struct diag *d, struct who *ret);
void who_done(struct who *w);
#define _cleanup_who_ _cleanup_(who_done)

/* Becomes w for good. Only system calls. */
int who_become(const struct who *w);
/* Opens for writing with the rights of w, not ours; returns the descriptor. */
int who_open(const struct who *w, const char *path);

#endif
