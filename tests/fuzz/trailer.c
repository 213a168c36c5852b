/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes heads in commit messages. Whatever stands there, each line that counts
 * as one is added; one that parses has one spelling. A head that is a note
 * gives a value that parses.
 */
#include "base/base64.h"
#include "vcs/trailer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void spell(const struct anchor *a, struct buf *to)
{
	buf_addf(to, "%s %llu ", a->cp.origin, (unsigned long long)a->cp.size);
	base64_add(to, a->cp.root.b, sizeof(a->cp.root.b));
	buf_addch(to, ' ');
	base64_add(to, a->sig, sizeof(a->sig));
	if (!a->has_cosig)
		return;
	buf_addch(to, ' ');
	base64_add(to, a->cosig, sizeof(a->cosig));
}

static void check_spelling(const struct anchor *a, const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (strlen(a->commit) != 40)
		abort();
	if (a->malformed)
		return;
	spell(a, &text);
	if (!memmem(data, size, text.data, text.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_anchors_ struct anchors all = { 0 };
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct anchor a;

	if (trailer_scan(cur_of(data, size), "0123456789abcdef0123456789abcdef01234567", &all) < 0 &&
	    all.n != MAX_MESSAGE_HEADS)
		abort();
	for (size_t i = 0; i < all.n; i++)
		check_spelling(&all.all[i], data, size);
	if (!trailer_of_head(cur_of(data, size), &value) &&
	    !trailer_parse(cur_of(value.data, value.len), &a))
		abort();
	return 0;
}
