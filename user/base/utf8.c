/* SPDX-License-Identifier: MIT */
/* UTF-8 and the characters that hide, see utf8.h. */
#include "utf8.h"

#include "macros.h"

/* One row per length: marker bits of the first byte, smallest character. */
static const struct {
	uint8_t mask, mark;
	uint32_t least;
} forms[] = {
	{ 0x80, 0x00, 0x0 },
	{ 0xe0, 0xc0, 0x80 },
	{ 0xf0, 0xe0, 0x800 },
	{ 0xf8, 0xf0, 0x10000 },
};

static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0xad, 0xad },
	{ 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
};

static int tail(struct cur *c, size_t n, uint32_t *ch)
{
	for (uint8_t byte; n; n--) {
		if (cur_u8(c, &byte) < 0 || (byte & 0xc0) != 0x80)
			return -EBADMSG;
		*ch = *ch << 6 | (byte & 0x3f);
	}
	return 0;
}

int utf8_next(struct cur *c, uint32_t *ret_char)
{
	struct cur at = *c;
	uint8_t first;
	uint32_t ch;

	if (cur_u8(&at, &first) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if ((first & forms[i].mask) != forms[i].mark)
			continue;
		ch = first & (uint8_t)~forms[i].mask;
		if (tail(&at, i, &ch) < 0 || ch < forms[i].least || ch > 0x10ffff ||
		    (ch >= 0xd800 && ch <= 0xdfff))
			return -EBADMSG;
		*c = at;
		*ret_char = ch;
		return 0;
	}
	return -EBADMSG;
}

bool utf8_is_hidden(uint32_t ch)
{
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (ch >= hidden[i].first && ch <= hidden[i].last)
			return true;
	return false;
}

size_t utf8_plain(const struct cur *c)
{
	const uint8_t *at = c->at;

	while (at < c->end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - c->at);
}
