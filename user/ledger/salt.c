/* SPDX-License-Identifier: MIT */
/* Keyed BLAKE2b with the key's step kept, see salt.h. libsodium's interface repeats it. */
#include "salt.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define STEP_BYTES 128
#define WORDS 16
#define MIX_ROUNDS 12

static const uint64_t iv[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const uint8_t sigma[MIX_ROUNDS][WORDS] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
};

static inline uint64_t turn(uint64_t x, int n)
{
	return x >> n | x << (64 - n);
}

static inline __attribute__((always_inline)) void mix(uint64_t v[WORDS], int a, int b, int c, int d,
						      uint64_t x, uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = turn(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = turn(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = turn(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = turn(v[b] ^ v[c], 63);
}

/* One step over 16 words; `total`: bytes so far, with these. */
static void step(uint64_t h[8], const uint64_t m[WORDS], uint64_t total, bool last)
{
	uint64_t v[WORDS];

	memcpy(v, h, 8 * sizeof(*v));
	memcpy(v + 8, iv, sizeof(iv));
	v[12] ^= total;
	v[14] ^= last ? UINT64_MAX : 0;
#pragma GCC unroll 12
	for (int i = 0; i < MIX_ROUNDS; i++) {
		const uint8_t *s = sigma[i];

		mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
		mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
		mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
		mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
		mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
		mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
		mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
		mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
	}
	for (int i = 0; i < 8; i++)
		h[i] ^= v[i] ^ v[i + 8];
}

void salter_init(struct salter *s, const uint8_t key[SALT_KEY_BYTES])
{
	uint64_t m[WORDS] = { 0 };

	memcpy(m, key, SALT_KEY_BYTES);
	for (int i = 0; i < WORDS; i++)
		m[i] = le64toh(m[i]);
	memcpy(s->h, iv, sizeof(iv));
	s->h[0] ^= 0x01010000 | SALT_KEY_BYTES << 8 | SALT_LEN;
	step(s->h, m, STEP_BYTES, false);
}

void salter_salt(const struct salter *s, uint64_t index, uint8_t ret[SALT_LEN])
{
	/* its eight bytes are big-endian, the words of BLAKE2b little-endian */
	uint64_t m[WORDS] = { __builtin_bswap64(index) }, h[8];

	memcpy(h, s->h, sizeof(h));
	step(h, m, STEP_BYTES + sizeof(index), true);
	for (int i = 0; i < 2; i++)
		h[i] = htole64(h[i]);
	memcpy(ret, h, SALT_LEN);
}
