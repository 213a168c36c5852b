/* SPDX-License-Identifier: MIT */
/* deedlog compact: ended runs in less space, under the same signatures. */
#include "cli.h"

#include "ledger/upkeep.h"

#include <inttypes.h>

static struct common args = COMMON_DEFAULTS;

static const struct opt options[] = { OPT_COMMON, OPT_END };

struct sum {
	uint64_t runs, before, after;
};

static int compact_named(struct ledger *l, char **argv, struct sum *s, struct diag *d)
{
	char id[RUN_ID_LEN + 1];
	int r = 0;

	for (; !r && *argv; argv++) {
		r = ledger_find_run(l, *argv, d, id);
		if (!r)
			r = compact_run(l, id, d, &s->before, &s->after);
		s->runs += !r;
	}
	return r;
}

static int compact_all(struct ledger *l, struct sum *s, struct diag *d)
{
	_cleanup_free_ struct run_info *runs = NULL;
	size_t n;
	int r;

	r = ledger_runs(l, d, &runs, &n);
	for (size_t i = 0; !r && i < n; i++) {
		if (!(runs[i].ended || runs[i].crashed) || runs[i].pruned)
			continue;
		r = compact_run(l, runs[i].id, d, &s->before, &s->after);
		s->runs += !r;
	}
	return r;
}

static int run(void *arg, int argc, char **argv)
{
	const struct common *c = arg;
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct sum s = { 0 };
	struct diag d;
	int r;

	r = upkeep_open(c->dir, &d, &l);
	if (!r)
		r = argc ? compact_named(l, argv, &s, &d) : compact_all(l, &s, &d);
	if (r < 0)
		return fail(EXIT_TROUBLE, &d);
	if (!c->quiet)
		buf_addf(&out, "%" PRIu64 " runs, %" PRIu64 " bytes before, %" PRIu64 " after\n",
			 s.runs, s.before, s.after);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

const struct command cmd_compact = {
	.name = "compact",
	.operands = "[RUN...]",
	.help = "ended runs in less space, signatures stay",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
