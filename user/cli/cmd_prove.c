/* SPDX-License-Identifier: MIT */
/* deedlog prove: hand out one record with its proof, or check one that was handed out. */
#include "cli.h"

#include "base/fdio.h"
#include "base/num.h"
#include "ledger/disclose.h"

#include <fcntl.h>
#include <inttypes.h>
#include <time.h>

struct prove_args {
	struct common common;
	const char *out, *key;
	bool check;
};

static struct prove_args args = { .common = COMMON_DEFAULTS, .out = "." };

static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, offsetof(struct prove_args, out), "DIR",
	  "folder for the files, made if it is not there; default: the current one", NULL },
	{ "check", 0, OPT_FLAG, offsetof(struct prove_args, check), NULL,
	  "check such a folder; needs no ledger", NULL },
	{ "key", 0, OPT_TEXT, offsetof(struct prove_args, key), "VKEY",
	  "with --check: the identity's key as you know it, name+id+base64", NULL },
	OPT_COMMON,
	OPT_END,
};

static void out_result(const struct disclosure *r, struct buf *to)
{
	time_t at = (time_t)r->head_unix_s;
	char when[32];
	struct tm tm;

	buf_addf(to, "record %" PRIu64 " of %" PRIu64 " in %s%s\n", r->index, r->size, r->origin,
		 r->ended ? "" : ", which had not ended");
	if (!r->head_unix_s) {
		buf_addstr(to, "the index head is not signed by the identity yet: prove it again "
			       "after the end of the run\n");
		return;
	}
	(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &tm));
	buf_addf(to, "index head of %" PRIu64 " records, signed by the identity %s UTC\n",
		 r->head_size, when);
}

static int tell(const struct disclosure *r, bool quiet)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (!quiet)
		out_result(r, &out);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int check(const struct prove_args *a, const char *dir)
{
	_cleanup_fd_ int fd = dir_open_at(AT_FDCWD, dir);
	struct disclosure ret;
	struct diag d;
	int r;

	if (!a->key) {
		say("--check needs --key, the identity's vkey from a source that you trust");
		return EXIT_TROUBLE;
	}
	if (fd < 0) {
		say("cannot open %s: %s", dir, strerror(-fd));
		return EXIT_TROUBLE;
	}
	r = disclose_check(fd, a->key, &d, &ret);
	if (r < 0)
		return fail(r == -EBADMSG ? EXIT_DIFFERS : EXIT_TROUBLE, &d);
	return tell(&ret, a->common.quiet);
}

static int write_files(const struct prove_args *a, const char *prefix, uint64_t index,
		       struct diag *d, struct disclosure *ret)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_fd_ int fd = -1;
	char id[RUN_ID_LEN + 1];
	int r;

	r = ledger_open(a->common.dir, false, d, &l);
	if (!r)
		r = ledger_find_run(l, prefix, d, id);
	if (r < 0)
		return r;
	r = dir_make_all(a->out, 0755);
	if (!r)
		fd = dir_open_at(AT_FDCWD, a->out);
	if (r < 0 || fd < 0)
		return diag_set(d, MIN(r, fd), "cannot write to %s: %s", a->out,
				strerror(-MIN(r, fd)));
	return disclose_write(l, id, index, fd, d, ret);
}

static int run(void *arg, int argc, char **argv)
{
	const struct prove_args *a = arg;
	struct disclosure ret;
	uint64_t index;
	struct diag d;

	if (a->check && argc == 1)
		return check(a, argv[0]);
	if (a->check || argc != 2 ||
	    num_u64(argv[1], strlen(argv[1]), INT64_MAX, &index) < 0) {
		say("prove takes a run and the number of a record; with --check, a folder");
		return EXIT_TROUBLE;
	}
	if (write_files(a, argv[0], index, &d, &ret) < 0)
		return fail(EXIT_TROUBLE, &d);
	return tell(&ret, a->common.quiet);
}

const struct command cmd_prove = {
	.name = "prove",
	.operands = "RUN INDEX",
	.help = "hand out one record with its proof",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
