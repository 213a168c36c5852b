/* SPDX-License-Identifier: MIT */
/*
 * verify_main DIR [--closed-only] [--key VKEY] [--run ID] [--loop]: the
 * library's verifier with one finding a line and its exit code, for the attack
 * tests. --loop verifies once for each line of the standard input and answers
 * with the exit code alone.
 */
#include "ledger/verify.h"

#include <inttypes.h>
#include <string.h>

static void print(const struct finding *f, void *arg)
{
	static const char *const words[] = { "OK  ", "NOTE", "WARN", "FAIL" };

	(void)arg; /* nothing to hand on */
	printf("%s [%s] %s\n", words[f->level], f->code, f->text);
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
	bool again = false;
	int r;

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--closed-only"))
			o.closed_only = true;
		else if (!strcmp(argv[i], "--key") && i + 1 < argc)
			o.vkey = argv[++i];
		else if (!strcmp(argv[i], "--run") && i + 1 < argc)
			o.run = argv[++i];
		else if (!strcmp(argv[i], "--loop"))
			again = true;
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
	return r;
}
