/* SPDX-License-Identifier: MIT */
/* deedlog unload: removes the programs that runs leave loaded for the next one. */
#include "cli.h"

#include "ledger/ledger.h"
#include "trace/tracer.h"

#include <errno.h>

static struct common args = COMMON_DEFAULTS;

static const struct opt options[] = { OPT_COMMON, OPT_END };

static int run(void *arg, int argc, char **argv)
{
	const struct common *c = arg;
	int left;

	(void)argv;
	if (argc) {
		say("unload takes no operand");
		return EXIT_TROUBLE;
	}
	left = tracer_unload();
	if (left < 0) {
		say("cannot unload: %s%s", strerror(-left),
		    left == -EPERM || left == -EACCES ? "; run `sudo deedlog unload`" : "");
		return EXIT_TROUBLE;
	}
	if (left && !c->quiet)
		say("%d sets of programs stay: runs are using them", left);
	return left ? EXIT_DIFFERS : EXIT_OK;
}

const struct command cmd_unload = {
	.name = "unload",
	.operands = "",
	.help = "remove the programs that runs leave loaded for the next one",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
