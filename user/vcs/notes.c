/* SPDX-License-Identifier: MIT */
/* Notes of commits, see notes.h. */
#include "notes.h"

#include <string.h>

bool notes_wanted(const struct git *g)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return !GIT_LINE(g, &text, NULL, "config", "--type=bool", "--get", "deedlog.notes") &&
	       !strcmp(buf_str(&text), "true");
}

int notes_add(const struct git *g, const char *commit, const struct buf *line, struct diag *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r;

	r = git_run(g, (const char *const[]){ "notes", "--ref=" NOTES_REF, "show", commit, NULL },
		    NULL, &text, d);
	if (r < 0)
		return r;
	if (r)
		buf_reset(&text); /* there is none yet */
	if (text.len && text.data[text.len - 1] != '\n')
		buf_addch(&text, '\n');
	buf_add(&text, line->data, line->len);
	buf_addch(&text, '\n');
	return GIT_MUST(g, &text, NULL, d, "notes", "--ref=" NOTES_REF, "add", "-f", "-F", "-", commit);
}
