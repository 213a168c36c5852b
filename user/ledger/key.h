/* SPDX-License-Identifier: MIT */
/*
 * Secret Ed25519 keys. In memory they live in sodium_malloc() pages (locked,
 * guarded, kept out of core files) and are wiped when freed. On disk, where
 * they must be there at all, they are 36 bytes: the 32-byte secret and the key
 * id, which tells a torn or foreign file from ours. Mode 0600.
 */
#ifndef LEDGER_KEY_H
#define LEDGER_KEY_H

#include "note.h"

#define KEY_SEED_LEN 32
#define KEY_FILE_LEN (KEY_SEED_LEN + KEY_ID_LEN)

/* Makes libsodium ready; -EIO. Call before anything else of this room. */
int key_init(void);

/* A new random key; name NULL = name_of_key(prefix, its own public key). */
struct signer *key_new(const char *name, const char *prefix, enum key_type type);
struct signer *key_from_seed(const uint8_t seed[KEY_SEED_LEN], const char *name,
			     const char *prefix, enum key_type type);
void key_free(struct signer *s);
static inline void key_freep(struct signer **s)
{
	key_free(*s);
}
#define _cleanup_key_ _cleanup_(key_freep)

/* Writes a file that must not exist yet; fsyncs it and the folder. */
int key_save(const struct signer *s, int dirfd, const char *file);

/*
 * -ENOENT; -EPERM if others may read it or it is not ours; -EKEYREJECTED if it
 * is torn or its id does not fit name and type.
 */
int key_load(int dirfd, const char *file, const char *name, const char *prefix,
	     enum key_type type, struct signer **ret);

/*
 * The same for a key that lives in the signing process. -EKEYREJECTED as well
 * if the file is not the key `want`.
 */
int key_save_remote(const struct signer *s, int dirfd, const char *file);
int key_load_remote(struct signing *p, int dirfd, const char *file, const struct vkey *want,
		    struct signer **ret);

/* Renames `from` over `to`, then overwrites what `to` held before. */
int key_replace(int dirfd, const char *from, const char *to);

#endif
