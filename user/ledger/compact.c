/* SPDX-License-Identifier: MIT */
/* Runs that take less space, see upkeep.h. */
#include "rewrite.h"
#include "upkeep.h"

#define BEST 9 /* zlib's level */

static bool squeeze(void *arg, const struct scan *s, struct buf *to)
{
	struct packer *p = arg;
	size_t seal = (size_t)cur_left(&s->note.raw);

	if (s->is_redacted)
		member_add_redacted(p, to, s->first, s->lines, s->raw);
	else
		member_add_data(p, to, s->salt_key, s->first, s->lines, s->raw);
	return to->len + seal + MEMBER_SEAL_EXTRA < s->file_off - s->off;
}

int compact_run(struct ledger *l, const char *run_id, struct diag *d, uint64_t *before,
		uint64_t *after)
{
	_cleanup_rewrite_ struct rewrite w = { .dir = -1 };
	struct packer *p;
	int r;

	r = rewrite_open(l, run_id, d, &w);
	if (r < 0)
		return r;
	p = packer_new(BEST);
	r = rewrite_run(&w, squeeze, p, d);
	packer_free(p);
	*before += w.before;
	*after += w.after;
	return r;
}
