/* SPDX-License-Identifier: MIT */
/* Our keyed BLAKE2b against libsodium's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/salt.h"

#include <sodium.h>

static void agrees_with_libsodium(void **state)
{
	static const uint64_t some[] = { 0, 1, 255, 256, 0x0102030405060708, UINT64_MAX };
	uint8_t key[SALT_KEY_BYTES], number[8], want[SALT_LEN], got[SALT_LEN];
	struct salter s;

	(void)state; /* nothing is shared */
	for (int round = 0; round < 1000; round++) {
		uint64_t n = round < 6 ? some[round] : 0;

		randombytes_buf(key, sizeof(key));
		if (!n)
			randombytes_buf(&n, sizeof(n));
		for (int i = 0; i < 8; i++)
			number[i] = (uint8_t)(n >> (56 - 8 * i));
		crypto_generichash(want, sizeof(want), number, sizeof(number), key, sizeof(key));
		salter_init(&s, key);
		salter_salt(&s, n, got);
		assert_memory_equal(got, want, SALT_LEN);
	}
}

/* The vector of docs/ledger-format.md: key of 32 bytes 09, leaf 1. */
static void gives_the_salt_of_the_vector(void **state)
{
	uint8_t key[SALT_KEY_BYTES], got[SALT_LEN];
	char text[32];
	struct salter s;

	(void)state; /* nothing is shared */
	memset(key, 9, sizeof(key));
	salter_init(&s, key);
	salter_salt(&s, 1, got);
	assert_string_equal(sodium_bin2base64(text, sizeof(text), got, sizeof(got),
					      sodium_base64_VARIANT_URLSAFE_NO_PADDING),
			    "rffoBOeOl27iAfFGVtiQaA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_libsodium),
		cmocka_unit_test(gives_the_salt_of_the_vector),
	};

	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
