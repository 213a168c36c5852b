/* SPDX-License-Identifier: MIT */
/*
 * mklog DIR [-r RUNS] [-n RECORDS] [-b BLOCK] [-l LONG] [-o | -f] [-s] [-p] [-i]: makes a
 * ledger without any tracing. RUNS runs of RECORDS events, sealed each BLOCK
 * events; each LONGth event has an argument list of 20,000 bytes. -o leaves the
 * last run open as a crash would; -f writes for ever (to be killed) and prints
 * the number of each record once its seal is in the file. -s keeps lost counters.
 * -x FILE: goes on when the disk is full, counting what is refused, and removes
 * FILE after three quarters of the records, so that there is space again. -w CWD:
 * the folder that the runs began in, also their workspace; plain ASCII.
 * -p: the first run says that it follows the newest one. -i: in the end both the
 * index key and the identity key are replaced.
 */
#include "base/alloc.h"
#include "base/json_out.h"
#include "base/timeutil.h"
#include "ledger/runlog.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define STEP_NS (300 * NS_PER_MS) /* more than the age at which a block is sealed */

struct plan {
	const char *dir;
	unsigned long runs, records, block, long_each;
	bool open, forever, lossy, follow, rotate;
	const char *ballast, *cwd;
};

static void out_argv(struct buf *b, unsigned long i)
{
	_cleanup_buf_ struct buf args = BUF_INIT;

	for (int n = 0; args.len < 20000; n++) {
		buf_addf(&args, "--option-%d=%lu \xc3\xa4\x1b\"\\", n, i);
		buf_addch(&args, '\0');
	}
	json_out_strv(b, "argv", args.data, args.len);
}

static int add_event(struct runlog *run, const struct plan *p, unsigned long i)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	uint64_t now = time_boot_ns();

	json_out_open(&b, NULL, '{');
	json_out_cstr(&b, "t", p->long_each && i % p->long_each == 0 ? "exec" : "open");
	json_out_u64(&b, "b", now);
	json_out_u64(&b, "pid", 4000 + i % 7);
	buf_addf(&b, ",\"path\":\"/src/module-%lu/file-%lu.js\"", i % 13, i);
	if (p->long_each && i % p->long_each == 0)
		out_argv(&b, i);
	json_out_close(&b, '}');
	return runlog_append(run, b.data, b.len, now, false);
}

static int add_begin(struct runlog *run, const struct plan *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	uint64_t now = time_boot_ns();

	buf_addf(&b, "{\"t\":\"begin\",\"b\":%" PRIu64 ",\"cwd\":\"%s\",\"argv\":[\"make\"]", now,
		 p->cwd ? p->cwd : "/src");
	if (p->cwd)
		json_out_cstr(&b, "workspace", p->cwd);
	json_out_close(&b, '}');
	return runlog_append(run, b.data, b.len, now, true);
}

/* What record mode does: count the loss, go on. */
static int lose_one(struct runlog *run, int err)
{
	static unsigned long lost;
	char text[64];

	if (err != -ENOSPC)
		return err;
	(void)snprintf(text, sizeof(text), "{\"disk\":{\"file\":%lu}}", ++lost);
	runlog_counters(run, text, "{}");
	return 0;
}

static int flush(struct runlog *run, const struct plan *p, uint64_t now, struct diag *d)
{
	uint64_t due;
	int r = runlog_flush(run, now, d, &due);

	return r == -ENOSPC && p->ballast ? 0 : r;
}

static int add_events(struct runlog *run, const struct plan *p, struct diag *d)
{
	uint64_t now = time_boot_ns();

	for (unsigned long i = 1; p->forever || i <= p->records; i++) {
		int r = add_event(run, p, i);

		if (r < 0 && p->ballast)
			r = lose_one(run, r);
		if (p->ballast && i == p->records / 4 * 3)
			(void)unlink(p->ballast); /* the test looks whether it helped */
		if (r < 0)
			return diag_set(d, r, "record %lu refused", i);
		if (i % p->block)
			continue;
		r = flush(run, p, now, d);
		now += STEP_NS;
		if (!r)
			r = flush(run, p, now, d);
		if (r < 0)
			return r;
		if (p->forever) {
			printf("%lu\n", i);
			fflush(stdout);
		}
	}
	return 0;
}

static int one_run(struct ledger *l, const struct plan *p, const char *prev, bool last,
		   struct diag *d)
{
	const struct run_facts facts = { .cmd = "make", .uid = 1000, .tier = "trace", .mode = "record",
					 .prev_run = prev, .prev_until_ns = 1 };
	struct runlog *run;
	char end[128];
	uint64_t now;
	int r;

	r = runlog_start(l, &facts, d, &run);
	if (r < 0)
		return r;
	printf("run %s\n", runlog_id(run));
	fflush(stdout);
	if (p->lossy)
		runlog_counters(run, "{\"ring\":{\"file\":7}}", "{\"read\":120}");
	r = add_begin(run, p);
	if (!r)
		r = add_events(run, p, d);
	if (r < 0 || (last && p->open)) {
		runlog_abandon(run);
		return r;
	}
	now = time_boot_ns();
	(void)snprintf(end, sizeof(end), "{\"t\":\"end\",\"b\":%" PRIu64 ",\"code\":0,\"procs\":1}", now);
	return runlog_end(run, end, strlen(end), now, 0, -1, NULL, d);
}

static int make(const struct plan *p, struct diag *d)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	char prev[RUN_ID_LEN + 1];
	int r;

	r = ledger_open(p->dir, true, d, &l);
	if (!r && p->follow)
		r = ledger_find_run(l, NULL, d, prev);
	for (unsigned long i = 0; !r && i < p->runs; i++)
		r = one_run(l, p, !i && p->follow ? prev : NULL, i + 1 == p->runs, d);
	if (!r && p->rotate)
		r = ledger_rotate(l, false, d);
	if (!r && p->rotate)
		r = ledger_rotate(l, true, d);
	return r;
}

int main(int argc, char **argv)
{
	struct plan p = { .runs = 1, .records = 100, .block = 50 };
	struct diag d = { 0 };
	int c, r;

	while ((c = getopt(argc, argv, "r:n:b:l:ofspix:w:")) != -1) {
		unsigned long n = optarg ? strtoul(optarg, NULL, 10) : 0;

		p.runs = c == 'r' ? n : p.runs;
		p.records = c == 'n' ? n : p.records;
		p.block = c == 'b' ? n : p.block;
		p.long_each = c == 'l' ? n : p.long_each;
		p.open |= c == 'o';
		p.forever |= c == 'f';
		p.lossy |= c == 's';
		p.follow |= c == 'p';
		p.rotate |= c == 'i';
		p.ballast = c == 'x' ? optarg : p.ballast;
		p.cwd = c == 'w' ? optarg : p.cwd;
	}
	if (optind + 1 != argc || !p.block)
		return 2;
	p.dir = argv[optind];
	r = make(&p, &d);
	if (r < 0)
		fprintf(stderr, "mklog: %s\n", d.msg);
	return r < 0;
}
