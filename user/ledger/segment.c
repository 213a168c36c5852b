/* SPDX-License-Identifier: MIT */
/* Blocks and the files they go to, see segment.h. */
#include "segment.h"

#include "base/base64.h"
#include "base/json_out.h"
#include "leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>

void block_start(struct block *b)
{
	buf_reset(&b->plain);
	b->lines = 0;
	b->first = b->tree.n;
	randombytes_buf(b->salt_key, sizeof(b->salt_key));
}

void block_add(struct block *b, struct cur line)
{
	struct hash leaf;

	leaf_hash(b->salt_key, b->tree.n, line, &leaf);
	tree_add(&b->tree, &leaf);
	buf_add(&b->plain, line.at, cur_left(&line));
	buf_addch(&b->plain, '\n');
	b->lines++;
}

void block_done(struct block *b)
{
	buf_done(&b->plain);
}

int block_pack(struct block *b, struct packer *p, const char *origin,
	       const struct signer *const *signers, size_t n, uint64_t unix_s, struct buf *to)
{
	struct checkpoint cp = { .size = b->tree.n };
	_cleanup_buf_ struct buf note = BUF_INIT;
	int r;

	(void)snprintf(cp.origin, sizeof(cp.origin), "%s", origin); /* names fit */
	tree_root(&b->tree, &cp.root);
	r = note_add(&note, &cp, signers, n, unix_s);
	if (r < 0)
		return r;
	member_add_data(p, to, b->salt_key, b->first, b->lines,
			cur_of(b->plain.data, b->plain.len));
	member_add_seal(to, cur_of(note.data, note.len));
	block_start(b);
	return 0;
}

static void out_hash(struct buf *to, const char *key, const struct hash *h)
{
	char text[BASE64_LEN(sizeof(h->b)) + 1];

	*base64_put(text, h->b, sizeof(h->b)) = '\0';
	if (key)
		json_out_cstr(to, key, text);
	else
		json_out_elem(to, text);
}

void segment_line(struct buf *to, const char *origin, unsigned seq, const struct tree *t)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct hash root;

	tree_root(t, &root);
	json_out_open(&b, NULL, '{');
	json_out_cstr(&b, "t", "segment");
	json_out_u64(&b, "v", LEDGER_VERSION);
	json_out_cstr(&b, "origin", origin);
	json_out_u64(&b, "seq", seq);
	json_out_u64(&b, "size", t->n);
	out_hash(&b, "root", &root);
	json_out_open(&b, "frontier", '[');
	for (size_t i = TREE_LEVELS; i--;)
		if (t->n >> i & 1)
			out_hash(&b, NULL, &t->level[i]);
	json_out_close(&b, ']');
	json_out_close(&b, '}');
	buf_add(to, b.data, b.len);
}

void segment_name(char to[SEGMENT_NAME_LEN + 1], unsigned seq)
{
	(void)snprintf(to, SEGMENT_NAME_LEN + 1, "%06u.gz", seq % (SEGMENT_MAX_SEQ + 1));
}

int segment_create(int dirfd, unsigned seq, struct segment *ret)
{
	char name[SEGMENT_NAME_LEN + 1];
	int fd;

	if (seq > SEGMENT_MAX_SEQ)
		return -EFBIG;
	segment_name(name, seq);
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	*ret = (struct segment){ .fd = fd, .seq = seq };
	return 0;
}

/* ENOSPC shows as a short write first: the rest is tried, so that its reason is known. */
static int write_at(int fd, const char *p, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

int segment_append(struct segment *s, const struct buf *bytes)
{
	int r = 0;

	if (s->dirty && ftruncate(s->fd, (off_t)s->size) < 0)
		r = -errno;
	if (!r) {
		s->dirty = false;
		r = write_at(s->fd, bytes->data, bytes->len, s->size);
	}
	if (r < 0) {
		s->dirty = ftruncate(s->fd, (off_t)s->size) < 0;
		return r;
	}
	s->size += bytes->len;
	return 0;
}
