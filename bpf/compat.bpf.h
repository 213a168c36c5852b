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

/* The mount that a vfsmount is part of. */
static __always_inline struct mount *mount_of(__u64 mnt)
{
	return (struct mount *)(mnt - bpf_core_field_offset(struct mount, mnt));
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
