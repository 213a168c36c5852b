/* SPDX-License-Identifier: MIT */
/* deedlog list: the recorded runs, newest last. */
#include "cli.h"

#include "base/timeutil.h"
#include "ledger/ledger.h"
#include "report/sink.h"

#include <time.h>

struct list_args {
	struct common common;
	bool json, ndjson;
};

static struct list_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "json", 0, OPT_FLAG, offsetof(struct list_args, json), NULL, "one JSON object", NULL },
	{ "ndjson", 0, OPT_FLAG, offsetof(struct list_args, ndjson), NULL,
	  "one JSON object per line", NULL },
	OPT_COMMON,
	OPT_END,
};

static const struct table_col columns[] = {
	{ .name = "ID" },  { .name = "START" }, { .name = "UID", .right = true },
	{ .name = "TIER" }, { .name = "STATE" }, { .name = "COMMAND" },
};

static const char *state_of(const struct run_info *info)
{
	return info->pruned ? "pruned" : info->ended ? "ended" : info->crashed ? "crashed" : "open";
}

static void list_run(struct sink *k, const struct run_info *info)
{
	time_t s = (time_t)(info->wall_ns / NS_PER_S);
	char start[32];
	struct tm tm;

	(void)strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&s, &tm));
	sink_row(k, 0);
	sink_str(k, str_of(info->id));
	sink_str(k, str_of(start));
	sink_u64(k, true, info->uid);
	sink_str(k, str_of(info->tier));
	sink_str(k, str_of(state_of(info)));
	sink_str(k, str_of(info->cmd));
	sink_row_end(k);
}

static int list(const struct list_args *a, struct diag *d, struct buf *out)
{
	const struct show_options o = {
		.form = a->ndjson		? SHOW_NDJSON :
			a->json			? SHOW_JSON :
			isatty(STDOUT_FILENO) ? SHOW_TEXT :
						  SHOW_TSV,
	};
	struct sink k = { .o = &o, .schema = "deedlog/runs/1", .cols = columns,
			  .n_cols = ARRAY_SIZE(columns) };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ struct run_info *runs = NULL;
	size_t n;
	int r;

	r = ledger_open(a->common.dir, false, d, &l);
	if (!r)
		r = ledger_runs(l, d, &runs, &n);
	if (r < 0)
		return r;
	sink_begin(&k, out);
	for (size_t i = 0; i < n; i++)
		list_run(&k, &runs[i]);
	sink_end(&k);
	return 0;
}

static int run(void *arg, int argc, char **argv)
{
	const struct list_args *a = arg;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct diag d;

	(void)argv;
	if (argc) {
		say("list takes no operand");
		return EXIT_TROUBLE;
	}
	if (list(a, &d, &out) < 0)
		return fail(EXIT_TROUBLE, &d);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

const struct command cmd_list = {
	.name = "list",
	.operands = "",
	.help = "the recorded runs, newest last",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
