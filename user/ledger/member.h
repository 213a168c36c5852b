/* SPDX-License-Identifier: MIT */
/*
 * The gzip members of a segment: data members (TL) hold lines, redacted ones
 * (TR) take their place and hold leaves, seal members (TS) hold a signed note
 * in FEXTRA and nothing else. The ten header bytes are
 * fixed: CRC32 covers only the payload, so a free header byte would be one
 * that nobody checks.
 */
#ifndef LEDGER_MEMBER_H
#define LEDGER_MEMBER_H

#include "base/buf.h"
#include "base/cur.h"

#define LINE_MAX_BYTES 8192	     /* with its newline: fits every consumer's buffer */
#define BLOCK_MAX_BYTES 65536	     /* plain lines before the seal line */
#define MEMBER_MAX_PLAIN (1u << 20)  /* inflated; a bomb ends here */
#define MEMBER_MAX_LINES 32768
/* Plain bytes that do not compress, framing and the largest FEXTRA. */
#define MEMBER_MAX_BYTES (MEMBER_MAX_PLAIN + (128u << 10))
#define MEMBER_SEAL_EXTRA 26	     /* of a seal member beyond its note */
#define SALT_KEY_LEN 32

enum member_kind { MEMBER_DATA, MEMBER_REDACTED, MEMBER_SEAL };

struct member {
	enum member_kind kind;
	uint8_t salt_key[SALT_KEY_LEN]; /* data only */
	/* data and redacted; the three numbers are claims, checked by nobody yet */
	uint64_t first;
	uint32_t lines, length;
	struct cur plain; /* borrowed from the unpacker until the next call */
	/* seal only; borrowed from the input */
	struct cur note;
	size_t bytes; /* that the member really takes */
};

struct packer;
struct packer *packer_new(int level); /* zlib's; 1 while recording */
void packer_free(struct packer *p);

/* Appends a data member; the one without a salt key is a redacted one. */
void member_add_data(struct packer *p, struct buf *to, const uint8_t salt_key[SALT_KEY_LEN],
		     uint64_t first, uint32_t lines, struct cur plain);
void member_add_redacted(struct packer *p, struct buf *to, uint64_t first, uint32_t lines,
			 struct cur leaves);
void member_add_seal(struct buf *to, struct cur note);

struct unpacker;
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *u);

/*
 * Takes one member. -ENODATA: it goes on behind the input; -EBADMSG: damaged,
 * *ret_why says how in one word. The input has not moved then.
 */
int member_take(struct unpacker *u, struct cur *in, struct member *ret, const char **ret_why);

/* Takes a seal member at the very start of `in` if one is there, without inflating. */
int member_peek_seal(struct cur in, struct cur *ret_note);

#endif
