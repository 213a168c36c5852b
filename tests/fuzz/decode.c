/* SPDX-License-Identifier: MIT */
/*
 * Ring records of any content: each input is a sequence of records, each
 * behind its length (two bytes, little endian). What decodes must survive the
 * way to a line and back.
 */
#include "base/cur.h"
#include "event/decode.h"
#include "event/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct event *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT, again = BUF_INIT, store = BUF_INIT;
	struct event back;

	if (e->boot_ns > INT64_MAX)
		return; /* no clock shows that */
	event_to_line(e, &line);
	if (event_from_line(line.data, line.len, &store, NULL, &back) < 0)
		abort();
	event_to_line(&back, &again);
	if (strcmp(line.data, again.data))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder *d = decoder_new();
	struct cur in = cur_of(data, size), rec;
	struct event e;
	uint16_t len;

	while (cur_le16(&in, &len) == 0 && cur_take(&in, len, &rec) == 0)
		if (decoder_record(d, rec.at, cur_left(&rec), &e) == 1)
			check(&e);
	(void)decoder_holes(d); /* must not trap, whatever the numbers are */
	decoder_free(d);
	return 0;
}
