/* SPDX-License-Identifier: MIT */
/*
 * The writer of one run. Lines gather in a block; sealing packs the block into
 * `pending`, which goes to the file with one write and stays there until that
 * worked: so a full disk costs at most what does not fit into one more block,
 * and what was signed once is what gets written.
 */
#include "runlog.h"

#include "base/alloc.h"
#include "base/esc.h"
#include "base/fdio.h"
#include "base/json_out.h"
#include "base/timeutil.h"
#include "hostlog.h"
#include "line.h"
#include "signer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SEAL_AGE_NS (250 * NS_PER_MS)
#define CRITICAL_GAP_NS (10 * NS_PER_MS)
#define SILENCE_NS (60 * NS_PER_S)
#define HEAD_NS (60 * NS_PER_S)
#define EPOCH_NS (24 * 3600 * NS_PER_S) /* the longest that one index key lives */
#define SYNC_NS NS_PER_S
#define RETRY_NS NS_PER_S
#define CLOCK_STEP_NS (100 * (int64_t)NS_PER_MS)

struct runlog {
	struct ledger *l; /* borrowed */
	char id[RUN_ID_LEN + 1];
	int dir, first; /* first: segment 0, whose lock says that we live */
	struct segment seg;
	struct block block;
	struct packer *packer;
	struct signer *key;
	char *lost, *sampled_out;

	struct buf pending; /* a sealed pair that is not in the file yet */
	int trouble;	    /* why not: -errno, 0 = all is well */
	int dead;	    /* -errno: the key is gone, nothing more can be sealed */
	uint64_t trouble_ns;

	bool critical, has_events;
	uint64_t b_min, b_max;	 /* over the events of the block */
	uint64_t block_ns;	 /* when a flush first saw it; 0 = empty then */
	uint64_t seal_ns, head_ns, sync_ns; /* last seal, last head, oldest unsynced write (0 = none) */
	uint64_t head_size, written, synced; /* leaves: named by the index, in the file, on the disk */
	int64_t clock_ns;	 /* REALTIME - BOOTTIME at the last seal */
	struct buf split;
};

/* ---- lines of our own -------------------------------------------------------------- */

static void add_buf(struct runlog *r, const struct buf *line)
{
	block_add(&r->block, cur_of(line->data, line->len));
}

static void add_segment_line(struct runlog *r)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	segment_line(&b, r->key->v.name, r->seg.seq, &r->block.tree);
	add_buf(r, &b);
}

static void see_event(struct runlog *r, uint64_t boot_ns)
{
	r->b_min = r->has_events ? MIN(r->b_min, boot_ns) : boot_ns;
	r->b_max = r->has_events ? MAX(r->b_max, boot_ns) : boot_ns;
	r->has_events = true;
}

static void open_line(struct buf *b, const char *t, uint64_t boot_ns)
{
	buf_addf(b, "{\"t\":\"%s\",\"b\":%" PRIu64, t, boot_ns);
}

static void out_pair(struct buf *b, const char *key, uint64_t first, uint64_t second)
{
	json_out_open(b, key, '[');
	json_out_u64(b, NULL, first);
	json_out_u64(b, NULL, second);
	json_out_close(b, ']');
}

/* lost: the counters at the end of the gap, NULL = unknown. */
static void add_gap(struct runlog *r, const char *why, uint64_t from_ns, const char *lost,
		    bool leaves)
{
	uint64_t now = time_boot_ns();
	_cleanup_buf_ struct buf b = BUF_INIT;

	open_line(&b, "gap", now);
	json_out_cstr(&b, "why", why);
	json_out_u64(&b, "from", from_ns);
	json_out_u64(&b, "to", now);
	json_out_raw(&b, "lost", lost ? lost : "null");
	if (leaves)
		out_pair(&b, "leaves", r->synced, r->block.first);
	json_out_close(&b, '}');
	add_buf(r, &b);
	see_event(r, now);
	r->critical = true;
}

static void add_clock(struct runlog *r, uint64_t boot_ns, int64_t offset)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	open_line(&b, "clock", boot_ns);
	json_out_i64(&b, "old", (int64_t)boot_ns + r->clock_ns);
	json_out_i64(&b, "new", (int64_t)boot_ns + offset);
	json_out_i64(&b, "delta", offset - r->clock_ns);
	json_out_close(&b, '}');
	add_buf(r, &b);
	see_event(r, boot_ns);
}

static void add_seal(struct runlog *r)
{
	uint64_t boot = time_boot_ns(), wall = time_wall_ns();
	int64_t offset = (int64_t)(wall - boot), step = offset - r->clock_ns;
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (step > CLOCK_STEP_NS || step < -CLOCK_STEP_NS)
		add_clock(r, boot, offset);
	r->clock_ns = offset;
	buf_addf(&b, "{\"t\":\"seal\",\"n\":%" PRIu64, r->block.tree.n + 1);
	if (r->has_events)
		out_pair(&b, "b", r->b_min, r->b_max);
	else
		json_out_null(&b, "b");
	out_pair(&b, "at", boot, wall);
	json_out_raw(&b, "lost", r->lost);
	json_out_raw(&b, "sampled_out", r->sampled_out);
	json_out_u64(&b, "bytes", r->block.plain.len);
	json_out_close(&b, '}');
	add_buf(r, &b);
}

/* ---- to the file --------------------------------------------------------------------- */

static const char *why_of(int err)
{
	return err == -ENOSPC || err == -EDQUOT ? "ENOSPC" : "EIO";
}

/* A hole that closed again is told by the next block's first record. */
static void end_trouble(struct runlog *r)
{
	if (r->trouble)
		add_gap(r, why_of(r->trouble), r->trouble_ns, r->lost, false);
	r->trouble = 0;
}

static int begin_segment(struct runlog *r)
{
	struct segment next;
	int err;

	err = segment_create(r->dir, r->seg.seq + 1, &next);
	if (err < 0)
		return err;
	closep(&r->seg.fd);
	r->seg = next;
	add_segment_line(r);
	return fsync(r->dir) < 0 ? -errno : 0;
}

static int sync_segment(struct runlog *r, uint64_t now_ns);

static int next_if_full(struct runlog *r, uint64_t now_ns)
{
	unsigned seq = r->seg.seq;
	int err;

	if (r->block.lines || r->seg.size < SEGMENT_MAX_BYTES)
		return 0;
	err = sync_segment(r, now_ns);
	if (err < 0 || r->seg.seq != seq) /* a failed sync has begun one already */
		return err;
	return begin_segment(r);
}

static int write_pending(struct runlog *r, uint64_t now_ns)
{
	int err;

	if (!r->pending.len)
		return 0;
	err = segment_append(&r->seg, &r->pending);
	if (err == -ENOSPC && hostlog_give_reserve(r->l))
		err = segment_append(&r->seg, &r->pending);
	if (err < 0) {
		if (!r->trouble)
			r->trouble_ns = now_ns;
		r->trouble = err;
		return err;
	}
	buf_reset(&r->pending);
	if (!r->sync_ns)
		r->sync_ns = now_ns;
	r->written = r->block.first;
	(void)next_if_full(r, now_ns); /* else this one grows on until the next seal */
	end_trouble(r);
	return 0;
}

static int seal(struct runlog *r, uint64_t now_ns, bool last)
{
	const struct signer *signers[] = { r->key, r->l->identity };
	int err;

	err = r->dead ? r->dead : write_pending(r, now_ns);
	if (err < 0)
		return err;
	add_seal(r);
	r->dead = block_pack(&r->block, r->packer, r->key->v.name, signers,
			     1 + (last && r->l->identity), time_wall_ns() / NS_PER_S, &r->pending);
	if (r->dead)
		return r->dead;
	r->critical = r->has_events = false;
	r->block_ns = 0;
	r->seal_ns = now_ns;
	return write_pending(r, now_ns);
}

/* Room for one more line; fails only when a whole block waits already. */
static int make_room(struct runlog *r, size_t n)
{
	if (r->dead || r->block.plain.len + n <= BLOCK_MAX_BYTES)
		return r->dead;
	if (r->pending.len)
		return r->trouble;
	(void)seal(r, time_boot_ns(), false); /* on failure it waits in pending */
	return 0;
}

/*
 * EIO from fdatasync: the kernel may have dropped the pages, so a second try
 * would lie. What is in doubt is named, and the log goes on in a new file.
 */
static int leave_segment(struct runlog *r, uint64_t now_ns)
{
	int err = 0;

	if (r->block.lines)
		err = seal(r, now_ns, false);
	if (!err)
		err = begin_segment(r);
	if (err < 0)
		return err;
	add_gap(r, "EIO", now_ns, r->lost, true);
	r->sync_ns = 0;
	return 0;
}

static int sync_segment(struct runlog *r, uint64_t now_ns)
{
	if (!r->sync_ns)
		return 0;
	if (fdatasync(r->seg.fd) < 0)
		return leave_segment(r, now_ns);
	r->sync_ns = 0;
	r->synced = r->written;
	return 0;
}

/* ---- the life of a run ------------------------------------------------------------------ */

static void out_cmd(struct buf *to, const char *cmd)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t len = strnlen(cmd, 64);

	/* escaped now, so that whoever shows it cannot forget; cut where that fits */
	do {
		buf_reset(&text);
		esc_tty(&text, cmd, len);
	} while (text.len > 64 && len--);
	json_out_str(to, "cmd", text.data ? text.data : "", text.len);
}

static void out_text(struct buf *to, const char *key, const char *text)
{
	if (text)
		json_out_cstr(to, key, text);
	else
		json_out_null(to, key);
}

static void out_run_start(const struct runlog *r, const struct run_facts *f, struct buf *to)
{
	_cleanup_buf_ struct buf vkey = BUF_INIT;

	vkey_add(&vkey, &r->key->v);
	hostlog_leaf(to, "run-start");
	json_out_cstr(to, "run", r->id);
	json_out_cstr(to, "vkey", buf_str(&vkey));
	out_cmd(to, f->cmd);
	json_out_u64(to, "uid", f->uid);
	json_out_cstr(to, "boot", r->l->boot);
	out_text(to, "tier", f->tier);
	out_text(to, "mode", f->mode);
	out_text(to, "policy", f->policy);
	out_text(to, "bpf", f->bpf);
	if (f->prev_run)
		json_out_cstr(to, "prev_run", f->prev_run);
	hostlog_leaf_end(to);
}

static int make_folder(struct runlog *r)
{
	if (mkdirat(r->l->runs, r->id, 0750) < 0)
		return -errno;
	r->dir = dir_open_at(r->l->runs, r->id);
	if (r->dir < 0)
		return r->dir;
	return segment_create(r->dir, 0, &r->seg);
}

static int make_files(struct runlog *r, struct diag *d)
{
	int err;

	err = make_folder(r);
	if (!err && (fsync(r->l->runs) < 0 || fsync(r->dir) < 0))
		err = -errno;
	if (!err && flock(r->seg.fd, LOCK_EX | LOCK_NB) < 0)
		err = -errno;
	if (!err)
		r->first = fcntl(r->seg.fd, F_DUPFD_CLOEXEC, 0); /* shares the lock */
	if (!err && r->first < 0)
		err = -errno;
	return err ? diag_set(d, err, "cannot make the log of the run: %s", strerror(-err)) : 0;
}

/* The ledger's lock covers both: nobody may take the run for a crashed one in between. */
static int announce(struct runlog *r, const struct run_facts *f, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int err;

	err = hostlog_lock(r->l, d);
	if (err < 0)
		return err;
	out_run_start(r, f, &line);
	err = hostlog_append(r->l, &line, false, d);
	if (!err)
		err = make_files(r, d);
	hostlog_unlock(r->l);
	return err;
}

static struct runlog *new_run(struct ledger *l, struct diag *d)
{
	struct runlog *r = xcalloc(1, sizeof(*r));
	char name[NAME_MAX_LEN + 1];
	uint8_t id[RUN_ID_LEN / 2];
	int err;

	r->l = l;
	r->dir = r->first = r->seg.fd = -1;
	randombytes_buf(id, sizeof(id));
	sodium_bin2hex(r->id, sizeof(r->id), id, sizeof(id));
	name_of_run(name, l->st.origin, r->id);
	r->packer = packer_new(1);
	r->lost = xstrdup("{}");
	r->sampled_out = xstrdup("{}");
	err = signing_new_key(l->signing, name, &r->key);
	if (!err)
		return r;
	(void)diag_set(d, err, "the signing process is gone: %s", strerror(-err));
	runlog_abandon(r);
	return NULL;
}

int runlog_start(struct ledger *l, const struct run_facts *facts, struct diag *d,
		 struct runlog **ret_run)
{
	struct runlog *r;
	int err;

	if (!l->writable)
		return diag_set(d, -EROFS, "the ledger was opened for reading");
	r = new_run(l, d);
	if (!r)
		return -EPIPE;
	err = announce(r, facts, d);
	if (err < 0) {
		runlog_abandon(r);
		return err;
	}
	r->seal_ns = r->head_ns = time_boot_ns();
	r->clock_ns = (int64_t)(time_wall_ns() - time_boot_ns());
	block_start(&r->block);
	add_segment_line(r);
	if (facts->prev_run)
		add_gap(r, "restart", facts->prev_until_ns, facts->prev_lost, false);
	*ret_run = r;
	return 0;
}

const char *runlog_id(const struct runlog *r)
{
	return r->id;
}

void runlog_abandon(struct runlog *r)
{
	if (!r)
		return;
	key_free(r->key);
	packer_free(r->packer);
	block_done(&r->block);
	buf_done(&r->pending);
	buf_done(&r->split);
	free(r->lost);
	free(r->sampled_out);
	closep(&r->seg.fd);
	closep(&r->first);
	closep(&r->dir);
	free(r);
}

/* The head's place in the log must be known before it is split: `more` lines name it. */
static int append_long(struct runlog *r, struct cur text, uint64_t boot_ns)
{
	struct cur lines, line;
	int err;

	err = make_room(r, LINE_MAX_BYTES);
	if (err < 0)
		return err;
	buf_reset(&r->split);
	err = line_split(text, r->block.tree.n, &r->split);
	if (err < 0)
		return err;
	see_event(r, boot_ns); /* the line that has the time is in this block, the others may not be */
	lines = cur_of(r->split.data, r->split.len);
	while (!cur_until(&lines, '\n', &line)) {
		(void)make_room(r, cur_left(&line) + 1); /* or the block grows: a record stays whole */
		block_add(&r->block, line);
	}
	return 0;
}

int runlog_append(struct runlog *r, const char *line, size_t len, uint64_t boot_ns, bool critical)
{
	struct cur text = cur_of(line, len);
	int err;

	if (!cur_starts(&text, "{\"t\":\"") || memchr(line, '\n', len))
		return -EBADMSG;
	if (len >= LINE_MAX_BYTES) {
		err = append_long(r, text, boot_ns);
		if (err < 0)
			return err;
	} else {
		err = make_room(r, len + 1);
		if (err < 0)
			return err;
		block_add(&r->block, text);
		see_event(r, boot_ns);
	}
	r->critical |= critical;
	return 0;
}

void runlog_counters(struct runlog *r, const char *lost, const char *sampled_out)
{
	free(r->lost);
	free(r->sampled_out);
	r->lost = xstrdup(lost);
	r->sampled_out = xstrdup(sampled_out);
}

/* ---- ticks -------------------------------------------------------------------------------- */

static uint64_t seal_due(const struct runlog *r)
{
	uint64_t due = r->seal_ns + SILENCE_NS;

	if (r->critical)
		due = MIN(due, r->seal_ns + CRITICAL_GAP_NS);
	if (r->block_ns)
		due = MIN(due, r->block_ns + SEAL_AGE_NS);
	return due;
}

static uint64_t next_due(const struct runlog *r)
{
	uint64_t due = MIN(seal_due(r), r->head_ns + HEAD_NS);

	if (r->sync_ns)
		due = MIN(due, r->sync_ns + SYNC_NS);
	return due;
}

static void out_claim(const struct runlog *r, const char *t, struct buf *to)
{
	struct hash root;

	tree_root(&r->block.tree, &root);
	hostlog_leaf(to, t);
	json_out_cstr(to, "run", r->id);
	json_out_u64(to, "size", r->block.tree.n);
	hostlog_out_hash(to, "root", &root);
}

static int append_index(struct runlog *r, struct buf *line, bool rotate, struct diag *d)
{
	int err;

	err = hostlog_lock(r->l, d);
	if (err < 0)
		return err;
	err = rotate ? hostlog_append_rotate(r->l, line, d) :
		       hostlog_append(r->l, line, false, d);
	hostlog_reserve(r->l);
	hostlog_unlock(r->l);
	return err;
}

/* A wall clock that went back must not keep a key alive. */
static bool epoch_is_over(const struct ledger *l)
{
	uint64_t now = time_wall_ns(), then = l->st.rotated_ns;

	return now < then || now - then >= EPOCH_NS;
}

/* A head must not promise what a power cut can take back: seal, sync, then name it. */
static int write_head(struct runlog *r, uint64_t now_ns, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int err = 0;

	r->head_ns = now_ns;
	if (r->block.lines)
		err = seal(r, now_ns, false);
	if (!err)
		err = sync_segment(r, now_ns);
	if (err < 0)
		return err;
	if (r->block.lines || r->block.tree.n == r->head_size)
		return 0; /* a gap came first, or nothing is new */
	out_claim(r, "head", &line);
	hostlog_leaf_end(&line);
	err = append_index(r, &line, epoch_is_over(r->l), d);
	if (!err)
		r->head_size = r->block.tree.n;
	return err;
}

static int tick(struct runlog *r, uint64_t now_ns, struct diag *d)
{
	int err;

	err = write_pending(r, now_ns);
	if (!err && now_ns >= seal_due(r))
		err = seal(r, now_ns, false);
	if (!err && r->sync_ns && now_ns >= r->sync_ns + SYNC_NS)
		err = sync_segment(r, now_ns);
	if (!err && now_ns >= r->head_ns + HEAD_NS)
		err = write_head(r, now_ns, d);
	return err;
}

int runlog_flush(struct runlog *r, uint64_t now_ns, struct diag *d, uint64_t *ret_deadline_ns)
{
	int err;

	if (r->block.lines && !r->block_ns)
		r->block_ns = now_ns;
	err = tick(r, now_ns, d);
	if (r->block.lines && !r->block_ns)
		r->block_ns = now_ns; /* a gap or segment line began the next block */
	*ret_deadline_ns = err < 0 ? now_ns + RETRY_NS : next_due(r);
	if (err < 0)
		return diag_set(d, err, "the log of run %s cannot be written: %s", r->id,
				strerror(-err));
	return 0;
}

/* Twice at most: the second time for the gap that a failed sync leaves. */
static int last_seal(struct runlog *r)
{
	int err = 0;

	for (int i = 0; i < 2 && !err && (!i || r->block.lines); i++) {
		err = seal(r, time_boot_ns(), true);
		if (!err)
			err = sync_segment(r, time_boot_ns());
	}
	return err ? err : (r->block.lines ? -EIO : 0);
}

static void out_run_end(const struct runlog *r, int exit_code, int term_signal, const char *why,
			struct buf *to)
{
	out_claim(r, "run-end", to);
	json_out_raw(to, "lost", r->lost);
	if (term_signal >= 0)
		json_out_i64(to, "signal", term_signal);
	else
		json_out_i64(to, "exit", exit_code);
	if (why)
		json_out_cstr(to, "why", why);
	hostlog_leaf_end(to);
}

int runlog_end(struct runlog *r, const char *end_line, size_t len, uint64_t boot_ns,
	       int exit_code, int term_signal, const char *why, struct diag *d)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int err;

	err = write_pending(r, time_boot_ns());
	if (!err)
		err = runlog_append(r, end_line, len, boot_ns, true);
	if (!err)
		err = last_seal(r);
	if (err < 0) {
		err = diag_set(d, err, "the end of run %s cannot be written: %s; the next start "
			       "will record it as crashed", r->id, strerror(-err));
	} else {
		out_run_end(r, exit_code, term_signal, why, &line);
		err = append_index(r, &line, true, d);
	}
	runlog_abandon(r);
	return err;
}
