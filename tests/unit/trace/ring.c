/* SPDX-License-Identifier: MIT */
/* The ring reader over a ring in ordinary memory, laid out as the kernel does, written by hand. */
#include "trace/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 64

static uint64_t consumer, producer;
static uint8_t data[2 * SIZE]; /* the second half shows the first, as the double mapping does */
static struct ring ring;

static int set_up(void **state)
{
	(void)state;
	consumer = producer = 0;
	memset(data, 0, sizeof(data));
	ring = (struct ring){
		.consumer = &consumer, .producer = &producer, .data = data, .size = SIZE,
	};
	return 0;
}

static void put(uint32_t word, const char *text)
{
	size_t at = producer % SIZE, n = strlen(text);

	memcpy(data + at, &word, sizeof(word));
	memcpy(data + at + 8, text, n);
	if (at + 8 + n > SIZE)
		memcpy(data, data + SIZE, at + 8 + n - SIZE);
	else
		memcpy(data + SIZE + at, data + at, 8 + n);
	producer += (8 + n + 7) / 8 * 8;
}

static void expect(const char *text)
{
	const void *rec = NULL;
	size_t len = 0;

	assert_int_equal(ring_next(&ring, &rec, &len), 1);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(rec, text, len);
}

static void expect_end(int r)
{
	const void *rec = NULL;
	size_t len = 0;

	assert_int_equal(ring_next(&ring, &rec, &len), r);
	assert_null(rec);
}

static void hands_records_out_in_order(void **state)
{
	(void)state;
	expect_end(0);
	put(3, "abc");
	put(8, "12345678");
	expect("abc");
	expect("12345678");
	expect_end(0);
}

static void keeps_the_space_until_it_is_released(void **state)
{
	(void)state;
	put(3, "abc");
	expect("abc");
	assert_int_equal(ring_fill(&ring), 16);
	assert_int_equal(ring_waiting(&ring), 0);
	assert_int_equal(consumer, 0);
	ring_release(&ring);
	assert_int_equal(consumer, 16);
	assert_int_equal(ring_fill(&ring), 0);
}

static void stops_at_a_record_that_is_being_written(void **state)
{
	(void)state;
	put(3 | BPF_RINGBUF_BUSY_BIT, "abc");
	put(3, "def");
	expect_end(0);
	assert_int_equal(ring_waiting(&ring), 1);
	data[3] &= 0x7f; /* little endian: the busy bit is the top one */
	expect("abc");
	expect("def");
}

static void skips_what_was_discarded(void **state)
{
	(void)state;
	put(3 | BPF_RINGBUF_DISCARD_BIT, "abc");
	put(3, "def");
	expect("def");
	put(3 | BPF_RINGBUF_DISCARD_BIT, "ghi");
	assert_int_equal(ring_waiting(&ring), 1);
	expect_end(0);
	assert_int_equal(ring_waiting(&ring), 0);
}

static void reads_records_beyond_the_first_round(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		put(16, "0123456789abcdef");
		expect("0123456789abcdef");
		ring_release(&ring);
	}
	assert_int_equal(consumer, 20 * 24);
}

static void forgets_what_an_earlier_run_left(void **state)
{
	(void)state;
	put(3, "abc");
	ring_forget(&ring);
	assert_int_equal(ring_fill(&ring), 0);
	put(3, "def");
	expect("def");
}

static void refuses_a_length_beyond_what_was_written(void **state)
{
	(void)state;
	put(3, "abc");
	data[0] = 9; /* 8 bytes of header, 8 of data */
	expect_end(-EBADMSG);
}

static void refuses_positions_that_are_too_far_apart(void **state)
{
	(void)state;
	producer = SIZE + 8;
	expect_end(-EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hands_records_out_in_order),
		TEST(keeps_the_space_until_it_is_released),
		TEST(stops_at_a_record_that_is_being_written),
		TEST(skips_what_was_discarded),
		TEST(reads_records_beyond_the_first_round),
		TEST(forgets_what_an_earlier_run_left),
		TEST(refuses_a_length_beyond_what_was_written),
		TEST(refuses_positions_that_are_too_far_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
