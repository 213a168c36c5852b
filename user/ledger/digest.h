/* SPDX-License-Identifier: MIT */
/* SHA-256 of bytes as text, for what the index names by its digest. */
#ifndef LEDGER_DIGEST_H
#define LEDGER_DIGEST_H

#include <stddef.h>

#define DIGEST_HEX_LEN 64

void digest_hex(const void *bytes, size_t len, char ret[DIGEST_HEX_LEN + 1]);

#endif
