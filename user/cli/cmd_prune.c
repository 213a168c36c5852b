/* SPDX-License-Identifier: MIT */
/* deedlog prune: remove whole runs, announced in the index. */
#include "cli.h"

#include "base/alloc.h"
#include "base/num.h"
#include "base/timeutil.h"
#include "ledger/upkeep.h"

struct prune_args {
	struct common common;
	const char *older_than, *why;
	bool dry_run;
};

static struct prune_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "older-than", 0, OPT_TEXT, offsetof(struct prune_args, older_than), "AGE",
	  "all runs that started before that: 90d, 12h, 30m, 8w", NULL },
	{ "why", 0, OPT_TEXT, offsetof(struct prune_args, why), "WORD",
	  "the reason that the index keeps: a-z, 0-9 and -, at most 32 characters", NULL },
	{ "dry-run", 'n', OPT_FLAG, offsetof(struct prune_args, dry_run), NULL,
	  "only say which runs would go", NULL },
	OPT_COMMON,
	OPT_END,
};

struct chosen {
	char (*ids)[RUN_ID_LEN + 1];
	size_t n;
};

static const struct {
	char letter;
	uint64_t seconds;
} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };

static int parse_age(const char *text, uint64_t *ret_ns)
{
	size_t n = strlen(text);
	uint64_t number;

	for (size_t i = 0; n && i < ARRAY_SIZE(units); i++)
		if (text[n - 1] == units[i].letter &&
		    !num_u64(text, n - 1, UINT32_MAX, &number))
			return __builtin_mul_overflow(number, units[i].seconds * NS_PER_S, ret_ns) ?
				       -1 : 0;
	say("--older-than takes a number and one of s, m, h, d, w: 90d");
	return -1;
}

static void choose_one(struct chosen *c, const char *id)
{
	c->ids = xrealloc(c->ids, c->n + 1, sizeof(*c->ids));
	memcpy(c->ids[c->n++], id, sizeof(*c->ids));
}

/* Runs that have not ended stay: nobody asked for them by name. */
static int choose_old(struct ledger *l, uint64_t age_ns, struct chosen *c, struct diag *d)
{
	_cleanup_free_ struct run_info *runs = NULL;
	uint64_t now = time_wall_ns();
	size_t n;
	int r;

	r = ledger_runs(l, d, &runs, &n);
	for (size_t i = 0; !r && i < n; i++)
		if ((runs[i].ended || runs[i].crashed) && !runs[i].pruned && age_ns < now &&
		    runs[i].wall_ns < now - age_ns)
			choose_one(c, runs[i].id);
	return r;
}

static int choose_named(struct ledger *l, char **argv, struct chosen *c, struct diag *d)
{
	char id[RUN_ID_LEN + 1];
	int r = 0;

	for (; !r && *argv; argv++) {
		r = ledger_find_run(l, *argv, d, id);
		if (!r)
			choose_one(c, id);
	}
	return r;
}

static int prune(const struct prune_args *a, uint64_t age_ns, char **argv, struct chosen *c,
		 struct diag *d)
{
	const char *why = a->why ? a->why : a->older_than ? "age" : "asked";
	_cleanup_ledger_ struct ledger *l = NULL;
	int r;

	r = a->dry_run ? ledger_open(a->common.dir, false, d, &l) :
			 upkeep_open(a->common.dir, d, &l);
	if (!r)
		r = a->older_than ? choose_old(l, age_ns, c, d) : choose_named(l, argv, c, d);
	if (r || a->dry_run)
		return r;
	return prune_runs(l, (const char (*)[RUN_ID_LEN + 1])c->ids, c->n, why, d);
}

static int run_on(const struct prune_args *a, uint64_t age_ns, char **argv, struct chosen *c)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct diag d;

	if (prune(a, age_ns, argv, c, &d) < 0)
		return fail(EXIT_TROUBLE, &d);
	for (size_t i = 0; i < c->n && !a->common.quiet; i++)
		buf_addf(&out, "%s %s\n", a->dry_run ? "would remove" : "removed", c->ids[i]);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int run(void *arg, int argc, char **argv)
{
	const struct prune_args *a = arg;
	struct chosen c = { 0 };
	uint64_t age_ns = 0;
	int status;

	if (!a->older_than == !argc) {
		say("prune takes --older-than AGE, or the runs by name");
		return EXIT_TROUBLE;
	}
	if (a->why && !why_is_good(a->why)) {
		say("--why takes a-z, 0-9 and -, at most %d characters", WHY_MAX_LEN);
		return EXIT_TROUBLE;
	}
	if (a->older_than && parse_age(a->older_than, &age_ns) < 0)
		return EXIT_TROUBLE;
	status = run_on(a, age_ns, argv, &c);
	free(c.ids);
	return status;
}

const struct command cmd_prune = {
	.name = "prune",
	.operands = "[RUN...]",
	.help = "remove whole runs",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
