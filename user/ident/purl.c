/* SPDX-License-Identifier: MIT */
/* Package URLs, see purl.h. The purl specification keeps ":" as it is. */
#include "purl.h"

#include "base/buf.h"

static void add_encoded(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~:", *text))
			buf_addch(b, *text);
		else
			buf_addf(b, "%%%02X", (unsigned char)*text);
	}
}

char *purl_make(const char *type, const char *ns, const char *name, const char *version)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "pkg:%s/", type);
	if (ns) {
		add_encoded(&b, ns);
		buf_addch(&b, '/');
	}
	add_encoded(&b, name);
	buf_addch(&b, '@');
	add_encoded(&b, version);
	return buf_take(&b);
}
