/* SPDX-License-Identifier: MIT */
/* The two moments of a commit at which deedlog has something to do, see cmd_hook.c. */
#ifndef CLI_HOOK_H
#define CLI_HOOK_H

#include "base/diag.h"

/*
 * Adds the newest head of the ledger in `dir` to a commit message. 0 = done, or
 * nothing to do; -ENOENT = no ledger here; -errno with a sentence.
 */
int hook_commit_msg(const char *dir, const char *file, struct diag *d);

/*
 * Remembers the commits of the repository around us that carry a head, and
 * writes their notes where those are wanted. -ENOENT, -EACCES or -EPERM: the
 * ledger is not there or not ours to write.
 */
int hook_post_commit(const char *dir, struct diag *d);

#endif
