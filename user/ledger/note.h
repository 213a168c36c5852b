/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints as C2SP signed notes, and the names and key ids of the log. A
 * note is text, one empty line, and one or more signature lines. Parsing is
 * strict: one spelling per value, at most 4,096 bytes and 16 signatures.
 */
#ifndef LEDGER_NOTE_H
#define LEDGER_NOTE_H

#include "base/buf.h"
#include "tree.h"

#define NOTE_MAX 4096
#define NOTE_MAX_SIGS 16
#define NAME_MAX_LEN 63 /* a run origin of ours has 49 characters */
#define LOG_ID_LEN 12
#define PK_LEN 32
#define SIG_LEN 64
#define KEY_ID_LEN 4

enum key_type { KEY_LOG = 0x01, KEY_COSIGN = 0x04 };

struct vkey {
	char name[NAME_MAX_LEN + 1];
	enum key_type type;
	uint8_t id[KEY_ID_LEN];
	uint8_t pk[PK_LEN];
};

struct checkpoint {
	char origin[NAME_MAX_LEN + 1];
	uint64_t size;
	struct hash root;
};

struct signing;

/* A secret key: here in locked memory (key.h), or with the signing process (signer.h). */
struct signer {
	struct vkey v;
	uint8_t *secret; /* sodium_malloc, SIG_LEN bytes; NULL: `by` has it */
	struct signing *by; /* borrowed */
	uint32_t slot;
};

struct note_sig {
	struct cur name;
	uint8_t blob[KEY_ID_LEN + 8 + SIG_LEN]; /* the longest kind that we know */
	size_t len; /* of the decoded blob; longer ones are cut, their kind is unknown */
};

struct note {
	struct checkpoint cp;
	struct cur raw;	 /* the whole note; borrowed from the input, as is */
	struct cur text; /* what is signed */
	size_t n_sigs;
	struct note_sig sigs[NOTE_MAX_SIGS];
};

/* Fills all fields; the id follows from name, type and key. */
void vkey_make(struct vkey *v, const char *name, enum key_type type, const uint8_t pk[PK_LEN]);
void vkey_add(struct buf *to, const struct vkey *v); /* name+id+base64(type || key) */
int vkey_parse(struct cur text, struct vkey *ret);   /* -EBADMSG */

/* "deedlog.invalid/" + PREFIX + first 12 hex digits of SHA-256(pk) */
void name_of_key(char to[NAME_MAX_LEN + 1], const char *prefix, const uint8_t pk[PK_LEN]);
void name_of_run(char to[NAME_MAX_LEN + 1], const char *log_name, const char *run_id);

/* The text that log keys sign, in a buffer of at least 192 bytes; returns its length. */
size_t checkpoint_text(const struct checkpoint *cp, char *to, size_t cap);

/*
 * The note of cp, signed by each signer; co-signatures carry the time. Fails
 * as signing_sign() does, with nothing added.
 */
int note_add(struct buf *to, const struct checkpoint *cp, const struct signer *const *signers,
	     size_t n, uint64_t unix_s);

int note_parse(struct cur in, struct note *ret); /* -EBADMSG */

/* 1 = signed by v, 0 = carries no signature of v, -EBADMSG = a wrong one. */
int note_verify(const struct note *n, const struct vkey *v);

/* The time of v's co-signature, seconds since 1970; 0 = there is none. */
uint64_t note_cosign_time(const struct note *n, const struct vkey *v);

#endif
