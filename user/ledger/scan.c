/* SPDX-License-Identifier: MIT */
/* The block reader of scan.h. */
#include "scan.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/json_line.h"
#include "base/macros.h"
#include "leaf.h"
#include "line.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

/* A whole pair fits, so a member that does not end within is damaged. */
#define WINDOW (MEMBER_MAX_BYTES + HEADROOM)
#define HEADROOM (72u << 10)
#define STEP (64u << 10) /* most pairs come with the first read */

int fault_set(struct fault *f, const char *code, int64_t offset, int64_t have, int64_t want,
	      const char *fmt, ...)
{
	va_list ap;

	*f = (struct fault){ .code = code, .offset = offset, .have = have, .want = want };
	va_start(ap, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, ap); /* cut by design */
	va_end(ap);
	return -EBADMSG;
}

void scan_init(struct scan *s, int dirfd, const char *origin)
{
	*s = (struct scan){ .dirfd = dirfd, .fd = -1 };
	(void)snprintf(s->origin, sizeof(s->origin), "%s", origin); /* names fit */
	s->u = unpacker_new();
	s->win = xcalloc(1, WINDOW);
}

void scan_done(struct scan *s)
{
	closep(&s->fd);
	unpacker_free(s->u);
	buf_done(&s->lines_of_leaves);
	free(s->win);
	*s = (struct scan){ .fd = -1 };
}

static int open_segment(struct scan *s, unsigned seq)
{
	char name[SEGMENT_NAME_LEN + 1];
	struct stat st;
	int fd;

	segment_name(name, seq);
	fd = openat(s->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd); /* nothing was read through it */
		return -ELOOP;
	}
	closep(&s->fd);
	s->fd = fd;
	s->seq = seq;
	s->file_off = s->win_off = s->win_len = 0;
	return 0;
}

/* Moves the window to `off` and reads up to `want` bytes behind what it holds. */
static int fill(struct scan *s, uint64_t off, size_t want)
{
	size_t skip = (size_t)MIN(off - s->win_off, (uint64_t)s->win_len);

	memmove(s->win, s->win + skip, s->win_len - skip);
	s->win_len -= skip;
	s->win_off = off;
	while (want && s->win_len < WINDOW) {
		size_t room = MIN(want, WINDOW - s->win_len);
		ssize_t n = pread(s->fd, s->win + s->win_len, room,
				  (off_t)(s->win_off + s->win_len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		s->win_len += (size_t)n;
		want -= (size_t)n;
	}
	return 0;
}

static struct cur window_at(const struct scan *s, uint64_t off)
{
	struct cur c = cur_of(s->win, s->win_len);

	(void)cur_skip(&c, (size_t)(off - s->win_off)); /* fill() put it inside */
	return c;
}

void scan_forget(struct scan *s)
{
	s->win_len = 0;
}

/*
 * One member at `off`; reads more while it does not end within the window. All
 * of it is read anew then: a writer may have cut a failed write and gone on
 * with other bytes, and old and new ones must not mix.
 */
static int take(struct scan *s, uint64_t off, struct member *m, const char **why)
{
	for (;;) {
		struct cur in = window_at(s, off);
		uint64_t held = s->win_off + s->win_len;
		size_t want = MAX((size_t)STEP, 2 * s->win_len);
		int r;

		r = member_take(s->u, &in, m, why);
		if (r != -ENODATA)
			return r;
		scan_forget(s);
		r = fill(s, off, want);
		if (r < 0)
			return r;
		if (s->win_off + s->win_len <= held) {
			*why = "too long";
			return s->win_len == WINDOW ? -EBADMSG : -ENODATA;
		}
	}
}

static int64_t i64(uint64_t n)
{
	return (int64_t)MIN(n, (uint64_t)INT64_MAX);
}

static int bad_line(struct scan *s, const char *what)
{
	(void)fault_set(&s->fault, "malformed", i64(s->file_off), i64(s->tree.n), -1,
			 "record %llu in the block at offset %llu is no line of a ledger (%s)",
			 (unsigned long long)s->tree.n, (unsigned long long)s->file_off, what);
	return s->is_later ? -EPROTONOSUPPORT : -EBADMSG; /* lines may look otherwise then */
}

/* ---- the first line of a segment --------------------------------------------- */

struct resume {
	uint64_t size, synced, end; /* end: of the hole, from the gap line */
	struct hash frontier[TREE_LEVELS];
	size_t n;
};

static int take_frontier(struct json_line *j, struct resume *r)
{
	struct json_val v;
	int more;

	while ((more = json_line_next(j, &v)) > 0)
		if (r->n == TREE_LEVELS || v.type != JSON_STR ||
		    base64_exact(v.text, r->frontier[r->n++].b, sizeof(struct hash)) < 0)
			return -EBADMSG;
	return more;
}

static int parse_segment_line(struct cur line, struct resume *ret)
{
	struct json_line j;
	struct json_val v;
	int more;

	if (json_line_start(&j, line) < 0)
		return -EBADMSG;
	while ((more = json_line_next(&j, &v)) > 0) {
		if (cur_is(&v.key, "v") && v.type == JSON_INT && v.num > LEDGER_VERSION)
			return -EPROTONOSUPPORT;
		if (cur_is(&v.key, "size") && v.type == JSON_INT && v.num >= 0)
			ret->size = (uint64_t)v.num;
		if (v.type == JSON_ARR && cur_is(&v.key, "frontier"))
			more = take_frontier(&j, ret);
		else if (v.type >= JSON_OBJ)
			more = json_line_skip(&j, &v, NULL);
		if (more < 0)
			return more;
	}
	return more;
}

/* {"t":"gap",…,"why":"EIO",…,"leaves":[synced,end]} */
static int parse_hole(struct cur line, struct resume *ret)
{
	uint64_t *const at[] = { &ret->synced, &ret->end };
	struct json_line j;
	struct json_val v;
	size_t n = 0;

	if (!cur_starts(&line, "{\"t\":\"gap\",") || json_line_start(&j, line) < 0)
		return -EBADMSG;
	while (json_line_next(&j, &v) > 0) {
		if (v.type != JSON_ARR || !cur_is(&v.key, "leaves")) {
			if (v.type >= JSON_OBJ && json_line_skip(&j, &v, NULL) < 0)
				return -EBADMSG;
			continue;
		}
		for (; json_line_next(&j, &v) > 0; n++) {
			if (n == ARRAY_SIZE(at) || v.type != JSON_INT || v.num < 0)
				return -EBADMSG;
			*at[n] = (uint64_t)v.num;
		}
	}
	return n == ARRAY_SIZE(at) ? 0 : -EBADMSG;
}

/*
 * After EIO the writer goes on in a new segment from the tree in its memory.
 * Leaves that the disk lost in between are bridged if the very next record, a
 * signed gap, names them: the hole is known, so it is a loss, not a forgery.
 */
static int bridge(struct scan *s, struct resume *r, struct cur rest)
{
	struct cur gap;
	struct tree t;

	if (r->size <= s->tree.n || cur_until(&rest, '\n', &gap) < 0 || parse_hole(gap, r) < 0)
		return -EBADMSG;
	if (r->synced > s->tree.n || r->end != r->size ||
	    tree_load(&t, r->size, r->frontier, r->n) < 0)
		return -EBADMSG;
	s->tree = t;
	s->bridged = true;
	return 0;
}

static int check_segment_line(struct scan *s, struct cur line, struct cur rest)
{
	_cleanup_buf_ struct buf want = BUF_INIT;
	struct resume at = { 0 };
	int r;

	r = parse_segment_line(line, &at);
	if (r == -EPROTONOSUPPORT) {
		s->is_later = true; /* told when the seal holds */
		return 0;
	}
	if (!r && at.size != s->tree.n && s->seq)
		(void)bridge(s, &at, rest); /* if not, the comparison fails */
	segment_line(&want, s->origin, s->seq, &s->tree);
	if (cur_is(&line, buf_str(&want)))
		return 0;
	return fault_set(&s->fault, "order", i64(s->file_off), i64(at.size), i64(s->tree.n),
			 "segment %06u does not continue this log at record %llu "
			 "(removed, repeated or foreign)",
			 s->seq, (unsigned long long)s->tree.n);
}

/* ---- a block ------------------------------------------------------------------ */

/* Lines from leaves: the salt goes, what was redacted stays as it is. */
static int open_leaves(struct scan *s, struct cur leaves)
{
	struct buf *to = &s->lines_of_leaves;
	struct cur leaf, rest;
	struct hash h;

	buf_reset(to);
	while (!cur_until(&leaves, '\n', &leaf)) {
		if (leaf_parse(leaf, &h, &rest) < 0)
			return bad_line(s, "no leaf");
		if (cur_left(&rest))
			buf_addch(to, '{');
		else
			rest = leaf;
		buf_add(to, rest.at, cur_left(&rest));
		buf_addch(to, '\n');
	}
	s->plain = cur_of(to->data, to->len);
	return cur_left(&leaves) ? bad_line(s, "no newline") : 0;
}

static int open_data(struct scan *s, const struct member *m)
{
	s->is_redacted = m->kind == MEMBER_REDACTED;
	s->raw = s->plain = m->plain;
	s->redacted = 0;
	memcpy(s->salt_key, m->salt_key, sizeof(s->salt_key)); /* means nothing if redacted */
	return s->is_redacted ? open_leaves(s, m->plain) : 0;
}

/* `leaf` is the next one of a redacted block. */
static int hash_line(struct scan *s, struct cur line, struct cur leaf, struct hash *ret)
{
	bool is_gone = s->is_redacted && cur_starts(&line, LEAF_REDACTED);
	struct cur rest;

	s->redacted += is_gone;
	if (cur_left(&line) >= LINE_MAX_BYTES)
		return bad_line(s, "too long");
	if (!is_gone && line_check(line) < 0)
		return bad_line(s, "not canonical");
	if (s->is_redacted)
		return leaf_parse(leaf, ret, &rest); /* open_leaves() did it before */
	leaf_hash(s->salt_key, s->tree.n, line, ret);
	return 0;
}

static int add_line(struct scan *s, struct cur line, struct cur leaf)
{
	struct hash h;
	int r;

	r = hash_line(s, line, leaf, &h);
	if (r < 0)
		return r;
	if (s->on_leaf)
		s->on_leaf(s->arg, s->tree.n, &h);
	tree_add(&s->tree, &h);
	return 0;
}

static int add_lines(struct scan *s, const struct member *m)
{
	struct cur plain, leaves, line, leaf = { 0 };
	bool is_first = !s->file_off;
	int r;

	r = open_data(s, m);
	plain = s->plain;
	leaves = s->raw;
	for (s->lines = 0; !r && cur_left(&plain); s->lines++) {
		if (s->lines == MEMBER_MAX_LINES || cur_until(&plain, '\n', &line) < 0)
			return bad_line(s, "no newline");
		(void)cur_until(&leaves, '\n', &leaf); /* as many as lines */
		if (is_first && !s->lines)
			r = check_segment_line(s, line, plain);
		else if (cur_starts(&line, "{\"t\":\"segment\""))
			r = bad_line(s, "segment record inside a segment");
		if (!s->lines)
			s->first = s->tree.n;
		if (!r)
			r = add_line(s, line, leaf);
	}
	return r;
}

void scan_leaf(const struct scan *s, uint64_t index, struct buf *to)
{
	struct cur raw = s->raw, line = { 0 };

	for (uint64_t i = s->first; i <= index; i++)
		if (cur_until(&raw, '\n', &line) < 0)
			return; /* not of this block */
	if (s->is_redacted)
		buf_add(to, line.at, cur_left(&line));
	else
		leaf_text(s->salt_key, index, line, to);
}

static int check_hints(struct scan *s, const struct member *m)
{
	if (m->first != s->first)
		return fault_set(&s->fault, "order", i64(s->file_off), i64(m->first), i64(s->first),
				 "block at offset %llu claims first record %llu, expected %llu "
				 "(removed, repeated or reordered)",
				 (unsigned long long)s->file_off, (unsigned long long)m->first,
				 (unsigned long long)s->first);
	if (m->lines != s->lines || m->length != m->bytes || !s->lines)
		return fault_set(&s->fault, "damaged", i64(s->file_off), m->lines, s->lines,
				 "block at offset %llu claims %u records in %u bytes, "
				 "it has %u in %zu",
				 (unsigned long long)s->file_off, m->lines, m->length, s->lines,
				 m->bytes);
	return 0;
}

static int check_note(struct scan *s, const struct member *m)
{
	struct hash root;

	if (note_parse(m->note, &s->note) < 0)
		return fault_set(&s->fault, "damaged", i64(s->file_off), -1, -1,
				 "seal of the block at offset %llu is no signed note",
				 (unsigned long long)s->file_off);
	if (strcmp(s->note.cp.origin, s->origin))
		return fault_set(&s->fault, "origin", i64(s->file_off), -1, -1,
				 "origin %s does not belong here, expected %s",
				 s->note.cp.origin, s->origin);
	if (s->note.cp.size != s->tree.n)
		return fault_set(&s->fault, "order", i64(s->file_off), i64(s->note.cp.size),
				 i64(s->tree.n), "seal claims %llu records, the log has %llu there",
				 (unsigned long long)s->note.cp.size,
				 (unsigned long long)s->tree.n);
	tree_root(&s->tree, &root);
	if (memcmp(&root, &s->note.cp.root, sizeof(root)))
		return fault_set(&s->fault, "root", i64(s->file_off), i64(s->tree.n), -1,
				 "records up to %llu do not hash to the signed root",
				 (unsigned long long)s->tree.n);
	return 0;
}

/* Bytes from the end of the last pair to the end of the file. */
static int measure_tail(struct scan *s)
{
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return -errno;
	s->tail = (uint64_t)st.st_size > s->file_off ? (uint64_t)st.st_size - s->file_off : 0;
	return 0;
}

static bool has_next_segment(const struct scan *s)
{
	char name[SEGMENT_NAME_LEN + 1];

	segment_name(name, s->seq + 1);
	return !faccessat(s->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* A beginning without an end: torn or being written if it is the last thing there is. */
static int short_pair(struct scan *s)
{
	int r;

	r = measure_tail(s);
	if (r < 0)
		return r;
	(void)fault_set(&s->fault, "damaged", i64(s->file_off), i64(s->tail), -1,
			"%llu bytes after offset %llu are not a complete sealed block (short)",
			(unsigned long long)s->tail, (unsigned long long)s->file_off);
	return has_next_segment(s) ? -EBADMSG : -ENODATA;
}

static int bad_pair(struct scan *s, int r, const char *why)
{
	if (r == -ENODATA)
		return short_pair(s);
	if (r != -EBADMSG)
		return r;
	r = measure_tail(s);
	if (r < 0)
		return r;
	return fault_set(&s->fault, "damaged", i64(s->file_off), i64(s->tail), -1,
			 "%llu bytes after offset %llu are not a complete sealed block (%s)",
			 (unsigned long long)s->tail, (unsigned long long)s->file_off, why);
}

static bool is_wanted(const struct scan *s, enum member_kind have, enum member_kind want)
{
	return have == want ||
	       (s->may_redact && want == MEMBER_DATA && have == MEMBER_REDACTED);
}

static int take_kind(struct scan *s, uint64_t off, enum member_kind kind, struct member *m)
{
	const char *why = "";
	int r;

	r = take(s, off, m, &why);
	if (r == -ENODATA && has_next_segment(s))
		r = take(s, off, m, &why); /* the next one begins only when this one is whole */
	if (!r && !is_wanted(s, m->kind, kind)) {
		why = kind == MEMBER_DATA ? "no data member" : "no seal";
		r = -EBADMSG;
	}
	return r ? bad_pair(s, r, why) : 0;
}

static int read_block(struct scan *s)
{
	struct member data, seal;
	int r;

	r = take_kind(s, s->file_off, MEMBER_DATA, &data);
	if (!r)
		r = add_lines(s, &data);
	if (!r)
		r = check_hints(s, &data);
	if (r)
		return r;
	r = take_kind(s, s->file_off + data.bytes, MEMBER_SEAL, &seal);
	if (r == -ENODATA)
		s->unsealed = s->lines;
	if (!r)
		r = check_note(s, &seal);
	if (r)
		return r;
	s->off = s->file_off;
	if (s->is_later)
		return -EPROTONOSUPPORT;
	s->file_off += data.bytes + seal.bytes;
	return 1;
}

/* 1 = there is a byte at file_off, 0 = no segment has one. */
static int more_bytes(struct scan *s)
{
	int r = 0;

	while (!r) {
		if (s->fd >= 0) {
			if (s->file_off < s->win_off + s->win_len)
				return 1;
			r = fill(s, s->file_off, STEP);
			if (r < 0 || s->win_len)
				return r < 0 ? r : 1;
		}
		if (s->fd >= 0 && has_next_segment(s)) {
			/* it may have grown before the next one began */
			r = fill(s, s->file_off, STEP);
			if (r < 0 || s->win_len)
				return r < 0 ? r : 1;
		}
		r = open_segment(s, s->fd < 0 ? 0 : s->seq + 1);
	}
	return r == -ENOENT ? 0 : r;
}

int scan_next(struct scan *s)
{
	struct tree before = s->tree;
	int r;

	s->bridged = s->is_later = false;
	s->tail = s->unsealed = 0;
	r = more_bytes(s);
	if (r <= 0)
		return r;
	r = read_block(s);
	if (r != 1) {
		s->tree = before;
		scan_forget(s);
	}
	if (r == -EBADMSG && measure_tail(s) < 0)
		s->tail = 0;
	return r;
}

static int want_signature(struct scan *s, const struct vkey *v, const char *whose)
{
	int r;

	r = note_verify(&s->note, v);
	if (r == 1)
		return 0;
	return fault_set(&s->fault, "signature", i64(s->off), i64(s->tree.n), -1,
			 "checkpoint at record %llu: %s by the %s",
			 (unsigned long long)s->tree.n, r ? "wrong signature" : "no signature",
			 whose);
}

int scan_signed_by(struct scan *s, const struct vkey *v)
{
	return want_signature(s, v, "key in force");
}

int scan_cosigned_by(struct scan *s, const struct vkey *v)
{
	return want_signature(s, v, "identity key");
}

int scan_cosigned_by_any(struct scan *s, const struct vkey *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (note_verify(&s->note, &v[i]))
			return scan_cosigned_by(s, &v[i]);
	return scan_cosigned_by(s, &v[n - 1]);
}

static bool is_later_seal(const struct scan *s, struct cur at)
{
	struct note note;
	struct cur text;

	return !member_peek_seal(at, &text) && !note_parse(text, &note) &&
	       !strcmp(note.cp.origin, s->origin) && note.cp.size > s->tree.n;
}

/* Looks at every place of the window where a header may begin. */
static bool window_has_seal(const struct scan *s)
{
	struct cur c = cur_of(s->win, s->win_len);

	while (cur_left(&c)) {
		const uint8_t *hit = memchr(c.at, 0x1f, cur_left(&c));

		if (!hit)
			return false;
		c.at = hit;
		if (is_later_seal(s, c))
			return true;
		(void)cur_skip(&c, 1); /* one byte is there */
	}
	return false;
}

int scan_later_seal(struct scan *s, bool *ret)
{
	uint64_t at = s->file_off;
	int r;

	*ret = has_next_segment(s);
	while (!*ret) {
		r = fill(s, at, WINDOW);
		if (r < 0)
			return r;
		*ret = window_has_seal(s);
		if (s->win_len < WINDOW)
			return 0;
		at += WINDOW - HEADROOM; /* a seal may lie across the border */
	}
	return 0;
}
