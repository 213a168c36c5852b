/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 for what a log hashes by the million: leaves and nodes. Uses the
 * processor's own instructions where it has them, and libsodium where not;
 * both give the same, which a unit test holds.
 */
#ifndef LEDGER_SHA256_H
#define LEDGER_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

/* The hash of `head` and `rest`, one behind the other; head_len is at most 64. */
void sha256_two(const void *head, size_t head_len, const void *rest, size_t rest_len,
		uint8_t ret[SHA256_LEN]);

#endif
