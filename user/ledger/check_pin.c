/* SPDX-License-Identifier: MIT */
/*
 * Are the log's first key and its identity the ones that somebody noted
 * elsewhere? The name of a log is no fingerprint (48 bits), its full keys are.
 */
#include "base/alloc.h"
#include "base/fdio.h"
#include "check.h"

#include <fcntl.h>

#define TRUSTED_DIR "/etc/deedlog/trusted"
#define PINNED_MAX 4096

static void read_pinned(const struct check *c, struct buf *to)
{
	_cleanup_free_ char *name = xasprintf(TRUSTED_DIR "/%s.vkey", c->id);

	if (c->o->vkey)
		buf_addstr(to, c->o->vkey);
	else
		(void)file_read_at(AT_FDCWD, name, PINNED_MAX, to); /* not there = not pinned */
	if (to->len && to->data[to->len - 1] != '\n')
		buf_addch(to, '\n');
}

static bool is_same(const struct vkey *a, const struct vkey *b)
{
	return a->type == b->type && !strcmp(a->name, b->name) && !memcmp(a->pk, b->pk, PK_LEN);
}

/* The genesis key, or any identity that the log has had. */
static bool is_known(const struct check *c, struct cur line)
{
	struct vkey v;

	if (vkey_parse(line, &v) < 0)
		return false;
	for (size_t i = 0; i < c->st.n_identities; i++)
		if (is_same(&v, &c->st.identities[i]))
			return true;
	return is_same(&v, &c->st.genesis);
}

void check_pin(struct check *c)
{
	_cleanup_buf_ struct buf pinned = BUF_INIT, own = BUF_INIT;
	struct cur in, line;

	read_pinned(c, &pinned);
	vkey_add(&own, &c->st.genesis);
	c->pinned = pinned.len;
	if (!pinned.len)
		check_say(c, FINDING_NOTE, "unpinned", NULL,
			  "key not pinned: the log is checked against its own first key, %s",
			  buf_str(&own));
	in = cur_of(pinned.data, pinned.len);
	while (!cur_until(&in, '\n', &line)) {
		if (is_known(c, line))
			continue;
		c->pinned = false;
		check_say(c, FINDING_FAIL, "signature", NULL,
			  "checkpoint at record 2: no signature by the pinned key; the log begins with %s",
			  buf_str(&own));
	}
}
