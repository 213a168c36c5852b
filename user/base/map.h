/* SPDX-License-Identifier: MIT */
/*
 * Hash map from bytes to pointers. Keys come from the target, so the hash is
 * SipHash under a random secret of the process: nobody can choose keys that
 * collide. The walk is in the order of insertion, whatever the secret.
 *
 * Keys are copied, values are borrowed: who puts a pointer in frees it.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	void *key; /* NULL: removed */
	size_t len;
	uint64_t hash;
	void *value;
};

struct map {
	struct map_entry *entries;
	size_t n, cap;	/* entries used and there is room for, removed ones included */
	size_t live;	/* keys in the map */
	uint32_t *slots; /* number of an entry + 1; 0 = empty */
	size_t n_slots;	/* a power of two */
};

#define MAP_INIT { 0 }

void map_done(struct map *m); /* keys and tables, not the values */

void *map_get(const struct map *m, const void *key, size_t len); /* NULL: not there */

/* The place of the key's value, made with NULL in it; valid until the next call that adds. */
void **map_slot(struct map *m, const void *key, size_t len);

void map_remove(struct map *m, const void *key, size_t len);

/* Walk: for (size_t at = 0; (v = map_next(&m, &at));) ...; entries whose value is NULL are passed over. */
void *map_next(const struct map *m, size_t *at);

#endif
