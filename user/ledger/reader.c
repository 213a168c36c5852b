/* SPDX-License-Identifier: MIT */
/* Handing out the records of a run, see reader.h. */
#include "reader.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "hostlog.h"
#include "leaf.h"
#include "line.h"

#include <errno.h>

struct reader {
	struct ledger *l; /* borrowed */
	char id[RUN_ID_LEN + 1];
	struct vkey key;
	int dir;
	struct scan scan;
	struct cur plain; /* lines of the block that are still to come */
	uint64_t leaf;	  /* of the next one */
	bool at_end;
	struct line_join join;
	struct buf line;
};

int reader_open(struct ledger *l, const char *run_id, struct diag *d, struct reader **ret_reader)
{
	_cleanup_reader_ struct reader *r = xcalloc(1, sizeof(*r));
	const struct index_run *run;
	int err;

	r->dir = r->scan.fd = -1;
	err = hostlog_refresh(l, d);
	if (err < 0)
		return err;
	run = index_run(&l->st, run_id);
	if (!run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", run_id);
	r->l = l;
	r->key = run->key;
	memcpy(r->id, run->info.id, sizeof(r->id));
	r->dir = dir_open_at(l->runs, r->id);
	if (r->dir < 0 && r->dir != -ENOENT)
		return diag_set(d, r->dir, "cannot open the log of run %s: %s", r->id,
				strerror(-r->dir));
	if (r->dir < 0 && run->info.pruned)
		return diag_set(d, -ENOENT, "the log of run %s was pruned", r->id);
	r->at_end = r->dir < 0; /* announced, and not there yet or any more */
	scan_init(&r->scan, r->dir, r->key.name);
	r->scan.may_redact = true;
	*ret_reader = TAKE_PTR(r);
	return 0;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	scan_done(&r->scan);
	line_join_done(&r->join);
	buf_done(&r->line);
	closep(&r->dir);
	free(r);
}

static int damaged(const struct reader *r, struct diag *d)
{
	return diag_set(d, -EBADMSG, "run %s: %s; run \"deedlog verify %s\"", r->id,
			r->scan.fault.text, r->id);
}

static int next_block(struct reader *r, struct diag *d)
{
	int err;

	if (r->at_end)
		return 0;
	err = scan_next(&r->scan);
	if (err == 0 || err == -ENODATA) {
		r->at_end = true;
		return 0;
	}
	if (err == 1 && scan_signed_by(&r->scan, &r->key) < 0)
		err = -EBADMSG;
	if (err == -EBADMSG)
		return damaged(r, d);
	if (err < 0)
		return diag_set(d, err, "run %s cannot be read: %s", r->id, strerror(-err));
	r->plain = r->scan.plain;
	r->leaf = r->scan.first;
	return 1;
}

static bool is_ours(const struct cur *line)
{
	return cur_starts(line, "{\"t\":\"segment\"") || cur_starts(line, "{\"t\":\"seal\"") ||
	       cur_starts(line, LEAF_REDACTED);
}

/* 1 = a line, 0 = end. *ret_leaf is its index. */
static int next_line(struct reader *r, struct diag *d, struct cur *ret, uint64_t *ret_leaf)
{
	int err;

	do {
		while (!cur_until(&r->plain, '\n', ret)) {
			*ret_leaf = r->leaf++;
			if (!is_ours(ret))
				return 1;
		}
		err = next_block(r, d);
	} while (err > 0);
	return err;
}

static int hand_out(struct reader *r, uint64_t leaf, struct record *ret)
{
	*ret = (struct record){ .leaf = leaf, .line = buf_str(&r->line), .len = r->line.len };
	return 1;
}

/*
 * A crash may have sealed the head of a long record without all that follows:
 * then the head is handed out as it stands, with its `more`.
 */
static int join_rest(struct reader *r, struct diag *d, struct record *ret)
{
	uint64_t head = r->join.leaf, leaf;
	struct cur line;
	int err;

	do {
		err = next_line(r, d, &line, &leaf);
		if (err < 0)
			return err;
		if (err == 0) {
			buf_add(&r->line, r->join.head.data, r->join.head.len);
			return hand_out(r, head, ret);
		}
		err = line_join_add(&r->join, line);
	} while (!err);
	if (err == 1)
		err = line_join_finish(&r->join, &r->line);
	return err < 0 ? diag_set(d, -EBADMSG, "run %s: record %llu is not continued as it says",
				  r->id, (unsigned long long)head) : hand_out(r, head, ret);
}

static bool may_have_more(const struct cur *line)
{
	return cur_left(line) > LINE_MAX_BYTES / 2; /* only long ones were split */
}

int reader_next(struct reader *r, struct diag *d, struct record *ret)
{
	uint64_t leaf, more;
	struct cur line;
	int err;

	err = next_line(r, d, &line, &leaf);
	if (err <= 0)
		return err;
	buf_reset(&r->line);
	if (may_have_more(&line) && line_has_more(line, &more)) {
		if (line_join_start(&r->join, line, leaf) < 0)
			return diag_set(d, -EBADMSG, "run %s: record %llu cannot be joined", r->id,
					(unsigned long long)leaf);
		return join_rest(r, d, ret);
	}
	buf_add(&r->line, line.at, cur_left(&line));
	return hand_out(r, leaf, ret);
}

bool reader_closed(const struct reader *r)
{
	const struct index_run *run = index_run(&r->l->st, r->id);
	const struct claim *end;
	struct hash root;

	if (!r->at_end || !run || run->stage != RUN_ENDED)
		return false;
	end = &run->claims[run->n_claims - 1];
	tree_root(&r->scan.tree, &root);
	return end->size == r->scan.tree.n && !memcmp(&end->root, &root, sizeof(root));
}
