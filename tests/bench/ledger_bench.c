/* SPDX-License-Identifier: MIT */
/*
 * ledger_bench FILE DIR [ROUNDS]: what the writer costs. Appends the lines of
 * FILE (canonical events) to new runs of a ledger in DIR and prints microseconds
 * of CPU time and bytes on disk per record, best of ROUNDS, then the verifier's
 * records per second. Seals come by size (64 KiB blocks), as under load.
 */
#include "base/buf.h"
#include "base/cur.h"
#include "base/fdio.h"
#include "ledger/runlog.h"
#include "ledger/verify.h"

#include <fcntl.h>
#include <sys/stat.h>

#define INPUT_CAP (256u << 20)

static double cpu_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* exists everywhere */
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The "b" of an event line. */
static uint64_t boot_of(struct cur line)
{
	const uint8_t *at = memmem(line.at, cur_left(&line), "\"b\":", 4);
	uint64_t n = 0;

	for (at = at ? at + 4 : line.end; at < line.end && *at >= '0' && *at <= '9'; at++)
		n = n * 10 + (*at - '0');
	return n;
}

static size_t append_all(struct runlog *run, struct cur in)
{
	struct cur line;
	size_t n = 0;

	for (; !cur_until(&in, '\n', &line); n++)
		if (runlog_append(run, (const char *)line.at, cur_left(&line),
				  boot_of(line), false) < 0)
			return 0;
	return n;
}

static double run_bytes(const char *dir, const char *id)
{
	char path[512];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/current/runs/%s/000000.gz", dir, id);
	return stat(path, &st) ? 0 : (double)st.st_size;
}

struct cost {
	double us, bytes;
	size_t n;
};

static int one_round(struct ledger *l, const char *dir, struct cur in, struct cost *best,
		     struct diag *d)
{
	const struct run_facts facts = { .cmd = "bench", .tier = "trace", .mode = "record" };
	static const char end[] = "{\"t\":\"end\",\"b\":1,\"exit\":0}";
	struct runlog *run;
	char id[RUN_ID_LEN + 1];
	double start, us;
	int r;

	r = runlog_start(l, &facts, d, &run);
	if (r < 0)
		return r;
	memcpy(id, runlog_id(run), sizeof(id));
	start = cpu_s();
	best->n = append_all(run, in);
	us = (cpu_s() - start) * 1e6 / (double)best->n;
	r = runlog_end(run, end, strlen(end), 1, 0, -1, NULL, d);
	best->us = !best->us || us < best->us ? us : best->us;
	best->bytes = run_bytes(dir, id) / (double)best->n;
	return best->n ? r : -EBADMSG;
}

static int measure(const char *dir, struct cur in, unsigned long rounds, struct cost *best,
		   struct diag *d)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	int r;

	r = ledger_open(dir, true, d, &l);
	for (unsigned long i = 0; !r && i < rounds; i++)
		r = one_round(l, dir, in, best, d);
	return r;
}

static double verify_rate(const char *dir)
{
	struct verify_options o = { 0 };
	struct verify_totals t;
	struct diag d;
	double start = cpu_s();

	if (verify_ledger(dir, &o, NULL, NULL, &t, &d) != VERIFY_INTACT)
		return 0;
	return (double)t.records / (cpu_s() - start);
}

int main(int argc, char **argv)
{
	_cleanup_buf_ struct buf in = BUF_INIT;
	struct cost best = { 0 };
	struct diag d = { 0 };
	int r;

	if (argc < 3 || file_read_at(AT_FDCWD, argv[1], INPUT_CAP, &in) < 0)
		return 2;
	r = measure(argv[2], cur_of(in.data, in.len), argc > 3 ? strtoul(argv[3], NULL, 10) : 7,
		    &best, &d);
	if (r < 0) {
		fprintf(stderr, "ledger_bench: %s\n", d.msg);
		return 1;
	}
	printf("%zu records of %.0f B: %.2f us and %.1f B on disk per record; verify %.0f records/s\n",
	       best.n, (double)in.len / (double)best.n, best.us, best.bytes, verify_rate(argv[2]));
	return 0;
}
