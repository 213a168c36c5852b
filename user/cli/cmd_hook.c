/* SPDX-License-Identifier: MIT */
/*
 * deedlog hook: heads of the ledger in commits. We own no hooks: install writes
 * one only where nobody else keeps them, print gives the line for those who do.
 */
#include "cli.h"

#include "hook.h"
#include "ledger/ledger.h"
#include "vcs/hooks.h"

#include <errno.h>
#include <sys/stat.h>

struct hook_args {
	struct common common;
	bool notes, strict;
};

static struct hook_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "notes", 0, OPT_FLAG, offsetof(struct hook_args, notes), NULL,
	  "install: signed statements as git notes", NULL },
	{ "strict", 0, OPT_FLAG, offsetof(struct hook_args, strict), NULL,
	  "run: refuse the commit when there is no head for it", NULL },
	OPT_COMMON,
	OPT_END,
};

static const struct git here = { .as_is = true };

static int print_line(const struct hook_manager *m)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	buf_addstr(&out, m->text);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

/* ---- install ---------------------------------------------------------------------- */

/* Root following paths of somebody else's repository could be led anywhere. */
static int check_own(struct diag *d)
{
	struct stat st;

	if (stat(".", &st) < 0)
		return diag_set(d, -errno, "cannot look at this folder");
	if (!geteuid() && st.st_uid)
		return diag_set(d, -EPERM, "this repository is not root's: run hook install without sudo");
	return 0;
}

static int install_hook(const struct hook_manager *m)
{
	struct diag d = { "" };
	int r = -EEXIST;

	if (strcmp(m->name, "plain"))
		(void)diag_set(&d, 0, "hooks are kept by %s here, so none was written; add this to %s:",
			       m->name, m->where);
	else
		r = hooks_install(&here, &d);
	if (!r)
		return EXIT_OK;
	say("%s", d.msg);
	if (r != -EEXIST)
		return EXIT_TROUBLE;
	return print_line(m) ? EXIT_TROUBLE : EXIT_DIFFERS;
}

static int install(const struct hook_args *a, int argc, char **argv)
{
	const struct hook_manager *m;
	struct diag d;
	int r;

	(void)argv;
	if (argc) {
		say("hook install takes no operand; it is for the repository around you");
		return EXIT_TROUBLE;
	}
	r = check_own(&d);
	if (!r)
		r = hooks_manager(&here, &d, &m);
	if (!r && a->notes)
		r = hooks_configure_notes(&here, &d);
	return r < 0 ? fail(EXIT_TROUBLE, &d) : install_hook(m);
}

/* ---- print -------------------------------------------------------------------------- */

static int print_named(const char *name)
{
	const struct hook_manager *m = hooks_find(name);
	_cleanup_buf_ struct buf names = BUF_INIT;

	if (m)
		return print_line(m);
	for (size_t i = 0; (m = hooks_row(i)); i++)
		buf_addf(&names, "%s%s", i ? ", " : "", m->name);
	say("no hook manager %s; known are %s", name, buf_str(&names));
	return EXIT_TROUBLE;
}

static int print(const struct hook_args *a, int argc, char **argv)
{
	const struct hook_manager *m;
	struct diag d;

	(void)a;
	if (argc > 1) {
		say("hook print takes one name, or none for what this repository uses");
		return EXIT_TROUBLE;
	}
	if (argc)
		return print_named(argv[0]);
	return hooks_manager(&here, &d, &m) < 0 ? fail(EXIT_TROUBLE, &d) : print_line(m);
}

/* ---- run ------------------------------------------------------------------------------ */

/* Our own trouble never stops a commit, unless that was asked for. */
static int result(const struct hook_args *a, int r, const struct diag *d)
{
	if (!r)
		return EXIT_OK;
	if (a->strict)
		return fail(EXIT_TROUBLE, d);
	if (r != -ENOENT && !a->common.quiet)
		say("%s", d->msg);
	return EXIT_OK;
}

static int run_commit_msg(const struct hook_args *a, int argc, char **argv)
{
	struct diag d = { "" };

	if (argc != 1) {
		say("hook run commit-msg takes the file of the message");
		return EXIT_TROUBLE;
	}
	return result(a, hook_commit_msg(a->common.dir, argv[0], &d), &d);
}

/* An ordinary user may not write the ledger: then there is nothing to do at this moment. */
static int run_post_commit(const struct hook_args *a, int argc, char **argv)
{
	struct diag d = { "" };
	int r;

	(void)argv;
	if (argc) {
		say("hook run post-commit takes no operand");
		return EXIT_TROUBLE;
	}
	r = hook_post_commit(a->common.dir, &d);
	if (r == -EACCES || r == -EPERM)
		r = a->strict ? r : -ENOENT;
	return result(a, r, &d);
}

struct word {
	const char *name;
	int (*run)(const struct hook_args *a, int argc, char **argv);
};

static const struct word moments[] = {
	{ "commit-msg", run_commit_msg },
	{ "post-commit", run_post_commit },
};

static int dispatch(const struct word *table, size_t n, const char *what,
		    const struct hook_args *a, int argc, char **argv)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		if (argc && !strcmp(argv[0], table[i].name))
			return table[i].run(a, argc - 1, argv + 1);
		buf_addf(&names, "%s%s", i ? ", " : "", table[i].name);
	}
	say("%s: say one of %s", what, buf_str(&names));
	return EXIT_TROUBLE;
}

static int run_moment(const struct hook_args *a, int argc, char **argv)
{
	const char *word = getenv("DEEDLOG");

	if (word && !strcmp(word, "0"))
		return EXIT_OK; /* switched off for this commit */
	return dispatch(moments, ARRAY_SIZE(moments), "hook run", a, argc, argv);
}

static const struct word words[] = {
	{ "install", install },
	{ "print", print },
	{ "run", run_moment },
};

static int run(void *arg, int argc, char **argv)
{
	return dispatch(words, ARRAY_SIZE(words), "hook", arg, argc, argv);
}

const struct command cmd_hook = {
	.name = "hook",
	.operands = "install | print [MANAGER] | run commit-msg FILE | run post-commit",
	.help = "put the head of the ledger into commits",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
