/* SPDX-License-Identifier: MIT */
/* Messages between front and collector arrive whole, or the other end is gone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/link.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
	static int fds[2];

	*state = fds;
	return link_pair(fds);
}

static int tear_down(void **state)
{
	int *fds = *state;

	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	return 0;
}

static void hands_over_type_and_bytes(void **state)
{
	struct link_msg m = { 0 };
	int *fds = *state;

	assert_int_equal(link_send(fds[0], LINK_NOTE, "a\0b", 3), 0);
	assert_int_equal(link_send(fds[0], LINK_STOP, NULL, 0), 0);
	assert_int_equal(link_recv(fds[1], &m), 0);
	assert_int_equal(m.type, LINK_NOTE);
	assert_int_equal(m.bytes.len, 3);
	assert_memory_equal(m.bytes.data, "a\0b", 3);
	assert_int_equal(link_recv(fds[1], &m), 0);
	assert_int_equal(m.type, LINK_STOP);
	assert_int_equal(m.bytes.len, 0);
	buf_done(&m.bytes);
}

static void two_pieces_are_one_message(void **state)
{
	struct link_msg m = { 0 };
	int *fds = *state;

	assert_int_equal(link_send2(fds[0], LINK_DONE, "head", 4, "tail", 4), 0);
	assert_int_equal(link_recv(fds[1], &m), 0);
	assert_int_equal(m.type, LINK_DONE);
	assert_string_equal(buf_str(&m.bytes), "headtail");
	buf_done(&m.bytes);
}

static void a_large_message_arrives_whole(void **state)
{
	static char large[3 << 20];
	struct link_msg m = { 0 };
	int *fds = *state;
	pid_t pid;

	memset(large, 'x', sizeof(large));
	pid = fork();
	if (!pid)
		_exit(link_send(fds[0], LINK_DONE, large, sizeof(large)) != 0);
	assert_int_equal(link_recv(fds[1], &m), 0);
	assert_int_equal(m.bytes.len, sizeof(large));
	assert_memory_equal(m.bytes.data, large, sizeof(large));
	buf_done(&m.bytes);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void tells_that_the_other_end_is_gone(void **state)
{
	struct link_msg m = { 0 };
	int *fds = *state;
	uint32_t half[2] = { LINK_NOTE, 10 };

	assert_int_equal(send(fds[0], half, sizeof(half), 0), sizeof(half));
	assert_int_equal(send(fds[0], "four", 4, 0), 4);
	(void)close(fds[0]);
	fds[0] = -1;
	assert_int_equal(link_recv(fds[1], &m), -EPIPE);
	assert_int_equal(link_send(fds[1], LINK_STOP, NULL, 0), -EPIPE);
	buf_done(&m.bytes);
}

static void refuses_what_is_no_message(void **state)
{
	static const uint32_t bad[][2] = {
		{ LINK_DONE + 1, 0 },
		{ LINK_NOTE, MAX_LINK_BYTES + 1 },
	};
	int *fds = *state;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct link_msg m = { 0 };

		assert_int_equal(send(fds[0], bad[i], sizeof(bad[i]), 0), sizeof(bad[i]));
		assert_int_equal(link_recv(fds[1], &m), -EBADMSG);
		buf_done(&m.bytes);
	}
	assert_int_equal(link_send(fds[0], LINK_NOTE, NULL, MAX_LINK_BYTES + 1), -EMSGSIZE);
}

static void a_note_never_waits(void **state)
{
	char text[1000] = "";
	int *fds = *state;
	int r = 0;

	for (int i = 0; i < 100000 && !r; i++)
		r = link_send_now(fds[0], LINK_NOTE, text, sizeof(text));
	assert_int_equal(r, -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hands_over_type_and_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_pieces_are_one_message, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_large_message_arrives_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_that_the_other_end_is_gone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(refuses_what_is_no_message, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_note_never_waits, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
