/* SPDX-License-Identifier: MIT */
/* deedlog init: makes the ledger and its keys, if they are not there yet. */
#include "cli.h"

#include "ledger/ledger.h"

struct init_args {
	struct common common;
	bool go_on;
};

static struct init_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "continue", 0, OPT_FLAG, offsetof(struct init_args, go_on), NULL,
	  "begin a new log that names the head of the one in use", NULL },
	OPT_COMMON,
	OPT_END,
};

static int run(void *arg, int argc, char **argv)
{
	const struct init_args *a = arg;
	_cleanup_ledger_ struct ledger *l = NULL;
	struct diag d;
	int r = 0;

	(void)argv;
	if (argc) {
		say("init takes no operand; the folder is given by --dir");
		return EXIT_TROUBLE;
	}
	if (a->go_on)
		r = ledger_continue(a->common.dir, &d);
	if (!r)
		r = ledger_open(a->common.dir, true, &d, &l);
	return r < 0 ? fail(EXIT_TROUBLE, &d) : EXIT_OK;
}

const struct command cmd_init = {
	.name = "init",
	.operands = "",
	.help = "make the ledger and its keys",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
