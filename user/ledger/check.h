/* SPDX-License-Identifier: MIT */
/* The state of one verification, shared by verify.c and check_run.c; private to this room. */
#ifndef LEDGER_CHECK_H
#define LEDGER_CHECK_H

#include "index.h"
#include "line.h"
#include "verify.h"

#define SHORT_ID "%.8s" /* of a run, in sentences */

struct check {
	const struct verify_options *o;
	finding_fn each;
	void *arg;
	struct verify_totals totals;
	bool trouble; /* something could not be read */
	int base, dir, index, runs;
	char id[LOG_ID_LEN + 1];
	struct index_state st;
	struct index_state late; /* the index once more, if check_late() was asked */
	bool has_late;

	char origin[NAME_MAX_LEN + 1]; /* of the index */
	bool pinned;		       /* by a key from outside of the log */
	struct anchor_state *anchors;  /* of this log, by size */
	size_t n_anchors, next_anchor, behind;
};

/* The level decides what becomes of the verdict. */
void check_say(struct check *c, enum finding_level level, const char *code, const char *run,
	       const char *fmt, ...) _printf_(5, 6);

/* A failure that is about two numbers. */
void check_count(struct check *c, const char *code, const char *run, uint64_t have,
		 uint64_t want, const char *fmt, ...) _printf_(6, 7);

/* Passes a scan's fault on, with the run's name in front. */
void check_fault(struct check *c, enum finding_level level, const struct fault *f,
		 const char *run);
void check_unreadable(struct check *c, const char *what, int err);

/* Segment numbers in a folder; names that no log has there are findings. */
int check_names(struct check *c, int dirfd, const char *run, int *ret_last_seq);

/* True if a torn file with these bytes is in the folder. */
bool check_torn_file(int dirfd, const struct torn *t);

void check_wall(struct check *c, uint64_t wall_ns);

/*
 * The run as a later look at the index knows it: what was there a moment ago may
 * have been pruned or redacted meanwhile.
 */
const struct index_run *check_late(struct check *c, const struct index_run *run);

/* check_anchor.c: before the index, after each of its blocks, behind it */
void check_anchors_begin(struct check *c);
void check_anchors_meet(struct check *c, const struct scan *s);
void check_anchors_judge(struct check *c);
void check_anchors_done(struct check *c);

/* check_pin.c */
void check_pin(struct check *c);

/* check_line.c */
struct line_time {
	bool has_b;
	uint64_t b;
};

/* `t` is first, `b` (if it is a time) second; -EBADMSG. The line is canonical. */
int check_order(struct cur line, struct line_time *ret);

/* The record that `more` lines continue; starts zeroed, ends with chain_done(). */
struct chain {
	struct line_join join;
	bool waits, blind; /* blind: its head is gone, `more` lines may follow */
};

/* The next line of the log in its place; -EBADMSG if it has none there. */
int chain_add(struct chain *c, struct cur line, uint64_t leaf);

/* Lines are missing here. */
void chain_skip(struct chain *c, bool blind);

static inline void chain_done(struct chain *c)
{
	chain_skip(c, false);
}

/* check_run.c */
void check_run(struct check *c, const struct index_run *run);

/* check_runs.c: every run, by so many processes (0 is 1) */
void check_runs(struct check *c, unsigned jobs);

#endif
