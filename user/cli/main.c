/* SPDX-License-Identifier: MIT */
/* The table of commands. A new command is one row here and one file. */
#include "cli.h"

#include "base/fdio.h"
#include "ledger/ledger.h"

#include <signal.h>
#include <sys/utsname.h>

static const struct command *const commands[] = {
	&cmd_run,  &cmd_attach, &cmd_summary, &cmd_show,
	&cmd_list, &cmd_verify, &cmd_init,    &cmd_key,    &cmd_unload, &cmd_doctor,
	&cmd_hook,  &cmd_prove,  &cmd_redact, &cmd_prune, &cmd_compact,
	&cmd_export,
};

static void usage(struct buf *to)
{
	buf_addstr(to, "usage: deedlog COMMAND [OPTIONS] ...\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		buf_addf(to, "  %-9s %s\n", commands[i]->name, commands[i]->help);
	buf_addstr(to, "\n`deedlog help COMMAND` explains one, `deedlog --version` tells the version.\n");
}

static void command_usage(const struct command *c, struct buf *to)
{
	buf_addf(to, "usage: deedlog %s [OPTIONS]%s%s\n\n%s\n\n", c->name, *c->operands ? " " : "",
		 c->operands, c->help);
	opt_help(c->options, to);
	buf_addstr(to, "\nEach option can be set by DEEDLOG_NAME in the environment.\n");
}

static void version(struct buf *to)
{
	struct utsname u = { .release = "unknown" };

	(void)uname(&u); /* cannot fail with a good pointer */
	buf_addf(to,
		 "deedlog %s\nkernel %s\nBPF object compiled by %s\n"
		 "licence GPL-2.0-only (kernel side), MIT (user side)\n",
		 DEEDLOG_VERSION, u.release, DEEDLOG_CLANG);
}

static const struct command *find(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i]->name))
			return commands[i];
	return NULL;
}

static int unknown(const char *word)
{
	const char *names[ARRAY_SIZE(commands)];
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name;
	near = opt_nearest(word, names, ARRAY_SIZE(names));
	if (near)
		say("no command %s; did you mean %s?", word, near);
	else
		say("no command %s; `deedlog help` lists them", word);
	return EXIT_TROUBLE;
}

static int show_text(void (*fill)(struct buf *to))
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	fill(&b);
	return put(STDOUT_FILENO, &b) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int show_command(const struct command *c)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	command_usage(c, &b);
	return put(STDOUT_FILENO, &b) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int help(const char *word)
{
	const struct command *c;

	if (!word)
		return show_text(usage);
	c = find(word);
	return c ? show_command(c) : unknown(word);
}

static int start(const struct command *c, int argc, char **argv)
{
	struct diag d;
	int at;

	at = opt_parse(c->options, c->args, c->operands_first, argc, argv, &d);
	if (at < 0)
		return fail(c->trouble, &d);
	if (((struct common *)c->args)->help)
		return show_command(c);
	return c->run(c->args, argc - at, argv + at);
}

int main(int argc, char **argv)
{
	const struct command *c;
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		(void)show_text(usage);
		return EXIT_TROUBLE;
	}
	if (!strcmp(word, "--version"))
		return show_text(version);
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return help(argv[2]);
	c = find(word);
	return c ? start(c, argc - 1, argv + 1) : unknown(word);
}
