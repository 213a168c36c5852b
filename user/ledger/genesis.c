/* SPDX-License-Identifier: MIT */
/*
 * The birth of a log: keys, folders, [segment, genesis], origin, checkpoint,
 * and last the link `current`, so that a half-made log is never found.
 */
#include "base/alloc.h"
#include "base/fdio.h"
#include "base/json_out.h"
#include "base/timeutil.h"
#include "hostlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/stat.h>

void host_boot_id(char to[BOOT_ID_LEN + 1])
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)file_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 256, &b); /* else empty */
	(void)snprintf(to, BOOT_ID_LEN + 1, "%s", buf_str(&b)); /* without its newline */
}

/* The id itself identifies the machine to others, so only its hash is written. */
void host_machine(char to[HEX_HASH_LEN + 1])
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct hash h;

	buf_addstr(&b, "deedlog machine\n");
	(void)file_read_at(AT_FDCWD, "/etc/machine-id", 256, &b); /* without one all are alike */
	crypto_hash_sha256(h.b, (uint8_t *)b.data, b.len);
	sodium_bin2hex(to, HEX_HASH_LEN + 1, h.b, sizeof(h.b));
}

struct birth {
	int base, dir, keys, index; /* base: borrowed */
	struct signer *genesis, *identity;
	char machine[HEX_HASH_LEN + 1], boot[BOOT_ID_LEN + 1];
	uint64_t wall_ns;
	const struct checkpoint *prev; /* borrowed, or NULL */
	struct buf vkey, id;
};

static void birth_done(struct birth *b)
{
	closep(&b->dir);
	closep(&b->keys);
	closep(&b->index);
	key_free(b->genesis);
	key_free(b->identity);
	buf_done(&b->vkey);
	buf_done(&b->id);
}

static int make_dir(int at, const char *name, mode_t mode)
{
	if (mkdirat(at, name, mode) < 0)
		return -errno;
	return dir_open_at(at, name);
}

static int make_dirs(struct birth *b, int base, const char *log_id)
{
	int runs;

	b->dir = make_dir(base, log_id, 0750);
	if (b->dir < 0)
		return b->dir;
	b->index = make_dir(b->dir, "index", 0750);
	if (b->index < 0)
		return b->index;
	b->keys = make_dir(b->dir, "keys", 0700);
	if (b->keys < 0)
		return b->keys;
	runs = make_dir(b->dir, "runs", 0750);
	closep(&runs);
	return MIN(runs, 0);
}

static void out_genesis(const struct birth *b, struct buf *to)
{
	buf_addf(to, "{\"t\":\"genesis\",\"b\":%" PRIu64 ",\"w\":%" PRIu64 ",\"v\":%d",
		 time_boot_ns(), b->wall_ns, LEDGER_VERSION);
	json_out_cstr(to, "vkey", buf_str(&b->vkey));
	json_out_cstr(to, "id", buf_str(&b->id));
	json_out_cstr(to, "machine", b->machine);
	json_out_cstr(to, "boot", b->boot);
	json_out_cstr(to, "version", DEEDLOG_VERSION);
	json_out_null(to, "config");
	if (b->prev) {
		json_out_open(to, "prev", '{');
		json_out_cstr(to, "origin", b->prev->origin);
		json_out_u64(to, "size", b->prev->size);
		hostlog_out_hash(to, "root", &b->prev->root);
		json_out_close(to, '}');
	}
	json_out_close(to, '}');
}

static int write_index(const struct birth *b, struct buf *pair)
{
	struct segment s;
	int r;

	r = segment_create(b->index, 0, &s);
	if (r < 0)
		return r;
	r = segment_append(&s, pair);
	if (!r && (fsync(s.fd) < 0 || fsync(b->index) < 0))
		r = -errno;
	closep(&s.fd);
	return r;
}

/* The note of the first pair is also the first checkpoint. */
static int first_block(const struct birth *b)
{
	const struct signer *signers[] = { b->genesis, b->identity };
	_cleanup_buf_ struct buf line = BUF_INIT, pair = BUF_INIT, note = BUF_INIT;
	_cleanup_(block_done) struct block block = { 0 };
	const char *origin = b->genesis->v.name;
	struct checkpoint cp = { 0 };
	struct packer *p = packer_new(1);
	int r;

	block_start(&block);
	segment_line(&line, origin, 0, &block.tree);
	block_add(&block, cur_of(line.data, line.len));
	buf_reset(&line);
	out_genesis(b, &line);
	block_add(&block, cur_of(line.data, line.len));
	(void)block_pack(&block, p, origin, signers, 2, b->wall_ns / NS_PER_S, &pair); /* local keys */
	packer_free(p);
	r = write_index(b, &pair);
	if (r < 0)
		return r;
	(void)snprintf(cp.origin, sizeof(cp.origin), "%s", origin); /* names fit */
	cp.size = block.tree.n;
	tree_root(&block.tree, &cp.root);
	(void)note_add(&note, &cp, signers, 2, b->wall_ns / NS_PER_S); /* local keys sign always */
	r = file_replace_at(b->dir, "checkpoint", 0640, note.data, note.len);
	return r < 0 ? r : hostlog_show_head(b->base, note.data, note.len);
}

static int write_origin(const struct birth *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "genesis %s\nidentity %s\nmachine %s\ncreated %" PRIu64 "\n",
		 buf_str(&b->vkey), buf_str(&b->id), b->machine, b->wall_ns);
	return file_replace_at(b->dir, "origin", 0640, text.data, text.len);
}

static int write_files(struct birth *b)
{
	_cleanup_fd_ int lock = -1;
	int r;

	vkey_add(&b->vkey, &b->genesis->v);
	vkey_add(&b->id, &b->identity->v);
	r = key_save(b->genesis, b->keys, "index.key");
	if (!r)
		r = key_save(b->identity, b->keys, "identity.key");
	if (!r)
		r = first_block(b);
	if (!r)
		r = write_origin(b);
	if (r < 0)
		return r;
	lock = openat(b->dir, "lock", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	return lock < 0 || fsync(b->dir) < 0 ? -errno : 0;
}

static int point_current(int base, const char *log_id)
{
	(void)unlinkat(base, ".current.new", 0); /* left by a crash, or not there */
	if (symlinkat(log_id, base, ".current.new") < 0 ||
	    renameat(base, ".current.new", base, "current") < 0 || fsync(base) < 0)
		return -errno;
	return 0;
}

int genesis_make(int base, const struct checkpoint *prev, struct diag *d)
{
	_cleanup_(birth_done) struct birth b = { .base = base, .dir = -1, .keys = -1, .index = -1 };
	const char *log_id;
	int r;

	b.prev = prev;
	b.genesis = key_new(NULL, "", KEY_LOG);
	b.identity = key_new(NULL, "id/", KEY_COSIGN);
	b.wall_ns = time_wall_ns();
	host_machine(b.machine);
	host_boot_id(b.boot);
	log_id = b.genesis->v.name + strlen(b.genesis->v.name) - LOG_ID_LEN;
	r = make_dirs(&b, base, log_id);
	if (!r)
		r = write_files(&b);
	if (!r)
		r = point_current(base, log_id);
	return r < 0 ? diag_set(d, r, "cannot make a new ledger: %s; make room there or choose "
				   "another folder with --dir", strerror(-r)) : 0;
}
