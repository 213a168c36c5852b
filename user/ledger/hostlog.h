/* SPDX-License-Identifier: MIT */
/*
 * The index log from the writer's side, private to this room. Appending is
 * always hostlog_lock(), hostlog_append()..., hostlog_unlock(); the lock is
 * where torn tails are cut, rotations finished and keys reloaded.
 */
#ifndef LEDGER_HOSTLOG_H
#define LEDGER_HOSTLOG_H

#include "index.h"
#include "key.h"
#include "member.h"

#define RESERVE_BYTES 65536
#define TORN_NAME_MAX 24

struct ledger {
	int base, dir, index, runs, keys, lock; /* folders and the lock file */
	bool writable;
	bool broken; /* a block contradicts its signature: nothing behind it counts */
	char boot[BOOT_ID_LEN + 1], machine[HEX_HASH_LEN + 1];
	struct index_state st;
	struct scan scan; /* stands behind the last good block */
	struct segment seg; /* the last segment, for appending */
	struct packer *packer;
	struct signing *signing; /* holds `key` */
	struct signer *key, *identity;
	struct signer *next_identity; /* while it is being announced */
	uint64_t signed_size; /* the largest that we signed, written or not */
	uint64_t synced;      /* leaves that are on the disk as far as we know */
	int trouble;	      /* why the last append failed: -errno */
	uint64_t trouble_ns;
	bool doubt; /* a sync failed: go on in a new segment before anything else */
};

/* Reads what was appended since the last look. A beginning behind it is no error. */
int hostlog_refresh(struct ledger *l, struct diag *d);

int hostlog_lock(struct ledger *l, struct diag *d);
void hostlog_unlock(struct ledger *l);

/* Appends lines (each with its newline) as one sealed block, and fsyncs. */
int hostlog_append(struct ledger *l, const struct buf *lines, bool cosign, struct diag *d);

/* The same with a rotation of the index key behind them, and a new checkpoint file. */
int hostlog_append_rotate(struct ledger *l, struct buf *lines, struct diag *d);

/* Appends an identity leaf for a new identity key and puts that in the old one's place. */
int hostlog_new_identity(struct ledger *l, struct diag *d);

/* Begins a leaf: t, b, w. */
void hostlog_leaf(struct buf *to, const char *t);
void hostlog_leaf_end(struct buf *to);
void hostlog_out_hash(struct buf *to, const char *key, const struct hash *h);

/* Writes the note of the last block to the files `checkpoint` and `head`. */
int hostlog_publish(struct ledger *l, struct diag *d);

/* `head`, beside the log's folder: the one file of a ledger that everybody may read. */
int hostlog_show_head(int base, const void *note, size_t len);

/* Space that is given up when the disk is full; best effort. */
void hostlog_reserve(struct ledger *l);
bool hostlog_give_reserve(struct ledger *l);

/*
 * genesis.c: makes a log in `base` and names it in `current`. `prev`: the head of
 * the log that this one takes the place of, or NULL.
 */
int genesis_make(int base, const struct checkpoint *prev, struct diag *d);
void host_boot_id(char to[BOOT_ID_LEN + 1]);
void host_machine(char to[HEX_HASH_LEN + 1]);

/*
 * recover.c: moves bytes from `off` to the end of a segment into a torn file of
 * the same folder, synced; *ret says how many and their hash.
 */
int recover_cut(int dirfd, unsigned seq, uint64_t off, struct torn *ret);
/* Writes run-orphan for each open run whose collector is gone. Lock held. */
int recover_runs(struct ledger *l, struct diag *d);

#endif
