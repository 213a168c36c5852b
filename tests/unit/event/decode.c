/* SPDX-License-Identifier: MIT */
/* Ring records become the events that they mean; lengths that lie are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>

#include "event/decode.h"

/* A record under construction: body first, then slices in order. */
struct rec {
	uint8_t bytes[16384];
	size_t len;
};

#define START(r, type, k)                                                      \
	struct rec r = { .len = sizeof(struct type) };                         \
	struct type *r##_body = (struct type *)r.bytes;                        \
	r##_body->head = (struct ev_head){ .boot_ns = 5, .pid = 40, .tid = 40, .kind = k }

static void put(struct rec *r, struct ev_slice *s, uint16_t flags, const void *p, size_t n)
{
	*s = (struct ev_slice){ .len = (uint16_t)n, .flags = flags };
	memcpy(r->bytes + r->len, p, n);
	r->len += n;
}
#define PUT(r, member, flags, text) put(&r, &r##_body->member, flags, text, sizeof(text) - 1)

#define LEAF EV_S_LEAF_FIRST
#define TEXT EV_S_STRING

static struct decoder *dec;
static struct event ev;

static int setup(void **state)
{
	(void)state;
	dec = decoder_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	decoder_free(dec);
	return 0;
}

/* An exact copy, so that a read beyond the record is a read beyond the heap block. */
static int decode_len(const struct rec *r, size_t len)
{
	void *copy = malloc(len ? len : 1);
	int ret;

	memcpy(copy, r->bytes, len);
	ret = decoder_record(dec, copy, len, &ev);
	free(copy);
	return ret;
}

static int decode(const struct rec *r)
{
	return decode_len(r, r->len);
}

static void is_str(struct str s, const char *want, size_t len)
{
	if (s.len != len || memcmp(s.p, want, len))
		fail_msg("got \"%.*s\", want \"%s\"", (int)s.len, s.p, want);
}
#define IS(s, want) is_str(s, want, sizeof(want) - 1)

static void a_leaf_first_path_is_turned_round(void **state)
{
	START(r, ev_file, EV_READ);

	(void)state;
	r_body->obj = (struct ev_object){ .ino = 77, .dev = 3, .gen = 9, .nlink = 1 };
	r_body->bytes = 4096;
	r_body->head.flags = EV_F_BYTES | EV_F_FIRST | EV_F_MAPPED;
	PUT(r, path, LEAF, "\4a.ts\3src\1w");
	assert_int_equal(decode(&r), 1);
	assert_int_equal(ev.kind, EV_READ);
	IS(ev.path, "/w/src/a.ts");
	assert_true(ev.have == (EF(PID) | EF(PATH) | EF(DEV) | EF(INO) | EF(GEN) | EF(OPS) |
				EF(BYTES) | EF(MAPPED)));
	assert_int_equal(ev.pid, 40);
	assert_int_equal(ev.obj.ino, 77);
	assert_int_equal(ev.ops, 1);
	assert_int_equal(ev.bytes, 4096);
}

static void no_path_is_no_path_but_the_root_is_one(void **state)
{
	START(r, ev_file, EV_OPEN);

	(void)state;
	r_body->access = 1;
	assert_int_equal(decode(&r), 1);
	assert_false(event_has(&ev, EF(PATH)));
	assert_false(event_has(&ev, EF(INO)));
	r_body->path.flags = LEAF;
	assert_int_equal(decode(&r), 1);
	assert_true(event_has(&ev, EF(PATH) | EF(ACCESS)));
	IS(ev.path, "/");
}

static void a_cut_path_has_no_slash_in_front(void **state)
{
	START(r, ev_file, EV_WRITE);

	(void)state;
	PUT(r, path, LEAF | EV_S_CUT, "\1c\1b");
	assert_int_equal(decode(&r), 1);
	assert_true(event_has(&ev, EF(CUT)));
	IS(ev.path, "b/c");
}

static void an_unreachable_path_says_so(void **state)
{
	START(r, ev_file, EV_WRITE);

	(void)state;
	PUT(r, path, LEAF | EV_S_UNREACHABLE, "\1c\1b");
	assert_int_equal(decode(&r), 1);
	assert_true(event_has(&ev, EF(UNREACHABLE)));
	IS(ev.path, "/b/c");
}

static void names_are_joined_and_normalised(void **state)
{
	static const struct {
		uint16_t flags;
		const char *dir, *tail, *want;
	} rows[] = {
		{ LEAF, "\1b\1a", "x.txt", "/a/b/x.txt" },
		{ LEAF, "\1b\1a", "../x", "/a/x" },
		{ LEAF, "\1b\1a", "./y/.//z/", "/a/b/y/z" },
		{ LEAF, "\1b\1a", "../../../../etc", "/etc" },
		{ LEAF, "\1b\1a", "..", "/a" },
		{ LEAF, "\1b\1a", "", "/a/b" },
		{ LEAF, "\1a", "..", "/" },
		{ LEAF, "", "/etc/passwd", "/etc/passwd" },
		{ LEAF, "", "etc", "/etc" },
		{ LEAF, "", "/", "/" },
		{ LEAF, "\4root", "/etc/passwd", "/root/etc/passwd" }, /* in a chroot */
		{ LEAF, "\1b\1a", "...", "/a/b/..." },
		{ LEAF, "\1b\1a", "..x/..y", "/a/b/..x/..y" },
		{ LEAF | EV_S_CUT, "\1b\1a", "../../../c", "c" },
		{ TEXT, "/a", "b", "/a/b" },
		{ TEXT, "/", "b", "/b" },
		{ 0, "", "rel", "rel" },
		{ 0, "", "/abs", "/abs" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		START(r, ev_name, EV_UNLINK);

		put(&r, &r_body->path, rows[i].flags, rows[i].dir, strlen(rows[i].dir));
		put(&r, &r_body->tail, TEXT, rows[i].tail, strlen(rows[i].tail));
		r_body->head.flags = EV_F_UNPROVEN;
		assert_int_equal(decode(&r), 1);
		assert_true(event_has(&ev, EF(UNPROVEN) | EF(PATH)));
		is_str(ev.path, rows[i].want, strlen(rows[i].want));
	}
}

/* Tier trace: the directory is the kernel's, what is below it the caller's. */
static void composes_the_name_of_a_truncated_file(void **state)
{
	START(r, ev_file, EV_TRUNCATE);

	(void)state;
	r_body->head.flags = EV_F_UNPROVEN | EV_F_BYTES;
	r_body->bytes = 3;
	PUT(r, path, LEAF, "\1p\4home");
	PUT(r, tail, TEXT, "src/a.ts");
	assert_int_equal(decode(&r), 1);
	assert_true(event_has(&ev, EF(PATH) | EF(UNPROVEN) | EF(SIZE)));
	IS(ev.path, "/home/p/src/a.ts");
	assert_int_equal(ev.bytes, 3);
}

static void a_rename_has_both_ends_and_what_it_replaced(void **state)
{
	START(r, ev_name, EV_RENAME);

	(void)state;
	r_body->obj = (struct ev_object){ .ino = 5, .dev = 1, .gen = 2, .mode = 0100644 };
	r_body->over = (struct ev_object){ .ino = 6, .dev = 1, .gen = 3 };
	r_body->head.flags = EV_F_EXCHANGE;
	PUT(r, path, LEAF, "\3tmp\1w");
	PUT(r, tail, TEXT, "");
	PUT(r, to, LEAF, "\1w");
	PUT(r, to_tail, TEXT, "a.ts");
	assert_int_equal(decode(&r), 1);
	IS(ev.path, "/w/tmp");
	IS(ev.to, "/w/a.ts");
	assert_int_equal(ev.over.ino, 6);
	assert_int_equal(ev.mode, 0100644);
	assert_true(event_has(&ev, EF(TO) | EF(OVER_DEV) | EF(OVER_INO) | EF(OVER_GEN) |
				   EF(EXCHANGE) | EF(MODE)));
	assert_false(event_has(&ev, EF(TARGET)));
}

static void the_text_of_a_symbolic_link_is_left_as_it_is(void **state)
{
	START(r, ev_name, EV_SYMLINK);

	(void)state;
	PUT(r, path, LEAF, "\1l\1w");
	PUT(r, tail, 0, "");
	PUT(r, to, 0, "");
	PUT(r, to_tail, TEXT, "../x/./y");
	assert_int_equal(decode(&r), 1);
	IS(ev.path, "/w/l");
	IS(ev.to, "../x/./y");
	assert_true(event_has(&ev, EF(TARGET)));
}

static void chown_names_only_what_changed(void **state)
{
	START(r, ev_name, EV_CHOWN);

	(void)state;
	r_body->owner = 0;
	r_body->group = 0xffffffff;
	assert_int_equal(decode(&r), 1);
	assert_true(event_has(&ev, EF(OWNER)));
	assert_false(event_has(&ev, EF(GROUP)));
	assert_int_equal(ev.owner, 0);
}

static void exit_is_a_code_or_a_signal(void **state)
{
	START(r, ev_task, EV_EXIT);

	(void)state;
	r_body->status = 7 << 8;
	assert_int_equal(decode(&r), 1);
	assert_true(ev.have == (EF(PID) | EF(CODE)));
	assert_int_equal(ev.code, 7);
	r_body->status = 9 | 0x80; /* killed, core dumped */
	assert_int_equal(decode(&r), 1);
	assert_true(ev.have == (EF(PID) | EF(SIGNAL)));
	assert_int_equal(ev.signal, 9);
}

static void fork_and_escape(void **state)
{
	START(r, ev_task, EV_FORK);

	(void)state;
	r_body->child = 41;
	assert_int_equal(decode(&r), 1);
	assert_true(ev.have == (EF(PID) | EF(CHILD)));
	assert_int_equal(ev.child, 41);
	r_body->head.kind = EV_ESCAPE;
	r_body->cgroup = 1234567890123ull;
	assert_int_equal(decode(&r), 1);
	IS(ev.cgroup, "1234567890123");
}

static void addresses_become_text(void **state)
{
#define A(s) s, sizeof(s) - 1
	static const struct {
		uint16_t family, type, protocol;
		const char *sa;
		size_t len;
		const char *proto, *addr;
		int port; /* -1: none */
	} rows[] = {
		{ AF_INET, SOCK_STREAM, 6, A("\2\0\1\xbb\x7f\0\0\1\0\0\0\0\0\0\0\0"), "tcp", "127.0.0.1", 443 },
		{ AF_INET, SOCK_DGRAM, 0, A("\2\0\0\x35\x08\x08\x04\x04"), "udp", "8.8.4.4", 53 },
		{ AF_INET6, SOCK_STREAM, 6,
		  A("\12\0\0\x50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0"), "tcp", "::1", 80 },
		{ AF_INET6, SOCK_STREAM, 6,
		  A("\12\0\0\x50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1\0\0\0\0"), "tcp", "10.0.0.1", 80 },
		{ AF_INET, SOCK_RAW, 1, A("\2\0\0\0\x01\x01\x01\x01"), "raw", "1.1.1.1", 0 },
		{ AF_INET, SOCK_DGRAM, 1, A("\2\0\0\0\x01\x01\x01\x01"), "icmp", "1.1.1.1", 0 },
		{ AF_INET, 5, 200, A("\2\0\0\0\x01\x01\x01\x01"), "family 2 type 5 protocol 200", "1.1.1.1", 0 },
		{ AF_UNIX, SOCK_STREAM, 0, A("\1\0/run/docker.sock\0junk"), "unix", "/run/docker.sock", -1 },
		{ AF_UNIX, SOCK_STREAM, 0, A("\1\0/run/x"), "unix", "/run/x", -1 },
		{ AF_UNIX, SOCK_STREAM, 0, A("\1\0\0/tmp/.X11-unix/X0"), "unix", "@/tmp/.X11-unix/X0", -1 },
		{ AF_UNIX, SOCK_STREAM, 0, A("\1\0@a\0"), "unix", "./@a", -1 },
		{ AF_UNIX, SOCK_DGRAM, 0, A("\1\0"), "unix", NULL, -1 },
		{ AF_NETLINK, SOCK_RAW, 0, A("\20\0\0\0\0\0\0\0\0\0\0\0"), "netlink", NULL, -1 },
		{ 40, SOCK_STREAM, 0, A("\x28\0\0\0\0\0\0\0"), "family 40", NULL, -1 },
		{ AF_INET, SOCK_STREAM, 6, "", 0, "tcp", NULL, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		START(r, ev_net, EV_CONNECT);

		r_body->family = rows[i].family;
		r_body->type = rows[i].type;
		r_body->protocol = rows[i].protocol;
		put(&r, &r_body->addr, 0, rows[i].sa, rows[i].len);
		assert_int_equal(decode(&r), 1);
		is_str(ev.proto, rows[i].proto, strlen(rows[i].proto));
		assert_int_equal(event_has(&ev, EF(ADDR)), rows[i].addr != NULL);
		if (rows[i].addr)
			is_str(ev.addr, rows[i].addr, strlen(rows[i].addr));
		assert_int_equal(event_has(&ev, EF(PORT)), rows[i].port >= 0);
		if (rows[i].port >= 0)
			assert_int_equal(ev.port, rows[i].port);
	}
}

static void short_addresses_are_refused(void **state)
{
	static const struct {
		const char *sa;
		size_t full;
	} rows[] = {
		{ "\2\0\1\xbb\x7f\0\0\1", 8 },
		{ "\12\0\0\x50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 24 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t len = 1; len <= rows[i].full; len++) {
			START(r, ev_net, EV_CONNECT);

			put(&r, &r_body->addr, 0, rows[i].sa, len);
			assert_int_equal(decode(&r), len == rows[i].full ? 1 : -EBADMSG);
		}
	}
}

static void part(uint32_t pid, uint32_t tid, uint32_t of, uint16_t flags, const char *p, size_t n)
{
	START(r, ev_part, EV_PART);

	r_body->head.pid = pid;
	r_body->head.tid = tid;
	r_body->of = of;
	put(&r, &r_body->bytes, flags, p, n);
	assert_int_equal(decode(&r), 0);
}
#define SCRIPT(pid, tid, flags, s) part(pid, tid, EV_PART_SCRIPT, flags, s, sizeof(s) - 1)
#define ARGV(pid, s) part(pid, pid, EV_PART_ARGV, 0, s, sizeof(s) - 1)

static void exec_is(uint32_t pid, uint32_t argv_bytes)
{
	START(r, ev_exec, EV_EXEC);

	r_body->head.pid = r_body->head.tid = pid;
	r_body->uid = 1000;
	r_body->argv_bytes = argv_bytes;
	r_body->obj = (struct ev_object){ .ino = 9, .nlink = 1 };
	PUT(r, path, LEAF, "\4node\3bin\3usr");
	PUT(r, name, TEXT, "./run.js");
	PUT(r, cwd, LEAF, "\1w");
	assert_int_equal(decode(&r), 1);
}

static void an_exec_is_put_together_from_its_parts(void **state)
{
	(void)state;
	SCRIPT(40, 40, LEAF | EV_S_FIRST, "\6run.js\1w");
	SCRIPT(40, 40, LEAF, "\4node\3bin\3usr"); /* the executable itself: no script */
	ARGV(41, "not\0mine\0");
	ARGV(40, "node\0./ru");
	ARGV(40, "n.js\0-x\0");
	exec_is(40, 17);
	IS(ev.argv, "node\0./run.js\0-x\0");
	IS(ev.scripts, "/w/run.js\0");
	IS(ev.cwd, "/w");
	IS(ev.name, "./run.js");
	IS(ev.path, "/usr/bin/node");
	assert_int_equal(ev.uid, 1000);
	assert_false(event_has(&ev, EF(CUT)));
	exec_is(41, 9);
	IS(ev.argv, "not\0mine\0");
	assert_false(event_has(&ev, EF(SCRIPTS)));
	exec_is(40, 0); /* all was used up */
	IS(ev.argv, "");
}

static void parts_of_a_failed_exec_do_not_leak_into_the_next(void **state)
{
	(void)state;
	SCRIPT(40, 40, LEAF | EV_S_FIRST, "\4fail\1w");
	SCRIPT(40, 40, LEAF | EV_S_FIRST, "\4good\1w");
	exec_is(40, 0);
	IS(ev.scripts, "/w/good\0");
}

static void the_scripts_of_another_thread_that_called_exec_count(void **state)
{
	(void)state;
	SCRIPT(40, 55, LEAF | EV_S_FIRST, "\6run.js\1w");
	ARGV(40, "node\0");
	exec_is(40, 5);
	IS(ev.scripts, "/w/run.js\0");
	IS(ev.argv, "node\0");
}

static void a_script_as_string_is_found_from_the_working_directory(void **state)
{
	(void)state;
	SCRIPT(40, 40, TEXT, "../bin/./x");
	exec_is(40, 0);
	IS(ev.scripts, "/bin/x\0");
	SCRIPT(40, 40, TEXT, "/abs/x");
	exec_is(40, 0);
	IS(ev.scripts, "/abs/x\0");
}

static void missing_arguments_are_marked(void **state)
{
	(void)state;
	ARGV(40, "node\0");
	exec_is(40, 300000);
	assert_true(event_has(&ev, EF(CUT)));
	IS(ev.argv, "node\0");
}

static void unfinished_execs_are_bounded(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 2000; pid++)
		ARGV(pid, "x\0");
	exec_is(2000, 2);
	IS(ev.argv, "x\0");
	exec_is(1, 2); /* gave way */
	IS(ev.argv, "");
	assert_true(event_has(&ev, EF(CUT)));
}

static void too_many_parts_are_refused(void **state)
{
	static char piece[EV_PART_BYTES];
	START(r, ev_part, EV_PART);

	(void)state;
	for (int i = 0; i < EV_ARGV_BYTES / EV_PART_BYTES; i++)
		part(40, 40, EV_PART_ARGV, 0, piece, sizeof(piece));
	r_body->of = EV_PART_ARGV;
	PUT(r, bytes, 0, "x");
	assert_int_equal(decode(&r), -EBADMSG);
	for (int i = 0; i < 8; i++)
		SCRIPT(50, 50, TEXT, "/x");
	r_body->head.pid = r_body->head.tid = 50;
	r_body->of = EV_PART_SCRIPT;
	assert_int_equal(decode(&r), -EBADMSG);
	r_body->of = 2;
	assert_int_equal(decode(&r), -EBADMSG);
}

static void exit_forgets_parts(void **state)
{
	START(r, ev_task, EV_EXIT);

	(void)state;
	ARGV(40, "x\0");
	assert_int_equal(decode(&r), 1);
	exec_is(40, 0);
	IS(ev.argv, "");
}

static void broken_names_are_refused(void **state)
{
	static const struct {
		uint16_t flags;
		const char *p;
		size_t n;
	} rows[] = {
		{ LEAF, "\0", 1 },	 /* an empty component */
		{ LEAF, "\5abc", 4 },	 /* longer than what is there */
		{ LEAF, "\1a\7", 3 },
		{ LEAF, "\3a\0b", 4 },	 /* a NUL in a name */
		{ TEXT, "/a\0b", 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		START(r, ev_file, EV_OPEN);

		put(&r, &r_body->path, rows[i].flags, rows[i].p, rows[i].n);
		assert_int_equal(decode(&r), -EBADMSG);
	}
}

static void every_wrong_length_is_refused(void **state)
{
	START(r, ev_name, EV_RENAME);

	(void)state;
	PUT(r, path, LEAF, "\1a\1w");
	PUT(r, tail, TEXT, "b");
	PUT(r, to, LEAF, "\1c\1w");
	PUT(r, to_tail, TEXT, "d");
	for (size_t len = 0; len < r.len; len++)
		assert_int_equal(decode_len(&r, len), -EBADMSG);
	assert_int_equal(decode_len(&r, r.len), 1);
	assert_int_equal(decode_len(&r, r.len + 1), -EBADMSG);
	for (unsigned n = 0; n < 65536; n++) {
		r_body->tail.len = (uint16_t)n;
		assert_int_equal(decode(&r), n == 1 ? 1 : -EBADMSG);
	}
}

static bool made_by_us(unsigned kind)
{
	return kind == EV_REPEAT || (kind >= EV_BEGIN && kind != EV_PART);
}

static void kinds_that_are_not_on_the_ring_are_refused(void **state)
{
	static const size_t sizes[] = { 40, 48, 80, 112 }; /* of all bodies */
	struct rec r = { .len = 0 };

	(void)state;
	for (unsigned kind = 0; kind < 256; kind++) {
		int taken = 0;

		((struct ev_head *)r.bytes)->kind = (uint8_t)kind;
		((struct ev_head *)r.bytes)->pid = 40;
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			taken += decode_len(&r, sizes[i]) >= 0;
		assert_int_equal(taken, made_by_us(kind) ? 0 : 1);
	}
}

static void see(uint16_t cpu, uint64_t seq)
{
	START(r, ev_task, EV_FORK);

	r_body->head.cpu = cpu;
	r_body->head.seq = seq;
	assert_int_equal(decode(&r), 1);
}

static void holes_are_counted_whatever_the_order(void **state)
{
	(void)state;
	see(0, 0);
	see(0, 2); /* overtook 1 */
	assert_int_equal(decoder_holes(dec), 1);
	see(0, 1);
	assert_int_equal(decoder_holes(dec), 0);
	see(3, 4); /* 0..3 never came */
	assert_int_equal(decoder_holes(dec), 4);
	see(0, 10);
	assert_int_equal(decoder_holes(dec), 11);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_leaf_first_path_is_turned_round),
		T(no_path_is_no_path_but_the_root_is_one),
		T(a_cut_path_has_no_slash_in_front),
		T(an_unreachable_path_says_so),
		T(names_are_joined_and_normalised),
		T(composes_the_name_of_a_truncated_file),
		T(a_rename_has_both_ends_and_what_it_replaced),
		T(the_text_of_a_symbolic_link_is_left_as_it_is),
		T(chown_names_only_what_changed),
		T(exit_is_a_code_or_a_signal),
		T(fork_and_escape),
		T(addresses_become_text),
		T(short_addresses_are_refused),
		T(an_exec_is_put_together_from_its_parts),
		T(parts_of_a_failed_exec_do_not_leak_into_the_next),
		T(the_scripts_of_another_thread_that_called_exec_count),
		T(a_script_as_string_is_found_from_the_working_directory),
		T(missing_arguments_are_marked),
		T(unfinished_execs_are_bounded),
		T(too_many_parts_are_refused),
		T(exit_forgets_parts),
		T(broken_names_are_refused),
		T(every_wrong_length_is_refused),
		T(kinds_that_are_not_on_the_ring_are_refused),
		T(holes_are_counted_whatever_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
