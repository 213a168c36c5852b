/* SPDX-License-Identifier: MIT */
/*
 * The signing process: the keys of the index and of the run live in its locked
 * memory and nowhere else while a run is recorded. It is a child that has one
 * socket and a dozen system calls. It builds what it signs by itself, from the
 * name of the key, a size and a root, and never signs a size for an origin that
 * is not larger than the last one it signed for that origin: so whoever takes
 * over the recorder cannot get a second history of what is sealed already.
 *
 * All functions return 0 or -errno; -EPIPE: the process is gone, and the keys
 * with it. Not for use by several threads.
 */
#ifndef LEDGER_SIGNER_H
#define LEDGER_SIGNER_H

#include "note.h"

#define SIGNER_MAX_KEYS 8

struct signing;

/* Call early: the child sees what memory holds at this moment, and nothing later. */
int signing_start(struct signing **ret);
void signing_stop(struct signing *p); /* the keys are gone; takes NULL */

/* A new random log key, or one from an open file as key_save() writes it. */
int signing_new_key(struct signing *p, const char *name, struct signer **ret);
int signing_load_key(struct signing *p, int fd, const char *name, struct signer **ret);

/* Writes the secret to an open empty file; syncing it is the caller's. */
int signing_save_key(const struct signer *s, int fd);

/* -EPERM: not larger than what was signed before. */
int signing_sign(const struct signer *s, const struct checkpoint *cp, uint8_t sig[SIG_LEN]);

void signing_forget(const struct signer *s); /* key_free() calls it */

#endif
