/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acts on the bytes of files, the same for all tiers: a shell fills a struct
 * file_act from its own arguments, the body records.
 */
#ifndef BPF_FILE_H
#define BPF_FILE_H

#include "compat.bpf.h"

#define S_IFMT	0170000
#define S_IFREG 0100000

#define FMODE_READ	0x1
#define FMODE_WRITE	0x2
#define FMODE_PATH	0x4000
#define FMODE_CREATED	0x100000
#define O_TRUNC		01000
#define O_TMPFILE_BIT	020000000
#define OPEN_FOR_EXEC	0x20 /* f_flags of a file that the kernel opened to execute */

#define ACCESS_READ  1
#define ACCESS_WRITE 2

#define PROT_READ  0x1
#define PROT_WRITE 0x2
#define PROT_EXEC  0x4
#define VM_SHARED  0x8
#define MAP_SHARED 0x1 /* also set in MAP_SHARED_VALIDATE */

/* Where an object is; pointers as numbers, only read through probes. */
struct place {
	__u64 dentry;
	__u64 mnt;
};

struct file_act {
	struct ev_object obj;
	struct place at;
	__u64 bytes; /* with EV_F_BYTES */
	__u32 f_mode, f_flags;
	__u32 access; /* ACCESS_* */
	__u32 flags;  /* EV_F_* */
};

/* From pointers that the verifier knows, by plain loads. */
static __always_inline void see_inode(struct inode *inode, struct ev_object *o)
{
	o->ino = inode->i_ino;
	o->dev = inode->i_sb->s_dev;
	o->gen = inode->i_generation;
	o->mode = inode->i_mode;
	o->nlink = inode->i_nlink;
}

static __always_inline void see_file(struct file *file, struct file_act *a)
{
	see_inode(file->f_inode, &a->obj);
	a->at.dentry = (__u64)file->f_path.dentry;
	a->at.mnt = (__u64)file->f_path.mnt;
	a->f_mode = file->f_mode;
	a->f_flags = file->f_flags;
}

/* From any pointer, by copies; false: it leads nowhere. */
bool probe_file(struct file *file, struct file_act *a);

/* Files whose bytes count: pipes, sockets, terminals, devices do not. */
static __always_inline bool is_regular(const struct file_act *a)
{
	return (a->obj.mode & S_IFMT) == S_IFREG;
}

/* What the kernel does with a file on its own account. */
static __always_inline bool is_kernels(const struct file_act *a)
{
	return a->f_mode & FMODE_INNER || a->f_flags & OPEN_FOR_EXEC;
}

/* Not for files on internal mounts. */
void send_open(const struct file_act *a, __u32 oflags);
/* To a.bytes bytes; `tail`: string in user memory below a.at, or 0. */
void send_truncate(const struct file_act *a, __u64 tail);
/* A read: the first of this process is recorded, the others are counted. A write: recorded. */
void send_touch(struct file_act *a);
/* A mapping with that protection and those MAP_ flags. */
void send_mapping(struct file_act *a, __u64 prot, __u64 flags);

#endif
