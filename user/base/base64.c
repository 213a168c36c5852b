/* SPDX-License-Identifier: MIT */
/* Base64, see base64.h. */
#include "base64.h"

static const char std_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *put(char *to, const uint8_t *at, size_t n, const char *digits, bool pad)
{
	for (; n >= 3; n -= 3, at += 3) {
		*to++ = digits[at[0] >> 2];
		*to++ = digits[(at[0] & 3) << 4 | at[1] >> 4];
		*to++ = digits[(at[1] & 15) << 2 | at[2] >> 6];
		*to++ = digits[at[2] & 63];
	}
	if (!n)
		return to;
	*to++ = digits[at[0] >> 2];
	*to++ = digits[(at[0] & 3) << 4 | (n == 2 ? at[1] >> 4 : 0)];
	if (n == 2)
		*to++ = digits[(at[1] & 15) << 2];
	for (; pad && n < 3; n++)
		*to++ = '=';
	return to;
}

char *base64_put(char *to, const void *bytes, size_t n)
{
	return put(to, bytes, n, std_digits, true);
}

char *base64url_put(char *to, const void *bytes, size_t n)
{
	return put(to, bytes, n, url_digits, false);
}

void base64_add(struct buf *b, const void *bytes, size_t n)
{
	char *end = base64_put(buf_grow(b, BASE64_LEN(n)), bytes, n);

	buf_cut(b, (size_t)(end - b->data));
}

static int digit(uint8_t c)
{
	const char *hit = c ? memchr(std_digits, c, 64) : NULL;

	return hit ? (int)(hit - std_digits) : -1;
}

/* One group of four characters, of which the last `pad` are "=". */
static int group(const uint8_t *at, size_t pad, uint8_t out[3])
{
	uint32_t bits = 0;

	for (size_t i = 0; i < 4; i++) {
		int d = i >= 4 - pad ? (at[i] == '=' ? 0 : -1) : digit(at[i]);

		if (d < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)d;
	}
	if (bits & ((1u << (8 * pad)) - 1))
		return -EBADMSG; /* free bits would give one value two spellings */
	out[0] = (uint8_t)(bits >> 16);
	out[1] = (uint8_t)(bits >> 8);
	out[2] = (uint8_t)bits;
	return 0;
}

int base64_decode(struct cur text, struct buf *b)
{
	size_t start = b->len;
	struct cur four;
	uint8_t out[3];

	if (cur_left(&text) % 4)
		return -EBADMSG;
	while (!cur_take(&text, 4, &four)) {
		size_t pad = cur_left(&text) ? 0 : (four.at[3] == '=') + (four.at[2] == '=');

		if (group(four.at, pad, out) < 0) {
			buf_cut(b, start);
			return -EBADMSG;
		}
		buf_add(b, out, 3 - pad);
	}
	return 0;
}

int base64_exact(struct cur text, void *to, size_t n)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (cur_left(&text) != BASE64_LEN(n) || base64_decode(text, &b) < 0 || b.len != n)
		return -EBADMSG;
	memcpy(to, b.data, n);
	return 0;
}
