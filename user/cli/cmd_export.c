/* SPDX-License-Identifier: MIT */
/* deedlog export: the record in the forms of other tools. */
#include "cli.h"

#include "base/fdio.h"
#include "ledger/audit.h"
#include "ledger/upkeep.h"

#include <fcntl.h>

struct export_args {
	struct common common;
	const char *audit, *tiles;
};

static struct export_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "audit", 0, OPT_TEXT, offsetof(struct export_args, audit), "DIR",
	  "keys and the newest head, for openssl, minisign, signify, ssh-keygen", NULL },
	{ "tlog-tiles", 0, OPT_TEXT, offsetof(struct export_args, tiles), "DIR",
	  "the run, or the index, as tiles of c2sp.org/tlog-tiles", NULL },
	OPT_COMMON,
	OPT_END,
};

static int open_target(const char *dir, struct diag *d)
{
	int r;

	r = dir_make_all(dir, 0755);
	if (!r)
		r = dir_open_at(AT_FDCWD, dir);
	return r < 0 ? diag_set(d, r, "cannot write to %s: %s", dir, strerror(-r)) : r;
}

static int export_run(const struct export_args *a, const char *prefix, struct diag *d)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_fd_ int fd = -1;
	char id[RUN_ID_LEN + 1];
	int r;

	r = a->audit ? upkeep_open(a->common.dir, d, &l) : ledger_open(a->common.dir, false, d, &l);
	if (!r && prefix)
		r = ledger_find_run(l, prefix, d, id);
	if (r < 0)
		return r;
	fd = open_target(a->audit ? a->audit : a->tiles, d);
	if (fd < 0)
		return fd;
	return a->audit ? audit_export(l, prefix ? id : NULL, fd, d) :
			  tiles_export(l, prefix ? id : NULL, fd, d);
}

static int run(void *arg, int argc, char **argv)
{
	const struct export_args *a = arg;
	struct diag d;

	if (argc > 1) {
		say("export takes one run, or none for the index");
		return EXIT_TROUBLE;
	}
	if (!a->audit == !a->tiles) {
		say("export takes one of --audit DIR and --tlog-tiles DIR");
		return EXIT_TROUBLE;
	}
	return export_run(a, argv[0], &d) < 0 ? fail(EXIT_TROUBLE, &d) : EXIT_OK;
}

const struct command cmd_export = {
	.name = "export",
	.operands = "[RUN]",
	.help = "the record in the forms of other tools",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
