/* SPDX-License-Identifier: MIT */
/* Opening a ledger folder and naming its runs, see ledger.h. */
#include "ledger.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "hostlog.h"
#include "signer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#define MIN_PREFIX 4

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	scan_done(&l->scan);
	index_done(&l->st);
	closep(&l->seg.fd);
	packer_free(l->packer);
	key_free(l->key);
	key_free(l->identity);
	signing_stop(l->signing);
	closep(&l->lock);
	closep(&l->keys);
	closep(&l->runs);
	closep(&l->index);
	closep(&l->dir);
	closep(&l->base);
	free(l);
}

/* A folder that others may write is one where others may replace the log. */
static int check_owner(int fd, const char *what, struct diag *d)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return diag_set(d, -errno, "cannot look at %s: %s", what, strerror(errno));
	if (st.st_uid != geteuid())
		return diag_set(d, -EPERM, "%s belongs to another user (uid %u); choose another "
				"folder with --dir, or record as that user", what, st.st_uid);
	if (st.st_mode & 022)
		return diag_set(d, -EPERM, "%s may be written by others; run \"chmod go-w\" on it",
				what);
	return 0;
}

static int open_dir(int at, const char *name, struct diag *d, int *ret)
{
	int fd = dir_open_at(at, name);

	if (fd < 0)
		return diag_set(d, fd, "cannot open folder %s of the ledger: %s", name,
				strerror(-fd));
	*ret = fd;
	return 0;
}

/* The name that `current` links to: a log id, nothing that leads elsewhere. */
static int read_current(int base, char to[LOG_ID_LEN + 1])
{
	char text[LOG_ID_LEN + 2];
	ssize_t n;

	n = readlinkat(base, "current", text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n != LOG_ID_LEN)
		return -ELOOP;
	memcpy(to, text, LOG_ID_LEN);
	to[LOG_ID_LEN] = '\0';
	return strspn(to, "0123456789abcdef") == LOG_ID_LEN ? 0 : -ELOOP;
}

static int lock_base(int base, struct diag *d)
{
	while (flock(base, LOCK_EX) < 0)
		if (errno != EINTR)
			return diag_set(d, -errno, "cannot lock the folder: %s", strerror(errno));
	return 0;
}

static int make_if_missing(int base, struct diag *d)
{
	char id[LOG_ID_LEN + 1];
	int r;

	r = lock_base(base, d);
	if (r < 0)
		return r;
	r = read_current(base, id);
	if (r == -ENOENT)
		r = genesis_make(base, NULL, d);
	(void)flock(base, LOCK_UN); /* cannot fail on a lock that we hold */
	return r;
}

static int open_base(struct ledger *l, const char *dir, bool create, struct diag *d)
{
	int r = 0;

	if (create)
		r = dir_make_all(dir, 0755);
	if (r < 0)
		return diag_set(d, r, "cannot make %s: %s", dir, strerror(-r));
	l->base = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->base < 0)
		return diag_set(d, -errno, "cannot open %s: %s", dir, strerror(errno));
	if (create)
		r = check_owner(l->base, dir, d);
	if (create && !r)
		r = make_if_missing(l->base, d);
	return r;
}

static int open_parts(struct ledger *l, const char *dir, struct diag *d)
{
	char origin[NAME_MAX_LEN + 1], id[LOG_ID_LEN + 1];
	int r;

	r = read_current(l->base, id);
	if (r == -ENOENT)
		return diag_set(d, r, "no ledger in %s yet; \"deedlog run\" makes one", dir);
	if (r < 0)
		return diag_set(d, r, "%s/current is no link to a log", dir);
	r = open_dir(l->base, id, d, &l->dir);
	if (!r)
		r = open_dir(l->dir, "index", d, &l->index);
	if (!r)
		r = open_dir(l->dir, "runs", d, &l->runs);
	(void)snprintf(origin, sizeof(origin), "deedlog.invalid/%s", id); /* 28 characters */
	scan_init(&l->scan, l->index, origin);
	memcpy(l->st.origin, origin, sizeof(origin));
	return r;
}

static int open_for_writing(struct ledger *l, struct diag *d)
{
	int r;

	r = check_owner(l->dir, "the log's folder", d);
	if (!r)
		r = open_dir(l->dir, "keys", d, &l->keys);
	if (!r)
		r = check_owner(l->keys, "the folder keys", d);
	if (r < 0)
		return r;
	l->lock = openat(l->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (l->lock < 0)
		return diag_set(d, -errno, "cannot open the lock file: %s", strerror(errno));
	host_boot_id(l->boot);
	host_machine(l->machine);
	l->packer = packer_new(1);
	l->writable = true;
	return 0;
}

/*
 * The checkpoint file is a promise: a log that has less than that was rolled
 * back. Looked at before the keys, which would only say that they do not fit.
 */
static int check_promise(struct ledger *l, struct diag *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct note n;
	int r;

	if (file_read_at(l->dir, "checkpoint", NOTE_MAX, &text) < 0 ||
	    note_parse(cur_of(text.data, text.len), &n) < 0)
		return diag_set(d, -EUCLEAN, "the file checkpoint is missing or broken; run "
				"\"deedlog verify\"");
	r = hostlog_refresh(l, d);
	if (r == -EBADMSG)
		return 0; /* judged under the lock, where a torn tail can be cut */
	if (r < 0)
		return r;
	if (n.cp.size > l->st.leaves || strcmp(n.cp.origin, l->st.origin))
		return diag_set(d, -EUCLEAN, "the index has %llu records, its checkpoint promises "
				"%llu; run \"deedlog verify\"", (unsigned long long)l->st.leaves,
				(unsigned long long)n.cp.size);
	return 0;
}

static int start_up(struct ledger *l, struct diag *d)
{
	int r;

	r = check_promise(l, d);
	if (!r)
		r = hostlog_lock(l, d);
	if (r < 0)
		return r;
	if (strcmp(l->machine, l->st.machine))
		r = diag_set(d, -EXDEV, "this ledger was begun on another machine; continuing it "
			     "here would fork it: \"deedlog init --continue\" begins a new "
			     "one that names it");
	if (!r)
		r = recover_runs(l, d);
	hostlog_reserve(l);
	hostlog_unlock(l);
	return r;
}

static struct ledger *new_ledger(void)
{
	struct ledger *l = xcalloc(1, sizeof(*l));

	l->base = l->dir = l->index = l->runs = l->keys = l->lock = -1;
	l->seg.fd = l->scan.fd = -1;
	return l;
}

/* All but the index, which the caller may want to read in its own way. */
static int open_reading(const char *dir, struct diag *d, struct ledger **ret)
{
	_cleanup_ledger_ struct ledger *l = new_ledger();
	int r;

	r = open_base(l, dir, false, d);
	if (!r)
		r = open_parts(l, dir, d);
	if (!r)
		*ret = TAKE_PTR(l);
	return r;
}

static int open_writing(const char *dir, struct diag *d, struct ledger **ret)
{
	_cleanup_ledger_ struct ledger *l = new_ledger();
	int r;

	r = signing_start(&l->signing);
	if (r < 0)
		return diag_set(d, r, "cannot start the signing process: %s", strerror(-r));
	r = open_base(l, dir, true, d);
	if (!r)
		r = open_parts(l, dir, d);
	if (!r)
		r = open_for_writing(l, d);
	if (!r)
		r = start_up(l, d);
	if (!r)
		*ret = TAKE_PTR(l);
	return r;
}

int ledger_open(const char *dir, bool create, struct diag *d, struct ledger **ret_ledger)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	int r;

	if (key_init() < 0)
		return diag_set(d, -EIO, "libsodium cannot start");
	if (create)
		return open_writing(dir, d, ret_ledger);
	r = open_reading(dir, d, &l);
	if (!r)
		r = hostlog_refresh(l, d);
	if (!r)
		*ret_ledger = TAKE_PTR(l);
	return r;
}

/* The newest head of a log whose keys or machine are gone. A torn end is left behind. */
static int read_head(const char *dir, struct checkpoint *ret, struct diag *d)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	int r;

	r = open_reading(dir, d, &l);
	if (!r)
		r = hostlog_refresh(l, d);
	if (r < 0 && (r != -EBADMSG || l->broken))
		return r;
	if (!l->st.leaves)
		return diag_set(d, -EUCLEAN, "the log in use has no sealed record; choose another "
				"folder with --dir");
	memcpy(ret->origin, l->st.origin, sizeof(ret->origin));
	ret->size = l->scan.tree.n;
	tree_root(&l->scan.tree, &ret->root);
	return 0;
}

int ledger_continue(const char *dir, struct diag *d)
{
	struct ledger l = { .base = -1 };
	struct checkpoint prev = { 0 };
	int r;

	if (key_init() < 0)
		return diag_set(d, -EIO, "libsodium cannot start");
	r = read_head(dir, &prev, d);
	if (r == -ENOENT)
		return diag_set(d, r, "there is no ledger in %s to continue; \"deedlog init\" makes "
				"one", dir);
	if (!r)
		r = open_base(&l, dir, true, d);
	if (!r)
		r = lock_base(l.base, d);
	if (!r)
		r = genesis_make(l.base, &prev, d);
	closep(&l.base); /* the lock goes with it */
	return r;
}

int ledger_rotate(struct ledger *l, bool identity, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int r;

	r = hostlog_lock(l, d);
	if (r < 0)
		return r;
	r = identity ? hostlog_new_identity(l, d) : hostlog_append_rotate(l, &line, d);
	hostlog_unlock(l);
	return r;
}

int ledger_keys(struct ledger *l, struct diag *d, struct ledger_keys *ret)
{
	int r;

	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	*ret = (struct ledger_keys){ .genesis = l->st.genesis,
				     .index = l->st.in_force,
				     .identity = l->st.identity,
				     .has_identity = l->st.has_identity,
				     .epoch = l->st.epoch,
				     .rotated_ns = l->st.rotated_ns };
	return 0;
}

int ledger_runs(struct ledger *l, struct diag *d, struct run_info **ret_runs, size_t *ret_n)
{
	struct run_info *runs;
	int r;

	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	runs = xcalloc(l->st.n_runs, sizeof(*runs));
	for (size_t i = 0; i < l->st.n_runs; i++)
		runs[i] = l->st.runs[i].info;
	*ret_runs = runs;
	*ret_n = l->st.n_runs;
	return 0;
}

static int find_prefix(const struct ledger *l, const char *prefix, struct diag *d,
		       const struct run_info **ret)
{
	size_t len = strlen(prefix), hits = 0;

	if (len < MIN_PREFIX || len > RUN_ID_LEN || strspn(prefix, "0123456789abcdef") != len)
		return diag_set(d, -EINVAL, "\"%.40s\" is no session id: give its first %d or more "
				"hex digits; \"deedlog list\" lists them", prefix, MIN_PREFIX);
	for (size_t i = 0; i < l->st.n_runs; i++) {
		if (strncmp(l->st.runs[i].info.id, prefix, len))
			continue;
		*ret = &l->st.runs[i].info;
		hits++;
	}
	if (!hits)
		return diag_set(d, -ENOENT, "no session begins with %s", prefix);
	return hits > 1 ? diag_set(d, -ENOTUNIQ, "%zu sessions begin with %s; give more digits",
				   hits, prefix) : 0;
}

int ledger_find_run(struct ledger *l, const char *prefix, struct diag *d,
		    char ret_id[RUN_ID_LEN + 1])
{
	const struct run_info *hit = NULL;
	int r;

	r = hostlog_refresh(l, d);
	if (r < 0)
		return r;
	if (!prefix && !l->st.n_runs)
		return diag_set(d, -ENOENT, "the ledger has no session yet");
	if (!prefix)
		hit = &l->st.runs[l->st.n_runs - 1].info;
	else
		r = find_prefix(l, prefix, d, &hit);
	if (!r)
		memcpy(ret_id, hit->id, sizeof(hit->id));
	return r;
}
