/* SPDX-License-Identifier: MIT */
/* deedlog init: makes the ledger and its keys, if they are not there yet. */
#include "cli.h"

#include "ledger/ledger.h"

static struct common args = COMMON_DEFAULTS;

static const struct opt options[] = { OPT_COMMON, OPT_END };

static int run(void *arg, int argc, char **argv)
{
	const struct common *c = arg;
	_cleanup_ledger_ struct ledger *l = NULL;
	struct diag d;

	(void)argv;
	if (argc) {
		say("init takes no operand; the folder is given by --dir");
		return EXIT_TROUBLE;
	}
	return ledger_open(c->dir, true, &d, &l) < 0 ? fail(EXIT_TROUBLE, &d) : EXIT_OK;
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
