/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the line parser, splitting and joining. What the parser accepts splits
 * and joins to the same bytes; any sequence of lines is joined or refused.
 */
#include "base/json_line.h"
#include "ledger/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LEAF 42

static void check_split(struct cur text)
{
	_cleanup_buf_ struct buf lines = BUF_INIT, back = BUF_INIT;
	_cleanup_(line_join_done) struct line_join j = { 0 };
	struct cur in, line;
	int n = line_split(text, LEAF, &lines), r = 0;

	if (n <= 1)
		return;
	in = cur_of(lines.data, lines.len);
	for (int i = 0; !cur_until(&in, '\n', &line); i++) {
		if (cur_left(&line) >= LINE_MAX_BYTES || line_check(line) < 0)
			abort();
		r = i ? line_join_add(&j, line) : line_join_start(&j, line, LEAF);
	}
	if (r != 1 || line_join_finish(&j, &back) < 0 || back.len != cur_left(&text) ||
	    memcmp(back.data, text.at, back.len))
		abort();
}

static void check_join(struct cur in)
{
	_cleanup_(line_join_done) struct line_join j = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct cur line;

	if (cur_until(&in, '\n', &line) < 0 || line_join_start(&j, line, LEAF) < 0)
		return;
	while (!cur_until(&in, '\n', &line))
		if (line_join_add(&j, line))
			break;
	if (!line_join_finish(&j, &out) && json_line_check(cur_of(out.data, out.len)) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cur text = cur_of(data, size);

	(void)line_check(text); /* only must not fall over */
	check_split(text);
	check_join(text);
	return 0;
}
