/* SPDX-License-Identifier: MIT */
/*
 * The verifier: what it looks at and in which order. Claims are collected
 * before the things they are about (checkpoint, then names, then the index,
 * then run files), else a log that is being written would look forged.
 */
#include "verify.h"

#include "base/alloc.h"
#include "base/esc.h"
#include "base/fdio.h"
#include "base/timeutil.h"
#include "check.h"
#include "key.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <sys/stat.h>

#define ORIGIN_MAX 4096
#define COPY_STEP 65536
#define MAX_TEXT 1024

/* ---- findings --------------------------------------------------------------------- */

static void emit(struct check *c, const struct finding *f)
{
	c->totals.tampered |= f->level == FINDING_FAIL;
	c->totals.incomplete |= f->level == FINDING_WARN;
	if (c->each)
		c->each(f, c->arg);
}

void check_say(struct check *c, enum finding_level level, const char *code, const char *run,
	       const char *fmt, ...)
{
	struct finding f = { level, code, run, -1, -1, -1, NULL };
	char text[MAX_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* cut by design */
	va_end(ap);
	f.text = text;
	emit(c, &f);
}

void check_count(struct check *c, const char *code, const char *run, uint64_t have,
		 uint64_t want, const char *fmt, ...)
{
	struct finding f = { FINDING_FAIL, code, run, -1, (int64_t)have, (int64_t)want, NULL };
	char text[MAX_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* cut by design */
	va_end(ap);
	f.text = text;
	emit(c, &f);
}

void check_fault(struct check *c, enum finding_level level, const struct fault *f, const char *run)
{
	char text[MAX_TEXT];

	if (run)
		(void)snprintf(text, sizeof(text), "run " SHORT_ID ": %s", run, f->text);
	else
		(void)snprintf(text, sizeof(text), "index: %s", f->text);
	emit(c, &(struct finding){ level, f->code, run, f->offset, f->have, f->want, text });
}

void check_unreadable(struct check *c, const char *what, int err)
{
	c->trouble = true;
	check_say(c, FINDING_NOTE, "absent", NULL, "cannot read %s: %s", what, strerror(-err));
}

void check_wall(struct check *c, uint64_t wall_ns)
{
	struct verify_totals *t = &c->totals;

	if (!t->first_wall_ns || wall_ns < t->first_wall_ns)
		t->first_wall_ns = wall_ns;
	t->last_wall_ns = MAX(t->last_wall_ns, wall_ns);
}

/* ---- names -------------------------------------------------------------------------- */

/* prefix, six digits, suffix */
static bool is_numbered(const char *name, const char *prefix, const char *suffix, int *ret_n)
{
	struct cur c = cur_of(name, strlen(name)), digits;
	int n = 0;

	if (!cur_starts(&c, prefix) || cur_skip(&c, strlen(prefix)) < 0 ||
	    cur_take(&c, 6, &digits) < 0 || !cur_is(&c, suffix))
		return false;
	for (; digits.at < digits.end; digits.at++) {
		if (*digits.at < '0' || *digits.at > '9')
			return false;
		n = 10 * n + (*digits.at - '0');
	}
	*ret_n = n;
	return true;
}

static void judge_name(struct check *c, const char *name, const char *run, int *last_seq)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;
	int n;

	if (is_numbered(name, "", ".gz", &n)) {
		*last_seq = MAX(*last_seq, n);
		return;
	}
	if (is_numbered(name, "torn-", ".bin", &n))
		return;
	esc_tty(&shown, name, strlen(name));
	check_say(c, FINDING_FAIL, "unannounced", run, "file %s/%s does not belong to the log",
		  run ? run : "index", buf_str(&shown));
}

/* Calls fn for each name but . and ..; -errno. */
static int each_name(int dirfd, void (*fn)(void *arg, const char *name), void *arg)
{
	struct dirent *e;
	DIR *dir;
	int fd, err;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		(void)close(fd); /* nothing was read through it */
		return err;
	}
	for (errno = 0; (e = readdir(dir)); errno = 0)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			fn(arg, e->d_name);
	err = -errno;
	(void)closedir(dir);
	return err;
}

struct folder {
	struct check *c;
	const char *run;
	int last_seq;
};

static void on_segment_name(void *arg, const char *name)
{
	struct folder *f = arg;

	judge_name(f->c, name, f->run, &f->last_seq);
}

int check_names(struct check *c, int dirfd, const char *run, int *ret_last_seq)
{
	struct folder f = { .c = c, .run = run, .last_seq = -1 };
	int r;

	r = each_name(dirfd, on_segment_name, &f);
	*ret_last_seq = f.last_seq;
	return r;
}

/* Names under runs/, read before the index, so that none can be too new for it. */
struct run_names {
	char (*ids)[RUN_ID_LEN + 1];
	size_t n, cap;
	struct buf odd; /* NUL after each */
};

static void run_names_done(struct run_names *n)
{
	free(n->ids);
	buf_done(&n->odd);
}

static void on_run_name(void *arg, const char *name)
{
	struct run_names *n = arg;

	if (strlen(name) != RUN_ID_LEN || strspn(name, "0123456789abcdef") != RUN_ID_LEN) {
		buf_add(&n->odd, name, strlen(name) + 1);
		return;
	}
	if (n->n == n->cap) {
		n->cap = n->cap ? 2 * n->cap : 64;
		n->ids = xrealloc(n->ids, n->cap, sizeof(*n->ids));
	}
	memcpy(n->ids[n->n++], name, RUN_ID_LEN + 1);
}

static void judge_run_names(struct check *c, const struct run_names *n)
{
	struct cur odd = cur_of(n->odd.data, n->odd.len), one;

	for (size_t i = 0; i < n->n; i++)
		if (!index_run(&c->st, n->ids[i]))
			check_say(c, FINDING_FAIL, "unannounced", n->ids[i],
				  "run file " SHORT_ID " is not announced in the index", n->ids[i]);
	while (!cur_until(&odd, '\0', &one)) {
		_cleanup_buf_ struct buf shown = BUF_INIT;

		esc_tty(&shown, one.at, cur_left(&one));
		check_say(c, FINDING_FAIL, "unannounced", NULL,
			  "runs/%s does not belong to the log", buf_str(&shown));
	}
}

/* ---- torn files ---------------------------------------------------------------------- */

static bool is_torn_file(int fd, const struct torn *t)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	crypto_hash_sha256_state state;
	char hex[HEX_HASH_LEN + 1];
	uint64_t total = 0;
	struct hash h;
	ssize_t n;

	crypto_hash_sha256_init(&state);
	while ((n = read(fd, buf_grow(&b, COPY_STEP), COPY_STEP)) > 0) {
		crypto_hash_sha256_update(&state, (uint8_t *)b.data, (size_t)n);
		total += (uint64_t)n;
	}
	crypto_hash_sha256_final(&state, h.b);
	sodium_bin2hex(hex, sizeof(hex), h.b, sizeof(h.b));
	return !n && total == t->bytes && !strcmp(hex, t->sha256);
}

bool check_torn_file(int dirfd, const struct torn *t)
{
	for (unsigned i = 0;; i++) {
		_cleanup_fd_ int fd = -1;
		char name[32];

		(void)snprintf(name, sizeof(name), "torn-%06u.bin", i); /* fits */
		fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			return false;
		if (is_torn_file(fd, t))
			return true;
	}
}

static void judge_index_torn(struct check *c)
{
	for (size_t i = 0; i < c->st.n_torn; i++) {
		const struct torn *t = &c->st.torn[i];

		check_say(c, FINDING_WARN, "torn", NULL,
			  "index: a restart cut off a torn tail of %" PRIu64 " bytes (sha256 %.12s…)%s",
			  t->bytes, t->sha256,
			  check_torn_file(c->index, t) ? "" : "; the file that kept it is gone or changed");
	}
	if (c->st.gaps)
		check_say(c, FINDING_WARN, "lost", NULL, "index: %" PRIu64 " gaps", c->st.gaps);
}

/* ---- the promise in the file `checkpoint` ---------------------------------------------- */

struct promise {
	struct buf text;
	struct note note;
	int err;   /* why it cannot be used, 0 = it can */
	bool kept;
};

static void promise_done(struct promise *p)
{
	buf_done(&p->text);
}

static void read_promise(struct check *c, struct promise *p)
{
	p->err = file_read_at(c->dir, "checkpoint", NOTE_MAX, &p->text);
	if (!p->err)
		p->err = note_parse(cur_of(p->text.data, p->text.len), &p->note);
}

/* At its size the index must have sealed the same text, and the same keys signed both. */
static void meet_promise(struct check *c, struct promise *p, const struct scan *s)
{
	const struct note *n = &p->note;

	if (p->err || p->kept || n->cp.size != s->tree.n)
		return;
	p->kept = cur_left(&n->text) == cur_left(&s->note.text) &&
		  !memcmp(n->text.at, s->note.text.at, cur_left(&n->text)) &&
		  note_verify(n, &c->st.sealed_by) == 1 &&
		  (!c->st.has_identity || note_verify(n, &c->st.identity) == 1);
}

static void judge_promise(struct check *c, const struct promise *p)
{
	if (p->err)
		check_say(c, FINDING_FAIL, p->err == -ENOENT ? "absent" : "damaged", NULL,
			  "file checkpoint is %s", p->err == -ENOENT ? "missing" : "no signed note");
	else if (p->note.cp.size > c->st.leaves)
		check_count(c, "truncated", NULL, c->st.leaves, p->note.cp.size,
			    "TRUNCATED: checkpoint attests %" PRIu64 " index records, log has %"
			    PRIu64, p->note.cp.size, c->st.leaves);
	else if (!p->kept)
		check_say(c, FINDING_FAIL, "fork", NULL,
			  "FORK: checkpoint attests a different history of the first %" PRIu64
			  " index records, or by other keys", p->note.cp.size);
}

/* ---- the index ---------------------------------------------------------------------------- */

static void judge_index_end(struct check *c, struct scan *s, int r)
{
	bool later = false;

	if (r == -EBADMSG && scan_later_seal(s, &later) < 0)
		later = true;
	c->totals.unsealed += s->unsealed;
	if (r == -EBADMSG && later)
		check_fault(c, FINDING_FAIL, &s->fault, NULL);
	else if (r == -EBADMSG || r == -ENODATA)
		check_say(c, FINDING_WARN, "torn", NULL,
			  "index: %" PRIu64 " bytes after the last seal (being written or torn)",
			  s->tail);
	else if (r < 0)
		check_unreadable(c, "the index", r);
}

static int check_index_line(struct chain *chain, struct cur line, uint64_t leaf)
{
	struct line_time time;

	return check_order(line, &time) < 0 ? -EBADMSG : chain_add(chain, line, leaf);
}

/* What folding does not look at. */
static int check_index_lines(struct scan *s, struct chain *chain)
{
	struct cur plain = s->plain, line;

	if (s->bridged)
		chain_skip(chain, false);
	for (uint64_t leaf = s->first; !cur_until(&plain, '\n', &line); leaf++)
		if (check_index_line(chain, line, leaf) < 0)
			return fault_set(&s->fault, "malformed", (int64_t)s->off, (int64_t)leaf, -1,
					 "record %" PRIu64 " has its t or b elsewhere or is not "
					 "continued as it says", leaf);
	return 0;
}

static int walk_index(struct check *c, struct scan *s, struct promise *p)
{
	_cleanup_(chain_done) struct chain chain = { 0 };
	int r;

	while ((r = scan_next(s)) == 1) {
		if (check_index_lines(s, &chain) < 0 || index_fold(&c->st, s) < 0) {
			check_fault(c, FINDING_FAIL, &s->fault, NULL);
			return -EUCLEAN;
		}
		meet_promise(c, p, s);
		check_anchors_meet(c, s);
	}
	return r;
}

static void read_index(struct check *c, struct promise *p)
{
	_cleanup_(scan_done) struct scan s;
	int r, last_seq;

	(void)snprintf(c->origin, sizeof(c->origin), "deedlog.invalid/%s", c->id); /* 28 characters */
	check_anchors_begin(c);
	r = check_names(c, c->index, NULL, &last_seq);
	if (r < 0)
		check_unreadable(c, "the folder index", r);
	scan_init(&s, c->index, c->origin);
	r = walk_index(c, &s, p);
	if (r != -EUCLEAN)
		judge_index_end(c, &s, r);
	/* also behind a torn tail: there is nothing to follow that */
	if ((!r || r == -ENODATA || r == -EBADMSG) && last_seq > (int)s.seq)
		check_say(c, FINDING_FAIL, "order", NULL,
			  "index: segment %06u is missing before %06d", s.seq + 1, last_seq);
}

const struct index_run *check_late(struct check *c, const struct index_run *run)
{
	const struct index_run *again;

	if (!c->has_late) {
		_cleanup_(scan_done) struct scan s;

		scan_init(&s, c->index, c->st.origin);
		/* faults were told the first time; what comes before them holds */
		while (scan_next(&s) == 1 && index_fold(&c->late, &s) == 0)
			;
		c->has_late = true;
	}
	again = index_run(&c->late, run->info.id);
	return again ? again : run;
}

static void judge_origin_file(struct check *c)
{
	_cleanup_buf_ struct buf want = BUF_INIT, have = BUF_INIT;
	int r;

	buf_addstr(&want, "genesis ");
	vkey_add(&want, &c->st.genesis);
	if (c->st.n_identities) {
		buf_addstr(&want, "\nidentity ");
		vkey_add(&want, &c->st.identities[0]);
	}
	buf_addf(&want, "\nmachine %s\ncreated %" PRIu64 "\n", c->st.machine, c->st.created_ns);
	r = file_read_at(c->dir, "origin", ORIGIN_MAX, &have);
	if (r < 0 || have.len != want.len || memcmp(have.data, want.data, want.len))
		check_say(c, FINDING_FAIL, r == -ENOENT ? "absent" : "origin", NULL,
			  r == -ENOENT ? "file origin is missing" :
					 "file origin does not say what genesis says");
}

static void add_anchors(const struct check *c, struct buf *to)
{
	const struct verify_totals *t = &c->totals;
	time_t when = (time_t)(t->anchored_ns / NS_PER_S);
	char text[32];
	struct tm tm;

	if (!c->o->anchors)
		return;
	buf_addf(to, ", %" PRIu64 " anchors, unanchored tail %" PRIu64 " records", t->anchors,
		 t->tail);
	(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", gmtime_r(&when, &tm));
	if (t->anchored_size)
		buf_addf(to, " since commit %.12s (%s)", t->anchored_by, text);
}

/* The log that this one continues; `deedlog verify --log` looks at it. */
static void add_prev(const struct check *c, struct buf *to)
{
	if (c->st.prev.size)
		buf_addf(to, ", continues log %s after its record %" PRIu64,
			 c->st.prev.origin + sizeof("deedlog.invalid/") - 1, c->st.prev.size);
}

static void judge_index(struct check *c, const struct promise *p)
{
	_cleanup_buf_ struct buf anchors = BUF_INIT;
	bool sound = !c->totals.tampered;

	if (!c->st.leaves) {
		check_say(c, FINDING_FAIL, "truncated", NULL,
			  "index: no record with a valid signature");
		return;
	}
	judge_promise(c, p);
	check_pin(c);
	judge_origin_file(c);
	judge_index_torn(c);
	if (!c->trouble) /* else what is not there may only be what could not be read */
		check_anchors_judge(c);
	check_wall(c, c->st.created_ns);
	check_wall(c, c->st.last_wall_ns);
	c->totals.records += c->st.leaves;
	add_prev(c, &anchors);
	add_anchors(c, &anchors);
	if (sound && !c->totals.tampered)
		check_say(c, FINDING_OK, "ok", NULL, "index: %" PRIu64 " records, %zu runs%s",
			  c->st.leaves, c->st.n_runs, buf_str(&anchors));
}

/* ---- everything ------------------------------------------------------------------------------ */

static int open_current(struct check *c, const char *dir, struct diag *d)
{
	char text[LOG_ID_LEN + 2];
	ssize_t n;

	c->base = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->base < 0)
		return diag_set(d, -errno, "cannot open %s: %s", dir, strerror(errno));
	n = c->o->log ? (ssize_t)snprintf(text, sizeof(text), "%s", c->o->log) :
			readlinkat(c->base, "current", text, sizeof(text));
	if (n != LOG_ID_LEN && !c->o->log)
		return diag_set(d, -ENOENT, "%s holds no ledger (no link \"current\" to a log)", dir);
	if (n == LOG_ID_LEN)
		memcpy(c->id, text, LOG_ID_LEN);
	c->id[LOG_ID_LEN] = '\0';
	if (strspn(c->id, "0123456789abcdef") != LOG_ID_LEN)
		return diag_set(d, -ENOENT, "%s is no name of a log (12 hex digits)",
				c->o->log ? c->o->log : "what \"current\" links to");
	return 0;
}

/* A folder of the log that was removed (*ret = -1) is a finding, no trouble of ours. */
static int open_folder(int at, const char *name, bool is_log, struct diag *d, int *ret)
{
	*ret = dir_open_at(at, name);
	if (*ret == -ENOENT && !is_log)
		*ret = -1;
	else if (*ret < 0)
		return diag_set(d, *ret, "cannot open %s of the ledger: %s", name, strerror(-*ret));
	return 0;
}

static int open_log(struct check *c, const char *dir, struct diag *d)
{
	int r;

	r = open_current(c, dir, d);
	if (!r)
		r = open_folder(c->base, c->id, true, d, &c->dir);
	if (!r)
		r = open_folder(c->dir, "index", false, d, &c->index);
	if (!r)
		r = open_folder(c->dir, "runs", false, d, &c->runs);
	return r;
}

static void check_done(struct check *c)
{
	index_done(&c->st);
	index_done(&c->late);
	check_anchors_done(c);
	closep(&c->base);
	closep(&c->dir);
	closep(&c->index);
	closep(&c->runs);
}

static int look_at_runs(struct check *c, struct diag *d)
{
	const struct index_run *one = c->o->run ? index_run(&c->st, c->o->run) : NULL;

	if (c->o->run && !one)
		return diag_set(d, -ENOENT, "the index announces no run %.40s", c->o->run);
	if (one)
		check_run(c, one);
	else
		check_runs(c, c->o->jobs);
	return 0;
}

static int look(struct check *c, struct diag *d)
{
	_cleanup_(run_names_done) struct run_names names = { 0 };
	_cleanup_(promise_done) struct promise promise = { 0 };
	int r;

	read_promise(c, &promise);
	r = c->runs < 0 ? 0 : each_name(c->runs, on_run_name, &names);
	if (r < 0)
		check_unreadable(c, "the folder runs", r);
	if (c->index >= 0) /* else no record is left, which is told as that */
		read_index(c, &promise);
	judge_index(c, &promise);
	r = look_at_runs(c, d);
	if (!c->o->run)
		judge_run_names(c, &names);
	return r;
}

/* With a limit: no record has been without an anchor for longer than that. */
static bool is_anchored(const struct check *c)
{
	uint64_t since = c->totals.unanchored_ns, now = time_wall_ns();

	if (!c->totals.anchored)
		return false;
	return !c->o->max_age_ns || !since || now <= since || now - since <= c->o->max_age_ns;
}

static int verdict(const struct check *c)
{
	if (c->totals.tampered)
		return VERIFY_TAMPERED;
	if (c->trouble)
		return VERIFY_TROUBLE;
	if (c->totals.incomplete)
		return VERIFY_INCOMPLETE;
	return c->o->require_anchor && !is_anchored(c) ? VERIFY_UNANCHORED : VERIFY_INTACT;
}

int verify_ledger(const char *dir, const struct verify_options *o, finding_fn each, void *arg,
		  struct verify_totals *ret_totals, struct diag *d)
{
	_cleanup_(check_done) struct check c = { .o = o, .each = each, .arg = arg, .base = -1,
						 .dir = -1, .index = -1, .runs = -1 };
	int r;

	*ret_totals = c.totals;
	if (key_init() < 0)
		r = diag_set(d, -EIO, "libsodium cannot start");
	else
		r = open_log(&c, dir, d);
	if (!r)
		r = look(&c, d);
	*ret_totals = c.totals;
	if (r < 0)
		return c.totals.tampered ? VERIFY_TAMPERED : VERIFY_TROUBLE;
	if (c.trouble)
		(void)diag_set(d, -EIO, "parts of the ledger could not be read");
	return verdict(&c);
}
