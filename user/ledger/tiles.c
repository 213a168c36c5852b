/* SPDX-License-Identifier: MIT */
/*
 * C2SP tlog-tiles, see audit.h: tile/L/N with 256 hashes of level 8L each,
 * tile/entries/N with 256 leaves, the last ones of each row under N.p/WIDTH. A
 * level keeps one tile in memory, whatever the size of the log.
 */
#include "audit.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "hostlog.h"
#include "leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define WIDTH 256
#define LEVELS 8 /* of height 8: 2^63 leaves */

struct level {
	unsigned n;    /* hashes in the tile that is being filled */
	uint64_t tile; /* its number */
	struct hash hash[WIDTH];
};

struct tiles {
	int dirfd;
	struct level level[LEVELS];
	struct buf entries;
	struct buf note; /* of the last block */
	uint64_t bundle;
	unsigned n_entries;
};

static void tiles_free(struct tiles **t)
{
	buf_done(&(*t)->entries);
	buf_done(&(*t)->note);
	free(*t);
}

/* ---- names ------------------------------------------------------------------------------ */

/* 1234067 is x001/x234/067. */
static void add_number(struct buf *to, uint64_t n)
{
	if (n >= 1000) {
		uint64_t left = n / 1000;
		unsigned digits[TREE_LEVELS / 8], k = 0;

		for (; left; left /= 1000)
			digits[k++] = (unsigned)(left % 1000);
		while (k)
			buf_addf(to, "x%03u/", digits[--k]);
	}
	buf_addf(to, "%03u", (unsigned)(n % 1000));
}

static int make_parents(int dirfd, char *path)
{
	for (char *at = path; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		if (mkdirat(dirfd, path, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int put_file(const struct tiles *t, const char *row, uint64_t number, unsigned width,
		    const void *bytes, size_t len)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	_cleanup_fd_ int fd = -1;
	int r;

	buf_addf(&path, "tile/%s/", row);
	add_number(&path, number);
	if (width < WIDTH)
		buf_addf(&path, ".p/%u", width);
	r = make_parents(t->dirfd, path.data);
	if (r < 0)
		return r;
	fd = openat(t->dirfd, path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0644);
	return fd < 0 ? -errno : fd_write_all(fd, bytes, len);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int put_tile(struct tiles *t, unsigned k)
{
	struct level *l = &t->level[k];
	char row[8];

	(void)snprintf(row, sizeof(row), "%u", k); /* one digit */
	return put_file(t, row, l->tile, l->n, l->hash, l->n * sizeof(struct hash));
}

/* A full tile is one hash of the level above. */
static int add_hash(struct tiles *t, const struct hash *h)
{
	struct hash up = *h;
	int r = 0;

	for (unsigned k = 0; !r && k < LEVELS; k++) {
		struct level *l = &t->level[k];
		struct tree tree = { 0 };

		l->hash[l->n++] = up;
		if (l->n < WIDTH)
			return 0;
		r = put_tile(t, k);
		for (unsigned i = 0; i < WIDTH; i++)
			tree_add(&tree, &l->hash[i]);
		tree_root(&tree, &up);
		l->n = 0;
		l->tile++;
	}
	return r;
}

static int put_bundle(struct tiles *t)
{
	int r = put_file(t, "entries", t->bundle, t->n_entries, t->entries.data, t->entries.len);

	buf_reset(&t->entries);
	t->n_entries = 0;
	t->bundle++;
	return r;
}

/* A leaf has at most LINE_MAX_BYTES and its salt, so 16 bits hold its length. */
static int add_entry(struct tiles *t, const struct buf *leaf)
{
	buf_addch(&t->entries, (char)(leaf->len >> 8));
	buf_addch(&t->entries, (char)(leaf->len & 0xff));
	buf_add(&t->entries, leaf->data, leaf->len);
	return ++t->n_entries == WIDTH ? put_bundle(t) : 0;
}

static int add_leaf(struct tiles *t, const struct buf *leaf)
{
	struct cur rest;
	struct hash h;
	int r;

	if (leaf_parse(cur_of(leaf->data, leaf->len), &h, &rest) < 0 || !cur_left(&rest))
		return -ENODATA;
	r = add_hash(t, &h);
	return r ? r : add_entry(t, leaf);
}

static int add_block(struct tiles *t, const struct scan *s)
{
	_cleanup_buf_ struct buf leaf = BUF_INIT;
	struct cur raw = s->raw, line;
	int r = 0;

	for (uint64_t i = s->first; !r && !cur_until(&raw, '\n', &line); i++) {
		buf_reset(&leaf);
		if (s->is_redacted)
			buf_add(&leaf, line.at, cur_left(&line));
		else
			leaf_text(s->salt_key, i, line, &leaf);
		r = add_leaf(t, &leaf);
	}
	buf_reset(&t->note);
	buf_add(&t->note, s->note.raw.at, cur_left(&s->note.raw));
	return r;
}

static int finish(struct tiles *t)
{
	int r = 0;

	for (unsigned k = 0; !r && k < LEVELS; k++)
		if (t->level[k].n)
			r = put_tile(t, k);
	if (!r && t->n_entries)
		r = put_bundle(t);
	return r ? r : file_replace_at(t->dirfd, "checkpoint", 0644, t->note.data, t->note.len);
}

/* ---- a log ---------------------------------------------------------------------------------- */

static int explain(int r, const struct scan *s, struct diag *d)
{
	if (r == -EBADMSG)
		return diag_set(d, r, "%s; run \"deedlog verify\"", s->fault.text);
	if (r == -ENODATA)
		return diag_set(d, r, "a record was redacted: tiles hold every record");
	return diag_set(d, r, "the tiles cannot be written: %s", strerror(-r));
}

/* Signatures by the run's key, or by the keys of the index as they follow each other. */
static int check_seal(struct scan *s, const struct vkey *key, struct index_state *st)
{
	return key ? scan_signed_by(s, key) : index_fold(st, s);
}

static int export_log(struct tiles *t, int logfd, const char *origin, const struct vkey *key,
		      struct diag *d)
{
	_cleanup_(index_done) struct index_state st = { 0 };
	_cleanup_(scan_done) struct scan s;
	int r = 0, err;

	scan_init(&s, logfd, origin);
	s.may_redact = key != NULL;
	while (!r && (r = scan_next(&s)) == 1) {
		r = check_seal(&s, key, &st);
		if (!r)
			r = add_block(t, &s);
		if (r)
			return explain(r, &s, d);
	}
	if (r < 0 && r != -ENODATA)
		return explain(r, &s, d);
	err = finish(t);
	return err ? explain(err, &s, d) : 0;
}

int tiles_export(struct ledger *l, const char *run_id, int dirfd, struct diag *d)
{
	_cleanup_(tiles_free) struct tiles *t = xcalloc(1, sizeof(*t));
	const struct index_run *run;
	_cleanup_fd_ int fd = -1;
	int r;

	t->dirfd = dirfd;
	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	if (!run_id)
		return export_log(t, l->index, l->st.origin, NULL, d);
	run = index_run(&l->st, run_id);
	if (!run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", run_id);
	fd = dir_open_at(l->runs, run_id);
	if (fd < 0)
		return diag_set(d, fd, "cannot open the log of run %s: %s", run_id, strerror(-fd));
	return export_log(t, fd, run->key.name, &run->key, d);
}
