/* SPDX-License-Identifier: MIT */
/* deedlog attach: records what runs already, from now on. */
#include "record.h"

#include "ledger/ledger.h"

struct attach_args {
	struct record_args record;
	const char *cgroup;
	uint32_t pid;
};

static struct attach_args args = { .record = RECORD_DEFAULTS };

static const struct opt options[] = {
	{ "cgroup", 0, OPT_TEXT, offsetof(struct attach_args, cgroup), "PATH",
	  "everything in this cgroup v2 folder", NULL },
	{ "pid", 0, OPT_U32, offsetof(struct attach_args, pid), "N",
	  "this process and what it starts", NULL },
	OPT_RECORD,
	OPT_COMMON,
	OPT_END,
};

static int record_target(struct record *rec, const struct attach_args *a)
{
	struct diag d;

	rec->collector.cgroup = a->cgroup;
	rec->collector.pid = (pid_t)a->pid;
	rec->collector.name = "attach";
	if (front_run(&rec->front, &d, &rec->result) < 0)
		return fail(EXIT_OWN, &d);
	return record_report(rec, &a->record) ? EXIT_FOUND : EXIT_OK;
}

static int run(void *arg, int argc, char **argv)
{
	const struct attach_args *a = arg;
	struct record rec = { .collector.attach = true };
	int status;

	(void)argv;
	if (argc || !a->cgroup == !a->pid) {
		say("attach to what? `deedlog attach --cgroup PATH` or `deedlog attach --pid N`");
		return EXIT_OWN;
	}
	status = record_prepare(&rec, &a->record, NULL);
	if (!status)
		status = record_target(&rec, a);
	record_done(&rec);
	return status;
}

const struct command cmd_attach = {
	.name = "attach",
	.operands = "",
	.help = "record a cgroup or a process that runs already",
	.options = options,
	.args = &args,
	.trouble = EXIT_OWN,
	.run = run,
};
