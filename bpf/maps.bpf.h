/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps, once for all objects (weak: the linker keeps one of each). Sizes
 * are fixed at load; nothing here grows.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "record.bpf.h"
#include "schemas/state.h"

#define SUBJECT_EXITED (1u << 31) /* leader: the end of the process was recorded */
#define SUBJECT_CHAIN  (1u << 30) /* a part of the exec under way was sent */

/* Value of `subjects`. User space sets the mark only, the rest is the task's own. */
struct subject {
	struct subject_mark mark; /* flags: SUBJECT_* */

	/* the name operation under way: path_X says where, inode_X follows */
	__u32 rename_flags;
	__u64 rename_old; /* dentry */
	__u64 sb;	  /* 0: not known yet */
	__u64 mnt;	  /* struct vfsmount, 0: not known */
	__u32 overlay;	  /* sb is one */

	/* the exec under way: what the last check looked at */
	__u32 level;
	__u64 script, script_mnt;
	__u64 argv, argv_left; /* user memory still to be sent */
};

#define RING_BYTES (8 * 1024 * 1024) /* default; user space resizes */
#define MAX_CALLS  512		     /* system call numbers that tier trace looks at */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring __weak SEC(".maps");

/* Present: the task is ours, or was marked by user space through a pidfd. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct subject);
} subjects __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TOUCHES);
	__type(key, struct touch_key);
	__type(value, struct touch);
} touches __weak SEC(".maps");

/* Index: cause * EV_CLASS_COUNT + class. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EV_LOSS_COUNT * EV_CLASS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} losses __weak SEC(".maps");

/* The next sequence number of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} numbers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches __weak SEC(".maps");

/* Tier trace: what looks at the exit of a system call, by its number. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, MAX_CALLS);
	__type(key, __u32);
	__type(value, __u32);
} calls __weak SEC(".maps");

#endif
