/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths for the record: components leaf first, mounts crossed, whatever root
 * the process has. Never for a verdict. Pointers are only read through probes,
 * so they may come from anywhere; a rename under way may give a torn name.
 */
#include "compat.bpf.h"

#define MAX_STEPS 160 /* 128 components and 32 mounts */

static __always_inline void slice_start(struct scratch *s, __u32 flags)
{
	s->start = s->pos;
	s->flags = flags;
	s->done = 0;
}

static __always_inline void slice_end(struct scratch *s, struct ev_slice *slice)
{
	slice->len = s->pos - s->start;
	slice->flags = s->flags;
}

static __always_inline long end_walk(struct scratch *s, __u32 flags)
{
	s->flags |= flags;
	s->done = 1;
	return 1;
}

/* The walk ended at the top of a tree: of the task's own, or of one that hangs nowhere. */
static __always_inline long end_at_top(struct scratch *s)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mount *top = (struct mount *)s->mount;

	if (BPF_CORE_READ(top, mnt_ns) == BPF_CORE_READ(task, nsproxy, mnt_ns))
		return end_walk(s, 0);
	return end_walk(s, EV_S_UNREACHABLE);
}

/* At the root of a mount: on from the place where it hangs. */
static __always_inline long cross(struct scratch *s)
{
	if (s->anchor.parent == s->mount)
		return end_at_top(s);
	s->dentry = s->anchor.point;
	s->mount = s->anchor.parent;
	read_anchor(s->mount, &s->anchor);
	return 0;
}

static __always_inline long append(struct scratch *s, const struct link *l)
{
	__u32 pos = s->pos, len = l->len & 0xff;

	if (pos > REC_BYTES - NAME_ROOM || pos + len >= s->start + EV_PATH_BYTES)
		return end_walk(s, EV_S_CUT);
	s->rec[pos] = len;
	if (bpf_probe_read_kernel(s->rec + pos + 1, len, l->name) < 0)
		return end_walk(s, EV_S_CUT);
	s->pos = pos + 1 + len;
	s->dentry = (__u64)l->parent;
	return 0;
}

static long step(__u32 i, struct scratch **at)
{
	struct scratch *s = *at;
	struct link l = {};

	if (s->dentry == s->anchor.root)
		return cross(s);
	read_link((struct dentry *)s->dentry, &l);
	if (!l.parent)
		return end_walk(s, EV_S_CUT);
	if ((__u64)l.parent == s->dentry) /* a root without its mount */
		return end_walk(s, EV_S_UNREACHABLE);
	return append(s, &l);
}

__hidden void add_path(struct scratch *s, __u64 dentry, __u64 mnt, struct ev_slice *slice)
{
	slice_start(s, EV_S_LEAF_FIRST);
	s->dentry = dentry;
	s->mount = mnt ? (__u64)mount_of(mnt) : 0;
	s->anchor.root = 0;
	if (mnt)
		read_anchor(s->mount, &s->anchor);
	bpf_loop(MAX_STEPS, step, &s, 0);
	if (!s->done)
		s->flags |= EV_S_CUT;
	slice_end(s, slice);
}

/* The helper's answer counts the NUL, which does not go to the record. */
static __always_inline void string_end(struct scratch *s, long got, struct ev_slice *slice)
{
	if (got > 0)
		s->pos += got - 1;
	else
		count_loss(EV_LOSS_FAULT, s->class, 1);
	slice_end(s, slice);
}

__hidden void add_string(struct scratch *s, __u64 from, struct ev_slice *slice)
{
	__u32 pos = s->pos;

	slice_start(s, EV_S_STRING);
	if (pos <= REC_BYTES - EV_NAME_BYTES)
		string_end(s, bpf_probe_read_kernel_str(s->rec + pos, EV_NAME_BYTES, (void *)from),
			   slice);
}

__hidden void add_user_string(struct scratch *s, __u64 from, struct ev_slice *slice)
{
	__u32 pos = s->pos;

	slice_start(s, EV_S_STRING);
	if (pos <= REC_BYTES - EV_NAME_BYTES)
		string_end(s, bpf_probe_read_user_str(s->rec + pos, EV_NAME_BYTES, (void *)from),
			   slice);
}
