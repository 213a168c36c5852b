/* SPDX-License-Identifier: MIT */
/* deedlog verify: is the ledger what was signed, is it whole, and who else knows? */
#include "cli.h"

#include "base/esc.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/timeutil.h"
#include "ledger/ledger.h"
#include "ledger/verify.h"
#include "vcs/anchors.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

struct verify_args {
	struct common common;
	bool json, closed_only;
	const char *key, *log, *require_anchor;
	struct opt_list repos, ignored;
};

static struct verify_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "json", 0, OPT_FLAG, offsetof(struct verify_args, json), NULL, "one JSON object", NULL },
	{ "closed-only", 0, OPT_FLAG, offsetof(struct verify_args, closed_only), NULL,
	  "do not judge runs that are still open", NULL },
	{ "key", 0, OPT_TEXT, offsetof(struct verify_args, key), "VKEY",
	  "the log's first key or its identity as you know it, name+id+base64", NULL },
	{ "log", 0, OPT_TEXT, offsetof(struct verify_args, log), "ID",
	  "another log of the folder: one that was continued by a new one", NULL },
	{ "repo", 0, OPT_LIST, offsetof(struct verify_args, repos), "DIR",
	  "look for anchors in this git repository; may be repeated", NULL },
	{ "require-anchor", 0, OPT_MAYBE, offsetof(struct verify_args, require_anchor), "AGE",
	  "status 4 unless anchored, at most AGE ago: 90s, 15m, 12h, 7d", NULL },
	{ "ignore-commit", 0, OPT_LIST, offsetof(struct verify_args, ignored), "SHA",
	  "do not worry about the unknown key of this commit", NULL },
	OPT_COMMON,
	OPT_END,
};

static const struct {
	const char *word, *color;
} levels[] = {
	[FINDING_OK] = { "OK", "\033[32m" },
	[FINDING_NOTE] = { "NOTE", "" },
	[FINDING_WARN] = { "WARN", "\033[33m" },
	[FINDING_FAIL] = { "FAIL", "\033[31m" },
};

struct printer {
	const struct verify_args *a;
	struct buf out;
	bool color;
};

/* ---- text -------------------------------------------------------------- */

static void finding_text(struct printer *p, const struct finding *f)
{
	const char *on = p->color ? levels[f->level].color : "";

	if (p->a->common.quiet && f->level < FINDING_WARN)
		return;
	buf_addf(&p->out, "%s%-4s%s %s\n", on, levels[f->level].word, *on ? "\033[0m" : "",
		 f->text);
}

static void add_range(struct buf *to, uint64_t first_ns, uint64_t last_ns)
{
	time_t first = (time_t)(first_ns / NS_PER_S), last = (time_t)(last_ns / NS_PER_S);
	char from[32], until[32];
	struct tm tm;

	(void)strftime(from, sizeof(from), "%Y-%m-%d %H:%M:%S", gmtime_r(&first, &tm));
	(void)strftime(until, sizeof(until), "%Y-%m-%d %H:%M:%S", gmtime_r(&last, &tm));
	/* the day is said once */
	buf_addf(to, "; validated %s to %s UTC", from,
		 strncmp(from, until, 11) ? until : until + 11);
}

static void totals_text(struct printer *p, const struct verify_totals *t)
{
	buf_addf(&p->out, "%s, %s, %s   %llu runs, %llu valid, %llu not", /* as auditd's: one line */
		 t->tampered ? "TAMPERED" : "INTACT", t->incomplete ? "INCOMPLETE" : "COMPLETE",
		 t->anchored ? "ANCHORED" : "UNANCHORED", (unsigned long long)t->runs,
		 (unsigned long long)t->valid, (unsigned long long)(t->runs - t->valid));
	if (t->first_wall_ns)
		add_range(&p->out, t->first_wall_ns, t->last_wall_ns);
	if (t->unsealed)
		buf_addf(&p->out, ", final %llu records not sealed",
			 (unsigned long long)t->unsealed);
	buf_addch(&p->out, '\n');
}

/* ---- JSON -------------------------------------------------------------- */

static void finding_json(struct printer *p, const struct finding *f)
{
	json_out_open(&p->out, NULL, '{');
	json_out_cstr(&p->out, "level", levels[f->level].word);
	json_out_cstr(&p->out, "code", f->code);
	if (f->run)
		json_out_cstr(&p->out, "run", f->run);
	if (f->offset >= 0)
		json_out_i64(&p->out, "offset", f->offset);
	if (f->have >= 0)
		json_out_i64(&p->out, "have", f->have);
	if (f->want >= 0)
		json_out_i64(&p->out, "want", f->want);
	json_out_cstr(&p->out, "text", f->text);
	json_out_close(&p->out, '}');
}

static void anchors_json(struct printer *p, const struct verify_totals *t)
{
	json_out_u64(&p->out, "anchors", t->anchors);
	json_out_u64(&p->out, "anchors_of_others", t->foreign);
	json_out_u64(&p->out, "unanchored_tail", t->tail);
	if (t->anchored_size) {
		json_out_u64(&p->out, "anchored_records", t->anchored_size);
		json_out_cstr(&p->out, "anchored_by", t->anchored_by);
		json_out_u64(&p->out, "anchored_ns", t->anchored_ns);
	}
}

static void totals_json(struct printer *p, const struct verify_totals *t, int status)
{
	json_out_close(&p->out, ']');
	json_out_cstr(&p->out, "integrity", t->tampered ? "TAMPERED" : "INTACT");
	json_out_cstr(&p->out, "completeness", t->incomplete ? "INCOMPLETE" : "COMPLETE");
	json_out_cstr(&p->out, "anchoring", t->anchored ? "ANCHORED" : "UNANCHORED");
	json_out_u64(&p->out, "runs", t->runs);
	json_out_u64(&p->out, "valid", t->valid);
	json_out_u64(&p->out, "records", t->records);
	json_out_u64(&p->out, "unsealed", t->unsealed);
	if (p->a->repos.n)
		anchors_json(p, t);
	if (t->first_wall_ns) {
		json_out_u64(&p->out, "first_ns", t->first_wall_ns);
		json_out_u64(&p->out, "last_ns", t->last_wall_ns);
	}
	json_out_i64(&p->out, "status", status);
	json_out_close(&p->out, '}');
	buf_addch(&p->out, '\n');
}

static void each(const struct finding *f, void *arg)
{
	struct printer *p = arg;

	if (p->a->json)
		finding_json(p, f);
	else
		finding_text(p, f);
}

/* ---- anchors ----------------------------------------------------------- */

static void say_repo(struct printer *p, const char *dir, const struct anchors_seen *seen, size_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addstr(&text, "repository ");
	esc_tty(&text, dir, strlen(dir));
	buf_addf(&text, ": %llu commits visible, %zu heads in them%s", (unsigned long long)seen->commits,
		 n, seen->shallow ? "; it is a shallow clone, older ones are not seen" : "");
	each(&(struct finding){ seen->shallow ? FINDING_NOTE : FINDING_OK, "repository", NULL, -1, -1,
				-1, buf_str(&text) }, p);
}

/* Before the ledger is read: a head made meanwhile would look like one of a log that was cut. */
static int collect(struct printer *p, struct anchors *to, struct diag *d)
{
	const struct opt_list *repos = &p->a->repos;
	int r = 0;

	for (size_t i = 0; !r && i < repos->n; i++) {
		const struct git g = { .dir = repos->item[i] };
		struct anchors_seen seen;
		size_t before = to->n;

		r = anchors_collect(&g, "--all", to, &seen, d);
		if (!r)
			say_repo(p, g.dir, &seen, to->n - before);
	}
	return r;
}

/* A number and one of s, m, h, d; nothing = any age. */
static int parse_age(const char *text, uint64_t *ret_ns)
{
	static const struct {
		char unit;
		uint64_t s;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t len = strlen(text);
	uint64_t n;

	if (!len)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (text[len - 1] == units[i].unit &&
		    !num_u64(text, len - 1, UINT32_MAX, &n) && n) {
			*ret_ns = n * units[i].s * NS_PER_S;
			return 0;
		}
	return -EINVAL;
}

static bool is_commit_prefix(const char *text)
{
	size_t len = strlen(text);

	return len >= ANCHOR_PREFIX_MIN && len <= ANCHOR_ID_MAX &&
	       strspn(text, "0123456789abcdef") == len;
}

static int anchor_options(const struct verify_args *a, struct verify_options *o, struct diag *d)
{
	o->ignored = a->ignored.item;
	o->n_ignored = a->ignored.n;
	o->require_anchor = a->require_anchor;
	if (a->require_anchor && parse_age(a->require_anchor, &o->max_age_ns) < 0)
		return diag_set(d, -EINVAL, "--require-anchor: \"%s\" is no age; say 90s, 15m, 12h or 7d",
				a->require_anchor);
	for (size_t i = 0; i < o->n_ignored; i++)
		if (!is_commit_prefix(o->ignored[i]))
			return diag_set(d, -EINVAL, "--ignore-commit: \"%s\" is no commit; give its first "
					"%d or more hex digits", o->ignored[i], ANCHOR_PREFIX_MIN);
	if (o->require_anchor && !a->repos.n)
		return diag_set(d, -EINVAL, "--require-anchor needs --repo: where are the anchors?");
	return 0;
}

/* ---- the command ------------------------------------------------------- */

static int verify(struct printer *p, struct verify_options *o)
{
	_cleanup_anchors_ struct anchors anchors = { 0 };
	struct verify_totals totals = { 0 };
	struct diag d = { "" };
	int status;

	if (p->a->json) {
		json_out_open(&p->out, NULL, '{');
		json_out_cstr(&p->out, "schema", "deedlog/verify/1");
		json_out_open(&p->out, "findings", '[');
	}
	if (collect(p, &anchors, &d) < 0)
		return fail(EXIT_TROUBLE, &d);
	if (p->a->repos.n)
		o->anchors = &anchors;
	status = verify_ledger(p->a->common.dir, o, each, p, &totals, &d);
	if (status == VERIFY_TROUBLE && *d.msg)
		return fail(EXIT_TROUBLE, &d);
	if (p->a->json)
		totals_json(p, &totals, status);
	else
		totals_text(p, &totals);
	if (put(STDOUT_FILENO, &p->out) < 0)
		return EXIT_TROUBLE;
	return status;
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

static int run(void *arg, int argc, char **argv)
{
	const struct verify_args *a = arg;
	struct verify_options o = { .closed_only = a->closed_only, .vkey = a->key,
				    .log = a->log, .jobs = processors() };
	struct printer p = { .a = a, .color = colored(&a->common, STDOUT_FILENO) };
	struct diag d;
	int status;

	if (argc > 1) {
		say("verify takes one run, or none for the whole ledger");
		return EXIT_TROUBLE;
	}
	if (anchor_options(a, &o, &d) < 0)
		return fail(EXIT_TROUBLE, &d);
	o.run = argv[0];
	status = verify(&p, &o);
	buf_done(&p.out);
	return status;
}

const struct command cmd_verify = {
	.name = "verify",
	.operands = "[RUN]",
	.help = "check that the ledger is untouched and complete",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
