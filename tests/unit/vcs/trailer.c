/* SPDX-License-Identifier: MIT */
/* Heads in commit messages: one spelling, wherever the line stands, whatever else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/key.h"
#include "vcs/trailer.h"

#define COMMIT "00112233445566778899aabbccddeeff00112233"
#define ORIGIN "deedlog.invalid/fe812c12f3ab"
#define ROOT "RRIMgU8/TeF4I1mV2kCqYnk2kAcYcOyqSJCSRL7mOSE="
#define SIG "nsu+WMBtID1oqPehqyAdT93rOPcIiZPfewAB+nIkvcMZGO2+iYNoEmXehnbtCayl9hVuBd0mgqqE6ED+QgUfPrBWugY="
#define COSIG \
	"3AOgjAAAAABrDCm+j7SKFlTaGVlSQycEYAm/UlW+K9FIJigzTBec7m8zWoZ8WIy5mYLdRPItKrUfw2wuX271Yjc/F1rnTOlwXY1sBg=="
#define VALUE ORIGIN " 3 " ROOT " " SIG " " COSIG
#define LINE "Deedlog-Head: " VALUE

static size_t scan(const char *text, size_t len, struct anchors *to)
{
	*to = (struct anchors){ 0 };
	assert_int_equal(trailer_scan(cur_of(text, len), COMMIT, to), 0);
	return to->n;
}
#define SCAN(text, to) scan(text, sizeof(text) - 1, to)

static void a_trailer_is_found_with_all_its_fields(void **state)
{
	_cleanup_anchors_ struct anchors all;

	(void)state;
	assert_int_equal(SCAN("subject\n\nbody\n\nSigned-off-by: x\n" LINE "\n", &all), 1);
	assert_false(all.all[0].malformed);
	assert_false(all.all[0].squashed);
	assert_string_equal(all.all[0].commit, COMMIT);
	assert_string_equal(all.all[0].cp.origin, ORIGIN);
	assert_int_equal(all.all[0].cp.size, 3);
	assert_int_equal(all.all[0].cp.root.b[0], 0x45);
	assert_int_equal(all.all[0].sig[0], 0x9e);
	assert_true(all.all[0].has_cosig);
	assert_int_equal(all.all[0].cosig[0], 0xdc);
}

static void the_identity_may_be_absent(void **state)
{
	_cleanup_anchors_ struct anchors all;

	(void)state;
	assert_int_equal(SCAN("Deedlog-Head: " ORIGIN " 3 " ROOT " " SIG, &all), 1);
	assert_false(all.all[0].malformed);
	assert_false(all.all[0].has_cosig);
}

static void a_line_behind_blanks_was_squashed(void **state)
{
	_cleanup_anchors_ struct anchors all;

	(void)state;
	assert_int_equal(SCAN("Squashed\n    " LINE "\r\n\t" LINE " \n" LINE "\n", &all), 3);
	for (size_t i = 0; i < 3; i++)
		assert_false(all.all[i].malformed);
	assert_true(all.all[0].squashed);
	assert_true(all.all[1].squashed);
	assert_false(all.all[2].squashed);
}

static void a_quoted_line_is_no_head(void **state)
{
	_cleanup_anchors_ struct anchors all;

	(void)state;
	assert_int_equal(SCAN("> " LINE "\nsee " LINE "\ndeedlog-head: x\nDeedlog-Header: x\n", &all), 0);
}

static void nothing_but_the_one_spelling_parses(void **state)
{
	static const char *const bad[] = {
		"",
		ORIGIN,
		ORIGIN " 3 " ROOT,
		ORIGIN " 03 " ROOT " " SIG,
		ORIGIN " 0 " ROOT " " SIG,
		ORIGIN " -1 " ROOT " " SIG,
		ORIGIN " 9223372036854775808 " ROOT " " SIG,
		ORIGIN "  3 " ROOT " " SIG,
		ORIGIN " 3 " ROOT " " SIG " ",
		ORIGIN " 3 " ROOT " " COSIG,
		ORIGIN " 3 " ROOT " " SIG " " SIG,
		VALUE " more",
		ORIGIN "/run/0123456789abcdef 3 " ROOT " " SIG,
		"deedlog.invalid/FE812C12F3AB 3 " ROOT " " SIG,
		"example.org/fe812c12f3ab 3 " ROOT " " SIG,
		/* free bits in the last character */
		ORIGIN " 3 RRIMgU8/TeF4I1mV2kCqYnk2kAcYcOyqSJCSRL7mOSF= " SIG,
	};
	struct anchor a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		/* a blank at the end is dropped, so that row is the same as the one without */
		bool good = trailer_parse(cur_of(bad[i], strlen(bad[i])), &a);

		assert_int_equal(good, !strcmp(bad[i], ORIGIN " 3 " ROOT " " SIG " "));
		assert_int_equal(a.malformed, !good);
	}
}

static void any_byte_may_stand_around_it(void **state)
{
	_cleanup_anchors_ struct anchors all;

	(void)state;
	assert_int_equal(SCAN("\0\x1b[2J\xff\n" LINE "\n\0" LINE "\nDeedlog-Head: \0\n", &all), 2);
	assert_false(all.all[0].malformed);
	assert_true(all.all[1].malformed);
}

static void too_many_are_refused(void **state)
{
	_cleanup_anchors_ struct anchors all = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;

	(void)state;
	for (int i = 0; i <= MAX_MESSAGE_HEADS; i++)
		buf_addstr(&text, "Deedlog-Head: \n");
	assert_int_equal(trailer_scan(cur_of(text.data, text.len), COMMIT, &all), -E2BIG);
	assert_int_equal(all.n, MAX_MESSAGE_HEADS);
}

static void a_head_gives_the_value(void **state)
{
	static const char note[] = ORIGIN "\n3\n" ROOT "\n\n"
				   "\xe2\x80\x94 other.example " SIG "\n"
				   "\xe2\x80\x94 " ORIGIN " " SIG "\n"
				   "\xe2\x80\x94 deedlog.invalid/id/7599776c3085 " COSIG "\n";
	static const char run[] = ORIGIN "/run/0123456789abcdef\n3\n" ROOT "\n\n"
				  "\xe2\x80\x94 " ORIGIN "/run/0123456789abcdef " SIG "\n";
	_cleanup_buf_ struct buf value = BUF_INIT;

	(void)state;
	assert_int_equal(trailer_of_head(cur_of(note, sizeof(note) - 1), &value), 0);
	assert_string_equal(buf_str(&value), VALUE);
	assert_true(trailer_of_head(cur_of(run, sizeof(run) - 1), &value) < 0);
	assert_true(trailer_of_head(cur_of(note, 60), &value) < 0);
	assert_string_equal(buf_str(&value), VALUE); /* only a good one adds */
}

/* The vector of docs/ledger-format.md is of a run; what is signed is the text alike. */
static void signatures_are_asked_of_their_own_keys(void **state)
{
	uint8_t seed[KEY_SEED_LEN];
	_cleanup_key_ struct signer *index = NULL, *identity = NULL, *other = NULL;
	const struct signer *both[2];
	struct checkpoint cp = { .size = 7 };
	_cleanup_buf_ struct buf note = BUF_INIT, value = BUF_INIT;
	struct anchor a;

	(void)state;
	assert_int_equal(key_init(), 0);
	memset(seed, 7, sizeof(seed));
	both[0] = index = key_from_seed(seed, NULL, "", KEY_LOG);
	memset(seed, 5, sizeof(seed));
	both[1] = identity = key_from_seed(seed, NULL, "id/", KEY_COSIGN);
	memset(seed, 9, sizeof(seed));
	other = key_from_seed(seed, NULL, "id/", KEY_COSIGN);
	memcpy(cp.origin, ORIGIN, sizeof(ORIGIN));
	(void)note_add(&note, &cp, both, 2, 1795959230);
	assert_int_equal(trailer_of_head(cur_of(note.data, note.len), &value), 0);
	assert_true(trailer_parse(cur_of(value.data, value.len), &a));
	assert_true(anchor_signed_by(&a, &index->v));
	assert_true(anchor_signed_by(&a, &identity->v));
	assert_false(anchor_signed_by(&a, &other->v));
	a.cp.size++;
	assert_false(anchor_signed_by(&a, &index->v));
	assert_false(anchor_signed_by(&a, &identity->v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trailer_is_found_with_all_its_fields),
		cmocka_unit_test(the_identity_may_be_absent),
		cmocka_unit_test(a_line_behind_blanks_was_squashed),
		cmocka_unit_test(a_quoted_line_is_no_head),
		cmocka_unit_test(nothing_but_the_one_spelling_parses),
		cmocka_unit_test(any_byte_may_stand_around_it),
		cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(a_head_gives_the_value),
		cmocka_unit_test(signatures_are_asked_of_their_own_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
