/* SPDX-License-Identifier: MIT */
/* A ledger folder through its public borders: start, append, end, read back, verify, rotate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/timeutil.h"
#include "ledger/key.h"
#include "ledger/reader.h"
#include "ledger/runlog.h"
#include "ledger/verify.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#define LATER (2 * NS_PER_S)

struct place {
	char base[64], dir[80];
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw; /* everything goes */
	return remove(path);
}

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->base, sizeof(p->base), "/tmp/deedlog-unit-XXXXXX");
	if (!mkdtemp(p->base))
		return -1;
	snprintf(p->dir, sizeof(p->dir), "%s/ledger", p->base);
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;

	nftw(p->base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

static struct ledger *open_new(const struct place *p)
{
	struct ledger *l = NULL;
	struct diag d = { 0 };

	if (ledger_open(p->dir, true, &d, &l) < 0)
		fail_msg("%s", d.msg);
	return l;
}

static struct runlog *start(struct ledger *l, const char *cmd, char id[RUN_ID_LEN + 1])
{
	const struct run_facts facts = { .cmd = cmd, .uid = 7, .tier = "lsm", .mode = "enforce" };
	struct runlog *r = NULL;
	struct diag d = { 0 };

	if (runlog_start(l, &facts, &d, &r) < 0)
		fail_msg("%s", d.msg);
	memcpy(id, runlog_id(r), RUN_ID_LEN + 1);
	return r;
}

static void end(struct runlog *r)
{
	static const char line[] = "{\"t\":\"end\",\"b\":90,\"exit\":0}";
	struct diag d = { 0 };

	if (runlog_end(r, line, strlen(line), 90, 0, -1, NULL, &d) < 0)
		fail_msg("%s", d.msg);
}

static void append(struct runlog *r, const char *line, uint64_t b)
{
	assert_int_equal(runlog_append(r, line, strlen(line), b, false), 0);
}

struct seen {
	char codes[512];
};

static void note_code(const struct finding *f, void *arg)
{
	struct seen *s = arg;
	size_t n = strlen(s->codes);

	snprintf(s->codes + n, sizeof(s->codes) - n, "%s ", f->code);
}

static int verdict(const struct place *p, struct seen *s, const struct verify_options *o)
{
	static const struct verify_options none;
	struct verify_totals t;
	struct diag d;

	*s = (struct seen){ 0 };
	return verify_ledger(p->dir, o ? o : &none, note_code, s, &t, &d);
}

static void reads_back_what_was_appended(void **state)
{
	_cleanup_ledger_ struct ledger *l = open_new(*state);
	_cleanup_buf_ struct buf big = BUF_INIT;
	struct reader *reader = NULL;
	char id[RUN_ID_LEN + 1];
	struct runlog *r = start(l, "make", id);
	struct record rec;
	struct diag d = { 0 };
	uint64_t due;

	buf_addstr(&big, "{\"t\":\"exec\",\"b\":20,\"argv\":[\"");
	while (big.len < 150000)
		buf_addstr(&big, "abc\\u001b\",\"\xc3\xa4");
	buf_addstr(&big, "\"],\"z\":1}");
	append(r, "{\"t\":\"open\",\"b\":10}", 10);
	assert_int_equal(runlog_flush(r, time_boot_ns() + LATER, &d, &due), 0);
	append(r, big.data, 20);
	end(r);
	assert_int_equal(reader_open(l, id, &d, &reader), 0);
	assert_int_equal(reader_next(reader, &d, &rec), 1);
	assert_string_equal(rec.line, "{\"t\":\"open\",\"b\":10}");
	assert_int_equal(rec.leaf, 1);
	assert_int_equal(reader_next(reader, &d, &rec), 1);
	assert_int_equal(rec.len, big.len);
	assert_string_equal(rec.line, big.data);
	assert_false(reader_closed(reader));
	assert_int_equal(reader_next(reader, &d, &rec), 1);
	assert_string_equal(rec.line, "{\"t\":\"end\",\"b\":90,\"exit\":0}");
	assert_int_equal(reader_next(reader, &d, &rec), 0);
	assert_true(reader_closed(reader));
	reader_free(reader);
}

static void names_runs_by_prefix(void **state)
{
	_cleanup_ledger_ struct ledger *l = open_new(*state);
	char first[RUN_ID_LEN + 1], second[RUN_ID_LEN + 1], got[RUN_ID_LEN + 1], part[9];
	struct run_info *runs;
	struct diag d;
	size_t n;

	end(start(l, "a\x1b[31m", first));
	runlog_abandon(start(l, "second", second));
	assert_int_equal(ledger_runs(l, &d, &runs, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(runs[0].cmd, "a\\x1b[31m");
	assert_true(runs[0].ended);
	assert_false(runs[1].ended);
	assert_int_equal(runs[1].uid, 7);
	assert_string_equal(runs[1].tier, "lsm");
	free(runs);
	assert_int_equal(ledger_find_run(l, NULL, &d, got), 0);
	assert_string_equal(got, second);
	snprintf(part, sizeof(part), "%.8s", first);
	assert_int_equal(ledger_find_run(l, part, &d, got), 0);
	assert_string_equal(got, first);
	assert_int_equal(ledger_find_run(l, "abc", &d, got), -EINVAL);
	assert_int_equal(ledger_find_run(l, "0000000000000000", &d, got), -ENOENT);
}

static void verdicts_follow_the_life_of_a_run(void **state)
{
	struct ledger *l = open_new(*state);
	char id[RUN_ID_LEN + 1];
	struct seen s;

	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INTACT);
	assert_string_equal(s.codes, "unpinned ok ");
	end(start(l, "one", id));
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INTACT);
	runlog_abandon(start(l, "two", id));
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INCOMPLETE);
	assert_string_equal(s.codes, "unpinned ok ok open ");
	assert_int_equal(verdict(*state, &s, &(struct verify_options){ .closed_only = true }),
			 VERIFY_INTACT);
	ledger_free(l);
	ledger_free(open_new(*state));
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INCOMPLETE);
	assert_string_equal(s.codes, "unpinned ok ok orphan ");
	assert_int_equal(verdict(*state, &s, &(struct verify_options){ .vkey = "deedlog.invalid/x" }),
			 VERIFY_TAMPERED);
	assert_string_equal(s.codes, "signature ok orphan ");
	assert_int_equal(verdict(*state, &s, &(struct verify_options){ .run = "ffffffffffffffff" }),
			 VERIFY_TROUBLE);
}

static void counters_that_were_lost_are_incomplete(void **state)
{
	_cleanup_ledger_ struct ledger *l = open_new(*state);
	char id[RUN_ID_LEN + 1];
	struct runlog *r = start(l, "make", id);
	struct diag d;
	uint64_t due;
	struct seen s;

	runlog_counters(r, "{\"ring\":{\"file\":7}}", "{}");
	append(r, "{\"t\":\"open\",\"b\":10}", 10);
	assert_int_equal(runlog_flush(r, time_boot_ns() + LATER, &d, &due), 0);
	assert_int_equal(runlog_flush(r, time_boot_ns() + 2 * LATER, &d, &due), 0);
	runlog_counters(r, "{\"ring\":{\"file\":8,\"net\":1}}", "{}");
	end(r);
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INCOMPLETE);
	assert_string_equal(s.codes, "unpinned ok lost ok ");
}

static void counters_that_fall_are_tampering(void **state)
{
	_cleanup_ledger_ struct ledger *l = open_new(*state);
	char id[RUN_ID_LEN + 1];
	struct runlog *r = start(l, "make", id);
	struct diag d;
	uint64_t due;
	struct seen s;

	runlog_counters(r, "{\"ring\":{\"file\":7}}", "{}");
	append(r, "{\"t\":\"open\",\"b\":10}", 10);
	assert_int_equal(runlog_flush(r, time_boot_ns() + LATER, &d, &due), 0);
	assert_int_equal(runlog_flush(r, time_boot_ns() + 2 * LATER, &d, &due), 0);
	runlog_counters(r, "{\"ring\":{\"net\":9}}", "{}");
	end(r);
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_TAMPERED);
	assert_non_null(strstr(s.codes, "counter "));
}

static void events_outside_their_seal_are_tampering(void **state)
{
	_cleanup_ledger_ struct ledger *l = open_new(*state);
	char id[RUN_ID_LEN + 1];
	struct runlog *r = start(l, "make", id);
	struct seen s;

	append(r, "{\"t\":\"open\",\"b\":10}", 11);
	end(r);
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_TAMPERED);
	assert_string_equal(s.codes, "unpinned ok time-range ");
}

static void keys_path(const struct place *p, const char *file, char to[256])
{
	snprintf(to, 256, "%s/current/keys/%s", p->dir, file);
}

/* The four states in which a crash may leave the key files. */
static void finishes_or_undoes_a_rotation(void **state)
{
	char key[256], next[256], id[RUN_ID_LEN + 1];
	struct seen s;

	ledger_free(open_new(*state));
	keys_path(*state, "index.key", key);
	keys_path(*state, "index.next", next);
	/* R1 only: a next key that nothing names, and half of one */
	for (int len = 36; len >= 9; len -= 27) {
		_cleanup_fd_ int fd = open(next, O_WRONLY | O_CREAT | O_EXCL, 0600);
		struct ledger *l;

		assert_int_equal(write(fd, "0123456789012345678901234567890123456789", (size_t)len), len);
		l = open_new(*state);
		assert_int_equal(access(next, F_OK), -1);
		end(start(l, "make", id));
		ledger_free(l);
	}
	/* R2: the log names the next key, the file is still aside */
	assert_int_equal(rename(key, next), 0);
	ledger_free(open_new(*state));
	assert_int_equal(access(next, F_OK), -1);
	assert_int_equal(access(key, F_OK), 0);
	assert_int_equal(verdict(*state, &s, NULL), VERIFY_INTACT);
}

static void refuses_a_key_that_others_may_read(void **state)
{
	struct ledger *l = NULL;
	struct diag d = { 0 };
	char key[256];

	ledger_free(open_new(*state));
	keys_path(*state, "index.key", key);
	assert_int_equal(chmod(key, 0644), 0);
	assert_int_equal(ledger_open(((struct place *)*state)->dir, true, &d, &l), -EPERM);
	assert_int_equal(chmod(key, 0600), 0);
	assert_int_equal(truncate(key, 35), 0);
	assert_int_equal(ledger_open(((struct place *)*state)->dir, true, &d, &l), -EKEYREJECTED);
	assert_non_null(strstr(d.msg, "cannot be continued"));
}

static void refuses_a_folder_that_others_may_write(void **state)
{
	struct place *p = *state;
	struct ledger *l = NULL;
	struct diag d = { 0 };

	assert_int_equal(ledger_open(p->dir, false, &d, &l), -ENOENT);
	assert_int_equal(mkdir(p->dir, 0755), 0);
	assert_int_equal(chmod(p->dir, 0777), 0);
	assert_int_equal(ledger_open(p->dir, true, &d, &l), -EPERM);
	assert_non_null(strstr(d.msg, "chmod go-w"));
	assert_int_equal(chmod(p->dir, 0755), 0);
	assert_int_equal(ledger_open(p->dir, false, &d, &l), -ENOENT);
}

static void does_not_continue_a_log_that_was_rolled_back(void **state)
{
	struct place *p = *state;
	char index[256], id[RUN_ID_LEN + 1];
	struct ledger *l = open_new(p);
	struct diag d = { 0 };
	struct stat st;
	struct seen s;

	snprintf(index, sizeof(index), "%s/current/index/000000.gz", p->dir);
	assert_int_equal(stat(index, &st), 0);
	end(start(l, "make", id));
	ledger_free(l);
	assert_int_equal(truncate(index, st.st_size), 0);
	assert_int_equal(verdict(p, &s, NULL), VERIFY_TAMPERED);
	assert_string_equal(s.codes, "truncated unpinned unannounced ");
	l = NULL;
	assert_int_equal(ledger_open(p->dir, true, &d, &l), -EUCLEAN);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, drop_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_back_what_was_appended),
		TEST(names_runs_by_prefix),
		TEST(verdicts_follow_the_life_of_a_run),
		TEST(counters_that_were_lost_are_incomplete),
		TEST(counters_that_fall_are_tampering),
		TEST(events_outside_their_seal_are_tampering),
		TEST(finishes_or_undoes_a_rotation),
		TEST(refuses_a_key_that_others_may_read),
		TEST(refuses_a_folder_that_others_may_write),
		TEST(does_not_continue_a_log_that_was_rolled_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
