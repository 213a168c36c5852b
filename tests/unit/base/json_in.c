/* SPDX-License-Identifier: MIT */
/* JSON of others: the caps hold and strings come out as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json_in.h"

#include <errno.h>

static int parse(const char *text, size_t len)
{
	_cleanup_json_in_ struct json_in *o = NULL;

	return json_in_object(text, len, &o);
}

static void gives_strings_and_nothing_else(void **state)
{
	static const char text[] = " {\"name\":\"a\\u0000b\",\"n\":1,\"o\":{\"name\":\"x\"}} ";
	_cleanup_json_in_ struct json_in *o = NULL;
	const char *s;
	size_t len;

	(void)state;
	assert_int_equal(json_in_object(text, strlen(text), &o), 0);
	assert_int_equal(json_in_str(o, "name", &s, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(s, "a\0b", 3);
	assert_int_equal(json_in_str(o, "n", &s, &len), -ENOENT);
	assert_int_equal(json_in_str(o, "o", &s, &len), -ENOENT);
	assert_int_equal(json_in_str(o, "absent", &s, &len), -ENOENT);
}

static void refuses_what_is_no_object(void **state)
{
	static const char *const bad[] = { "", " ", "{", "[]", "1", "\"x\"", "null", "{}{}", "{} x",
					   "{\"a\":1,}", "{\"a\":\"\xff\"}", "{a:1}",
					   "{\"a\":/**/1}", "{\"a\":\"", "{\"a\":\"\\" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], strlen(bad[i])) != -EBADMSG)
			fail_msg("accepted %s", bad[i]);
}

static void refuses_depth_beyond_the_limit(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	for (int i = 0; i < JSON_IN_MAX_DEPTH * 100; i++)
		buf_addstr(&b, "{\"a\":");
	assert_int_equal(parse(b.data, b.len), -EBADMSG);
	buf_reset(&b);
	for (int i = 1; i < JSON_IN_MAX_DEPTH - 1; i++)
		buf_addstr(&b, "{\"a\":");
	buf_addstr(&b, "{}");
	for (int i = 1; i < JSON_IN_MAX_DEPTH - 1; i++)
		buf_addstr(&b, "}");
	assert_int_equal(parse(b.data, b.len), 0);
}

static void refuses_size_beyond_the_limit(void **state)
{
	_cleanup_free_ char *text = calloc(1, JSON_IN_MAX_BYTES + 1);

	(void)state;
	memset(text, ' ', JSON_IN_MAX_BYTES + 1);
	text[0] = '{';
	text[1] = '}';
	assert_int_equal(parse(text, JSON_IN_MAX_BYTES), 0);
	assert_int_equal(parse(text, JSON_IN_MAX_BYTES + 1), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_strings_and_nothing_else),
		cmocka_unit_test(refuses_what_is_no_object),
		cmocka_unit_test(refuses_depth_beyond_the_limit),
		cmocka_unit_test(refuses_size_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
