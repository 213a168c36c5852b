/* SPDX-License-Identifier: MIT */
/* Objects keep the path that was seen last, through renames, links and forged names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "ident/pathtab.h"

#include <errno.h>

static struct event event_of(enum ev_kind kind, uint64_t ino, const char *path, uint64_t have)
{
	struct event e = { .kind = kind, .obj = { .ino = ino, .dev = 8 } };

	e.have = have | (ino ? EF(DEV) | EF(INO) | EF(GEN) : 0) | (path ? EF(PATH) : 0);
	e.path = str_of(path);
	return e;
}

static void see(struct pathtab *t, enum ev_kind kind, uint64_t ino, const char *path)
{
	struct event e = event_of(kind, ino, path, 0);

	assert_int_equal(pathtab_event(t, &e), 0);
}

static struct event two_names(enum ev_kind kind, uint64_t ino, const char *path, const char *to,
			      uint64_t have)
{
	struct event e = event_of(kind, ino, path, have | EF(TO));

	e.to = str_of(to);
	return e;
}

static void move(struct pathtab *t, uint64_t ino, const char *path, const char *to, uint64_t have)
{
	struct event e = two_names(EV_RENAME, ino, path, to, have);

	assert_int_equal(pathtab_event(t, &e), 0);
}

static void expect(struct pathtab *t, uint64_t ino, const char *path, uint64_t marks)
{
	struct event e = event_of(EV_WRITE, ino, NULL, 0);
	int r = pathtab_event(t, &e);

	if (!path) {
		assert_int_equal(r, -ENOENT);
		assert_false(event_has(&e, EF(PATH)));
		return;
	}
	assert_int_equal(r, 1);
	assert_int_equal(e.path.len, strlen(path));
	assert_memory_equal(e.path.p, path, e.path.len);
	assert_true((e.have & (EF(UNPROVEN) | EF(CUT) | EF(UNREACHABLE))) == marks);
}

static int make_table(void **state)
{
	*state = pathtab_new(0, 0);
	return 0;
}

static int free_table(void **state)
{
	pathtab_free(*state);
	return 0;
}

static void fills_in_what_was_seen(void **state)
{
	struct pathtab *t = *state;

	expect(t, 1, NULL, 0);
	see(t, EV_READ, 1, "/a/b");
	see(t, EV_OPEN, 2, "/");
	see(t, EV_CREATE, 3, "/a");
	expect(t, 1, "/a/b", 0);
	expect(t, 2, "/", 0);
	expect(t, 3, "/a", 0);
	see(t, EV_READ, 1, "/c");
	expect(t, 1, "/c", 0);
}

static void another_generation_is_another_object(void **state)
{
	struct pathtab *t = *state;
	struct event e = event_of(EV_READ, 1, NULL, 0);

	see(t, EV_READ, 1, "/a");
	e.obj.gen = 7;
	assert_int_equal(pathtab_event(t, &e), -ENOENT);
}

static void leaves_events_without_an_object_alone(void **state)
{
	struct event e = { .kind = EV_FORK, .have = EF(PID) | EF(CHILD) };
	struct event unknown = event_of(EV_WRITE, 1, NULL, 0);

	assert_int_equal(pathtab_event(*state, &e), 0);
	unknown.obj.ino = 0; /* the kernel could not say */
	assert_int_equal(pathtab_event(*state, &unknown), 0);
}

static void a_rename_moves_the_file(void **state)
{
	struct pathtab *t = *state;

	see(t, EV_CREATE, 1, "/w/.tmp-1");
	see(t, EV_READ, 2, "/w/a.ts");
	move(t, 1, "/w/.tmp-1", "/w/a.ts", 0);
	expect(t, 1, "/w/a.ts", 0);
	expect(t, 2, "/w/a.ts", 0); /* replaced, but still open somewhere */
	move(t, 1, "/w/a.ts", "/w/b.ts", 0);
	expect(t, 1, "/w/b.ts", 0);
	expect(t, 2, "/w/a.ts", 0);
}

static void a_rename_of_a_folder_moves_all_below(void **state)
{
	struct pathtab *t = *state;

	see(t, EV_READ, 1, "/w/d/x/1");
	see(t, EV_READ, 2, "/w/d/2");
	see(t, EV_READ, 3, "/w/dd/3");
	move(t, 9, "/w/d", "/v/long name", 0);
	expect(t, 1, "/v/long name/x/1", 0);
	expect(t, 2, "/v/long name/2", 0);
	expect(t, 3, "/w/dd/3", 0);
	expect(t, 9, "/v/long name", 0);
	see(t, EV_CREATE, 4, "/w/d/2");
	expect(t, 4, "/w/d/2", 0);
	expect(t, 2, "/v/long name/2", 0);
}

static void an_exchange_swaps_both(void **state)
{
	struct pathtab *t = *state;
	struct event e = two_names(EV_RENAME, 9, "/a", "/b", EF(EXCHANGE) | EF(OVER_DEV) | EF(OVER_INO));

	see(t, EV_READ, 1, "/a/1");
	see(t, EV_READ, 2, "/b/2");
	e.over = (struct object){ .ino = 10, .dev = 8 };
	assert_int_equal(pathtab_event(t, &e), 0);
	expect(t, 1, "/b/1", 0);
	expect(t, 2, "/a/2", 0);
	expect(t, 9, "/b", 0);
	expect(t, 10, "/a", 0);
}

static void an_unlinked_file_keeps_its_name(void **state)
{
	struct pathtab *t = *state;

	see(t, EV_READ, 1, "/a");
	see(t, EV_UNLINK, 1, "/a");
	see(t, EV_CREATE, 2, "/a");
	move(t, 2, "/a", "/b", 0);
	expect(t, 1, "/a", 0);
	see(t, EV_CREATE, 1, "/c"); /* the number is used again */
	expect(t, 1, "/c", 0);
	expect(t, 2, "/b", 0);
}

static void a_hard_link_takes_over(void **state)
{
	struct pathtab *t = *state;
	struct event e = two_names(EV_LINK, 1, "/tmp_obj", "/obj", 0);

	see(t, EV_CREATE, 1, "/tmp_obj");
	assert_int_equal(pathtab_event(t, &e), 0);
	expect(t, 1, "/tmp_obj", 0);
	see(t, EV_UNLINK, 1, "/tmp_obj");
	expect(t, 1, "/obj", 0);
	see(t, EV_UNLINK, 1, "/obj");
	expect(t, 1, "/obj", 0);
}

static void a_link_that_goes_first_changes_nothing(void **state)
{
	struct pathtab *t = *state;
	struct event e = two_names(EV_LINK, 1, "/a", "/b", 0);

	see(t, EV_CREATE, 1, "/a");
	assert_int_equal(pathtab_event(t, &e), 0);
	see(t, EV_UNLINK, 1, "/b");
	see(t, EV_UNLINK, 1, "/a");
	expect(t, 1, "/a", 0);
}

static void names_from_user_memory_are_marked_and_yield(void **state)
{
	struct pathtab *t = *state;
	struct event e = event_of(EV_CHMOD, 1, "/forged", EF(UNPROVEN));

	see(t, EV_READ, 1, "/d/true");
	assert_int_equal(pathtab_event(t, &e), 0);
	expect(t, 1, "/d/true", 0);
	move(t, 0, "/d", "/e", EF(UNPROVEN));
	expect(t, 1, "/e/true", EF(UNPROVEN));
	see(t, EV_READ, 1, "/f/true");
	expect(t, 1, "/f/true", 0);
	e = event_of(EV_READ, 2, "cut/path", EF(CUT));
	assert_int_equal(pathtab_event(t, &e), 0);
	expect(t, 2, "cut/path", EF(CUT));
}

static void forged_moves_into_themselves_do_nothing(void **state)
{
	struct pathtab *t = *state;

	see(t, EV_READ, 1, "/a/b/c");
	move(t, 0, "/a", "/a/b/c/d", EF(UNPROVEN));
	move(t, 0, "/a", "/a", 0);
	move(t, 0, "/a/b", "/a", EF(UNPROVEN));
	move(t, 0, "/a", "/a/b", EF(UNPROVEN) | EF(EXCHANGE));
	move(t, 0, "", "/x", 0);
	move(t, 0, "/", "/y", EF(UNPROVEN));
	see(t, EV_READ, 2, "/a/q");
	expect(t, 2, "/a/q", 0);
}

static void beyond_the_limit_the_oldest_go_and_are_counted(void **state)
{
	struct pathtab *t = pathtab_new(3, 0);

	(void)state;
	see(t, EV_READ, 1, "/1");
	see(t, EV_READ, 2, "/2");
	see(t, EV_READ, 3, "/3");
	expect(t, 1, "/1", 0); /* used: 2 is the oldest now */
	see(t, EV_READ, 4, "/4");
	assert_int_equal(pathtab_evicted(t), 1);
	expect(t, 2, NULL, 0);
	expect(t, 1, "/1", 0);
	expect(t, 4, "/4", 0);
	pathtab_free(t);
}

static void bytes_are_limited_too(void **state)
{
	struct pathtab *t = pathtab_new(0, 2000);
	char deep[201];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		deep[i] = i % 2 ? 'x' : '/';
	deep[200] = '\0';
	see(t, EV_READ, 1, "/small");
	see(t, EV_READ, 2, deep);
	assert_int_equal(pathtab_evicted(t), 2);
	see(t, EV_READ, 1, "/small");
	expect(t, 1, "/small", 0);
	pathtab_free(t);
}

static void a_path_beyond_the_limit_is_not_kept(void **state)
{
	static char big[MAX_PATHTAB_PATH + 2];

	memset(big, 'a', sizeof(big) - 1);
	see(*state, EV_READ, 1, big);
	assert_int_equal(pathtab_evicted(*state), 1);
	expect(*state, 1, NULL, 0);
}

static void trees_that_grow_beyond_any_path_are_cut(void **state)
{
	static char deep[4001];
	struct pathtab *t = *state;
	struct event e = event_of(EV_WRITE, 1, NULL, 0);
	char from[16], to[4016];

	for (size_t i = 0; i < 4000; i++)
		deep[i] = i % 2 ? 'x' : '/';
	for (int i = 0; i < 9; i++) { /* /0 goes below /1/x/x..., that below /2/x/x... */
		snprintf(from, sizeof(from), "/%d", i);
		snprintf(to, sizeof(to), "/%d%s/end", i + 1, deep);
		if (!i)
			see(t, EV_READ, 1, "/0/leaf");
		move(t, 0, from, to, 0);
	}
	assert_int_equal(pathtab_event(t, &e), 1);
	assert_true(event_has(&e, EF(CUT)));
	assert_in_range(e.path.len, MAX_PATHTAB_PATH, MAX_PATHTAB_PATH + 256);
	assert_memory_equal(e.path.p + e.path.len - 9, "/end/leaf", 9);
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static void random_path(uint32_t *seed, char *to, size_t size)
{
	size_t len = 0, n = random_next(seed) % 6;

	while (n-- && len + 3 < size) {
		to[len++] = '/';
		to[len++] = (char)('a' + random_next(seed) % 3);
	}
	to[len] = '\0';
}

/* For the sanitizers: any order of any events keeps the counts right. */
static void survives_any_order_of_events(void **state)
{
	static const enum ev_kind kinds[] = { EV_READ, EV_CREATE, EV_UNLINK, EV_RENAME, EV_RMDIR,
					      EV_LINK, EV_RENAME, EV_WRITE };
	struct pathtab *t = pathtab_new(20, 4000);
	uint32_t seed = 5;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		char from[32], to[32];
		uint32_t bits = random_next(&seed);
		struct event e;

		random_path(&seed, from, sizeof(from));
		random_path(&seed, to, sizeof(to));
		e = two_names(kinds[bits % 8], bits / 8 % 30, bits & 4096 ? from : NULL, to,
			      (bits & 8192 ? EF(EXCHANGE) : 0) | (bits & 2048 ? EF(UNPROVEN) : 0) |
				      EF(OVER_DEV) | EF(OVER_INO));
		e.over = (struct object){ .ino = random_next(&seed) % 30, .dev = 8 };
		(void)pathtab_event(t, &e);
	}
	assert_true(pathtab_evicted(t) > 0);
	pathtab_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_table, free_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fills_in_what_was_seen),
		TEST(another_generation_is_another_object),
		TEST(leaves_events_without_an_object_alone),
		TEST(a_rename_moves_the_file),
		TEST(a_rename_of_a_folder_moves_all_below),
		TEST(an_exchange_swaps_both),
		TEST(an_unlinked_file_keeps_its_name),
		TEST(a_hard_link_takes_over),
		TEST(a_link_that_goes_first_changes_nothing),
		TEST(names_from_user_memory_are_marked_and_yield),
		TEST(forged_moves_into_themselves_do_nothing),
		TEST(beyond_the_limit_the_oldest_go_and_are_counted),
		TEST(bytes_are_limited_too),
		TEST(a_path_beyond_the_limit_is_not_kept),
		TEST(trees_that_grow_beyond_any_path_are_cut),
		TEST(survives_any_order_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
