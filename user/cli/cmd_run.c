/* SPDX-License-Identifier: MIT */
/* deedlog run: runs a command and records what it does. */
#include "record.h"

#include "base/alloc.h"
#include "ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

struct run_args {
	struct record_args record;
	const char *user;
	uint64_t detach_after_ns;
};

static struct run_args args = { .record = RECORD_DEFAULTS, .detach_after_ns = UINT64_MAX };

static const struct opt options[] = {
	OPT_RECORD,
	{ "detach-after", 0, OPT_SECONDS, offsetof(struct run_args, detach_after_ns), "SECONDS",
	  "wait so long for what the command left running, default: until it ends", NULL },
	{ "user", 0, OPT_TEXT, offsetof(struct run_args, user), "NAME",
	  "run the command as NAME, default: who typed sudo", NULL },
	OPT_COMMON,
	OPT_END,
};

static void join_argv(struct buf *to, char **argv)
{
	for (; *argv; argv++)
		buf_add(to, *argv, strlen(*argv) + 1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The shell's words for why a command did not start. */
static int exec_status(int err, const char *name)
{
	if (err == ENOENT)
		say("%s: not found", name);
	else
		say("%s: cannot be executed: %s", name, strerror(err));
	return err == ENOENT ? 127 : 126;
}

static int status_of(const struct front_result *r, const char *name, bool found)
{
	if (r->exec_errno)
		return exec_status(r->exec_errno, name);
	if (WIFSIGNALED(r->status))
		front_die_of(WTERMSIG(r->status));
	if (!WEXITSTATUS(r->status) && found)
		return EXIT_FOUND;
	return WEXITSTATUS(r->status);
}

static int record_command(struct record *rec, const struct run_args *a, char **argv)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	struct diag d;
	bool found;

	join_argv(&words, argv);
	rec->collector.detach_after_ns = a->detach_after_ns;
	rec->collector.name = base_name(argv[0]);
	rec->collector.argv = (struct str){ words.data, words.len };
	rec->collector.cwd = str_of(cwd ? cwd : "/");
	rec->front.argv = argv;
	if (front_run(&rec->front, &d, &rec->result) < 0)
		return fail(EXIT_OWN, &d);
	found = record_report(rec, &a->record);
	return status_of(&rec->result, argv[0], found);
}

static int run(void *arg, int argc, char **argv)
{
	const struct run_args *a = arg;
	struct record rec = { 0 };
	int status;

	if (!argc) {
		say("run what? `deedlog run -- COMMAND`");
		return EXIT_OWN;
	}
	status = record_prepare(&rec, &a->record, a->user);
	if (!status)
		status = record_command(&rec, a, argv);
	record_done(&rec);
	return status;
}

const struct command cmd_run = {
	.name = "run",
	.operands = "[--] COMMAND [ARGUMENT...]",
	.help = "run a command and record what it does",
	.options = options,
	.args = &args,
	.operands_first = true,
	.trouble = EXIT_OWN,
	.run = run,
};
