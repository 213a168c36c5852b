/* SPDX-License-Identifier: MIT */
/*
 * What a crash leaves behind: torn tails are moved aside, hashed and kept, and
 * runs without an end become orphans. Nothing sealed is ever touched.
 */
#include "base/alloc.h"
#include "base/fdio.h"
#include "base/json_out.h"
#include "hostlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>

#define COPY_STEP 65536
#define MAX_TORN 1000000 /* file names have six digits */

static int create_torn(int dirfd)
{
	char name[TORN_NAME_MAX];

	for (unsigned i = 0; i < MAX_TORN; i++) {
		int fd;

		(void)snprintf(name, sizeof(name), "torn-%06u.bin", i); /* fits */
		fd = openat(dirfd, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EMLINK;
}

static int copy_tail(int from, uint64_t off, int to, struct torn *ret)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	crypto_hash_sha256_state state;
	struct hash h;
	ssize_t n;
	int r;

	*ret = (struct torn){ 0 };
	crypto_hash_sha256_init(&state);
	while ((n = pread(from, buf_grow(&b, COPY_STEP), COPY_STEP, (off_t)off)) > 0) {
		crypto_hash_sha256_update(&state, (uint8_t *)b.data, (size_t)n);
		r = fd_write_all(to, b.data, (size_t)n);
		if (r < 0)
			return r;
		off += (uint64_t)n;
		ret->bytes += (uint64_t)n;
	}
	if (n < 0)
		return -errno;
	crypto_hash_sha256_final(&state, h.b);
	sodium_bin2hex(ret->sha256, sizeof(ret->sha256), h.b, sizeof(h.b));
	return 0;
}

int recover_cut(int dirfd, unsigned seq, uint64_t off, struct torn *ret)
{
	_cleanup_fd_ int from = -1, to = -1;
	char name[SEGMENT_NAME_LEN + 1];
	int r;

	segment_name(name, seq);
	from = openat(dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (from < 0)
		return -errno;
	to = create_torn(dirfd);
	if (to < 0)
		return to;
	r = copy_tail(from, off, to, ret);
	if (r < 0)
		return r;
	/* the copy must be safe before the original goes */
	if (fsync(to) < 0 || fsync(dirfd) < 0 || ftruncate(from, (off_t)off) < 0 || fsync(from) < 0)
		return -errno;
	return 0;
}

struct found {
	uint64_t size;
	struct hash root;
	struct torn torn;
};

/* Reads to the last good seal of the run's own key and moves the rest aside. */
static int recover_run(int dirfd, const struct vkey *key, struct found *ret)
{
	_cleanup_(scan_done) struct scan s;
	bool later = false;
	int r;

	scan_init(&s, dirfd, key->name);
	s.may_redact = true; /* only a foreign hand can have done it, and it is no torn tail */
	while ((r = scan_next(&s)) == 1) {
		ret->size = s.tree.n;
		ret->root = s.note.cp.root;
		if (scan_signed_by(&s, key) < 0)
			return 0; /* forged: evidence for the verifier, not ours to cut */
	}
	if (r == -EBADMSG) {
		r = scan_later_seal(&s, &later);
		if (r < 0 || later)
			return r; /* damage in the middle: the same */
	} else if (r != 0 && r != -ENODATA) {
		return r;
	}
	return s.tail ? recover_cut(dirfd, s.seq, s.file_off, &ret->torn) : 0;
}

static void out_orphan(const struct ledger *l, const struct index_run *run,
		       const struct found *f, struct buf *to)
{
	hostlog_leaf(to, "run-orphan");
	json_out_cstr(to, "run", run->info.id);
	json_out_u64(to, "size", f->size);
	hostlog_out_hash(to, "root", &f->root);
	json_out_u64(to, "torn", f->torn.bytes);
	json_out_cstr(to, "torn_sha256", f->torn.sha256);
	json_out_cstr(to, "boot_then", run->boot);
	json_out_cstr(to, "boot_now", l->boot);
	json_out_null(to, "lost"); /* the counters died with their collector */
	hostlog_leaf_end(to);
}

/* The first segment of a run is locked by its collector for all its life. */
static int lock_run(int dirfd, int *ret_fd)
{
	char name[SEGMENT_NAME_LEN + 1];

	segment_name(name, 0);
	*ret_fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*ret_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return flock(*ret_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/* 1 = an orphan line was added, 0 = the run is alive. */
static int look_at_run(struct ledger *l, const struct index_run *run, struct buf *to)
{
	_cleanup_fd_ int dir = -1, lock = -1;
	struct tree none = { 0 };
	struct found f = { 0 };
	int r = 0;

	tree_root(&none, &f.root);
	dir = dir_open_at(l->runs, run->info.id);
	if (dir < 0 && dir != -ENOENT)
		return dir;
	if (dir >= 0)
		r = lock_run(dir, &lock);
	if (r == -EWOULDBLOCK)
		return 0;
	if (!r && dir >= 0)
		r = recover_run(dir, &run->key, &f);
	if (r < 0)
		return r;
	out_orphan(l, run, &f, to);
	return 1;
}

static int end_run(struct ledger *l, size_t i, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int r;

	if (l->st.runs[i].stage != RUN_OPEN)
		return 0;
	r = look_at_run(l, &l->st.runs[i], &line);
	if (r < 0)
		return diag_set(d, r, "cannot recover run %s: %s", l->st.runs[i].info.id,
				strerror(-r));
	if (!r)
		return 0;
	r = hostlog_append_rotate(l, &line, d);
	return r < 0 ? r : 1;
}

int recover_runs(struct ledger *l, struct diag *d)
{
	for (size_t i = 0; i < l->st.n_runs; i++) {
		int r = end_run(l, i, d);

		if (r < 0)
			return r;
	}
	return 0;
}
