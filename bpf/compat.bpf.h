/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, one function each: what differs, since when,
 * and when the older arm may go.
 */
#ifndef BPF_COMPAT_H
#define BPF_COMPAT_H

#include "record.bpf.h"

/* Parent and name of a directory entry. */
struct link {
	struct dentry *parent;
	__u32 hash;
	__u32 len;
	const unsigned char *name;
};

/*
 * d_parent and d_name lie side by side on every kernel from 5.10 to 7.3: one
 * copy instead of three. A kernel that parts them takes the second arm.
 */
static __always_inline void read_link(struct dentry *d, struct link *l)
{
	if (bpf_core_field_offset(struct dentry, d_name) ==
		    bpf_core_field_offset(struct dentry, d_parent) + sizeof(void *) &&
	    bpf_core_field_size(struct dentry, d_name) == sizeof(*l) - sizeof(void *)) {
		bpf_probe_read_kernel(l, sizeof(*l),
				      (void *)d + bpf_core_field_offset(struct dentry, d_parent));
		return;
	}
	l->parent = BPF_CORE_READ(d, d_parent);
	l->len = BPF_CORE_READ(d, d_name.len);
	l->name = BPF_CORE_READ(d, d_name.name);
}

/*
 * The beginning of a kernel structure, copied at once: a probe costs as much as
 * thirty loads. A field that lies behind it on some kernel is probed alone.
 */
#define HEAD_BYTES 128

struct head {
	__u8 bytes[HEAD_BYTES];
};

#define PEEK(head, from, type, field)                                                              \
	({                                                                                         \
		__u64 at_ = bpf_core_field_offset(type, field);                                    \
		typeof(((type *)0)->field) value_ = 0;                                             \
                                                                                                   \
		if (at_ + sizeof(value_) <= HEAD_BYTES)                                            \
			value_ = *(typeof(value_) *)((head)->bytes + at_);                         \
		else                                                                               \
			bpf_probe_read_kernel(&value_, sizeof(value_), (void *)(from) + at_);      \
		value_;                                                                            \
	})

/* The mount that a vfsmount is part of. */
static __always_inline struct mount *mount_of(__u64 mnt)
{
	return (struct mount *)(mnt - bpf_core_field_offset(struct mount, mnt));
}

/* Three neighbours on every kernel from 5.10 to 7.3; the second arm for one that parts them. */
static __always_inline void read_anchor(__u64 mount, struct anchor *to)
{
	struct mount *m = (struct mount *)mount;
	__u64 at = bpf_core_field_offset(struct mount, mnt_parent);

	if (bpf_core_field_offset(struct mount, mnt_mountpoint) == at + 8 &&
	    bpf_core_field_offset(struct mount, mnt.mnt_root) == at + 16) {
		bpf_probe_read_kernel(to, sizeof(*to), (void *)m + at);
		return;
	}
	to->parent = (__u64)BPF_CORE_READ(m, mnt_parent);
	to->point = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
	to->root = (__u64)BPF_CORE_READ(m, mnt.mnt_root);
}

#define MAX_ERRNO 4095

/* A mount that is in no namespace: pipes, memfd, the layers below an overlay. */
static __always_inline bool is_internal(__u64 mnt)
{
	__u64 ns = (__u64)BPF_CORE_READ(mount_of(mnt), mnt_ns);

	return ns >= (__u64)-MAX_ERRNO;
}

/*
 * The file that overlay opens on a layer on behalf of one that was recorded:
 * not accounted as a file of its own. The same bit on 5.10 to 7.3.
 */
#define FMODE_INNER 0x20000000

#endif
