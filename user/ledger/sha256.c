/* SPDX-License-Identifier: MIT */
/*
 * SHA-256, see sha256.h. libsodium has no code for the SHA instructions of
 * x86-64, with which a leaf costs a fifth: hashing is half of verifying.
 */
#include "sha256.h"

#include "base/macros.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

static void two_soft(const void *head, size_t head_len, const void *rest, size_t rest_len,
		     uint8_t ret[SHA256_LEN])
{
	crypto_hash_sha256_state s;

	crypto_hash_sha256_init(&s);
	crypto_hash_sha256_update(&s, head, head_len);
	crypto_hash_sha256_update(&s, rest, rest_len);
	crypto_hash_sha256_final(&s, ret);
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define BLOCK 64
#define SHA_CODE __attribute__((target("sha,ssse3,sse4.1")))

static const uint32_t first_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint32_t rounds[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The eight words as the instructions want them: A B E F and C D G H. */
struct words {
	__m128i abef, cdgh;
};

SHA_CODE static struct words load_state(const uint32_t s[8])
{
	__m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)s), 0xb1);
	__m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(s + 4)), 0x1b);

	return (struct words){ _mm_alignr_epi8(dcba, hgfe, 8), _mm_blend_epi16(hgfe, dcba, 0xf0) };
}

SHA_CODE static void store_state(struct words w, uint32_t s[8])
{
	__m128i feba = _mm_shuffle_epi32(w.abef, 0x1b), dchg = _mm_shuffle_epi32(w.cdgh, 0xb1);

	_mm_storeu_si128((__m128i *)s, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(s + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Four rounds a step; from the fifth step on the message is extended. */
SHA_CODE static void add_blocks(struct words *w, const uint8_t *p, size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i m[4];

	for (; blocks; blocks--, p += BLOCK) {
		struct words before = *w;

#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i *now = &m[i & 3], last = m[(i + 3) & 3], k;

			if (i < 4) {
				*now = _mm_loadu_si128((const __m128i *)(p + 16 * i));
				*now = _mm_shuffle_epi8(*now, swap);
			} else {
				k = _mm_alignr_epi8(last, m[(i + 2) & 3], 4);
				k = _mm_add_epi32(_mm_sha256msg1_epu32(*now, m[(i + 1) & 3]), k);
				*now = _mm_sha256msg2_epu32(k, last);
			}
			k = _mm_load_si128((const __m128i *)(rounds + 4 * i));
			k = _mm_add_epi32(*now, k);
			w->cdgh = _mm_sha256rnds2_epu32(w->cdgh, w->abef, k);
			k = _mm_shuffle_epi32(k, 0x0e);
			w->abef = _mm_sha256rnds2_epu32(w->abef, w->cdgh, k);
		}
		w->abef = _mm_add_epi32(w->abef, before.abef);
		w->cdgh = _mm_add_epi32(w->cdgh, before.cdgh);
	}
}

static void put_be(uint8_t *to, uint64_t n, size_t bytes)
{
	for (; bytes--; n >>= 8)
		to[bytes] = (uint8_t)n;
}

SHA_CODE static void two_fast(const void *head, size_t head_len, const void *rest,
			      size_t rest_len, uint8_t ret[SHA256_LEN])
{
	size_t take = MIN(rest_len, BLOCK - head_len), left, total = head_len + rest_len;
	struct words w = load_state(first_state);
	const uint8_t *at = rest;
	uint8_t end[2 * BLOCK];
	uint32_t state[8];

	memcpy(end, head, head_len);
	if (take)
		memcpy(end + head_len, at, take);
	left = head_len + take;
	if (left == BLOCK) {
		add_blocks(&w, end, 1);
		at += take;
		left = rest_len - take;
		add_blocks(&w, at, left / BLOCK);
		at += left / BLOCK * BLOCK;
		left %= BLOCK;
		if (left)
			memcpy(end, at, left);
	}
	end[left] = 0x80;
	take = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
	memset(end + left + 1, 0, take - left - 1);
	put_be(end + take - 8, 8ull * total, 8);
	add_blocks(&w, end, take / BLOCK);
	store_state(w, state);
	for (size_t i = 0; i < ARRAY_SIZE(state); i++)
		put_be(ret + 4 * i, state[i], 4);
}

static bool has_sha(void)
{
	unsigned a, b, c, d, c1;

	return __get_cpuid(1, &a, &b, &c1, &d) && (c1 & bit_SSSE3) && (c1 & bit_SSE4_1) &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

void sha256_two(const void *head, size_t head_len, const void *rest, size_t rest_len,
		uint8_t ret[SHA256_LEN])
{
	static int fast = -1; /* asked once: the answer takes longer than a hash */

	if (fast < 0)
		fast = has_sha();
	(fast ? two_fast : two_soft)(head, head_len, rest, rest_len, ret);
}
#else
void sha256_two(const void *head, size_t head_len, const void *rest, size_t rest_len,
		uint8_t ret[SHA256_LEN])
{
	two_soft(head, head_len, rest, rest_len, ret);
}
#endif
