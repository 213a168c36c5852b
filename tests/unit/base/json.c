/* SPDX-License-Identifier: MIT */
/* The JSON writer and the line parser agree on one spelling and refuse every other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/esc.h"
#include "base/json_line.h"
#include "base/json_out.h"

#define TEXT(s) cur_of(s, sizeof(s) - 1)

static void writes_every_type(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	json_out_open(&b, NULL, '{');
	json_out_cstr(&b, "t", "open");
	json_out_u64(&b, "b", 1000);
	json_out_i64(&b, "r", -2);
	json_out_open(&b, "a", '[');
	json_out_elem(&b, "x");
	json_out_elem(&b, "[");
	json_out_u64(&b, NULL, 7);
	json_out_open(&b, NULL, '{');
	json_out_close(&b, '}');
	json_out_close(&b, ']');
	json_out_bool(&b, "ok", true);
	json_out_null(&b, "none");
	json_out_raw(&b, "lost", "{\"ring\":{\"file\":3}}");
	json_out_close(&b, '}');
	assert_string_equal(buf_str(&b),
			    "{\"t\":\"open\",\"b\":1000,\"r\":-2,\"a\":[\"x\",\"[\",7,{}],"
			    "\"ok\":true,\"none\":null,\"lost\":{\"ring\":{\"file\":3}}}");
	assert_int_equal(json_line_check(cur_of(b.data, b.len)), 0);
}

static void writes_hidden_characters_as_escapes(void **state)
{
	static const char in[] = "a\"b\\c\x1b\n\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf\xc3\xa4\xf0\x9f\x98\x80";
	_cleanup_buf_ struct buf b = BUF_INIT, back = BUF_INIT;
	struct json_line j;
	struct json_val v;

	(void)state;
	json_out_open(&b, NULL, '{');
	json_out_str(&b, "p", in, sizeof(in) - 1);
	json_out_close(&b, '}');
	assert_string_equal(buf_str(&b),
			    "{\"p\":\"a\\\"b\\\\c\\u001b\\u000a\\u007f\\u009b\\u202e\\u200b"
			    "\\ufeff\xc3\xa4\xf0\x9f\x98\x80\"}");
	assert_int_equal(json_line_start(&j, cur_of(b.data, b.len)), 0);
	assert_int_equal(json_line_next(&j, &v), 1);
	assert_int_equal(v.type, JSON_STR);
	assert_int_equal(json_unescape(v.text, &back), 0);
	assert_int_equal(back.len, sizeof(in) - 1);
	assert_memory_equal(back.data, in, sizeof(in) - 1);
	assert_int_equal(json_line_next(&j, &v), 0);
	assert_int_equal(json_line_end(&j), 0);
}

static void writes_broken_text_as_base64(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	json_out_open(&b, NULL, '{');
	json_out_str(&b, "path", "\xff/a", 3);
	json_out_str(&b, "nul", "a\0b", 3);
	json_out_str(&b, "sur", "\xed\xa0\x80", 3);
	json_out_str(&b, "over", "\xc0\xaf", 2);
	json_out_close(&b, '}');
	assert_string_equal(buf_str(&b), "{\"path_b64\":\"/y9h\",\"nul_b64\":\"YQBi\","
					 "\"sur_b64\":\"7aCA\",\"over_b64\":\"wK8=\"}");
}

static void writes_argument_lists(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	json_out_open(&b, NULL, '{');
	json_out_strv(&b, "argv", "sh\0-c\0\0", 7);
	json_out_strv(&b, "open", "a\0b", 3);
	json_out_strv(&b, "bad", "a\0\xff", 3);
	json_out_strv(&b, "none", "", 0);
	json_out_close(&b, '}');
	assert_string_equal(buf_str(&b), "{\"argv\":[\"sh\",\"-c\",\"\"],\"open\":[\"a\",\"b\"],"
					 "\"bad_b64\":[\"YQ==\",\"/w==\"],\"none\":[]}");
}

static void walks_and_skips(void **state)
{
	struct json_line j;
	struct json_val v;
	struct cur all;

	(void)state;
	assert_int_equal(json_line_start(&j, TEXT("{\"a\":[1,[2]],\"b\":false,\"c\":{\"d\":null}}")), 0);
	assert_int_equal(json_line_next(&j, &v), 1);
	assert_true(cur_is(&v.key, "a"));
	assert_int_equal(v.type, JSON_ARR);
	assert_int_equal(json_line_skip(&j, &v, &all), 0);
	assert_true(cur_is(&all, "[1,[2]]"));
	assert_int_equal(json_line_next(&j, &v), 1);
	assert_int_equal(v.type, JSON_BOOL);
	assert_int_equal(v.num, 0);
	assert_int_equal(json_line_next(&j, &v), 1);
	assert_int_equal(v.type, JSON_OBJ);
	assert_int_equal(json_line_next(&j, &v), 1);
	assert_true(cur_is(&v.key, "d"));
	assert_int_equal(v.type, JSON_NULL);
	assert_int_equal(json_line_next(&j, &v), 0);
	assert_int_equal(json_line_next(&j, &v), 0);
	assert_int_equal(json_line_end(&j), 0);
	assert_int_equal(json_line_next(&j, &v), -EBADMSG);
}

static void refuses_every_other_spelling(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"[]",
		"{",
		"{}x",
		"{} ",
		"{ }",
		"{\"a\": 1}",
		"{\"a\":1,}",
		"{\"a\":1 }",
		"{,\"a\":1}",
		"{\"a\"}",
		"{\"\":1}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":{\"b\":1,\"b\":1}}",
		"{\"a\":01}",
		"{\"a\":-0}",
		"{\"a\":+1}",
		"{\"a\":1.0}",
		"{\"a\":1e3}",
		"{\"a\":-}",
		"{\"a\":9223372036854775808}",
		"{\"a\":-9223372036854775809}",
		"{\"a\":nul}",
		"{\"a\":True}",
		"{\"a\":\"\\n\"}",
		"{\"a\":\"\\/\"}",
		"{\"a\":\"\\u000A\"}",
		"{\"a\":\"\\u0041\"}",
		"{\"a\":\"\\u0000\"}",
		"{\"a\":\"\\ud83d\\ude00\"}",
		"{\"a\":\"\\u00\"}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\x7f\"}",
		"{\"a\":\"\xc2\x85\"}",
		"{\"a\":\"\xe2\x80\xae\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":\"\xc0\xaf\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":\"\xf4\x90\x80\x80\"}",
		"{\"a\":\"x}",
		"{\"a\":[1,]}",
		"{\"a\":[1}",
		"{\"a\":[[[[]]]]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (json_line_check(cur_of(bad[i], strlen(bad[i]))) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
}

static void accepts_the_limits(void **state)
{
	static const char *const good[] = {
		"{}",
		"{\"a\":9223372036854775807,\"b\":-9223372036854775807,\"c\":0}",
		"{\"a\":[[[]]]}",
		"{\"a\":{\"b\":1},\"b\":1}",
		"{\"a\":\"\\u001b\\u202e\\\"\\\\/\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (json_line_check(cur_of(good[i], strlen(good[i]))))
			fail_msg("refused: %s", good[i]);
}

static void refuses_the_sixty_fifth_key(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	json_out_open(&b, NULL, '{');
	for (int i = 0; i < JSON_MAX_KEYS; i++)
		json_out_i64(&b, (char[]){ 'a' + i / 26, 'a' + i % 26, 0 }, i);
	buf_addch(&b, '}');
	assert_int_equal(json_line_check(cur_of(b.data, b.len)), 0);
	buf_cut(&b, b.len - 1);
	json_out_i64(&b, "zz", 1);
	buf_addch(&b, '}');
	assert_int_equal(json_line_check(cur_of(b.data, b.len)), -EBADMSG);
}

static void base64_has_one_spelling(void **state)
{
	static const char *const bad[] = { "Y", "YQ", "YQ=", "YR==", "YWI", "YWJ=", "YQ==YQ==",
					   "Y Q=", "YQ=\n", "====", "Y===", "-_-_" };
	_cleanup_buf_ struct buf b = BUF_INIT;
	char url[8] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (base64_decode(cur_of(bad[i], strlen(bad[i])), &b) != -EBADMSG || b.len)
			fail_msg("accepted: %s", bad[i]);
	assert_int_equal(base64_decode(TEXT("+/8="), &b), 0);
	assert_int_equal(b.len, 2);
	assert_memory_equal(b.data, "\xfb\xff", 2);
	*base64url_put(url, "\xfb\xff", 2) = '\0';
	assert_string_equal(url, "-_8");
}

static void terminal_text_can_be_turned_back(void **state)
{
	static const char in[] = "a\\b\x1b[0m\t\n\xe2\x80\xae\xe2\x80\x8b\xff\xc2\x9b\xc3\xa4";
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	esc_tty(&b, in, sizeof(in) - 1);
	assert_string_equal(buf_str(&b),
			    "a\\\\b\\x1b[0m\\x09\\x0a\\u{202e}\\u{200b}\\xff\\u{009b}\xc3\xa4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_every_type),
		cmocka_unit_test(writes_hidden_characters_as_escapes),
		cmocka_unit_test(writes_broken_text_as_base64),
		cmocka_unit_test(writes_argument_lists),
		cmocka_unit_test(walks_and_skips),
		cmocka_unit_test(refuses_every_other_spelling),
		cmocka_unit_test(accepts_the_limits),
		cmocka_unit_test(refuses_the_sixty_fifth_key),
		cmocka_unit_test(base64_has_one_spelling),
		cmocka_unit_test(terminal_text_can_be_turned_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
