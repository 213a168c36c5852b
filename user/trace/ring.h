/* SPDX-License-Identifier: MIT */
/*
 * Reader of a BPF ring buffer over its mapped pages (kernel/bpf/ringbuf.c): one
 * consumer, records in the order in which they were reserved. libbpf's reader
 * hides the fill level and cannot stop after so many records.
 */
#ifndef TRACE_RING_H
#define TRACE_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer, *producer; /* positions, counted in bytes since ever */
	const uint8_t *data;	       /* mapped twice, so that no record is torn */
	size_t size;		       /* of the data, a power of two */
	uint64_t at;		       /* read so far; handed back to the kernel by ring_release() */
	void *map;		       /* NULL: the memory is the caller's */
	size_t map_bytes;
};

/* Maps the ring of that map; `size` is its max_entries. */
int ring_map(int map_fd, size_t size, struct ring *ret);
void ring_done(struct ring *r);

/*
 * 1 = a record, borrowed until ring_release(); 0 = none that is complete;
 * -EBADMSG = the ring is not in order.
 */
int ring_next(struct ring *r, const void **ret_rec, size_t *ret_len);
void ring_release(struct ring *r); /* gives the space of what was read back */
void ring_forget(struct ring *r);  /* passes over all that was written; nobody may be writing */
size_t ring_fill(const struct ring *r); /* bytes written and not released */
int ring_waiting(const struct ring *r); /* 1: something was written behind what was read */

#endif
