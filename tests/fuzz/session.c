/* SPDX-License-Identifier: MIT */
/*
 * A whole record of any lines: the session stays within its limits, every
 * report can be made, and no byte that steers a terminal gets out.
 */
#include "base/cur.h"
#include "base/json_line.h"
#include "event/line.h"
#include "report/show.h"
#include "report/summary.h"

#define RUN "7f3a0123456789ab"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct session *s, struct show_stream *st, struct cur in, struct buf *to)
{
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct cur line;
	struct event e;

	while (cur_until(&in, '\n', &line) == 0) {
		if (event_from_line((const char *)line.at, cur_left(&line), &store, NULL, &e) < 0)
			continue;
		session_event(s, &e);
		show_event(st, &e, to);
	}
}

static void must_be_plain(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		if (c == 0x7f || (c < ' ' && c != '\n' && c != '\t'))
			abort();
	}
}

static void must_be_json(const struct session *s)
{
	_cleanup_buf_ struct buf json = BUF_INIT;

	summary_json(s, RUN, &json);
	if (json_line_check(cur_of(json.data, json.len - 1)) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum show_form forms[] = { SHOW_TEXT, SHOW_TSV, SHOW_JSON, SHOW_NDJSON };
	struct show_options o = { .form = SHOW_TSV, .width = 80, .run = RUN };
	struct show_stream st = { .o = &o };
	_cleanup_session_ struct session *s = session_new();
	_cleanup_buf_ struct buf text = BUF_INIT;

	feed(s, &st, cur_of(data, size), &text);
	summary_text(s, RUN, &text);
	summary_sentence(s, &text);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		o.form = forms[i];
		show_tree(s, &o, &text);
		show_files(s, &o, &text);
		show_net(s, &o, &text);
	}
	must_be_plain(&text);
	must_be_json(s);
	return 0;
}
