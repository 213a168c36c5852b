/* SPDX-License-Identifier: MIT */
/* Escapes, see esc.h. */
#include "esc.h"

#include "utf8.h"

/* A lone byte and a character above U+007F must not look the same: \x is bytes only. */
static void hidden(struct buf *to, uint32_t ch)
{
	if (ch < 0x80)
		buf_addf(to, "\\x%02x", ch);
	else
		buf_addf(to, "\\u{%04x}", ch);
}

void esc_tty(struct buf *to, const void *bytes, size_t len)
{
	struct cur c = cur_of(bytes, len);

	while (cur_left(&c)) {
		const uint8_t *from = c.at;
		uint32_t ch;

		if (utf8_next(&c, &ch) < 0) {
			buf_addf(to, "\\x%02x", *from);
			(void)cur_skip(&c, 1); /* one byte is left at least */
		} else if (utf8_is_hidden(ch)) {
			hidden(to, ch);
		} else {
			buf_add(to, from, (size_t)(c.at - from));
			if (ch == '\\')
				buf_addch(to, '\\');
		}
	}
}
