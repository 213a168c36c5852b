/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes notes and vkeys. A note that parses has one spelling: its text and
 * its vkeys written again are the same bytes. No signature of a fresh key is in it.
 */
#include "ledger/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct note *n)
{
	_cleanup_buf_ struct buf again = BUF_INIT;

	note_add(&again, &n->cp, NULL, 0, 0);
	buf_cut(&again, again.len - 1); /* the empty line */
	if (again.len != cur_left(&n->text) || memcmp(again.data, n->text.at, again.len))
		abort();
}

static void check_vkey(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct vkey v;

	if (vkey_parse(cur_of(data, size), &v) < 0)
		return;
	vkey_add(&again, &v);
	if (again.len != size || memcmp(again.data, data, size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct signer *fresh;
	struct note n;

	if (!fresh && key_init() < 0)
		abort();
	if (!fresh)
		fresh = key_new(NULL, "", KEY_LOG);
	check_vkey(data, size);
	if (note_parse(cur_of(data, size), &n) < 0)
		return 0;
	check_text(&n);
	if (note_verify(&n, &fresh->v))
		abort();
	return 0;
}
