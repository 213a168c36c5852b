/* SPDX-License-Identifier: MIT */
/*
 * What the commands share: one row per command, the options that every
 * command has, and how the edge speaks. stdout is data, stderr is talk.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/opt.h"

/* Exit codes of cli.md; those of verify are in ledger/verify.h. */
#define EXIT_OK	     0
#define EXIT_DIFFERS 1
#define EXIT_TROUBLE 2	 /* usage, unreadable */
#define EXIT_FOUND   3	 /* run: --fail-on */
#define EXIT_OWN     125 /* run: we failed before the command started */

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* First member of every command's arguments. */
struct common {
	const char *dir;
	int color; /* enum color */
	bool quiet, help;
};
#define COMMON_DEFAULTS { .dir = LEDGER_DIR_DEFAULT }

extern const struct opt_word color_words[];
#define OPT_COMMON                                                                             \
	{ "dir", 0, OPT_TEXT, offsetof(struct common, dir), "DIR",                             \
	  "ledger folder, default " LEDGER_DIR_DEFAULT, NULL },                                \
	{ "color", 0, OPT_WORD, offsetof(struct common, color), "WHEN", "colour", color_words }, \
	{ "quiet", 'q', OPT_FLAG, offsetof(struct common, quiet), NULL,                        \
	  "only findings and failures", NULL },                                                \
	{ "help", 'h', OPT_FLAG, offsetof(struct common, help), NULL, "this text", NULL }
#define OPT_END { NULL, 0, OPT_FLAG, 0, NULL, NULL, NULL }

struct command {
	const char *name, *operands, *help;
	const struct opt *options;
	void *args; /* begins with struct common; holds the defaults */
	bool operands_first;
	int trouble; /* exit status of bad usage */
	/* Operands only, argv[argc] is NULL. Returns the exit status. */
	int (*run)(void *args, int argc, char **argv);
};

extern const struct command cmd_run, cmd_attach, cmd_summary, cmd_show, cmd_list, cmd_verify,
	cmd_init, cmd_key, cmd_unload, cmd_doctor, cmd_hook, cmd_prove, cmd_redact, cmd_prune,
	cmd_compact, cmd_export;

/* One line on stderr, "deedlog: ...", escaped for a terminal. */
void say(const char *fmt, ...) _printf_(1, 2);
/* Says d and returns status. */
int fail(int status, const struct diag *d);
/* Text of ours, many lines, already escaped. A reader that went away is no error. */
int put(int fd, const struct buf *text);
bool colored(const struct common *c, int fd);

#endif
