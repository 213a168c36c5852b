/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way out: scratch buffers, sequence numbers, losses, the ring. A number
 * is taken for every attempt and a failed one is counted, so the holes in the
 * numbers of all CPUs equal the ring losses.
 */
#include "maps.bpf.h"
#include "config.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile bool cfg_setattr_lsm3 = true;
const volatile bool cfg_setattr_mod3 = true;
const volatile bool cfg_cg_storage = false;

__u32 run = 0;
__u32 run_cgroup_level = 0;
__u64 run_cgroup_id = 0;

__u32 asleep = 0;
__u32 canary_pid = 0;
__u64 canary_ino = 0;
__u32 canary_dev = 0;
__u32 iter_pid = 0;
__u32 iter_marked = 0;
__u64 touch_count = 0;

#define BODY_BYTES sizeof(struct ev_name) /* the largest */
#define ASK_EVERY  64			  /* submits between two looks at the fill level */

__hidden void count_loss(__u32 cause, __u32 class, __u64 n)
{
	__u32 i = cause * EV_CLASS_COUNT + class;
	__u64 *sum;

	sum = bpf_map_lookup_elem(&losses, &i);
	if (sum)
		__sync_fetch_and_add(sum, n);
}

static __always_inline struct scratch *take_slot(__u32 class)
{
	struct scratch *s;

	for (__u32 i = 0; i < SCRATCH_SLOTS; i++) {
		__u32 key = i;

		s = bpf_map_lookup_elem(&scratches, &key);
		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return s;
	}
	count_loss(EV_LOSS_BUSY, class, 1);
	return NULL;
}

static __always_inline void give_slot(struct scratch *s)
{
	barrier();
	*(volatile __u32 *)&s->busy = 0;
}

__hidden struct scratch *rec_start(__u32 kind, __u32 class, __u32 size)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct scratch *s;

	s = take_slot(class);
	if (!s)
		return NULL;
	__builtin_memset(s->rec, 0, BODY_BYTES);
	s->class = class;
	s->pos = size;
	s->head.boot_ns = bpf_ktime_get_boot_ns();
	s->head.pid = pid_tgid >> 32;
	s->head.tid = pid_tgid;
	s->head.session = s->head.pid == canary_pid ? 0 : run;
	s->head.cpu = bpf_get_smp_processor_id();
	s->head.kind = kind;
	return s;
}

__hidden void rec_drop(struct scratch *s)
{
	give_slot(s);
}

static __always_inline __u64 next_number(void)
{
	__u32 key = 0;
	__u64 *next;

	next = bpf_map_lookup_elem(&numbers, &key);
	return next ? __sync_fetch_and_add(next, 1) : 0;
}

/* A reader that fell behind is called, whatever it thinks of itself. */
static __always_inline __u64 wakeup_of(__u64 seq)
{
	if (seq % ASK_EVERY)
		return BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) <
	    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * Looked at behind the submit: a reader that set `asleep` and then saw an empty
 * ring is seen here. An empty record carries the wake-up.
 */
static __always_inline void wake_reader(void)
{
	void *nothing;

	if (!*(volatile __u32 *)&asleep || !__sync_val_compare_and_swap(&asleep, 1, 0))
		return;
	nothing = bpf_ringbuf_reserve(&ring, sizeof(__u64), 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

__hidden void rec_send(struct scratch *s)
{
	__u64 len = s->pos;
	long r;

	if (len > REC_BYTES)
		len = REC_BYTES;
	s->head.seq = next_number();
	r = bpf_ringbuf_output(&ring, s->rec, len, wakeup_of(s->head.seq));
	if (r < 0)
		count_loss(EV_LOSS_RING, s->class, 1);
	give_slot(s);
	wake_reader();
}
