/* SPDX-License-Identifier: MIT */
/* deedlog redact: take the content of records out; their hashes stay. */
#include "cli.h"

#include "base/alloc.h"
#include "base/cur.h"
#include "base/num.h"
#include "ledger/upkeep.h"

#include <inttypes.h>

struct redact_args {
	struct common common;
	const char *why;
};

static struct redact_args args = { .common = COMMON_DEFAULTS, .why = "asked" };

static const struct opt options[] = {
	{ "why", 0, OPT_TEXT, offsetof(struct redact_args, why), "WORD",
	  "the reason that the index keeps: a-z, 0-9 and -, at most 32 characters", NULL },
	OPT_COMMON,
	OPT_END,
};

struct leaves {
	uint64_t *at;
	size_t n;
};

/* "7" or "7-9" */
static int take_range(const char *word, uint64_t *first, uint64_t *last)
{
	struct cur c = cur_of(word, strlen(word)), part;
	const char *from = word;

	if (!cur_until(&c, '-', &part)) {
		if (num_u64(word, cur_left(&part), INT64_MAX, first) < 0)
			return -1;
		from = (const char *)c.at;
	}
	if (num_u64(from, strlen(from), INT64_MAX, last) < 0)
		return -1;
	if (from == word)
		*first = *last;
	return *first <= *last ? 0 : -1;
}

static int add_word(struct leaves *to, const char *word)
{
	uint64_t first, last, n;

	if (take_range(word, &first, &last) < 0) {
		say("\"%s\" is no record number and no range like 7-9", word);
		return -1;
	}
	n = last - first + 1;
	if (n > REDACT_MAX_LEAVES || to->n + n > REDACT_MAX_LEAVES) {
		say("at most %u records at a time", REDACT_MAX_LEAVES);
		return -1;
	}
	to->at = xrealloc(to->at, to->n + (size_t)n, sizeof(*to->at));
	while (n--)
		to->at[to->n++] = first++;
	return 0;
}

static int redact(const struct redact_args *a, const char *prefix, struct leaves *leaves,
		  struct diag *d, struct redact_result *ret)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	char id[RUN_ID_LEN + 1];
	int r;

	r = upkeep_open(a->common.dir, d, &l);
	if (!r)
		r = ledger_find_run(l, prefix, d, id);
	return r ? r : redact_run(l, id, leaves->at, leaves->n, a->why, d, ret);
}

static int run_on(const struct redact_args *a, char **argv, struct leaves *leaves)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct redact_result ret;
	struct diag d;

	for (size_t i = 1; argv[i]; i++)
		if (add_word(leaves, argv[i]) < 0)
			return EXIT_TROUBLE;
	if (redact(a, argv[0], leaves, &d, &ret) < 0)
		return fail(EXIT_TROUBLE, &d);
	if (!a->common.quiet)
		buf_addf(&out, "%" PRIu64 " records taken out%s\n", ret.redacted,
			 ret.announced ? "" : ", announced before");
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int run(void *arg, int argc, char **argv)
{
	const struct redact_args *a = arg;
	struct leaves leaves = { 0 };
	int status;

	if (argc < 2) {
		say("redact takes a run and the numbers of its records");
		return EXIT_TROUBLE;
	}
	if (!why_is_good(a->why)) {
		say("--why takes a-z, 0-9 and -, at most %d characters", WHY_MAX_LEN);
		return EXIT_TROUBLE;
	}
	status = run_on(a, argv, &leaves);
	free(leaves.at);
	return status;
}

const struct command cmd_redact = {
	.name = "redact",
	.operands = "RUN INDEX...",
	.help = "take the content of records out",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
