/* SPDX-License-Identifier: MIT */
/*
 * Reads the segments of one log in order, one sealed block at a time, in
 * fixed memory, and recomputes all that a block claims: framing, hints, lines,
 * leaves, root. Whose signature a seal needs is the caller's business. Takes
 * no lock; what stands behind the last whole seal is reported, not judged.
 */
#ifndef LEDGER_SCAN_H
#define LEDGER_SCAN_H

#include "member.h"
#include "note.h"
#include "segment.h"
#include "tree.h"

#define MAX_FAULT 256

/* Why a scan stopped, in the words of the verifier. */
struct fault {
	const char *code; /* a finding code */
	int64_t offset, have, want; /* -1 = none */
	char text[MAX_FAULT];
};

struct scan {
	int dirfd; /* borrowed */
	char origin[NAME_MAX_LEN + 1];
	unsigned seq; /* of the segment being read */
	int fd;
	uint64_t file_off; /* of the next block in that segment */

	bool may_redact; /* set by the caller: redacted blocks may stand in this log */
	/* set by the caller, or NULL: sees each leaf before its block is proved whole */
	void (*on_leaf)(void *arg, uint64_t index, const struct hash *leaf);
	void *arg;

	/* the block last read; borrowed until the next call */
	uint64_t off, first;
	uint32_t lines, redacted;
	struct cur plain; /* its lines; LEAF_REDACTED begins those that are gone */
	struct cur raw;	  /* the payload as it stands in the file */
	bool is_redacted; /* it has leaves with their salts, no salt key */
	uint8_t salt_key[SALT_KEY_LEN];
	struct note note;
	struct tree tree; /* with its lines */
	bool is_later;	  /* its segment line names a later format */
	bool bridged;	  /* it begins behind a hole that a gap record names */

	uint64_t tail;	   /* after -ENODATA or -EBADMSG: bytes behind the last good seal */
	uint64_t unsealed; /* whole lines among them, if their member is whole */
	struct fault fault;
	struct unpacker *u;
	struct buf lines_of_leaves; /* plain, in a redacted block */
	uint8_t *win; /* bytes of the file from win_off on */
	size_t win_len;
	uint64_t win_off;
};

void scan_init(struct scan *s, int dirfd, const char *origin);
void scan_done(struct scan *s);

/*
 * 1 = a block that agrees with its own note. 0 = end, nothing behind it.
 * -ENODATA = end, and behind it a beginning that is not whole (see tail).
 * -EBADMSG = s->fault says what is wrong. -EPROTONOSUPPORT = a later format.
 * Other -errno: the file cannot be read.
 */
int scan_next(struct scan *s);

/* The file was cut behind the last block: what was read ahead of it counts no more. */
void scan_forget(struct scan *s);

/* Appends the leaf of a line of the last block; its hash alone if that is what is left. */
void scan_leaf(const struct scan *s, uint64_t index, struct buf *to);

/* The seal of the last block is by v; else fills the fault and returns -EBADMSG. */
int scan_signed_by(struct scan *s, const struct vkey *v);

/* The same for a co-signature, of which only the places that need one are asked. */
int scan_cosigned_by(struct scan *s, const struct vkey *v);

/* The same for one of several keys. */
int scan_cosigned_by_any(struct scan *s, const struct vkey *v, size_t n);

/* After damage: does a seal of this log with a larger size stand somewhere behind it? */
int scan_later_seal(struct scan *s, bool *ret);

int fault_set(struct fault *f, const char *code, int64_t offset, int64_t have, int64_t want,
	      const char *fmt, ...) _printf_(6, 7); /* returns -EBADMSG */

#endif
