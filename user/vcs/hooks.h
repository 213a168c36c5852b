/* SPDX-License-Identifier: MIT */
/*
 * Where a repository's hooks are and who keeps them. We own no hooks: where a
 * manager does (core.hooksPath, husky, lefthook, pre-commit) a file of ours
 * would never run or would be in its way, so there is a line for it instead.
 */
#ifndef VCS_HOOKS_H
#define VCS_HOOKS_H

#include "git.h"

struct hook_manager {
	const char *name;  /* "husky" */
	const char *where; /* the file that the text goes into */
	const char *text;  /* with its newline */
};

/* The manager of the repository around g->dir; *ret = the plain one if there is none. */
int hooks_manager(const struct git *g, struct diag *d, const struct hook_manager **ret);

/* By name, NULL if there is none; and all of them, one after the other from i = 0. */
const struct hook_manager *hooks_find(const char *name);
const struct hook_manager *hooks_row(size_t i);

/*
 * Writes our commit-msg hook into the folder that git looks into, 0755. A hook
 * of ours that is there is replaced; -EEXIST with a sentence for anybody else's.
 */
int hooks_install(const struct git *g, struct diag *d);

/* Lets notes live through amend and rebase, and merge line by line. */
int hooks_configure_notes(const struct git *g, struct diag *d);

#endif
