/* SPDX-License-Identifier: MIT */
/*
 * The salts of leaves: BLAKE2b, 16 bytes of output, keyed, over the index of
 * the leaf as 8 bytes big-endian (RFC 7693). Keyed BLAKE2b begins with one step
 * over the key alone; a block of a log has one key and thousands of leaves, so
 * that step is kept. Pure; never fails.
 */
#ifndef LEDGER_SALT_H
#define LEDGER_SALT_H

#include <stdint.h>

#define SALT_LEN 16
#define SALT_KEY_BYTES 32

struct salter {
	uint64_t h[8]; /* behind the key */
};

void salter_init(struct salter *s, const uint8_t key[SALT_KEY_BYTES]);
void salter_salt(const struct salter *s, uint64_t index, uint8_t ret[SALT_LEN]);

#endif
