/* SPDX-License-Identifier: MIT */
/* Writing and checking disclosures, see disclose.h. */
#include "disclose.h"

#include "base/fdio.h"
#include "hostlog.h"
#include "leaf.h"
#include "proof.h"

#include <errno.h>
#include <inttypes.h>

#define EVENT "event"
#define START "run-start"
#define END   "run-end"

/* A leaf on its way out, with the proof that grows as the log passes. */
struct exhibit {
	uint64_t index;
	struct buf leaf;
	struct proof_build build;
};

static void exhibit_done(struct exhibit *e)
{
	buf_done(&e->leaf);
}

/* ---- one log, twice: the first time for leaf and head, then for the path ------------- */

static bool holds(const struct scan *s, uint64_t index)
{
	return index >= s->first && index < s->tree.n;
}

static void keep_leaf(const struct scan *s, struct exhibit *e)
{
	if (holds(s, e->index))
		scan_leaf(s, e->index, &e->leaf);
}

static void keep_note(const struct scan *s, struct buf *to)
{
	buf_reset(to);
	buf_add(to, s->note.raw.at, cur_left(&s->note.raw));
}

static void on_leaf(void *arg, uint64_t index, const struct hash *leaf)
{
	struct exhibit *e = arg;

	proof_add_leaf(&e->build, index, leaf);
}

static int walk_path(int dirfd, const char *origin, uint64_t size, struct exhibit *e)
{
	_cleanup_(scan_done) struct scan s;
	int r = 1;

	proof_want_inclusion(&e->build, e->index, size);
	scan_init(&s, dirfd, origin);
	s.may_redact = true;
	s.on_leaf = on_leaf;
	s.arg = e;
	while (r == 1 && s.tree.n < size)
		r = scan_next(&s);
	return r == 1 || s.tree.n == size ? 0 : r < 0 ? r : -ENODATA;
}

static int write_exhibit(int to, const char *name, const struct exhibit *e, const struct buf *note)
{
	_cleanup_buf_ struct buf proof = BUF_INIT;
	char file[40];
	int r;

	tlog_proof_add(&proof, e->index, &e->build.path, cur_of(note->data, note->len));
	(void)snprintf(file, sizeof(file), "%s.json", name); /* fits */
	r = file_replace_at(to, file, 0644, e->leaf.data, e->leaf.len);
	(void)snprintf(file, sizeof(file), "%s.tlog-proof", name); /* fits */
	return r ? r : file_replace_at(to, file, 0644, proof.data, proof.len);
}

static int proved(int from, const char *origin, uint64_t size, struct exhibit *e,
		  const struct buf *note, int to, const char *name, struct diag *d)
{
	int r;

	r = walk_path(from, origin, size, e);
	if (r < 0)
		return diag_set(d, r, "the proof of %s cannot be built: %s", name, strerror(-r));
	r = write_exhibit(to, name, e, note);
	return r < 0 ? diag_set(d, r, "cannot write %s.json or %s.tlog-proof: %s", name, name,
				strerror(-r)) : 0;
}

/* ---- the record ------------------------------------------------------------------------ */

static int find_event(int dirfd, const struct vkey *key, struct exhibit *e, struct buf *note,
		      struct disclosure *ret, struct diag *d)
{
	_cleanup_(scan_done) struct scan s;
	int r;

	scan_init(&s, dirfd, key->name);
	s.may_redact = true;
	while ((r = scan_next(&s)) == 1) {
		if (scan_signed_by(&s, key) < 0)
			return diag_set(d, -EBADMSG, "%s; run \"deedlog verify\"", s.fault.text);
		keep_leaf(&s, e);
		keep_note(&s, note);
		ret->size = s.tree.n;
	}
	if (r == -EBADMSG)
		return diag_set(d, r, "%s; run \"deedlog verify\"", s.fault.text);
	if (r < 0 && r != -ENODATA)
		return diag_set(d, r, "the run cannot be read: %s", strerror(-r));
	if (e->index >= ret->size)
		return diag_set(d, -ERANGE, "the run has %" PRIu64 " sealed records, 0 to %" PRIu64,
				ret->size, ret->size ? ret->size - 1 : 0);
	if (!strncmp(buf_str(&e->leaf), LEAF_REDACTED, sizeof(LEAF_REDACTED) - 1))
		return diag_set(d, -ENODATA, "record %" PRIu64 " was redacted", e->index);
	return 0;
}

static int disclose_event(struct ledger *l, const struct index_run *run, int to, struct diag *d,
			  struct disclosure *ret)
{
	_cleanup_(exhibit_done) struct exhibit e = { .index = ret->index };
	_cleanup_buf_ struct buf note = BUF_INIT;
	_cleanup_fd_ int dir = -1;
	int r;

	dir = dir_open_at(l->runs, run->info.id);
	if (dir < 0)
		return diag_set(d, dir, "cannot open the log of run %s: %s", run->info.id,
				run->info.pruned ? "it was pruned" : strerror(-dir));
	r = find_event(dir, &run->key, &e, &note, ret, d);
	return r ? r : proved(dir, run->key.name, ret->size, &e, &note, to, EVENT, d);
}

/* ---- the index -------------------------------------------------------------------------- */

struct head {
	struct buf note;
	uint64_t size, unix_s;
};

static void head_done(struct head *h)
{
	buf_done(&h->note);
}

/* The newest head that covers `last`: one of the identity if there is one, else any. */
static void keep_head(const struct scan *s, const struct index_state *st, uint64_t last,
		      struct head *h)
{
	bool cosigned = st->has_identity && note_verify(&s->note, &st->identity) == 1;

	if (s->tree.n <= last || (h->unix_s && !cosigned))
		return;
	keep_note(s, &h->note);
	h->size = s->tree.n;
	h->unix_s = cosigned ? note_cosign_time(&s->note, &st->identity) : 0;
}

static int find_head(struct ledger *l, struct exhibit *start, struct exhibit *end, uint64_t last,
		     struct head *h, struct diag *d)
{
	_cleanup_(index_done) struct index_state st = { 0 };
	_cleanup_(scan_done) struct scan s;
	int r = 0;

	scan_init(&s, l->index, l->st.origin);
	while (!r && (r = scan_next(&s)) == 1) {
		r = index_fold(&st, &s);
		keep_leaf(&s, start);
		if (end)
			keep_leaf(&s, end);
		keep_head(&s, &st, last, h);
	}
	if (r == -EBADMSG)
		return diag_set(d, r, "index: %s; run \"deedlog verify\"", s.fault.text);
	return h->size ? 0 : diag_set(d, -ENODATA, "the index cannot be read to its end");
}

static int disclose_run(struct ledger *l, const struct index_run *run, int to, struct diag *d,
			struct disclosure *ret)
{
	_cleanup_(exhibit_done) struct exhibit start = { .index = run->start_leaf };
	_cleanup_(exhibit_done) struct exhibit end = { .index = run->end_leaf };
	_cleanup_(head_done) struct head h = { 0 };
	int r;

	ret->ended = run->stage != RUN_OPEN;
	r = find_head(l, &start, ret->ended ? &end : NULL, MAX(start.index, end.index), &h, d);
	if (!r)
		r = proved(l->index, l->st.origin, h.size, &start, &h.note, to, START, d);
	if (!r && ret->ended)
		r = proved(l->index, l->st.origin, h.size, &end, &h.note, to, END, d);
	ret->head_size = h.size;
	ret->head_unix_s = h.unix_s;
	return r;
}

int disclose_write(struct ledger *l, const char *run_id, uint64_t index, int dirfd,
		   struct diag *d, struct disclosure *ret)
{
	const struct index_run *run;
	int r;

	*ret = (struct disclosure){ .index = index };
	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	run = index_run(&l->st, run_id);
	if (!run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", run_id);
	memcpy(ret->origin, run->key.name, sizeof(ret->origin));
	r = disclose_event(l, run, dirfd, d, ret);
	return r ? r : disclose_run(l, run, dirfd, d, ret);
}

/* ---- checking ----------------------------------------------------------------------------- */

struct piece {
	struct buf leaf, text;
	struct tlog_proof proof;
	struct buf line; /* the leaf without its salt */
};

static void piece_done(struct piece *p)
{
	buf_done(&p->leaf);
	buf_done(&p->text);
	buf_done(&p->line);
}

/* The leaf is in the tree of its own checkpoint; who signed that is not looked at yet. */
static int check_piece(struct piece *p, const char *name, struct diag *d)
{
	const struct checkpoint *cp = &p->proof.note.cp;
	struct hash leaf;
	struct cur rest;

	if (tlog_proof_parse(cur_of(p->text.data, p->text.len), &p->proof) < 0)
		return diag_set(d, -EBADMSG, "%s.tlog-proof is no proof", name);
	if (leaf_parse(cur_of(p->leaf.data, p->leaf.len), &leaf, &rest) < 0 || !cur_left(&rest))
		return diag_set(d, -EBADMSG, "%s.json is no record with its salt", name);
	if (!proof_includes(&p->proof.path, p->proof.index, cp->size, &leaf, &cp->root))
		return diag_set(d, -EBADMSG, "%s.json is not record %" PRIu64 " of %s", name,
				p->proof.index, cp->origin);
	buf_addch(&p->line, '{');
	buf_add(&p->line, rest.at, cur_left(&rest));
	return 0;
}

static int read_piece(int dirfd, const char *name, struct piece *p, struct diag *d)
{
	char file[40];
	int r;

	(void)snprintf(file, sizeof(file), "%s.json", name); /* fits */
	r = file_read_at(dirfd, file, LINE_MAX_BYTES + LEAF_SALT_BYTES, &p->leaf);
	if (r < 0)
		return diag_set(d, r, "cannot read %s: %s", file, strerror(-r));
	(void)snprintf(file, sizeof(file), "%s.tlog-proof", name); /* fits */
	r = file_read_at(dirfd, file, PROOF_MAX_BYTES, &p->text);
	if (r < 0)
		return diag_set(d, r, "cannot read %s: %s", file, strerror(-r));
	return check_piece(p, name, d);
}

/* A leaf of the index, believed because the identity signed the head above it. */
static int believe(const struct piece *p, const char *name, const struct vkey *identity,
		   struct index_state *st, struct diag *d)
{
	const struct note *n = &p->proof.note;

	if (note_verify(n, identity) != 1)
		return diag_set(d, -EBADMSG, "the checkpoint in %s.tlog-proof is not signed by %s",
				name, identity->name);
	if (*st->origin && strcmp(st->origin, n->cp.origin))
		return diag_set(d, -EBADMSG, "%s is of another index", name);
	memcpy(st->origin, n->cp.origin, sizeof(st->origin));
	return index_fold_line(st, cur_of(p->line.data, p->line.len)) < 0 ?
		diag_set(d, -EBADMSG, "%s.json makes no sense", name) : 0;
}

static int check_event(int dirfd, const struct index_run *run, struct diag *d,
		       struct disclosure *ret)
{
	_cleanup_(piece_done) struct piece event = { 0 };
	const struct note *n = &event.proof.note;
	int r;

	r = read_piece(dirfd, EVENT, &event, d);
	if (r < 0)
		return r;
	if (strcmp(n->cp.origin, run->key.name) || note_verify(n, &run->key) != 1)
		return diag_set(d, -EBADMSG, "the checkpoint in event.tlog-proof is not signed by "
				"the run that run-start announces");
	if (run->stage != RUN_OPEN &&
	    (n->cp.size != run->claims[0].size ||
	     memcmp(&n->cp.root, &run->claims[0].root, sizeof(struct hash))))
		return diag_set(d, -EBADMSG, "event.tlog-proof is not of the run that run-end names");
	memcpy(ret->origin, n->cp.origin, sizeof(ret->origin));
	ret->index = event.proof.index;
	ret->size = n->cp.size;
	ret->ended = run->stage != RUN_OPEN;
	return 0;
}

static int check_index(int dirfd, const struct vkey *identity, struct index_state *st,
		       struct diag *d, struct disclosure *ret)
{
	_cleanup_(piece_done) struct piece start = { 0 }, end = { 0 };
	int r;

	r = read_piece(dirfd, START, &start, d);
	if (!r)
		r = believe(&start, START, identity, st, d);
	if (!r && st->n_runs != 1)
		r = diag_set(d, -EBADMSG, "run-start.json announces no run");
	if (r < 0)
		return r;
	ret->head_size = start.proof.note.cp.size;
	ret->head_unix_s = note_cosign_time(&start.proof.note, identity);
	r = read_piece(dirfd, END, &end, d);
	if (r == -ENOENT)
		return 0; /* the run was open then */
	if (!r)
		r = believe(&end, END, identity, st, d);
	if (!r && st->runs[0].stage == RUN_OPEN)
		r = diag_set(d, -EBADMSG, "run-end.json ends no run");
	return r;
}

int disclose_check(int dirfd, const char *identity_vkey, struct diag *d, struct disclosure *ret)
{
	_cleanup_(index_done) struct index_state st = { 0 };
	struct vkey identity;
	int r;

	*ret = (struct disclosure){ 0 };
	if (vkey_parse(cur_of(identity_vkey, strlen(identity_vkey)), &identity) < 0 ||
	    identity.type != KEY_COSIGN)
		return diag_set(d, -EINVAL, "the key is no vkey of an identity (name+id+base64)");
	if (key_init() < 0)
		return diag_set(d, -EIO, "libsodium cannot start");
	r = check_index(dirfd, &identity, &st, d, ret);
	return r ? r : check_event(dirfd, &st.runs[0], d, ret);
}
