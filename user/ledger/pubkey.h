/* SPDX-License-Identifier: MIT */
/*
 * Public keys in the spelling of other tools, so that a log can be checked
 * without ours. Pure; the keys are Ed25519 whatever their type.
 */
#ifndef LEDGER_PUBKEY_H
#define LEDGER_PUBKEY_H

#include "note.h"

enum pubkey_format { PUBKEY_VKEY, PUBKEY_PEM, PUBKEY_MINISIGN, PUBKEY_SIGNIFY, PUBKEY_ALLOWED };

#define PUBKEY_NUM_LEN 8
#define PUBKEY_NAMESPACE "checkpoint@deedlog" /* of SSH signatures */

/* Ends with a newline. PUBKEY_ALLOWED: one line of an allowed_signers file, the name as principal. */
void pubkey_add(struct buf *to, const struct vkey *v, enum pubkey_format format);

/* The key number of minisign and signify: the key id, twice. */
void pubkey_num(uint8_t to[PUBKEY_NUM_LEN], const struct vkey *v);

/* The key as SSH writes it: "ssh-ed25519" and the key, each with its length. */
void pubkey_ssh(struct buf *to, const struct vkey *v);

#endif
