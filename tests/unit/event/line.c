/* SPDX-License-Identifier: MIT */
/* Every event survives the way to a line and back; no other line is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/field.h"
#include "event/line.h"

static const struct {
	const char *p;
	size_t len;
} hostile[] = {
#define B(s) { s, sizeof(s) - 1 }
	B("/src/a.ts"),
	B(""),
	B("/a\x1b[31m\n\t\x7f"),
	B("/\xe2\x80\xae\xe2\x80\x8b|`<img onerror=>=1+1"),
	B("/broken\xff\xfe\xc3"),
	B("/nul\0inside"),
	B("/\"quote\\back"),
	B("\xed\xa0\x80"), /* a surrogate */
	B("\xf0\x9f\x98\x80\xc3\xa4"),
#undef B
};

static const uint64_t numbers[] = { 0, 1, 1000, INT64_MAX, 1ull << 63, UINT64_MAX };

/* Lists end each item with a NUL. */
static const struct str lists[] = {
	{ "", 0 },
	{ "node\0--check\0.\0", 15 },
	{ "\0", 1 },
	{ "a\0\0b\0", 5 },
	{ "ok\0\xff\0", 5 },
};
static const struct str objects[] = {
	{ "{}", 2 },
	{ "{\"ring\":{\"file\":3}}", 19 },
	{ "null", 4 },
	{ "[3,9]", 5 },
};

static void set(struct event *e, const struct field *f, unsigned round)
{
	void *m = field_of(e, f);

	switch (f->type) {
	case FIELD_U32:
		*(uint32_t *)m = (uint32_t)numbers[round % 6];
		break;
	case FIELD_U64:
		*(uint64_t *)m = numbers[round % 6];
		break;
	case FIELD_ACCESS:
		*(uint32_t *)m = 1 + round % 3;
		break;
	case FIELD_STR:
		*(struct str *)m = (struct str){ hostile[round % 9].p, hostile[round % 9].len };
		break;
	case FIELD_STRS:
		*(struct str *)m = lists[round % 5];
		break;
	case FIELD_OBJ:
		*(struct str *)m = objects[round % 4];
		break;
	default:
		break;
	}
}

static void same_member(const struct field *f, const struct event *a, const struct event *b)
{
	const void *x = field_of_const(a, f), *y = field_of_const(b, f);

	if (f->type == FIELD_U64)
		assert_true(*(const uint64_t *)x == *(const uint64_t *)y);
	if (f->type == FIELD_U32 || f->type == FIELD_ACCESS)
		assert_int_equal(*(const uint32_t *)x, *(const uint32_t *)y);
	if (!field_is_text(f->type))
		return;
	assert_int_equal(((const struct str *)x)->len, ((const struct str *)y)->len);
	assert_memory_equal(((const struct str *)x)->p, ((const struct str *)y)->p,
			    ((const struct str *)x)->len);
}

static void same(const struct event *a, const struct event *b)
{
	uint64_t left = a->have;

	assert_int_equal(a->kind, b->kind);
	assert_true(a->boot_ns == b->boot_ns);
	assert_true(a->have == b->have);
	while (left)
		same_member(&event_fields[field_take(&left)], a, b);
}

static void round_trip(const struct event *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT, store = BUF_INIT, again = BUF_INIT;
	struct event back;
	struct diag d;

	event_to_line(e, &line);
	assert_null(memchr(line.data, '\n', line.len));
	assert_int_equal(event_from_line(line.data, line.len, &store, &d, &back), 0);
	same(e, &back);
	event_to_line(&back, &again);
	assert_string_equal(buf_str(&line), buf_str(&again));
}

static void every_kind_keeps_every_field(void **state)
{
	(void)state;
	for (int kind = 0; kind < EV_COUNT; kind++) {
		for (unsigned round = 0; round < 180; round++) {
			struct event e = { .kind = (enum ev_kind)kind, .boot_ns = 1000 + round };
			uint64_t left = event_kinds[kind].fields;

			e.have = left;
			for (unsigned n = 0; left; n++)
				set(&e, &event_fields[field_take(&left)], round + n);
			round_trip(&e);
		}
	}
}

static void every_field_alone_and_every_field_missing(void **state)
{
	(void)state;
	for (int kind = 0; kind < EV_COUNT; kind++) {
		uint64_t left = event_kinds[kind].fields;

		while (left) {
			size_t i = field_take(&left);
			struct event e = { .kind = (enum ev_kind)kind, .have = 1ull << i };

			set(&e, &event_fields[i], 1);
			round_trip(&e);
		}
	}
}

static void fields_of_other_kinds_are_not_written(void **state)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct event e = { .kind = EV_FORK, .boot_ns = 7, .pid = 3, .child = 4,
			   .path = { "/x", 2 }, .have = EF(PID) | EF(CHILD) | EF(PATH) };

	(void)state;
	event_to_line(&e, &line);
	assert_string_equal(buf_str(&line), "{\"t\":\"fork\",\"b\":7,\"pid\":3,\"child\":4}");
}

static void a_line_looks_like_this(void **state)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct event e = { .kind = EV_WRITE, .boot_ns = 12, .pid = 812, .ops = 2, .bytes = 90,
			   .obj = { .ino = 55, .dev = 0x800001, .gen = 9 },
			   .path = { "/w/\xff\n", 5 } };

	(void)state;
	e.have = EF(PID) | EF(PATH) | EF(DEV) | EF(INO) | EF(GEN) | EF(OPS) | EF(BYTES) |
		 EF(MAPPED);
	event_to_line(&e, &line);
	assert_string_equal(buf_str(&line),
			    "{\"t\":\"write\",\"b\":12,\"pid\":812,\"path_b64\":\"L3cv/wo=\","
			    "\"dev\":8388609,\"ino\":55,\"gen\":9,\"ops\":2,\"bytes\":90,\"mapped\":1}");
}

static void other_lines_are_refused(void **state)
{
	static const struct {
		const char *line;
		int err;
		const char *says;
	} bad[] = {
		{ "", -EBADMSG, "not a JSON object" },
		{ "{}", -EBADMSG, "record: t: must come first" },
		{ "{\"b\":1,\"t\":\"fork\"}", -EBADMSG, "t: must come first" },
		{ "{\"t\":7,\"b\":1}", -EBADMSG, "t: must come first" },
		{ "{\"t\":\"teleport\",\"b\":1}", -ENOMSG, "teleport" },
		{ "{\"t\":\"fork\"}", -EBADMSG, "b: must come second" },
		{ "{\"t\":\"fork\",\"b\":-1}", -EBADMSG, "b: must come second" },
		{ "{\"t\":\"fork\",\"b\":1,\"path\":\"/x\"}", -EBADMSG, "record: path: unknown" },
		{ "{\"t\":\"fork\",\"b\":1,\"child\":4,\"pid\":3}", -EBADMSG, "pid: unknown, repeated or out of order" },
		{ "{\"t\":\"fork\",\"b\":1,\"pid\":4294967296}", -EBADMSG, "pid: not a value" },
		{ "{\"t\":\"fork\",\"b\":1,\"pid\":-1}", -EBADMSG, "pid: not a value" },
		{ "{\"t\":\"fork\",\"b\":1,\"pid\":\"3\"}", -EBADMSG, "pid: not a value" },
		{ "{\"t\":\"fork\",\"b\":1,\"pid_b64\":\"AAAA\"}", -EBADMSG, "pid_b64: unknown" },
		{ "{\"t\":\"open\",\"b\":1,\"path_b64\":\"L2E=\"}", -EBADMSG, "path_b64: not a value" },
		{ "{\"t\":\"open\",\"b\":1,\"path_b64\":\"L/\"}", -EBADMSG, "path_b64: not a value" },
		{ "{\"t\":\"open\",\"b\":1,\"path_b64x\":\"L/\"}", -EBADMSG, "path_b64x: unknown" },
		{ "{\"t\":\"open\",\"b\":1,\"access\":\"x\"}", -EBADMSG, "access: not a value" },
		{ "{\"t\":\"open\",\"b\":1,\"created\":0}", -EBADMSG, "created: not a value" },
		{ "{\"t\":\"open\",\"b\":1,\"created\":true}", -EBADMSG, "created: not a value" },
		{ "{\"t\":\"exec\",\"b\":1,\"argv\":\"a\"}", -EBADMSG, "argv: not a value" },
		{ "{\"t\":\"exec\",\"b\":1,\"argv\":[1]}", -EBADMSG, "argv: not a value" },
		{ "{\"t\":\"exec\",\"b\":1,\"argv_b64\":[\"YQ==\"]}", -EBADMSG, "argv_b64: not a value" },
		{ "{\"t\":\"exec\",\"b\":1,\"argv_b64\":[]}", -EBADMSG, "argv_b64: not a value" },
		{ "{\"t\":\"exec\",\"b\":1,\"argv_b64\":[\"2wA=\"]}", -EBADMSG, "argv_b64: not a value" },
		{ "{\"t\":\"end\",\"b\":1,\"lost\":7}", -EBADMSG, "lost: not a value" },
		{ "{\"t\":\"fork\",\"b\":1} ", -EBADMSG, "not canonical" },
		{ "{\"t\":\"fork\", \"b\":1}", -EBADMSG, "b: must come second" },
		{ "{\"t\":\"fork\",\"b\":1", -EBADMSG, "not canonical" },
	};
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct event e;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		d.msg[0] = '\0';
		assert_int_equal(event_from_line(bad[i].line, strlen(bad[i].line), &store, &d, &e),
				 bad[i].err);
		if (!strstr(d.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].line, d.msg);
	}
}

static void a_line_cut_anywhere_is_refused(void **state)
{
	static const char line[] = "{\"t\":\"exec\",\"b\":1,\"pid\":2,\"path\":\"/bin/sh\",\"argv\":[\"sh\"]}";
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct event e;

	(void)state;
	for (size_t len = 0; len < sizeof(line) - 1; len++)
		assert_int_equal(event_from_line(line, len, &store, NULL, &e), -EBADMSG);
	assert_int_equal(event_from_line(line, sizeof(line) - 1, &store, NULL, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_keeps_every_field),
		cmocka_unit_test(every_field_alone_and_every_field_missing),
		cmocka_unit_test(fields_of_other_kinds_are_not_written),
		cmocka_unit_test(a_line_looks_like_this),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(a_line_cut_anywhere_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
