/* SPDX-License-Identifier: MIT */
/*
 * verify_main DIR [--closed-only] [--key VKEY] [--run ID] [--jobs N]
 * [--loop] [--usage]: the
 * library's verifier with one finding a line and its exit code, for the attack
 * tests. --loop verifies once for each line of the standard input and answers
 * with the exit code alone. --usage tells processor seconds and the largest resident size.
 */
#include "base/fdio.h"
#include "base/macros.h"
#include "ledger/verify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void print(const struct finding *f, void *arg)
{
	static const char *const words[] = { "OK  ", "NOTE", "WARN", "FAIL" };

	(void)arg; /* nothing to hand on */
	printf("%s [%s] %s\n", words[f->level], f->code, f->text);
}

/* Not of getrusage(): that remembers who called exec. */
static long peak_kib(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *at;

	if (file_read_at(AT_FDCWD, "/proc/self/status", 65536, &b) < 0)
		return -1;
	at = strstr(buf_str(&b), "VmHWM:");
	return at ? strtol(at + 6, NULL, 10) : -1;
}

static void usage(void)
{
	struct rusage self, kids;

	(void)getrusage(RUSAGE_SELF, &self); /* cannot fail with these arguments */
	(void)getrusage(RUSAGE_CHILDREN, &kids);
	printf("%.2f %ld\n",
	       (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec + kids.ru_utime.tv_sec +
			kids.ru_stime.tv_sec) +
		       (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec +
				kids.ru_utime.tv_usec + kids.ru_stime.tv_usec) / 1e6,
	       MAX(peak_kib(), kids.ru_maxrss));
}

static int loop(const char *dir, const struct verify_options *o)
{
	struct verify_totals t;
	struct diag d;

	while (getchar() != EOF) {
		printf("%d\n", verify_ledger(dir, o, NULL, NULL, &t, &d));
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct verify_options o = { 0 };
	struct verify_totals t;
	struct diag d = { 0 };
	bool again = false, cost = false;
	int r;

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--closed-only"))
			o.closed_only = true;
		else if (!strcmp(argv[i], "--key") && i + 1 < argc)
			o.vkey = argv[++i];
		else if (!strcmp(argv[i], "--run") && i + 1 < argc)
			o.run = argv[++i];
		else if (!strcmp(argv[i], "--jobs") && i + 1 < argc)
			o.jobs = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--loop"))
			again = true;
		else if (!strcmp(argv[i], "--usage"))
			cost = true;
		else
			return VERIFY_TROUBLE;
	}
	if (argc < 2)
		return VERIFY_TROUBLE;
	if (again)
		return loop(argv[1], &o);
	r = verify_ledger(argv[1], &o, print, NULL, &t, &d);
	if (d.msg[0])
		printf("     %s\n", d.msg);
	printf("%s, %s   %" PRIu64 " runs, %" PRIu64 " valid, %" PRIu64 " records, %" PRIu64
	       " not sealed\n", t.tampered ? "TAMPERED" : "INTACT",
	       t.incomplete ? "INCOMPLETE" : "COMPLETE", t.runs, t.valid, t.records, t.unsealed);
	if (cost)
		usage();
	return r;
}
