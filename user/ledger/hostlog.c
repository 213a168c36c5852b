/* SPDX-License-Identifier: MIT */
/* Appending to the index log, see hostlog.h. */
#include "hostlog.h"
#include "signer.h"

#include "base/base64.h"
#include "base/fdio.h"
#include "base/json_out.h"
#include "base/timeutil.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>

#define KEY_FILE "index.key"
#define NEXT_FILE "index.next"
#define ID_FILE "identity.key"
#define ID_NEXT_FILE "identity.next"
#define FRAMING_MAX 2048 /* headers, note and what deflate may add to a block of ours */

void hostlog_out_hash(struct buf *to, const char *key, const struct hash *h)
{
	char text[BASE64_LEN(sizeof(h->b)) + 1];

	*base64_put(text, h->b, sizeof(h->b)) = '\0';
	json_out_cstr(to, key, text);
}

void hostlog_leaf(struct buf *to, const char *t)
{
	buf_addf(to, "{\"t\":\"%s\",\"b\":%" PRIu64 ",\"w\":%" PRIu64, t, time_boot_ns(),
		 time_wall_ns());
}

void hostlog_leaf_end(struct buf *to)
{
	buf_add(to, "}\n", 2);
}

/* ---- reading ------------------------------------------------------------------ */

int hostlog_refresh(struct ledger *l, struct diag *d)
{
	int r = 0;

	while (!l->broken && (r = scan_next(&l->scan)) == 1)
		l->broken = index_fold(&l->st, &l->scan) < 0;
	if (l->broken)
		return diag_set(d, -EUCLEAN, "index: %s; run \"deedlog verify\"",
				l->scan.fault.text);
	if (r == 0 || r == -ENODATA)
		return 0;
	if (r == -EPROTONOSUPPORT)
		return diag_set(d, r, "the ledger was written in a later format; update deedlog");
	if (r == -EBADMSG)
		return diag_set(d, r, "index: %s; run \"deedlog verify\"", l->scan.fault.text);
	return diag_set(d, r, "cannot read the index: %s", strerror(-r));
}

/* ---- the key in force ----------------------------------------------------------- */

static bool same_key(const struct signer *s, const struct vkey *v)
{
	return s && !memcmp(s->v.pk, v->pk, PK_LEN);
}

static int load_if_in_force(struct ledger *l, const char *file)
{
	_cleanup_key_ struct signer *s = NULL;
	int r;

	r = key_load_remote(l->signing, l->keys, file, &l->st.in_force, &s);
	if (r < 0)
		return r;
	key_free(l->key);
	l->key = TAKE_PTR(s);
	return 0;
}

static int no_key(const char *file, int r, struct diag *d)
{
	if (r == -EPIPE)
		return diag_set(d, r, "the signing process is gone");
	if (r == -EPERM)
		return diag_set(d, r, "keys/%s is not ours alone; it must be mode 0600 and owned "
				"by the user who records", file);
	return diag_set(d, r, "no file in keys/ holds the key that the index names for %s (%s); this "
			"log cannot be continued: \"deedlog init --continue\" begins a new one",
			file, strerror(-r));
}

/*
 * A rotation may have stopped at any step: the last rotate leaf decides. Old
 * key in force: the next one was never announced and goes away. Next key in
 * force: it takes the old one's place.
 */
static int settle_key(struct ledger *l, struct diag *d)
{
	int r;

	if (same_key(l->key, &l->st.in_force))
		return 0;
	r = load_if_in_force(l, KEY_FILE);
	if (!r) {
		(void)unlinkat(l->keys, NEXT_FILE, 0); /* most often not there */
		return 0;
	}
	if (!load_if_in_force(l, NEXT_FILE)) {
		r = key_replace(l->keys, NEXT_FILE, KEY_FILE);
		return r < 0 ? diag_set(d, r, "cannot replace keys/%s: %s", KEY_FILE, strerror(-r)) : 0;
	}
	return no_key(KEY_FILE, r, d);
}

static int load_identity(struct ledger *l, const char *file)
{
	_cleanup_key_ struct signer *s = NULL;
	int r;

	r = key_load(l->keys, file, NULL, "id/", KEY_COSIGN, &s);
	if (r < 0)
		return r;
	if (!same_key(s, &l->st.identity))
		return -EKEYREJECTED;
	key_free(l->identity);
	l->identity = TAKE_PTR(s);
	return 0;
}

/* As settle_key(): the last `identity` leaf decides. */
static int settle_identity(struct ledger *l, struct diag *d)
{
	int r;

	if (!l->st.has_identity || same_key(l->identity, &l->st.identity))
		return 0;
	r = load_identity(l, ID_FILE);
	if (!r) {
		(void)unlinkat(l->keys, ID_NEXT_FILE, 0); /* most often not there */
		return 0;
	}
	if (load_identity(l, ID_NEXT_FILE) < 0)
		return no_key(ID_FILE, r, d);
	r = key_replace(l->keys, ID_NEXT_FILE, ID_FILE);
	return r < 0 ? diag_set(d, r, "cannot replace keys/%s: %s", ID_FILE, strerror(-r)) : 0;
}

/* ---- lock, tails ------------------------------------------------------------------ */

static int open_last_segment(struct ledger *l, struct diag *d)
{
	char name[SEGMENT_NAME_LEN + 1];

	if (l->seg.fd >= 0 && l->seg.seq == l->scan.seq) {
		l->seg.size = l->scan.file_off;
		return 0;
	}
	closep(&l->seg.fd);
	segment_name(name, l->scan.seq);
	l->seg = (struct segment){ .seq = l->scan.seq, .size = l->scan.file_off };
	l->seg.fd = openat(l->index, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (l->seg.fd < 0)
		return diag_set(d, -errno, "cannot write index/%s: %s", name, strerror(errno));
	return 0;
}

static void out_restart(struct ledger *l, const struct torn *t, struct buf *to)
{
	hostlog_leaf(to, "restart");
	json_out_cstr(to, "boot", l->boot);
	json_out_cstr(to, "version", DEEDLOG_VERSION);
	json_out_null(to, "config");
	json_out_u64(to, "torn", t->bytes);
	json_out_cstr(to, "torn_sha256", t->sha256);
	hostlog_leaf_end(to);
}

/* We hold the lock, so nobody is writing: what stands behind the last seal was torn. */
static int cut_tail(struct ledger *l, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct torn torn;
	int r;

	r = recover_cut(l->index, l->scan.seq, l->scan.file_off, &torn);
	if (r < 0)
		return diag_set(d, r, "cannot cut the torn end of the index: %s", strerror(-r));
	scan_forget(&l->scan);
	out_restart(l, &torn, &line);
	r = open_last_segment(l, d);
	if (!r)
		r = settle_key(l, d);
	return r < 0 ? r : hostlog_append(l, &line, false, d);
}

static int refresh_locked(struct ledger *l, struct diag *d)
{
	bool later;
	int r;

	r = hostlog_refresh(l, d);
	if (r == -EBADMSG && !scan_later_seal(&l->scan, &later) && !later)
		r = 0; /* the last thing in the file: torn by a power cut */
	if (!r && l->scan.tail)
		r = cut_tail(l, d);
	if (!r)
		r = open_last_segment(l, d);
	if (!r)
		r = settle_key(l, d);
	if (!r)
		r = settle_identity(l, d);
	if (!r && !l->doubt)
		l->synced = l->scan.tree.n; /* each writer syncs before it unlocks */
	return r;
}

int hostlog_lock(struct ledger *l, struct diag *d)
{
	int r;

	while (flock(l->lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return diag_set(d, -errno, "cannot lock the ledger: %s", strerror(errno));
	r = refresh_locked(l, d);
	if (r < 0)
		hostlog_unlock(l);
	return r;
}

void hostlog_unlock(struct ledger *l)
{
	(void)flock(l->lock, LOCK_UN); /* cannot fail on a lock that we hold */
}

/* ---- appending -------------------------------------------------------------------- */

bool hostlog_give_reserve(struct ledger *l)
{
	return !unlinkat(l->dir, "reserve", 0);
}

void hostlog_reserve(struct ledger *l)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_fd_ int fd = -1;

	fd = openat(l->dir, "reserve", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return; /* it is there, or there is no space for it now */
	randombytes_buf(buf_grow(&b, RESERVE_BYTES), RESERVE_BYTES); /* nothing can squeeze it */
	if (fd_write_all(fd, b.data, RESERVE_BYTES) < 0)
		(void)hostlog_give_reserve(l);
}

/* A full segment is closed by the seal it has; the next one begins with its own line. */
static int next_segment(struct ledger *l, struct diag *d)
{
	struct segment next;
	int r;

	if (l->seg.size < SEGMENT_MAX_BYTES)
		return 0;
	r = segment_create(l->index, l->seg.seq + 1, &next);
	if (r < 0)
		return diag_set(d, r, "cannot begin a new index segment: %s", strerror(-r));
	closep(&l->seg.fd);
	l->seg = next;
	return fsync(l->index) < 0 ? -errno : 0;
}

static void out_gap(struct ledger *l, bool leaves, struct buf *to)
{
	uint64_t now = time_boot_ns();

	hostlog_leaf(to, "gap");
	json_out_cstr(to, "why", l->trouble == -ENOSPC || l->trouble == -EDQUOT ? "ENOSPC" : "EIO");
	json_out_u64(to, "from", l->trouble_ns);
	json_out_u64(to, "to", now);
	json_out_raw(to, "lost", "{}"); /* the index has no events; its leaves come later */
	if (leaves) {
		json_out_open(to, "leaves", '[');
		json_out_u64(to, NULL, l->synced);
		json_out_u64(to, NULL, l->scan.tree.n);
		json_out_close(to, ']');
	}
	hostlog_leaf_end(to);
}

static void add_lines(struct block *b, const struct buf *lines)
{
	struct cur in = cur_of(lines->data, lines->len), line;

	while (!cur_until(&in, '\n', &line))
		block_add(b, line);
}

static size_t count_lines(const struct buf *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->len; i++)
		n += lines->data[i] == '\n';
	return n;
}

/*
 * A block that was signed and could not be written is gone. No size is signed
 * twice, so the next block is larger than it: by gap records, which tell why.
 */
static void fill_block(struct ledger *l, struct block *b, const struct buf *lines)
{
	_cleanup_buf_ struct buf first = BUF_INIT, gap = BUF_INIT;
	size_t n = count_lines(lines);

	b->tree = l->scan.tree;
	block_start(b);
	if (!l->seg.size) {
		segment_line(&first, l->st.origin, l->seg.seq, &b->tree);
		block_add(b, cur_of(first.data, first.len));
	}
	if (b->tree.n + n <= l->signed_size)
		out_gap(l, false, &gap);
	while (b->tree.n + n <= l->signed_size)
		add_lines(b, &gap);
	add_lines(b, lines);
}

/* Space is asked for before anything is signed; a file system that cannot tell says yes. */
static int find_space(struct ledger *l, size_t n)
{
	off_t at = (off_t)l->seg.size, len = (off_t)(n + FRAMING_MAX);

	do
		if (!fallocate(l->seg.fd, FALLOC_FL_KEEP_SIZE, at, len) ||
		    (errno != ENOSPC && errno != EDQUOT))
			return 0;
	while (hostlog_give_reserve(l));
	return -ENOSPC;
}

static int write_block(struct ledger *l, struct block *b, bool cosign)
{
	const struct signer *signers[3] = { l->key };
	_cleanup_buf_ struct buf pair = BUF_INIT;
	size_t n = 1;
	int r;

	if (cosign && l->identity)
		signers[n++] = l->identity;
	if (l->next_identity)
		signers[n++] = l->next_identity;
	r = find_space(l, b->plain.len);
	if (!r)
		r = block_pack(b, l->packer, l->st.origin, signers, n, time_wall_ns() / NS_PER_S,
			       &pair);
	if (r < 0)
		return r;
	l->signed_size = MAX(l->signed_size, b->tree.n);
	r = segment_append(&l->seg, &pair);
	if (r == -ENOSPC && hostlog_give_reserve(l))
		r = segment_append(&l->seg, &pair);
	return r;
}

static int append_block(struct ledger *l, const struct buf *lines, bool cosign, struct diag *d)
{
	_cleanup_(block_done) struct block b = { 0 };
	uint64_t before = l->scan.tree.n;
	int r;

	fill_block(l, &b, lines);
	r = write_block(l, &b, cosign);
	if (r < 0) {
		l->trouble = r;
		l->trouble_ns = time_boot_ns();
		return diag_set(d, r, "cannot write the index: %s", r == -EPIPE ?
				"the signing process is gone" : strerror(-r));
	}
	r = hostlog_refresh(l, d); /* what we wrote must pass as anyone else's */
	if (!r && l->scan.tree.n == before)
		r = diag_set(d, -EIO, "the index does not hold what was just written to it");
	return r;
}

/*
 * EIO from fsync: the kernel may have dropped the pages, so a second try would
 * lie. What is in doubt is named, and the index goes on in a new file.
 */
static int leave_segment(struct ledger *l, struct diag *d)
{
	_cleanup_buf_ struct buf gap = BUF_INIT;
	struct segment next;
	int r;

	r = segment_create(l->index, l->seg.seq + 1, &next);
	if (r < 0)
		return diag_set(d, r, "cannot begin a new index segment: %s", strerror(-r));
	closep(&l->seg.fd);
	l->seg = next;
	r = settle_key(l, d); /* the block in doubt may end in `rotate` */
	if (r < 0)
		return r;
	out_gap(l, true, &gap);
	r = append_block(l, &gap, true, d);
	if (!r && (fsync(l->seg.fd) < 0 || fsync(l->index) < 0))
		r = diag_set(d, -EIO, "the index cannot be brought to the disk");
	l->doubt = r < 0;
	return r;
}

static int sync_index(struct ledger *l, struct diag *d)
{
	int r = 0;

	if (fsync(l->seg.fd) < 0) {
		l->doubt = true;
		l->trouble = -errno;
		l->trouble_ns = time_boot_ns();
		r = leave_segment(l, d);
	}
	if (!r)
		l->synced = l->scan.tree.n;
	return r;
}

int hostlog_append(struct ledger *l, const struct buf *lines, bool cosign, struct diag *d)
{
	int r;

	r = l->doubt ? leave_segment(l, d) : next_segment(l, d);
	if (!r)
		r = append_block(l, lines, cosign, d);
	return r ? r : sync_index(l, d);
}

int hostlog_publish(struct ledger *l, struct diag *d)
{
	const struct note *n = &l->scan.note;
	int r;

	r = file_replace_at(l->dir, "checkpoint", 0640, n->raw.at, cur_left(&n->raw));
	if (r < 0)
		return diag_set(d, r, "cannot write the file checkpoint: %s", strerror(-r));
	r = hostlog_show_head(l->base, n->raw.at, cur_left(&n->raw));
	return r < 0 ? diag_set(d, r, "cannot write the file head: %s", strerror(-r)) : 0;
}

int hostlog_show_head(int base, const void *note, size_t len)
{
	mode_t before = umask(022); /* the recorder's own would hide it */
	int r;

	r = file_replace_at(base, HEAD_FILE, 0644, note, len);
	(void)umask(before);
	return r;
}

/* R1: the next key on disk before anything names it. */
static struct signer *prepare_next(struct ledger *l)
{
	struct signer *next = NULL;

	if (signing_new_key(l->signing, l->st.origin, &next) < 0)
		return NULL; /* the append will say why */
	if (!key_save_remote(next, l->keys, NEXT_FILE))
		return next;
	(void)unlinkat(l->keys, NEXT_FILE, 0); /* half a file helps nobody */
	key_free(next);
	return NULL;
}

static void out_rotate(struct ledger *l, const struct signer *next, struct buf *to)
{
	_cleanup_buf_ struct buf vkey = BUF_INIT;

	vkey_add(&vkey, &next->v);
	hostlog_leaf(to, "rotate");
	json_out_u64(to, "epoch", l->scan.tree.n);
	json_out_cstr(to, "vkey", buf_str(&vkey));
	hostlog_leaf_end(to);
}

/* Without space for a new key the old one stays: a record is worth more than a ratchet step. */
int hostlog_append_rotate(struct ledger *l, struct buf *lines, struct diag *d)
{
	_cleanup_key_ struct signer *next = prepare_next(l);
	int r;

	if (next)
		out_rotate(l, next, lines);
	r = hostlog_append(l, lines, true, d); /* R2, by the old key */
	if (!r)
		r = hostlog_publish(l, d);
	return r ? r : settle_key(l, d); /* R3, R4 */
}

static void out_identity(const struct signer *next, struct buf *to)
{
	_cleanup_buf_ struct buf vkey = BUF_INIT;

	vkey_add(&vkey, &next->v);
	hostlog_leaf(to, "identity");
	json_out_cstr(to, "vkey", buf_str(&vkey));
	hostlog_leaf_end(to);
}

int hostlog_new_identity(struct ledger *l, struct diag *d)
{
	_cleanup_key_ struct signer *next = key_new(NULL, "id/", KEY_COSIGN);
	_cleanup_buf_ struct buf line = BUF_INIT;
	int r;

	r = key_save(next, l->keys, ID_NEXT_FILE);
	if (r < 0)
		return diag_set(d, r, "cannot write keys/%s: %s", ID_NEXT_FILE, strerror(-r));
	out_identity(next, &line);
	l->next_identity = next;
	r = hostlog_append(l, &line, true, d);
	l->next_identity = NULL;
	if (!r)
		r = hostlog_publish(l, d);
	return r ? r : settle_identity(l, d);
}
