/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acts on names and attributes. path_X hooks say on which mount the name is,
 * the inode_X hook that follows records; what a file system does below itself
 * (overlay on its layers) has no path_X of its own and is left out.
 */
#ifndef BPF_NAME_H
#define BPF_NAME_H

#include "file.bpf.h"
#include "subject.bpf.h"

#define OVERLAYFS_MAGIC 0x794c7630

#define RENAME_EXCHANGE 2
#define RENAME_WHITEOUT 4

#define S_IFDIR 0040000
#define S_PERMS 07777

#define NOBODY 0xffffffffu /* owner or group that stays */

struct name_act {
	struct ev_object obj, over;
	struct place at, to; /* dentry 0: nothing */
	__u64 tail, to_tail; /* strings below them, 0: none */
	__u32 kind;
	__u32 flags; /* EV_F_*; EV_F_UNPROVEN: the strings are in user memory */
	__u32 mode, rdev;
	__u32 owner, group;
};

void send_name(const struct name_act *a);

/* File systems with ACLs apply the umask only later, behind the hooks. */
static __always_inline __u32 after_umask(__u32 mode)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return mode & ~BPF_CORE_READ(task, fs, umask);
}

/* The subject acts on that mount from now on. */
static __always_inline void here(struct subject *subj, __u64 mnt, struct super_block *sb)
{
	subj->mnt = mnt;
	subj->sb = (__u64)sb;
	subj->overlay = sb->s_magic == OVERLAYFS_MAGIC;
}

#endif
