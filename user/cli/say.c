/* SPDX-License-Identifier: MIT */
/* How the edge speaks, see cli.h. */
#include "cli.h"

#include "base/alloc.h"
#include "base/esc.h"
#include "base/fdio.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

const struct opt_word color_words[] = { { "auto", COLOR_AUTO },
					{ "always", COLOR_ALWAYS },
					{ "never", COLOR_NEVER },
					{ NULL, 0 } };

void say(const char *fmt, ...)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	buf_addstr(&line, "deedlog: ");
	esc_tty(&line, text, (size_t)n);
	buf_addch(&line, '\n');
	(void)fd_write_all(STDERR_FILENO, line.data, line.len); /* nowhere else to complain */
}

int fail(int status, const struct diag *d)
{
	say("%s", d->msg);
	return status;
}

int put(int fd, const struct buf *text)
{
	int r = fd_write_all(fd, text->data, text->len);

	return r == -EPIPE ? 0 : r;
}

static bool env_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

bool colored(const struct common *c, int fd)
{
	const char *term = getenv("TERM");

	if (c->color != COLOR_AUTO)
		return c->color == COLOR_ALWAYS;
	if (env_set("NO_COLOR"))
		return false;
	if (env_set("CLICOLOR_FORCE"))
		return true;
	return isatty(fd) && term && strcmp(term, "dumb");
}
