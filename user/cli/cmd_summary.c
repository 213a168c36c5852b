/* SPDX-License-Identifier: MIT */
/* deedlog summary: what a recorded run did, recomputed from its record. */
#include "replay.h"

#include "agg/session.h"
#include "report/summary.h"

struct summary_args {
	struct common common;
	bool json, line;
};

static struct summary_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "json", 0, OPT_FLAG, offsetof(struct summary_args, json), NULL, "one JSON object", NULL },
	{ "line", 0, OPT_FLAG, offsetof(struct summary_args, line), NULL, "one sentence", NULL },
	OPT_COMMON,
	OPT_END,
};

static void fold(const struct event *e, void *arg)
{
	session_event(arg, e);
}

static int run(void *arg, int argc, char **argv)
{
	const struct summary_args *a = arg;
	_cleanup_session_ struct session *s = session_new();
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct replay r;
	struct diag d;

	if (argc > 1) {
		say("summary takes one run, or none for the newest");
		return EXIT_TROUBLE;
	}
	if (replay_run(a->common.dir, argv[0], fold, s, &d, &r) < 0)
		return fail(EXIT_TROUBLE, &d);
	if (a->json)
		summary_json(s, r.run, &out);
	else if (a->line)
		summary_sentence(s, &out);
	else
		summary_text(s, r.run, &out);
	replay_remarks(&r);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

const struct command cmd_summary = {
	.name = "summary",
	.operands = "[RUN]",
	.help = "what a run did, in six lines",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
