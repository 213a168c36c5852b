/* SPDX-License-Identifier: MIT */
/* Segments written anew, see rewrite.h. */
#include "rewrite.h"

#include "base/fdio.h"
#include "upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define ASIDE_MAX 32

static int lock_folder(int dir)
{
	return flock(dir, LOCK_EX | LOCK_NB) < 0 ? (errno == EWOULDBLOCK ? -EBUSY : -errno) : 0;
}

int rewrite_open(struct ledger *l, const char *run_id, struct diag *d, struct rewrite *ret)
{
	struct rewrite w = { .l = l, .dir = -1 };
	int r;

	if (!l->writable)
		return diag_set(d, -EROFS, "the ledger was opened for reading");
	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	w.run = index_run(&l->st, run_id);
	if (!w.run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", run_id);
	if (w.run->stage == RUN_OPEN)
		return diag_set(d, -EBUSY, "run %s is being written; wait for its end", run_id);
	w.dir = dir_open_at(l->runs, run_id);
	if (w.dir < 0)
		return diag_set(d, w.dir, "cannot open the log of run %s: %s", run_id,
				w.run->info.pruned ? "it was pruned" : strerror(-w.dir));
	r = lock_folder(w.dir);
	if (r < 0) {
		closep(&w.dir);
		return diag_set(d, r, "run %s: somebody else is at work on it", run_id);
	}
	*ret = w;
	return 0;
}

void rewrite_done(struct rewrite *w)
{
	closep(&w->dir);
	w->dir = -1;
}

/* In blocks of a size that every reader takes. */
int rewrite_announce(struct ledger *l, const struct buf *lines, struct diag *d)
{
	struct cur in = cur_of(lines->data, lines->len), line;
	_cleanup_buf_ struct buf some = BUF_INIT;
	int r = 0;

	while (!r && !cur_until(&in, '\n', &line)) {
		buf_add(&some, line.at, cur_left(&line) + 1);
		if (some.len < BLOCK_MAX_BYTES / 2 && cur_left(&in))
			continue;
		r = hostlog_append(l, &some, true, d);
		buf_reset(&some);
	}
	return r || !lines->len ? r : hostlog_publish(l, d);
}

int upkeep_open(const char *dir, struct diag *d, struct ledger **ret_ledger)
{
	_cleanup_ledger_ struct ledger *look = NULL;
	int r;

	r = ledger_open(dir, false, d, &look); /* else the next call would make one */
	return r ? r : ledger_open(dir, true, d, ret_ledger);
}

/* ---- looking -------------------------------------------------------------------------- */

static int explain(struct rewrite *w, const struct scan *s, int r, struct diag *d)
{
	if (r == -EBADMSG)
		return diag_set(d, r, "run %s: %s; run \"deedlog verify %s\"", w->run->info.id,
				s->fault.text, w->run->info.id);
	return diag_set(d, r, "run %s cannot be read: %s", w->run->info.id, strerror(-r));
}

/* Only a log that is whole is worth changing: else evidence would go with the rest. */
static int check_end(struct rewrite *w, struct scan *s, int r, struct diag *d)
{
	uint64_t want = w->run->claims[w->run->n_claims - 1].size;

	if (r < 0)
		return explain(w, s, r, d);
	if (s->tree.n != want)
		return diag_set(d, -EBADMSG, "run %s has %llu records, the index names %llu; run "
				"\"deedlog verify %s\"", w->run->info.id,
				(unsigned long long)s->tree.n, (unsigned long long)want,
				w->run->info.id);
	return 0;
}

static void start_scan(struct rewrite *w, struct scan *s)
{
	scan_init(s, w->dir, w->run->key.name);
	s->may_redact = true;
}

static int next_block(struct rewrite *w, struct scan *s)
{
	int r = scan_next(s);

	return r == 1 && scan_signed_by(s, &w->run->key) < 0 ? -EBADMSG : r;
}

int rewrite_look(struct rewrite *w, int (*fn)(void *arg, const struct scan *s), void *arg,
		 struct diag *d)
{
	_cleanup_(scan_done) struct scan s;
	int r;

	start_scan(w, &s);
	while ((r = next_block(w, &s)) == 1) {
		r = fn(arg, &s);
		if (r < 0)
			return r;
	}
	return check_end(w, &s, r, d);
}

/* ---- writing --------------------------------------------------------------------------- */

/* One segment on its way; fd < 0 between two. */
struct aside {
	int fd;
	unsigned seq;
	bool changed;
	uint64_t before, after;
};

static void aside_name(const struct rewrite *w, char to[ASIDE_MAX])
{
	(void)snprintf(to, ASIDE_MAX, "rewrite-%s", w->run->info.id); /* fits */
}

/* Beside the run's folder, where a leftover is not taken for a part of the log. */
static int begin(struct rewrite *w, struct aside *a, unsigned seq)
{
	char name[ASIDE_MAX];

	aside_name(w, name);
	(void)unlinkat(w->l->dir, name, 0); /* left by a crash, or not there */
	a->fd = openat(w->l->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	a->seq = seq;
	a->changed = false;
	a->before = a->after = 0;
	return a->fd < 0 ? -errno : 0;
}

static int put_in_place(struct rewrite *w, const struct aside *a, const char *name)
{
	char segment[SEGMENT_NAME_LEN + 1];

	segment_name(segment, a->seq);
	if (fsync(a->fd) < 0 || renameat(w->l->dir, name, w->dir, segment) < 0 ||
	    fsync(w->dir) < 0)
		return -errno;
	return 0;
}

static int finish(struct rewrite *w, struct aside *a)
{
	char name[ASIDE_MAX];
	int r = 0;

	if (a->fd < 0)
		return 0;
	aside_name(w, name);
	if (a->changed)
		r = put_in_place(w, a, name);
	w->before += a->before;
	w->after += a->changed ? a->after : a->before;
	if (!a->changed || r < 0)
		(void)unlinkat(w->l->dir, name, 0); /* the old segment stays */
	closep(&a->fd);
	a->fd = -1;
	return r;
}

static void drop(struct rewrite *w, struct aside *a)
{
	a->changed = false;
	(void)finish(w, a); /* nothing to lose */
}

static int copy_pair(const struct scan *s, struct buf *to)
{
	size_t n = (size_t)(s->file_off - s->off); /* two members at most */
	ssize_t got = pread(s->fd, buf_grow(to, n), n, (off_t)s->off);

	if (got < 0)
		return -errno;
	if ((size_t)got != n)
		return -EIO;
	buf_cut(to, to->len + n);
	return 0;
}

static int write_block(struct aside *a, const struct scan *s, rewrite_fn fn, void *arg)
{
	_cleanup_buf_ struct buf pair = BUF_INIT;
	int r = 0;

	if (fn(arg, s, &pair)) {
		member_add_seal(&pair, s->note.raw);
		a->changed = true;
	} else {
		buf_reset(&pair);
		r = copy_pair(s, &pair);
	}
	a->before += s->file_off - s->off;
	a->after += pair.len;
	return r ? r : fd_write_all(a->fd, pair.data, pair.len);
}

static int write_next(struct rewrite *w, struct aside *a, struct scan *s, rewrite_fn fn, void *arg)
{
	int r = 0;

	if (a->fd < 0 || a->seq != s->seq) {
		r = finish(w, a);
		if (!r)
			r = begin(w, a, s->seq);
	}
	return r ? r : write_block(a, s, fn, arg);
}

int rewrite_run(struct rewrite *w, rewrite_fn fn, void *arg, struct diag *d)
{
	_cleanup_(scan_done) struct scan s;
	struct aside a = { .fd = -1 };
	int r, err = 0;

	start_scan(w, &s);
	while (!err && (r = next_block(w, &s)) == 1)
		err = write_next(w, &a, &s, fn, arg);
	if (!err && (r = check_end(w, &s, r, d)) == 0) {
		err = finish(w, &a);
	} else if (a.fd >= 0) {
		drop(w, &a);
	}
	return err ? diag_set(d, err, "run %s cannot be written anew: %s", w->run->info.id,
			      strerror(-err)) : r;
}
