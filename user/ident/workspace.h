/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a run: the folder whose files people mean by "the change".
 * From cwd upwards the nearest folder with a .git (folder or file), else the
 * nearest with a manifest, else cwd. The search ends below the home folder and
 * below /, so that a repository of dotfiles does not swallow everything.
 */
#ifndef IDENT_WORKSPACE_H
#define IDENT_WORKSPACE_H

/*
 * cwd is absolute and resolved; home may be "". Looks, opens nothing. The
 * caller frees the result.
 */
char *workspace_find(const char *cwd, const char *home);

#endif
