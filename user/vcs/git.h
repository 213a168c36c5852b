/* SPDX-License-Identifier: MIT */
/*
 * git, called by argv and never through a shell. For a repository that is not
 * ours the child becomes the user who owns its folder, and takes no
 * configuration but the repository's own, no hooks, no pager, no prompt, no
 * network, no replaced objects. Output is bounded.
 */
#ifndef VCS_GIT_H
#define VCS_GIT_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

#define MAX_GIT_OUTPUT (64u << 20)

struct git {
	const char *dir; /* where git runs; borrowed. NULL: where we are */
	/*
	 * As ourselves, with our environment and configuration: in a hook, which
	 * git has started for the user and told by GIT_DIR where it is.
	 */
	bool as_is;
};

/*
 * Runs `git args...`, args ends with NULL. `in` (may be NULL) becomes its input,
 * its output is appended to `out` (may be NULL). 0 = exit status 0; the status
 * if git says no; -errno with a sentence if it could not run, was killed, or
 * said more than MAX_GIT_OUTPUT bytes.
 */
int git_run(const struct git *g, const char *const *args, const struct buf *in, struct buf *out,
	    struct diag *d);
#define GIT(g, in, out, d, ...) git_run(g, (const char *const[]){ __VA_ARGS__, NULL }, in, out, d)

/* The same, where anything but exit status 0 is an error that quotes what git said. */
int git_must(const struct git *g, const char *const *args, const struct buf *in, struct buf *out,
	     struct diag *d);
#define GIT_MUST(g, in, out, d, ...) \
	git_must(g, (const char *const[]){ __VA_ARGS__, NULL }, in, out, d)

/* Output of one line, without its newline; -ENOENT if git says no or nothing. */
int git_line(const struct git *g, const char *const *args, struct buf *out, struct diag *d);
#define GIT_LINE(g, out, d, ...) git_line(g, (const char *const[]){ __VA_ARGS__, NULL }, out, d)

#endif
