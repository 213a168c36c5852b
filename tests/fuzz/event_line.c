/* SPDX-License-Identifier: MIT */
/* Any text as a line: what is taken must be exactly what the writer would write. */
#include "base/cur.h"
#include "event/line.h"
#include "event/loss.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts that are taken come back as the same counts. */
static void check_losses(struct str text)
{
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct loss l, back;

	if (loss_from_json(text.p, text.len, &l) < 0)
		return;
	loss_to_json(&l, &again);
	if (loss_from_json(again.data, again.len, &back) < 0 || memcmp(l.n, back.n, sizeof(l.n)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf store = BUF_INIT, again = BUF_INIT;
	struct event e;
	struct diag d;

	if (event_from_line((const char *)data, size, &store, &d, &e) < 0)
		return 0;
	if (event_has(&e, EF(LOST)))
		check_losses(e.lost);
	event_to_line(&e, &again);
	if (again.len != size || memcmp(again.data, data, size))
		abort();
	return 0;
}
