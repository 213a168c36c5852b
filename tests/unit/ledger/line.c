/* SPDX-License-Identifier: MIT */
/* Long records: join(split(text)) is text, and no line passes the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_line.h"
#include "base/json_out.h"
#include "ledger/line.h"

#include <stdio.h>

#define LEAF 1234567

/* Splits, checks every line, joins again and compares; returns the number of lines. */
static int round_trip(const struct buf *text)
{
	_cleanup_buf_ struct buf lines = BUF_INIT, back = BUF_INIT;
	_cleanup_(line_join_done) struct line_join j = { 0 };
	struct cur in, line = { 0 };
	int n, seen = 0, r = 0;

	n = line_split(cur_of(text->data, text->len), LEAF, &lines);
	if (n <= 1)
		return n;
	in = cur_of(lines.data, lines.len);
	while (!cur_until(&in, '\n', &line)) {
		assert_true(cur_left(&line) < LINE_MAX_BYTES);
		assert_int_equal(line_check(line), 0);
		r = seen++ ? line_join_add(&j, line) : line_join_start(&j, line, LEAF);
		assert_true(r >= 0);
	}
	assert_int_equal(seen, n);
	assert_int_equal(r, 1);
	assert_int_equal(line_join_finish(&j, &back), 0);
	assert_int_equal(back.len, text->len);
	assert_memory_equal(back.data, text->data, back.len);
	return n;
}

static void add_text(struct buf *b, size_t len, unsigned seed)
{
	static const char *const pieces[] = { "a", "\xc3\xa4", "\xf0\x9f\x98\x80", "\\\"", "\\\\",
					      "\\u001b", "\\u202e", "path/to", "[", "}", "," };

	for (size_t end = b->len + len; b->len < end; seed = seed * 1103515245 + 12345)
		buf_addstr(b, pieces[(seed >> 16) % ARRAY_SIZE(pieces)]);
}

static void splits_one_string(void **state)
{
	(void)state;
	for (size_t len = 8000; len < 8400; len++) {
		_cleanup_buf_ struct buf b = BUF_INIT;

		buf_addstr(&b, "{\"t\":\"open\",\"b\":1,\"path\":\"");
		add_text(&b, len, (unsigned)len);
		buf_addstr(&b, "\",\"flags\":0}");
		assert_int_equal(round_trip(&b), b.len < LINE_MAX_BYTES ? 1 : 2);
	}
}

static void splits_argument_lists(void **state)
{
	static const size_t sizes[] = { 1, 7, 100, 3000, 8100, 9000, 40000 };

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		_cleanup_buf_ struct buf b = BUF_INIT;

		buf_addstr(&b, "{\"t\":\"exec\",\"b\":1,\"argv\":[");
		for (unsigned i = 0; b.len < 100000; i++) {
			buf_addstr(&b, i ? ",\"" : "\"");
			if (i % 5 != 3)
				add_text(&b, sizes[s], i);
			buf_addch(&b, '"');
		}
		buf_addstr(&b, "],\"cwd\":\"/\"}");
		assert_true(round_trip(&b) > 12);
	}
}

static void splits_other_elements(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	buf_addstr(&b, "{\"t\":\"x\",\"b\":1,\"v\":[0");
	while (b.len < 30000)
		buf_addstr(&b, ",-17,[\"]\\\"\",{\"k\":1}],null,true,\"s,\"");
	buf_addstr(&b, "]}");
	assert_true(round_trip(&b) > 3);
}

static void splits_two_long_values(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	buf_addstr(&b, "{\"t\":\"rename\",\"b\":1,\"from\":\"");
	add_text(&b, 20000, 1);
	buf_addstr(&b, "\",\"to\":\"");
	add_text(&b, 24000, 2);
	buf_addstr(&b, "\",\"empty\":[],\"none\":\"\"}");
	assert_true(round_trip(&b) > 5);
}

static void head_line_reads_as_specified(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT, lines = BUF_INIT;
	struct cur in, line = { 0 };

	(void)state;
	buf_addstr(&b, "{\"t\":\"exec\",\"b\":1,\"argv\":[\"");
	for (int i = 0; i < 9000; i++)
		buf_addch(&b, 'x');
	buf_addstr(&b, "\",\"last\"]}");
	assert_int_equal(line_split(cur_of(b.data, b.len), 7, &lines), 2);
	in = cur_of(lines.data, lines.len);
	assert_int_equal(cur_until(&in, '\n', &line), 0);
	assert_true(cur_starts(&line, "{\"t\":\"exec\",\"b\":1,\"argv\":[\"xxx"));
	assert_memory_equal(line.end - 13, "x\"],\"more\":1}", 13);
	assert_int_equal(cur_until(&in, '\n', &line), 0);
	assert_true(cur_starts(&line, "{\"t\":\"more\",\"r\":7,\"k\":\"argv\",\"i\":1,\"of\":1,\"c\":1,"
				      "\"v\":[\"xxx"));
	assert_memory_equal(line.end - 12, "xx\",\"last\"]}", 12);
}

static void refuses_what_cannot_be_split(void **state)
{
	static const char *const bad[] = { "{}", "[]", "{\"t\":\"x\",\"s\":1}", "{\"t\":\"x\",\"h\":1}",
					   "{\"t\":\"x\",\"more\":1}", "{\"t\": \"x\"}" };
	_cleanup_buf_ struct buf b = BUF_INIT, out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(line_split(cur_of(bad[i], strlen(bad[i])), 0, &out), -EBADMSG);
	buf_addstr(&b, "{\"t\":\"x\",\"o\":{\"k\":\"");
	add_text(&b, 9000, 1);
	buf_addstr(&b, "\"}}");
	assert_int_equal(line_split(cur_of(b.data, b.len), 0, &out), -EMSGSIZE);
	buf_reset(&b);
	buf_addstr(&b, "{\"t\":\"x\",\"o\":\"");
	add_text(&b, RECORD_MAX_BYTES, 1);
	buf_addstr(&b, "\"}");
	assert_int_equal(line_split(cur_of(b.data, b.len), 0, &out), -EMSGSIZE);
	assert_int_equal(out.len, 0);
}

static void refuses_to_join_what_does_not_belong(void **state)
{
	static const char head[] = "{\"t\":\"open\",\"b\":1,\"path\":\"ab\",\"n\":1,\"more\":2}";
	static const char *const bad[] = {
		"{\"t\":\"more\",\"r\":8,\"k\":\"path\",\"i\":1,\"of\":2,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":2,\"of\":2,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":1,\"of\":3,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"what\",\"i\":1,\"of\":2,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"n\",\"i\":1,\"of\":2,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":1,\"of\":2,\"v\":[\"c\"]}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":1,\"of\":2,\"c\":1,\"v\":\"c\"}",
		"{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":1,\"of\":2,\"v\":\"c\",\"x\":1}",
		"{\"t\":\"open\",\"b\":1}",
	};
	static const char good[] = "{\"t\":\"more\",\"r\":7,\"k\":\"path\",\"i\":1,\"of\":2,\"v\":\"c\"}";
	_cleanup_(line_join_done) struct line_join j = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(line_join_start(&j, cur_of(head, strlen(head)), 7), 0);
		if (line_join_add(&j, cur_of(bad[i], strlen(bad[i]))) != -EBADMSG)
			fail_msg("joined: %s", bad[i]);
	}
	assert_int_equal(line_join_start(&j, cur_of(head, strlen(head)), 7), 0);
	assert_int_equal(line_join_add(&j, cur_of(good, strlen(good))), 0);
	assert_int_equal(line_join_finish(&j, &out), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_one_string),
		cmocka_unit_test(splits_argument_lists),
		cmocka_unit_test(splits_other_elements),
		cmocka_unit_test(splits_two_long_values),
		cmocka_unit_test(head_line_reads_as_specified),
		cmocka_unit_test(refuses_what_cannot_be_split),
		cmocka_unit_test(refuses_to_join_what_does_not_belong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
