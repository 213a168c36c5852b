/* SPDX-License-Identifier: MIT */
/*
 * Writing segments: a block collects lines into the tree, is packed into one
 * data member and one seal member, and the pair goes to the file with one
 * write. What could not be written whole is cut off again.
 */
#ifndef LEDGER_SEGMENT_H
#define LEDGER_SEGMENT_H

#include "member.h"
#include "note.h"
#include "tree.h"

#define LEDGER_VERSION 1
#define SEGMENT_MAX_BYTES (64ull << 20)
#define SEGMENT_NAME_LEN 9 /* 000000.gz */
#define SEGMENT_MAX_SEQ 999999

struct block {
	struct tree tree; /* of the whole log, with the lines below */
	uint64_t first;	  /* index of the first line */
	uint32_t lines;
	uint8_t salt_key[SALT_KEY_LEN];
	struct buf plain;
};

void block_start(struct block *b); /* empties it; the tree stays */
void block_add(struct block *b, struct cur line);
void block_done(struct block *b);

/*
 * Appends the member pair and starts the next block. -errno of signing_sign():
 * nothing was added and the block is as it was.
 */
int block_pack(struct block *b, struct packer *p, const char *origin,
	       const struct signer *const *signers, size_t n, uint64_t unix_s, struct buf *to);

/* The canonical first line of a segment that begins at this tree. */
void segment_line(struct buf *to, const char *origin, unsigned seq, const struct tree *t);
void segment_name(char to[SEGMENT_NAME_LEN + 1], unsigned seq);

struct segment {
	int fd;
	unsigned seq;
	uint64_t size;	/* sealed bytes */
	bool dirty;	/* bytes may stand behind them: cut before the next write */
};

/* Makes a file that must not exist; the folder is not synced yet. -errno */
int segment_create(int dirfd, unsigned seq, struct segment *ret);

/* All bytes or none. -errno; the segment stays usable. */
int segment_append(struct segment *s, const struct buf *bytes);

#endif
