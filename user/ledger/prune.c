/* SPDX-License-Identifier: MIT */
/*
 * Removing whole runs, see upkeep.h. A folder leaves runs/ in one step, so that
 * nobody takes half of it for a log that was cut; then its files go.
 */
#include "base/fdio.h"
#include "base/json_out.h"
#include "rewrite.h"
#include "upkeep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#define TRASH "pruned-"
#define TRASH_MAX 32

static void out_prune(const char *id, const char *why, struct buf *to)
{
	hostlog_leaf(to, "prune");
	json_out_cstr(to, "run", id);
	json_out_cstr(to, "why", why);
	hostlog_leaf_end(to);
}

static int judge(const struct ledger *l, const char *id, struct diag *d)
{
	const struct index_run *run = index_run(&l->st, id);

	if (!run)
		return diag_set(d, -ENOENT, "the ledger has no run %.16s", id);
	if (run->stage == RUN_OPEN)
		return diag_set(d, -EBUSY, "run %s is being written; wait for its end", id);
	return run->info.pruned;
}

static bool is_named_before(const char (*ids)[RUN_ID_LEN + 1], size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(ids[k], ids[i]))
			return true;
	return false;
}

/* Nothing is announced unless everything may go. */
static int announce(struct ledger *l, const char (*ids)[RUN_ID_LEN + 1], size_t n,
		    const char *why, struct diag *d)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		r = judge(l, ids[i], d);
		if (r < 0)
			return r;
		if (!r && !is_named_before(ids, i))
			out_prune(ids[i], why, &lines);
	}
	return rewrite_announce(l, &lines, d);
}

/* ---- removing ------------------------------------------------------------------------- */

static int empty_folder(int dirfd)
{
	struct dirent *e;
	DIR *dir = fdopendir(dirfd); /* takes it */
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(dirfd, e->d_name, 0) < 0)
			r = -errno;
	(void)closedir(dir);
	return r;
}

static int remove_trash(struct ledger *l, const char *name)
{
	int fd, r;

	fd = dir_open_at(l->dir, name);
	if (fd < 0)
		return fd;
	r = empty_folder(fd);
	return r ? r : unlinkat(l->dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_run(struct ledger *l, const char *id)
{
	char name[TRASH_MAX];
	int r;

	(void)snprintf(name, sizeof(name), TRASH "%s", id); /* fits */
	if (renameat(l->runs, id, l->dir, name) < 0 && errno != ENOENT)
		return -errno;
	if (fsync(l->runs) < 0)
		return -errno;
	r = remove_trash(l, name);
	return r == -ENOENT ? 0 : r; /* an earlier call came that far */
}

static int remove_all(struct ledger *l, const char (*ids)[RUN_ID_LEN + 1], size_t n,
		      struct diag *d)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_rewrite_ struct rewrite w = { .dir = -1 };
		int r;

		r = rewrite_open(l, ids[i], d, &w); /* not while somebody rewrites it */
		if (r == -EBUSY)
			return r;
		r = remove_run(l, ids[i]);
		if (r < 0)
			return diag_set(d, r, "run %s is announced as pruned, but cannot be removed: "
					"%s; prune it once more", ids[i], strerror(-r));
	}
	return 0;
}

int prune_runs(struct ledger *l, const char (*ids)[RUN_ID_LEN + 1], size_t n, const char *why,
	       struct diag *d)
{
	int r;

	if (!l->writable)
		return diag_set(d, -EROFS, "the ledger was opened for reading");
	r = hostlog_lock(l, d);
	if (r < 0)
		return r;
	r = announce(l, ids, n, why, d);
	hostlog_unlock(l);
	return r ? r : remove_all(l, ids, n, d);
}
