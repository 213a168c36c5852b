/* SPDX-License-Identifier: MIT */
/*
 * verify_main DIR [--closed-only] [--key VKEY] [--run ID]: the library's
 * verifier with one finding a line and its exit code, for the attack tests.
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

int main(int argc, char **argv)
{
	struct verify_options o = { 0 };
	struct verify_totals t;
	struct diag d = { 0 };
	int r;

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--closed-only"))
			o.closed_only = true;
		else if (!strcmp(argv[i], "--key") && i + 1 < argc)
			o.vkey = argv[++i];
		else if (!strcmp(argv[i], "--run") && i + 1 < argc)
			o.run = argv[++i];
		else
			return VERIFY_TROUBLE;
	}
	if (argc < 2)
		return VERIFY_TROUBLE;
	r = verify_ledger(argv[1], &o, print, NULL, &t, &d);
	if (d.msg[0])
		printf("     %s\n", d.msg);
	printf("%s, %s   %" PRIu64 " runs, %" PRIu64 " valid, %" PRIu64 " records, %" PRIu64
	       " not sealed\n", t.tampered ? "TAMPERED" : "INTACT",
	       t.incomplete ? "INCOMPLETE" : "COMPLETE", t.runs, t.valid, t.records, t.unsealed);
	return r;
}
