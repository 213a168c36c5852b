/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Kernel types as far as bpf/ reads them, in alphabetical order. Kept by hand:
 * README.md says how to add one. CO-RE finds each field in the running kernel,
 * so neither order nor completeness matters, only names and kinds.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef unsigned short umode_t;
typedef unsigned int fmode_t;
typedef long long loff_t;
typedef int pid_t;

#define true 1
#define false 0
#define NULL ((void *)0)

/* What user space may use of BPF: numbers of the stable ABI (linux/bpf.h). */
enum {
	BPF_NOEXIST = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

/* The context of the cgroup programs; rewritten by the verifier, so no CO-RE. */
struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;
	__u32 user_ip6[4];
	__u32 user_port;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 msg_src_ip4;
	__u32 msg_src_ip6[4];
	__u64 sk;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned int val;
} kuid_t;

typedef struct {
	unsigned int val;
} kgid_t;

struct bpf_iter_meta {
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_local_storage;

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup *ancestors[1];
	struct kernfs_node *kn;
	int level;
	struct cgroup_root *root;
};

struct cred {
	kgid_t egid;
	kuid_t euid;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct qstr {
	union {
		struct {
			__u32 hash;
			__u32 len;
		};
		__u64 hash_len;
	};
	const unsigned char *name;
};

struct dentry {
	struct inode *d_inode;
	struct qstr d_name;
	struct dentry *d_parent;
	struct super_block *d_sb;
};

struct fdtable {
	struct file **fd;
	unsigned int max_fds;
};

struct path {
	struct dentry *dentry;
	struct vfsmount *mnt;
};

struct file {
	unsigned int f_flags;
	struct inode *f_inode;
	fmode_t f_mode;
	struct path f_path;
	void *private_data;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path pwd;
	struct path root;
	int umask;
};

struct iattr {
	kgid_t ia_gid;
	umode_t ia_mode;
	loff_t ia_size;
	kuid_t ia_uid;
	unsigned int ia_valid;
};

struct inode {
	__u32 i_generation;
	unsigned long i_ino;
	umode_t i_mode;
	unsigned int i_nlink;
	__u32 i_rdev;
	struct super_block *i_sb;
};

struct kernfs_node {
	__u64 id;
};

struct linux_binprm {
	struct file *file;
	const char *filename;
	const char *interp;
};

struct mm_struct {
	unsigned long arg_end;
	unsigned long arg_start;
};

struct mnt_namespace;

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mount {
	struct vfsmount mnt;
	struct dentry *mnt_mountpoint;
	struct mnt_namespace *mnt_ns;
	struct mount *mnt_parent;
};

struct msghdr {
	unsigned int msg_flags;
	void *msg_name;
	int msg_namelen;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct pt_regs {
	unsigned long ax;
	unsigned long di;
	unsigned long dx;
	unsigned long orig_ax;
	unsigned long r10;
	unsigned long r8;
	unsigned long r9;
	unsigned long si;
};

struct signal_struct {
	unsigned int flags;
	int group_exit_code;
	atomic_t live;
	int nr_threads;
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct sockaddr {
	unsigned short sa_family;
};

typedef enum {
	SS_CONNECTING = 2,
} socket_state;

struct socket {
	struct sock *sk;
	socket_state state;
	short type;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

struct thread_info {
	__u32 status;
};

struct task_struct {
	struct bpf_local_storage *bpf_storage;
	struct css_set *cgroups;
	const struct cred *cred;
	int exit_code;
	struct files_struct *files;
	struct fs_struct *fs;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	pid_t pid;
	struct signal_struct *signal;
	pid_t tgid;
	struct thread_info thread_info;
};

struct vm_area_struct {
	struct file *vm_file;
	unsigned long vm_flags;
};

#pragma clang attribute pop

#endif
