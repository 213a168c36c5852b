/* SPDX-License-Identifier: MIT */
/*
 * Each folder of tests/golden/report holds the lines of a run and, written by
 * hand, what every report must make of them. Without arguments all are
 * compared; with REGEN=1 the files are written anew, for a diff to review.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cur.h"
#include "base/fdio.h"
#include "event/line.h"
#include "report/show.h"
#include "report/summary.h"
#include "trace/tracer.h"

#define GOLDEN	 "tests/golden/report"
#define RUN	 "7f3a0123456789ab"
#define FILE_CAP (1u << 20)

static struct buf lines;

/* The run of a folder, through the same door as a ledger's records. */
static struct session *read_run(void)
{
	struct session *s = session_new();
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct cur left = cur_of(buf_str(&lines), lines.len), line;
	struct event e;
	struct diag d;

	while (cur_until(&left, '\n', &line) == 0) {
		if (event_from_line((const char *)line.at, cur_left(&line), &store, &d, &e) < 0)
			fail_msg("%s", d.msg);
		session_event(s, &e);
	}
	return s;
}

/* What the tier cannot do is the tier table's text, not ours: LIMITS stands for it. */
static void make_summary(const struct session *s, struct buf *to)
{
	const char *limits = tier_limits(TIER_TRACE), *hit;
	_cleanup_buf_ struct buf text = BUF_INIT;

	summary_text(s, RUN, &text);
	hit = strstr(text.data, limits);
	if (!hit) {
		buf_add(to, text.data, text.len);
		return;
	}
	buf_add(to, text.data, (size_t)(hit - text.data));
	buf_addstr(to, "LIMITS");
	buf_addstr(to, hit + strlen(limits));
}

static void make_json(const struct session *s, struct buf *to)
{
	summary_json(s, RUN, to);
}

static void make_tree(const struct session *s, struct buf *to)
{
	show_tree(s, &(struct show_options){ .form = SHOW_TEXT, .width = 200 }, to);
}

static void make_tree_tsv(const struct session *s, struct buf *to)
{
	show_tree(s, &(struct show_options){ .form = SHOW_TSV }, to);
}

static void make_files(const struct session *s, struct buf *to)
{
	show_files(s, &(struct show_options){ .form = SHOW_TSV }, to);
}

static void make_files_json(const struct session *s, struct buf *to)
{
	show_files(s, &(struct show_options){ .form = SHOW_NDJSON, .run = RUN }, to);
}

static void make_net(const struct session *s, struct buf *to)
{
	show_net(s, &(struct show_options){ .form = SHOW_JSON, .run = RUN }, to);
}

static void make_events(const struct session *s, struct buf *to)
{
	struct show_options o = { .form = SHOW_TSV };
	struct show_stream st = { .o = &o, .begin_ns = s->begin_ns };
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct cur left = cur_of(buf_str(&lines), lines.len), line;
	struct event e;

	show_events_head(&st, to);
	while (cur_until(&left, '\n', &line) == 0) {
		assert_int_equal(event_from_line((const char *)line.at, cur_left(&line), &store,
						 NULL, &e), 0);
		show_event(&st, &e, to);
	}
	show_events_tail(&st, to);
}

static const struct {
	const char *file;
	void (*make)(const struct session *s, struct buf *to);
} views[] = {
	{ "summary.txt", make_summary },     { "sentence.txt", summary_sentence },
	{ "summary.json", make_json },	     { "tree.txt", make_tree },
	{ "tree.tsv", make_tree_tsv },	     { "files.tsv", make_files },
	{ "files.ndjson", make_files_json }, { "net.json", make_net },
	{ "events.tsv", make_events },
};

static void compare(int dir, const char *name, const char *file, const struct buf *got)
{
	_cleanup_buf_ struct buf want = BUF_INIT;
	int r = file_read_at(dir, file, FILE_CAP, &want);

	if (r == -ENOENT && !getenv("REGEN"))
		return; /* a folder holds the views that it is about */
	if (getenv("REGEN") && r >= 0) {
		assert_int_equal(file_replace_at(dir, file, 0644, got->data, got->len), 0);
		return;
	}
	if (r >= 0 && strcmp(buf_str(&want), buf_str(got)))
		fail_msg("%s/%s/%s\n--- want\n%s--- got\n%s", GOLDEN, name, file, buf_str(&want),
			 buf_str(got));
}

static void check_folder(int root, const char *name)
{
	_cleanup_fd_ int dir = dir_open_at(root, name);

	assert_true(dir >= 0);
	buf_reset(&lines);
	assert_int_equal(file_read_at(dir, "run.ndjson", FILE_CAP, &lines), 0);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		_cleanup_session_ struct session *s = read_run();
		_cleanup_buf_ struct buf got = BUF_INIT;

		views[i].make(s, &got);
		compare(dir, name, views[i].file, &got);
	}
}

static void every_report_is_what_was_written_by_hand(void **state)
{
	DIR *d = opendir(GOLDEN);
	struct dirent *entry;
	int n = 0;

	(void)state;
	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		check_folder(dirfd(d), entry->d_name);
		n++;
	}
	closedir(d);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_report_is_what_was_written_by_hand),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&lines);
	return r;
}
