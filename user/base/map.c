/* SPDX-License-Identifier: MIT */
/*
 * The map of map.h: an array of entries in the order of insertion and an open
 * table of numbers into it, at most half full. A removed entry keeps its number
 * until the table is built anew.
 */
#include "map.h"

#include "alloc.h"
#include "macros.h"

#include <sys/random.h>

#define MIN_SLOTS 16

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 = rotate(s->v0, 32) + s->v3;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	s->v0 ^= word;
}

static const uint64_t *secret(void)
{
	static uint64_t key[2];

	/* no secret, no safety against chosen keys: a kernel without random numbers is none of ours */
	if (!key[0] && getrandom(key, sizeof(key), 0) != sizeof(key))
		abort();
	key[0] |= 1; /* so that it is not fetched twice */
	return key;
}

/* SipHash-1-3. */
static uint64_t hash_of(const void *bytes, size_t len)
{
	const uint64_t *k = secret();
	struct sip s = { k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
			 k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573 };
	const unsigned char *at = bytes;
	uint64_t word;

	for (size_t left = len; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sip_word(&s, word);
	}
	word = (uint64_t)len << 56;
	for (size_t i = 0; i < len % sizeof(word); i++)
		word |= (uint64_t)at[i] << (8 * i);
	sip_word(&s, word);
	s.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

void map_done(struct map *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->entries[i].key);
	free(m->entries);
	free(m->slots);
	*m = (struct map)MAP_INIT;
}

static bool is_key(const struct map_entry *e, uint64_t hash, const void *key, size_t len)
{
	return e->key && e->hash == hash && e->len == len && (!len || !memcmp(e->key, key, len));
}

static struct map_entry *find(const struct map *m, uint64_t hash, const void *key, size_t len)
{
	size_t mask = m->n_slots - 1;

	if (!m->n_slots)
		return NULL;
	for (size_t i = hash & mask; m->slots[i]; i = (i + 1) & mask)
		if (is_key(&m->entries[m->slots[i] - 1], hash, key, len))
			return &m->entries[m->slots[i] - 1];
	return NULL;
}

static void place(struct map *m, size_t entry)
{
	size_t mask = m->n_slots - 1, i = m->entries[entry].hash & mask;

	while (m->slots[i])
		i = (i + 1) & mask;
	m->slots[i] = (uint32_t)entry + 1;
}

static void squeeze(struct map *m)
{
	size_t to = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->entries[i].key)
			m->entries[to++] = m->entries[i];
	m->n = to;
}

static void make_room(struct map *m)
{
	if (m->n < m->cap)
		return;
	squeeze(m);
	if (m->n_slots < 4 * (m->n + 1))
		m->n_slots = MAX((size_t)MIN_SLOTS, m->n_slots * 2);
	free(m->slots);
	m->slots = xcalloc(m->n_slots, sizeof(*m->slots));
	m->cap = m->n_slots / 2;
	m->entries = xrealloc(m->entries, m->cap, sizeof(*m->entries));
	for (size_t i = 0; i < m->n; i++)
		place(m, i);
}

void *map_get(const struct map *m, const void *key, size_t len)
{
	struct map_entry *e = find(m, hash_of(key, len), key, len);

	return e ? e->value : NULL;
}

void **map_slot(struct map *m, const void *key, size_t len)
{
	uint64_t hash = hash_of(key, len);
	struct map_entry *e = find(m, hash, key, len);

	if (e)
		return &e->value;
	make_room(m);
	e = &m->entries[m->n];
	*e = (struct map_entry){ .key = xmemdup(key, len), .len = len, .hash = hash };
	place(m, m->n++);
	m->live++;
	return &e->value;
}

void map_remove(struct map *m, const void *key, size_t len)
{
	struct map_entry *e = find(m, hash_of(key, len), key, len);

	if (!e)
		return;
	free(e->key);
	e->key = NULL;
	e->value = NULL;
	m->live--;
}

void *map_next(const struct map *m, size_t *at)
{
	while (*at < m->n) {
		void *value = m->entries[(*at)++].value;

		if (value)
			return value;
	}
	return NULL;
}
