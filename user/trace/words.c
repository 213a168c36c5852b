/* SPDX-License-Identifier: MIT */
/* libbpf hands no context to its printer, so the listener is a static: one load at a time. */
#include "words.h"

#include "base/alloc.h"
#include "base/cur.h"

#include <bpf/libbpf.h>
#include <stdarg.h>

#define KEEP_LINES 2 /* of the verifier's log */

static struct buf *said;

static int hear(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text = NULL;
	int n;

	if (level == LIBBPF_DEBUG || !said || said->len > MAX_WORDS)
		return 0;
	n = vasprintf(&text, fmt, ap);
	if (n >= 0) {
		buf_add(said, text, MIN((size_t)n, MAX_WORDS));
		free(text);
	}
	return 0;
}

void words_capture(void)
{
	libbpf_set_print(hear);
}

void words_to(struct buf *to)
{
	said = to;
}

/* "prog 'lsm_file_open': BPF program load failed" */
char *words_refused(const struct buf *words)
{
	const char *hit = strstr(buf_str(words), "': BPF program load failed"), *start = hit;

	while (start && start > words->data && start[-1] != '\'')
		start--;
	return start ? xasprintf("%.*s", (int)(hit - start), start) : NULL;
}

/* The last lines of the verifier's log before its statistics, or of all. */
static struct cur last_words(const struct buf *words)
{
	const char *text = buf_str(words), *end, *at;
	int lines = 0;

	end = strstr(text, "\nprocessed ");
	if (!end)
		end = text + words->len;
	while (end > text && end[-1] == '\n')
		end--;
	for (at = end; at > text; at--)
		if (at[-1] == '\n' && ++lines == KEEP_LINES)
			break;
	return cur_of(at, (size_t)(end - at));
}

int words_explain(struct diag *d, int err, const char *what, const char *program,
		  const struct buf *words)
{
	struct cur last = last_words(words);

	return diag_set(d, err, "%s %s: %s%s%.*s", what, program ? program : "the programs",
			strerror(-err), cur_left(&last) ? "; " : "", (int)cur_left(&last),
			(const char *)last.at);
}
