/* SPDX-License-Identifier: MIT */
/* Folding loses no operation and no order; losses keep their counts through JSON. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/fold.h"
#include "event/line.h"
#include "event/loss.h"

static struct buf seen;

static void sink(const struct event *e, void *arg)
{
	(void)arg;
	buf_addf(&seen, "%s pid=%u ino=%llu ops=%llu", event_kinds[e->kind].word, e->pid,
		 (unsigned long long)e->obj.ino, (unsigned long long)e->ops);
	if (event_has(e, EF(BYTES)))
		buf_addf(&seen, " bytes=%llu", (unsigned long long)e->bytes);
	if (event_has(e, EF(PATH)))
		buf_addf(&seen, " %.*s", (int)e->path.len, e->path.p);
	buf_addch(&seen, '\n');
}

static struct event write_of(uint32_t pid, uint64_t ino, uint64_t bytes, const char *path)
{
	struct event e = { .kind = EV_WRITE, .pid = pid, .obj = { .ino = ino }, .ops = 1,
			   .bytes = bytes, .path = str_of(path) };

	e.have = EF(PID) | EF(INO) | EF(OPS) | EF(BYTES) | (path ? EF(PATH) : 0);
	return e;
}

static void adjacent_writes_become_one(void **state)
{
	const struct event feed[] = {
		write_of(1, 10, 5, "/a"), write_of(1, 10, 7, NULL), write_of(1, 10, 1, "/a"),
		write_of(2, 10, 3, "/a"), /* another process */
		write_of(2, 11, 4, "/b"), /* another file */
		{ .kind = EV_FORK, .pid = 2, .have = EF(PID) },
		write_of(2, 11, 2, "/b"),
		write_of(2, 11, 2, "/c"), /* another name */
	};
	struct fold *f = fold_new(sink, NULL);

	(void)state;
	buf_reset(&seen);
	for (size_t i = 0; i < ARRAY_SIZE(feed); i++)
		fold_event(f, &feed[i]);
	fold_free(f);
	assert_string_equal(buf_str(&seen), "write pid=1 ino=10 ops=3 bytes=13 /a\n"
					    "write pid=2 ino=10 ops=1 bytes=3 /a\n"
					    "write pid=2 ino=11 ops=1 bytes=4 /b\n"
					    "fork pid=2 ino=0 ops=0\n"
					    "write pid=2 ino=11 ops=1 bytes=2 /b\n"
					    "write pid=2 ino=11 ops=1 bytes=2 /c\n");
}

static void a_path_of_the_caller_may_go_away(void **state)
{
	char path[] = "/tmp/x";
	struct event e = write_of(1, 10, 5, path);
	struct fold *f = fold_new(sink, NULL);

	(void)state;
	buf_reset(&seen);
	fold_event(f, &e);
	memset(path, '#', sizeof(path) - 1);
	fold_flush(f);
	fold_flush(f);
	fold_free(f);
	assert_string_equal(buf_str(&seen), "write pid=1 ino=10 ops=1 bytes=5 /tmp/x\n");
}

static void an_unknown_size_makes_the_sum_unknown(void **state)
{
	struct event e = write_of(1, 10, 5, "/a");
	struct fold *f = fold_new(sink, NULL);

	(void)state;
	buf_reset(&seen);
	fold_event(f, &e);
	e.have &= ~EF(BYTES);
	fold_event(f, &e);
	fold_free(f);
	assert_string_equal(buf_str(&seen), "write pid=1 ino=10 ops=2 /a\n");
}

static void writes_without_an_object_are_never_folded(void **state)
{
	struct event e = write_of(1, 0, 5, "/a");
	struct fold *f = fold_new(sink, NULL);

	(void)state;
	buf_reset(&seen);
	e.have &= ~EF(INO);
	fold_event(f, &e);
	fold_event(f, &e);
	fold_free(f);
	assert_string_equal(buf_str(&seen), "write pid=1 ino=0 ops=1 bytes=5 /a\n"
					    "write pid=1 ino=0 ops=1 bytes=5 /a\n");
}

static void losses_are_written_and_read_back(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct loss l = { 0 }, back;

	(void)state;
	loss_to_json(&l, &b);
	assert_string_equal(buf_str(&b), "{}");
	l.n[EV_LOSS_RING][EV_CLASS_FILE] = 3;
	l.n[EV_LOSS_RING][EV_CLASS_NET] = 1;
	l.n[EV_LOSS_CUT][EV_CLASS_TASK] = 2;
	buf_reset(&b);
	loss_to_json(&l, &b);
	assert_string_equal(buf_str(&b), "{\"ring\":{\"file\":3,\"net\":1},\"cut\":{\"task\":2}}");
	assert_int_equal(loss_from_json(b.data, b.len, &back), 0);
	assert_memory_equal(&back, &l, sizeof(l));
	assert_int_equal(loss_total(&back), 6);
	loss_add(&back, &l);
	assert_int_equal(loss_total(&back), 12);
}

static void unknown_is_not_zero(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct loss l = { .unknown = true }, back;

	(void)state;
	loss_to_json(&l, &b);
	assert_string_equal(buf_str(&b), "null");
	assert_int_equal(loss_from_json("null", 4, &back), 0);
	assert_true(back.unknown);
}

static void other_losses_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{", "{}x", "{\"ring\":3}", "{\"ring\":{\"file\":0}}",
		"{\"ring\":{\"file\":-1}}", "{\"ring\":{\"moon\":1}}", "{\"moon\":{\"file\":1}}",
		"{\"ring\":{\"file\":1}", "{\"ring\":{\"file\":1},\"ring\":{\"file\":1}}", "nul",
	};
	struct loss l;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(loss_from_json(bad[i], strlen(bad[i]), &l), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adjacent_writes_become_one),
		cmocka_unit_test(a_path_of_the_caller_may_go_away),
		cmocka_unit_test(an_unknown_size_makes_the_sum_unknown),
		cmocka_unit_test(writes_without_an_object_are_never_folded),
		cmocka_unit_test(losses_are_written_and_read_back),
		cmocka_unit_test(unknown_is_not_zero),
		cmocka_unit_test(other_losses_are_refused),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&seen);
	return r;
}
