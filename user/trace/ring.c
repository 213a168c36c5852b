/* SPDX-License-Identifier: MIT */
/*
 * Page 0 holds the consumer's position (ours to write), page 1 the producer's,
 * then the data, twice. Each record has a header of 8 bytes: length with the
 * busy and discard bits, and a field of the kernel's own.
 */
#include "ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(int map_fd, size_t size, struct ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 2 * page + 2 * size;
	uint8_t *base;

	base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, map_fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	/* The kernel lets only the consumer's page be writable. */
	if (mmap(base, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, map_fd, 0) ==
	    MAP_FAILED) {
		(void)munmap(base, bytes); /* undoes the mapping above */
		return -errno;
	}
	*ret = (struct ring){
		.consumer = (uint64_t *)base,
		.producer = (uint64_t *)(base + page),
		.data = base + 2 * page,
		.size = size,
		.at = __atomic_load_n((uint64_t *)base, __ATOMIC_ACQUIRE),
		.map = base,
		.map_bytes = bytes,
	};
	return 0;
}

void ring_done(struct ring *r)
{
	if (r->map)
		(void)munmap(r->map, r->map_bytes); /* nothing is written through it any more */
	*r = (struct ring){ 0 };
}

static uint64_t produced(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

int ring_next(struct ring *r, const void **ret_rec, size_t *ret_len)
{
	const uint8_t *header;
	uint64_t left;
	uint32_t word;
	size_t len;

	while ((left = produced(r) - r->at)) {
		header = r->data + (r->at & (r->size - 1));
		word = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		if (word & BPF_RINGBUF_BUSY_BIT)
			return 0;
		len = word & ~BPF_RINGBUF_DISCARD_BIT;
		if (left > r->size || len > left - BPF_RINGBUF_HDR_SZ)
			return -EBADMSG;
		r->at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
		if (word & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*ret_rec = header + BPF_RINGBUF_HDR_SZ;
		*ret_len = len;
		return 1;
	}
	return 0;
}

void ring_release(struct ring *r)
{
	__atomic_store_n(r->consumer, r->at, __ATOMIC_RELEASE);
}

void ring_forget(struct ring *r)
{
	r->at = produced(r);
	ring_release(r);
}

size_t ring_fill(const struct ring *r)
{
	return produced(r) - __atomic_load_n(r->consumer, __ATOMIC_RELAXED);
}

int ring_waiting(const struct ring *r)
{
	return produced(r) != r->at;
}
