/* SPDX-License-Identifier: MIT */
/* Our SHA-256 against published values and against libsodium's at every length and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/sha256.h"

#include <sodium.h>

static void gives_the_published_hashes(void **state)
{
	/* FIPS 180-4: of "abc", and of no byte */
	static const uint8_t abc[] = "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23"
				     "\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad";
	static const uint8_t none[] = "\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24"
				      "\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55";
	uint8_t got[SHA256_LEN];

	(void)state; /* nothing is shared */
	sha256_two("a", 1, "bc", 2, got);
	assert_memory_equal(got, abc, SHA256_LEN);
	sha256_two("", 0, "", 0, got);
	assert_memory_equal(got, none, SHA256_LEN);
}

static void agrees_with_libsodium(void **state)
{
	uint8_t text[1024], want[SHA256_LEN], got[SHA256_LEN];

	(void)state; /* nothing is shared */
	randombytes_buf(text, sizeof(text));
	for (size_t len = 0; len < sizeof(text); len++) {
		crypto_hash_sha256(want, text, len);
		for (size_t head = 0; head <= 64 && head <= len; head++) {
			sha256_two(text, head, text + head, len - head, got);
			assert_memory_equal(got, want, SHA256_LEN);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_published_hashes),
		cmocka_unit_test(agrees_with_libsodium),
	};

	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
