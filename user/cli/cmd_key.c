/* SPDX-License-Identifier: MIT */
/* deedlog key: shows, replaces and hands out the keys of the log. */
#include "cli.h"

#include "base/timeutil.h"
#include "ledger/ledger.h"
#include "ledger/pubkey.h"

#include <time.h>

enum which { WHICH_DEFAULT, WHICH_GENESIS, WHICH_INDEX, WHICH_IDENTITY };

struct key_args {
	struct common common;
	bool identity;
	int format, which;
};

static struct key_args args = { .common = COMMON_DEFAULTS };

static const struct opt_word formats[] = {
	{ "vkey", PUBKEY_VKEY },	 { "pem", PUBKEY_PEM },
	{ "minisign", PUBKEY_MINISIGN }, { "signify", PUBKEY_SIGNIFY },
	{ "allowed_signers", PUBKEY_ALLOWED }, { NULL, 0 }
};
static const struct opt_word whiches[] = {
	{ "genesis", WHICH_GENESIS }, { "index", WHICH_INDEX }, { "identity", WHICH_IDENTITY },
	{ NULL, 0 }
};

static const struct opt options[] = {
	{ "format", 0, OPT_WORD, offsetof(struct key_args, format), "WORD",
	  "spelling of an exported key", formats },
	{ "which", 0, OPT_WORD, offsetof(struct key_args, which), "WORD",
	  "key to export: genesis as vkey, else identity, if not said", whiches },
	{ "identity", 0, OPT_FLAG, offsetof(struct key_args, identity), NULL,
	  "rotate the identity key instead of the index key", NULL },
	OPT_COMMON,
	OPT_END,
};

/* ---- show ---------------------------------------------------------------- */

static void add_key(struct buf *to, const char *word, const struct vkey *v)
{
	buf_addf(to, "%-9s ", word);
	pubkey_add(to, v, PUBKEY_VKEY);
}

static int show(const struct key_args *a, const struct ledger_keys *k)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	time_t at = (time_t)(k->rotated_ns / NS_PER_S);
	char when[32];
	struct tm tm;

	(void)a; /* all of them, in one way */
	(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &tm));
	add_key(&out, "genesis", &k->genesis);
	add_key(&out, "index", &k->index);
	if (k->has_identity)
		add_key(&out, "identity", &k->identity);
	buf_addf(&out, "%-9s %llu rotations, the index key is in force since %s UTC\n", "epoch",
		 (unsigned long long)k->epoch, when);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

/* ---- export -------------------------------------------------------------- */

/* What gets pinned is the first key; what other tools check is the identity's work. */
static const struct vkey *chosen(const struct key_args *a, const struct ledger_keys *k)
{
	int which = a->which;

	if (which == WHICH_DEFAULT)
		which = a->format == PUBKEY_VKEY ? WHICH_GENESIS : WHICH_IDENTITY;
	if (which == WHICH_GENESIS)
		return &k->genesis;
	if (which == WHICH_INDEX)
		return &k->index;
	return k->has_identity ? &k->identity : NULL;
}

static int export(const struct key_args *a, const struct ledger_keys *k)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const struct vkey *v = chosen(a, k);

	if (!v) {
		say("this log has no identity key");
		return EXIT_TROUBLE;
	}
	pubkey_add(&out, v, (enum pubkey_format)a->format);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

/* ---- the command --------------------------------------------------------- */

static int look(const struct key_args *a,
		int (*act)(const struct key_args *a, const struct ledger_keys *k))
{
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_keys keys;
	struct diag d;
	int r;

	r = ledger_open(a->common.dir, false, &d, &l);
	if (!r)
		r = ledger_keys(l, &d, &keys);
	return r < 0 ? fail(EXIT_TROUBLE, &d) : act(a, &keys);
}

static int run_show(const struct key_args *a)
{
	return look(a, show);
}

static int run_export(const struct key_args *a)
{
	return look(a, export);
}

/* Looks first: a rotation must not make a ledger. */
static int run_rotate(const struct key_args *a)
{
	_cleanup_ledger_ struct ledger *there = NULL, *l = NULL;
	struct diag d;
	int r;

	r = ledger_open(a->common.dir, false, &d, &there);
	if (!r)
		r = ledger_open(a->common.dir, true, &d, &l);
	if (!r)
		r = ledger_rotate(l, a->identity, &d);
	return r < 0 ? fail(EXIT_TROUBLE, &d) : EXIT_OK;
}

static const struct {
	const char *word;
	int (*run)(const struct key_args *a);
} acts[] = {
	{ "show", run_show },
	{ "rotate", run_rotate },
	{ "export", run_export },
};

static int run(void *arg, int argc, char **argv)
{
	for (size_t i = 0; argc == 1 && i < ARRAY_SIZE(acts); i++)
		if (!strcmp(argv[0], acts[i].word))
			return acts[i].run(arg);
	say("key takes one of show, rotate, export");
	return EXIT_TROUBLE;
}

const struct command cmd_key = {
	.name = "key",
	.operands = "show|rotate|export",
	.help = "show, replace or hand out the keys of the log",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
