/* SPDX-License-Identifier: MIT */
/*
 * commit-msg: the head of the ledger as a trailer. Runs as the user who commits,
 * who may read DIR/head and nothing else of the ledger.
 */
#include "hook.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "ledger/ledger.h"
#include "vcs/git.h"
#include "vcs/trailer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MAX_MESSAGE_FILE (16u << 20) /* `commit -v` puts the whole change into it */
#define SCISSORS "------------------------ >8 ------------------------"

static int read_head(const char *dir, struct buf *to, struct diag *d)
{
	_cleanup_free_ char *path = xasprintf("%s/" HEAD_FILE, dir);
	_cleanup_buf_ struct buf note = BUF_INIT;
	int r;

	r = file_read_at(AT_FDCWD, path, NOTE_MAX, &note);
	if (r == -ENOENT)
		return diag_set(d, r, "no ledger in %s: the commit carries no head", dir);
	if (r < 0)
		return diag_set(d, r, "cannot read %s: %s", path, strerror(-r));
	r = trailer_of_head(cur_of(note.data, note.len), to);
	return r < 0 ? diag_set(d, r, "%s is no signed head; run \"deedlog verify\"", path) : 0;
}

/* With a trailer in it an empty message would no longer abort the commit. */
static int is_empty(const struct git *g, const char *file, struct diag *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT, left = BUF_INIT;
	char *cut;
	int r;

	r = file_read_at(AT_FDCWD, file, MAX_MESSAGE_FILE, &text);
	if (r < 0)
		return diag_set(d, r, "cannot read the message %s: %s", file, strerror(-r));
	cut = text.len ? memmem(text.data, text.len, SCISSORS, strlen(SCISSORS)) : NULL;
	if (cut)
		buf_cut(&text, (size_t)(cut - text.data));
	while (cut && text.len && text.data[text.len - 1] != '\n')
		buf_cut(&text, text.len - 1); /* the rest of that line */
	r = GIT_MUST(g, &text, &left, d, "stripspace", "--strip-comments");
	return r < 0 ? r : !left.len;
}

int hook_commit_msg(const char *dir, const char *file, struct diag *d)
{
	const struct git g = { .as_is = true };
	_cleanup_buf_ struct buf head = BUF_INIT, trailer = BUF_INIT;
	int r;

	r = read_head(dir, &head, d);
	if (r < 0)
		return r;
	r = is_empty(&g, file, d);
	if (r)
		return MIN(r, 0);
	buf_addf(&trailer, TRAILER_KEY ": %s", buf_str(&head));
	/* a line of dashes is no end of the message here */
	return GIT_MUST(&g, NULL, NULL, d, "interpret-trailers", "--in-place", "--no-divider",
			"--if-exists", "replace", "--trailer", buf_str(&trailer), "--", file);
}
