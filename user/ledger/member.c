/* SPDX-License-Identifier: MIT */
/* gzip members, see member.h. */
#include "member.h"

#include "base/alloc.h"
#include "note.h"

#define ZLIB_CONST
#include <zlib.h>

#define FIXED "\x1f\x8b\x08\x04\0\0\0\0\0\xff" /* deflate, FEXTRA only, no time, no system */
#define FIXED_LEN 10
#define SUB_LEN 4      /* SI1 SI2 LEN */
#define HINTS_LEN 16   /* first index, lines, length */
#define DATA_LEN (SALT_KEY_LEN + HINTS_LEN)
#define HEAD_LEN(len) (FIXED_LEN + 2 + SUB_LEN + (len))
#define TAIL_LEN 8     /* CRC32, ISIZE */
#define EMPTY "\x03\0" /* the one deflate stream of a seal */

struct packer {
	z_stream z;
};

struct unpacker {
	z_stream z;
	uint8_t plain[MEMBER_MAX_PLAIN + 1]; /* one more shows that the limit is passed */
};

static void add_le(struct buf *b, uint64_t n, size_t bytes)
{
	for (; bytes--; n >>= 8)
		buf_addch(b, (char)(n & 0xff));
}

static void add_header(struct buf *to, const char *id, size_t len)
{
	buf_add(to, FIXED, FIXED_LEN);
	add_le(to, len + SUB_LEN, 2);
	buf_add(to, id, 2);
	add_le(to, len, 2);
}

struct packer *packer_new(int level)
{
	struct packer *p = xcalloc(1, sizeof(*p));

	if (deflateInit2(&p->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		abort(); /* out of memory, as alloc.h */
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	(void)deflateEnd(&p->z);
	free(p);
}

static void add_deflated(struct packer *p, struct buf *to, struct cur plain)
{
	size_t room;

	(void)deflateReset(&p->z); /* fails on a broken state only */
	room = deflateBound(&p->z, cur_left(&plain));
	p->z.next_out = (uint8_t *)buf_grow(to, room);
	p->z.avail_out = (uInt)room;
	p->z.next_in = plain.at;
	p->z.avail_in = (uInt)cur_left(&plain);
	if (deflate(&p->z, Z_FINISH) != Z_STREAM_END)
		abort(); /* deflateBound() is a promise */
	buf_cut(to, to->len + room - p->z.avail_out);
}

/* From the three hints on; `from` is where the member begins. */
static void add_rest(struct packer *p, struct buf *to, size_t from, uint64_t first, uint32_t lines,
		     struct cur plain)
{
	size_t length_at = to->len + 12;

	add_le(to, first, 8);
	add_le(to, lines, 4);
	add_le(to, 0, 4); /* filled in below */
	add_deflated(p, to, plain);
	add_le(to, crc32(0, plain.at, (uInt)cur_left(&plain)), 4);
	add_le(to, cur_left(&plain), 4);
	for (size_t i = 0, n = to->len - from; i < 4; i++, n >>= 8)
		to->data[length_at + i] = (char)(n & 0xff);
}

void member_add_data(struct packer *p, struct buf *to, const uint8_t salt_key[SALT_KEY_LEN],
		     uint64_t first, uint32_t lines, struct cur plain)
{
	size_t from = to->len;

	add_header(to, "TL", DATA_LEN);
	buf_add(to, salt_key, SALT_KEY_LEN);
	add_rest(p, to, from, first, lines, plain);
}

void member_add_redacted(struct packer *p, struct buf *to, uint64_t first, uint32_t lines,
			 struct cur leaves)
{
	size_t from = to->len;

	add_header(to, "TR", HINTS_LEN);
	add_rest(p, to, from, first, lines, leaves);
}

void member_add_seal(struct buf *to, struct cur note)
{
	add_header(to, "TS", cur_left(&note));
	buf_add(to, note.at, cur_left(&note));
	buf_add(to, EMPTY, sizeof(EMPTY) - 1);
	add_le(to, 0, TAIL_LEN);
}

struct unpacker *unpacker_new(void)
{
	struct unpacker *u = xcalloc(1, sizeof(*u));

	if (inflateInit2(&u->z, -15) != Z_OK)
		abort(); /* out of memory, as alloc.h */
	return u;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	(void)inflateEnd(&u->z);
	free(u);
}

static int damaged(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EBADMSG;
}

/* The bytes that are there must fit even when the rest is not there yet. */
static int take_fixed(struct cur *in, const char **ret_why)
{
	size_t n = MIN(cur_left(in), (size_t)FIXED_LEN);

	if (memcmp(in->at, FIXED, n))
		return damaged(ret_why, "header");
	return cur_skip(in, FIXED_LEN) < 0 ? -ENODATA : 0;
}

static int take_extra(struct cur *in, struct cur *ret_id, struct cur *ret_data,
		      const char **ret_why)
{
	uint16_t xlen, len;

	if (cur_le16(in, &xlen) < 0 || cur_take(in, 2, ret_id) < 0 || cur_le16(in, &len) < 0)
		return -ENODATA;
	if (xlen != len + SUB_LEN)
		return damaged(ret_why, "extra");
	return cur_take(in, len, ret_data) < 0 ? -ENODATA : 0;
}

static int take_numbers(struct cur extra, struct member *m)
{
	if (m->kind == MEMBER_DATA && cur_copy(&extra, m->salt_key, SALT_KEY_LEN) < 0)
		return -EBADMSG;
	if (cur_le64(&extra, &m->first) < 0 || cur_le32(&extra, &m->lines) < 0 ||
	    cur_le32(&extra, &m->length) < 0)
		return -EBADMSG;
	return cur_end(&extra);
}

/*
 * Runs to the end of the last block, where zlib still tells the bits behind it
 * (bit 6 = last block, bit 7 = at the end of a block, low bits = unused bits),
 * and wants those to be zero: nothing else covers them.
 */
static int inflate_all(z_stream *z)
{
	int r;

	do {
		r = inflate(z, Z_BLOCK);
		if (r == Z_OK && (z->data_type & 0xc0) == 0xc0)
			return z->next_in[-1] >> (8 - (z->data_type & 7)) ? Z_DATA_ERROR :
									    inflate(z, Z_FINISH);
	} while (r == Z_OK && z->avail_in && z->avail_out);
	return r;
}

static int take_deflated(struct unpacker *u, struct cur *in, struct member *m,
			 const char **ret_why)
{
	size_t got;
	int r;

	(void)inflateReset(&u->z); /* fails on a broken state only */
	u->z.next_in = in->at;
	u->z.avail_in = (uInt)MIN(cur_left(in), (size_t)MEMBER_MAX_BYTES);
	u->z.next_out = u->plain;
	u->z.avail_out = sizeof(u->plain);
	r = inflate_all(&u->z);
	got = sizeof(u->plain) - u->z.avail_out;
	if (got > MEMBER_MAX_PLAIN)
		return damaged(ret_why, "larger than 1 MiB");
	if (r == Z_BUF_ERROR || r == Z_OK)
		return -ENODATA;
	if (r != Z_STREAM_END)
		return damaged(ret_why, "deflate");
	m->plain = cur_of(u->plain, got);
	return cur_skip(in, (size_t)(u->z.next_in - in->at));
}

static int take_trailer(struct cur *in, const struct cur *plain, const char **ret_why)
{
	uint32_t crc, size;

	if (cur_le32(in, &crc) < 0 || cur_le32(in, &size) < 0)
		return -ENODATA;
	if (crc != crc32(0, plain->at, (uInt)cur_left(plain)) || size != cur_left(plain))
		return damaged(ret_why, "checksum");
	return 0;
}

static int take_data(struct unpacker *u, struct cur *in, struct cur extra, struct member *m,
		     const char **ret_why)
{
	int r;

	if (take_numbers(extra, m) < 0)
		return damaged(ret_why, "extra");
	r = take_deflated(u, in, m, ret_why);
	return r ? r : take_trailer(in, &m->plain, ret_why);
}

static int take_seal(struct cur *in, struct cur extra, struct member *m, const char **ret_why)
{
	static const char rest[sizeof(EMPTY) - 1 + TAIL_LEN] = EMPTY;
	size_t there = MIN(cur_left(in), sizeof(rest));

	m->kind = MEMBER_SEAL;
	m->note = extra;
	if (cur_left(&extra) > NOTE_MAX || memcmp(in->at, rest, there))
		return damaged(ret_why, "seal");
	return cur_skip(in, sizeof(rest)) < 0 ? -ENODATA : 0;
}

int member_take(struct unpacker *u, struct cur *in, struct member *ret, const char **ret_why)
{
	struct cur at = *in, id, extra;
	int r;

	r = take_fixed(&at, ret_why);
	if (!r)
		r = take_extra(&at, &id, &extra, ret_why);
	if (r)
		return r;
	ret->kind = cur_is(&id, "TR") ? MEMBER_REDACTED : MEMBER_DATA;
	if (cur_is(&id, "TL") || cur_is(&id, "TR"))
		r = take_data(u, &at, extra, ret, ret_why);
	else if (cur_is(&id, "TS"))
		r = take_seal(&at, extra, ret, ret_why);
	else
		r = damaged(ret_why, "unknown member");
	if (r)
		return r;
	ret->bytes = (size_t)(at.at - in->at);
	*in = at;
	return 0;
}

int member_peek_seal(struct cur in, struct cur *ret_note)
{
	struct member m;
	struct cur id, extra;
	const char *why;

	if (take_fixed(&in, &why) || take_extra(&in, &id, &extra, &why) || !cur_is(&id, "TS") ||
	    take_seal(&in, extra, &m, &why))
		return -EBADMSG;
	*ret_note = m.note;
	return 0;
}
