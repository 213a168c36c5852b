/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens, reads, writes and mappings: the bodies, and the hooks of tiers lsm
 * and fmod. Files of the kernel's own (the inner file of an overlay, memfd,
 * what exec opens) are left out: their outer act is recorded.
 */
#include "file.bpf.h"

#include "config.bpf.h"
#include "hook.bpf.h"
#include "judge.bpf.h"
#include "name.bpf.h"
#include "subject.bpf.h"

#define VM_WRITE  0x2

#define MAY_WRITE 2
#define MAY_READ  4

static __always_inline bool probe_inode(struct inode *inode, struct ev_object *o)
{
	struct super_block *sb;
	struct head head;

	if (bpf_probe_read_kernel(&head, sizeof(head), inode))
		return false;
	sb = PEEK(&head, inode, struct inode, i_sb);
	o->ino = PEEK(&head, inode, struct inode, i_ino);
	o->gen = PEEK(&head, inode, struct inode, i_generation);
	o->mode = PEEK(&head, inode, struct inode, i_mode);
	o->nlink = PEEK(&head, inode, struct inode, i_nlink);
	o->dev = BPF_CORE_READ(sb, s_dev);
	return true;
}

__hidden bool probe_file(struct file *file, struct file_act *a)
{
	struct head head;

	if (bpf_probe_read_kernel(&head, sizeof(head), file))
		return false;
	a->at.dentry = (__u64)PEEK(&head, file, struct file, f_path.dentry);
	a->at.mnt = (__u64)PEEK(&head, file, struct file, f_path.mnt);
	a->f_mode = PEEK(&head, file, struct file, f_mode);
	a->f_flags = PEEK(&head, file, struct file, f_flags);
	return probe_inode(PEEK(&head, file, struct file, f_inode), &a->obj);
}

static __always_inline void fill(struct scratch *s, const struct file_act *a)
{
	s->file.obj = a->obj;
	s->file.access = a->access;
	s->file.bytes = a->bytes;
	s->head.flags = a->flags;
}

static __always_inline void add_file_path(struct scratch *s, const struct file_act *a)
{
	if (veil(s, a->f_flags & O_TMPFILE_BIT))
		s->file.path.flags = EV_S_UNREACHABLE; /* has no name */
	else
		add_path(s, a->at.dentry, a->at.mnt, &s->file.path);
}

__hidden void send_open(const struct file_act *a, __u32 oflags)
{
	struct scratch *s = rec_new(OPEN, ev_file);

	if (!s)
		return;
	fill(s, a);
	s->file.oflags = oflags;
	add_file_path(s, a);
	rec_send(s);
}

__hidden void send_truncate(const struct file_act *a, __u64 tail)
{
	struct scratch *s = rec_new(TRUNCATE, ev_file);

	if (!s)
		return;
	fill(s, a);
	add_path(s, a->at.dentry, a->at.mnt, &s->file.path);
	if (veil(s, tail))
		add_user_string(s, tail, &s->file.tail);
	rec_send(s);
}

static __always_inline struct scratch *new_touch(__u32 access)
{
	return access == ACCESS_READ ? rec_new(READ, ev_file) : rec_new(WRITE, ev_file);
}

static void send_bytes(const struct file_act *a, bool with_path)
{
	struct scratch *s = new_touch(a->access);

	if (!s)
		return;
	fill(s, a);
	if (veil(s, with_path))
		add_file_path(s, a);
	rec_send(s);
}

static __always_inline void count_repeat(struct touch *t, __u64 bytes)
{
	__sync_fetch_and_add(&t->ops, 1);
	if (bytes)
		__sync_fetch_and_add(&t->bytes, bytes);
}

/* Puts the first touch into the table; false: another thread came first. */
static __always_inline bool remember(const struct touch_key *key, struct file_act *a)
{
	struct touch none = {};
	long r;

	r = bpf_map_update_elem(&touches, key, &none, BPF_NOEXIST);
	if (r == -EEXIST)
		return false;
	if (!r) {
		__sync_fetch_and_add(&touch_count, 1);
		a->flags |= EV_F_FIRST;
	}
	return true; /* full: every call is a record */
}

__hidden void send_touch(struct file_act *a)
{
	struct touch_key key = {
		.ino = a->obj.ino,
		.dev = a->obj.dev,
		.gen = a->obj.gen,
		.pid = bpf_get_current_pid_tgid() >> 32,
		.access = a->access,
	};
	struct touch *t;
	bool first = false;

	t = bpf_map_lookup_elem(&touches, &key);
	if (!t) {
		if (is_internal(a->at.mnt))
			return;
		first = remember(&key, a);
		if (!first)
			t = bpf_map_lookup_elem(&touches, &key);
	}
	if (t && a->access == ACCESS_READ)
		count_repeat(t, a->bytes);
	else
		send_bytes(a, first);
}

/* A read and a write can both come of one mapping. */
__hidden void send_mapping(struct file_act *a, __u64 prot, __u64 flags)
{
	a->flags |= EV_F_MAPPED;
	if (prot & (PROT_READ | PROT_EXEC)) {
		a->access = ACCESS_READ;
		send_touch(a);
		a->flags &= ~EV_F_FIRST;
	}
	if (prot & PROT_WRITE && flags & MAP_SHARED && a->f_mode & FMODE_WRITE) {
		a->access = ACCESS_WRITE;
		send_touch(a);
	}
}

/* ---- hooks --------------------------------------------------------------- */

static __always_inline int on_open(struct file *file)
{
	struct subject *subj = subject();
	struct file_act a = {};

	if (!subj)
		return 0;
	see_file(file, &a);
	if (is_kernels(&a) || is_internal(a.at.mnt))
		return 0;
	here(subj, a.at.mnt, file->f_path.dentry->d_sb);
	a.access = a.f_mode & (FMODE_READ | FMODE_WRITE);
	if (a.f_mode & FMODE_CREATED)
		a.flags |= EV_F_CREATED;
	send_open(&a, a.f_flags);
	return to_errno(is_canary_file(&a.obj));
}

static __always_inline void touch(struct file_act *a, __u32 access)
{
	a->access = access;
	send_touch(a);
}

static __always_inline int on_access(struct file *file, int mask)
{
	struct file_act a = {};

	if (!subject())
		return 0;
	see_file(file, &a);
	if (!is_regular(&a) || is_kernels(&a))
		return 0;
	touch(&a, mask & MAY_WRITE ? ACCESS_WRITE : ACCESS_READ);
	return 0;
}

static __always_inline int on_mmap(struct file *file, unsigned long prot, unsigned long flags)
{
	struct file_act a = {};

	if (!file || !subject())
		return 0;
	see_file(file, &a);
	if (is_regular(&a) && !is_kernels(&a))
		send_mapping(&a, prot, flags);
	return 0;
}

/* Becoming writable is what counts; what could be written before was recorded. */
static __always_inline int on_mprotect(struct vm_area_struct *vma, unsigned long prot)
{
	struct file *file = vma->vm_file;
	struct file_act a = {};

	if (!file || !(prot & PROT_WRITE) || !subject())
		return 0;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_WRITE)
		return 0;
	see_file(file, &a);
	if (is_regular(&a) && !is_kernels(&a))
		send_mapping(&a, PROT_WRITE, MAP_SHARED);
	return 0;
}

HOOK(file_open, on_open(file), struct file *file)
HOOK(file_permission, on_access(file, mask), struct file *file, int mask)
HOOK(file_mprotect, on_mprotect(vma, prot), struct vm_area_struct *vma, unsigned long reqprot,
     unsigned long prot)
LSM(mmap_file, on_mmap(file, reqprot, flags), struct file *file, unsigned long reqprot,
    unsigned long prot, unsigned long flags)
MOD(mmap_file, mmap_file, on_mmap(file, prot, flags), struct file *file, unsigned long prot,
    unsigned long flags)
