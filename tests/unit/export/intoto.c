/* SPDX-License-Identifier: MIT */
/* Statements: the whole text of a small one, and that a large one stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json_in.h"
#include "export/intoto.h"
#include "ledger/attest.h"

#define SHA "00112233445566778899aabbccddeeff00112233"
#define HOST "1111111111111111111111111111111111111111111111111111111111111111"
#define ROOT "2222222222222222222222222222222222222222222222222222222222222222"
#define OWN "https://deedlog.invalid/runtime-trace/1"

static void begin(struct session *s)
{
	const struct event e = { .kind = EV_BEGIN, .boot_ns = 1, .pid = 7,
				 .have = EF(PID) | EF(TIER) | EF(WORKSPACE),
				 .tier = str_of("trace"), .workspace = str_of("/w") };

	session_event(s, &e);
}

static void wrote(struct session *s, const char *path, uint64_t ino)
{
	const struct event e = { .kind = EV_OPEN, .boot_ns = 2, .pid = 7, .access = 2,
				 .have = EF(PID) | EF(PATH) | EF(DEV) | EF(INO) | EF(ACCESS),
				 .path = str_of(path), .obj = { .ino = ino, .dev = 1 } };
	const struct event w = { .kind = EV_WRITE, .boot_ns = 3, .pid = 7, .bytes = 5, .ops = 1,
				 .have = EF(PID) | EF(PATH) | EF(DEV) | EF(INO) | EF(BYTES),
				 .path = str_of(path), .obj = { .ino = ino, .dev = 1 } };

	session_event(s, &e);
	session_event(s, &w);
}

static void connects(struct session *s, const char *addr, uint32_t port)
{
	const struct event e = { .kind = EV_CONNECT, .boot_ns = 4, .pid = 7, .port = port,
				 .have = EF(PID) | EF(PROTO) | EF(ADDR) | EF(PORT),
				 .proto = str_of("tcp"), .addr = str_of(addr) };

	session_event(s, &e);
}

static void make(const struct session *s, struct buf *to)
{
	const struct intoto_run run = { s, "deedlog.invalid/fe812c12f3ab/run/0123456789abcdef", 9, ROOT };
	const struct intoto_commit c = { .sha = SHA, .host = HOST, .runs = &run, .n_runs = 1 };

	intoto_statement(&c, to);
}

static void says_what_its_type_demands(void **state)
{
	_cleanup_session_ struct session *s = session_new();
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	begin(s);
	wrote(s, "/w/a b%.c", 11);
	connects(s, "2001:db8::1", 443);
	make(s, &b);
	assert_string_equal(
		buf_str(&b),
		"{\"_type\":\"https://in-toto.io/Statement/v1\","
		"\"subject\":[{\"digest\":{\"gitCommit\":\"" SHA "\"}}],"
		"\"predicateType\":\"https://in-toto.io/attestation/runtime-trace/v0.1\",\"predicate\":{"
		"\"monitor\":{\"type\":\"" OWN "\"},"
		"\"monitoredProcess\":{\"hostID\":\"urn:deedlog:machine:" HOST "\",\"type\":\"" OWN
		"\",\"event\":\"" SHA "\"},"
		"\"monitorLog\":{\"process\":[],"
		"\"network\":[{\"uri\":\"tcp://[2001:db8::1]:443\",\"annotations\":{\"requests\":1,\"loopback\":false}}],"
		"\"fileAccess\":[{\"uri\":\"file:///w/a%20b%25.c\",\"annotations\":{\"access\":\"written\"}}]},"
		"\"" OWN "\":{\"runs\":[{\"name\":\"deedlog.invalid/fe812c12f3ab/run/0123456789abcdef\","
		"\"digest\":{\"sha256\":\"" ROOT "\"},\"annotations\":{\"size\":9,\"tier\":\"trace\","
		"\"workspace\":{\"read\":0,\"written\":1,\"created\":0,\"removed\":0},\"secrets_read\":0,"
		"\"network_requests\":1,\"processes\":1,\"complete\":false}}],"
		"\"left_out\":{\"runs\":0,\"process\":0,\"network\":0,\"fileAccess\":0}}}}");
}

/* Escaped, each byte of it is six. */
static void names(struct session *s)
{
	char long_name[2000];
	const struct event e = { .kind = EV_TOOL, .boot_ns = 2, .pid = 7,
				 .have = EF(PID) | EF(NAME) | EF(PURL),
				 .name = { long_name, sizeof(long_name) },
				 .purl = { long_name, sizeof(long_name) } };

	memset(long_name, 0x1b, sizeof(long_name));
	session_event(s, &e);
}

static void the_largest_is_cut_counted_and_fits(void **state)
{
	struct intoto_run runs[MAX_INTOTO_RUNS];
	const struct intoto_commit c = { .sha = SHA, .host = HOST, .runs = runs,
					 .n_runs = MAX_INTOTO_RUNS };
	_cleanup_session_ struct session *s = session_new();
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_json_in_ struct json_in *json = NULL;
	char addr[32];

	(void)state;
	begin(s);
	names(s);
	for (unsigned i = 0; i < 1000; i++) {
		_cleanup_free_ char *path = xasprintf("/w/\xff\x1b[2J%0*u", 200, i);

		wrote(s, path, 100 + i);
		(void)snprintf(addr, sizeof(addr), "203.0.%u.%u", i / 256, i % 256);
		connects(s, addr, 443);
	}
	for (size_t i = 0; i < MAX_INTOTO_RUNS; i++)
		runs[i] = (struct intoto_run){ s, "deedlog.invalid/fe812c12f3ab/run/0123456789abcdef", 9,
					       ROOT };
	intoto_statement(&c, &b);
	/* base64 in an envelope makes four thirds of it */
	assert_true(b.len * 4 / 3 + 1024 < MAX_STATEMENT);
	assert_int_equal(json_in_object(b.data, b.len, &json), 0);
	assert_non_null(strstr(buf_str(&b), "\"network\":15900,\"fileAccess\":159"));
	assert_non_null(strstr(buf_str(&b), "file:///w/%FF%1B%5B2J000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_its_type_demands),
		cmocka_unit_test(the_largest_is_cut_counted_and_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
