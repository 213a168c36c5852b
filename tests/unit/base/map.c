/* SPDX-License-Identifier: MIT */
/* The map finds what was put in, and only that, in the order of insertion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"

static int values[100000];

static void finds_every_key_while_growing(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		*map_slot(&m, &i, sizeof(i)) = &values[i];
	for (uint32_t i = 0; i < 100000; i++)
		assert_ptr_equal(map_get(&m, &i, sizeof(i)), &values[i]);
	for (uint32_t i = 100000; i < 100100; i++)
		assert_null(map_get(&m, &i, sizeof(i)));
	assert_int_equal(m.live, 100000);
	map_done(&m);
}

static void keys_are_bytes_of_any_length(void **state)
{
	static const char key[] = "a\0b\0c\0d\0e\0f\0g\0h";
	struct map m = MAP_INIT;

	(void)state;
	assert_null(map_get(&m, "", 0));
	for (size_t len = 0; len < sizeof(key); len++)
		*map_slot(&m, key, len) = &values[len];
	for (size_t len = 0; len < sizeof(key); len++)
		assert_ptr_equal(map_get(&m, key, len), &values[len]);
	assert_ptr_equal(*map_slot(&m, key, 3), &values[3]);
	assert_int_equal(m.live, sizeof(key));
	map_done(&m);
}

static void removed_keys_are_gone_and_may_come_back(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 100; i++)
			*map_slot(&m, &i, sizeof(i)) = &values[i];
		for (uint32_t i = 0; i < 100; i += 2)
			map_remove(&m, &i, sizeof(i));
		for (uint32_t i = 0; i < 100; i++)
			assert_ptr_equal(map_get(&m, &i, sizeof(i)), i % 2 ? &values[i] : NULL);
		assert_int_equal(m.live, 50);
	}
	assert_true(m.cap < 1000); /* removed entries do not pile up */
	map_remove(&m, "x", 1);
	map_done(&m);
}

static void walks_in_the_order_of_insertion(void **state)
{
	struct map m = MAP_INIT;
	size_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t key = i * 2654435761u;

		*map_slot(&m, &key, sizeof(key)) = &values[i];
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_ptr_equal(map_next(&m, &at), &values[i]);
	assert_null(map_next(&m, &at));
	map_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_every_key_while_growing),
		cmocka_unit_test(keys_are_bytes_of_any_length),
		cmocka_unit_test(removed_keys_are_gone_and_may_come_back),
		cmocka_unit_test(walks_in_the_order_of_insertion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
