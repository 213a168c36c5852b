/* SPDX-License-Identifier: MIT */
/* SHA-256 as text, see digest.h. */
#include "digest.h"

#include <sodium.h>

void digest_hex(const void *bytes, size_t len, char ret[DIGEST_HEX_LEN + 1])
{
	unsigned char h[crypto_hash_sha256_BYTES];

	_Static_assert(sizeof(h) * 2 == DIGEST_HEX_LEN, "two digits a byte");
	crypto_hash_sha256(h, bytes, len);
	sodium_bin2hex(ret, DIGEST_HEX_LEN + 1, h, sizeof(h));
}
