/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tier trace: what a system call did, seen at its exit. Descriptors are turned
 * into the files behind them; strings are read from user memory once more and
 * may have changed since (EV_F_UNPROVEN). A call that failed is no act.
 * schemas/calls.def says where the arguments are.
 */
#include "call.bpf.h"
#include "name.bpf.h"
#include "subject.bpf.h"

#define EINPROGRESS 115

#define AT_REMOVEDIR 0x200

#define MAP_ANONYMOUS 0x20

#define IO_URING_FLAGS	    8 /* where struct io_uring_params has its flags */
#define IORING_SETUP_SQPOLL 2

#define TS_COMPAT 0x2	     /* thread_info.status: a 32-bit call */
#define X32_CALL  0x40000000 /* bit of the number of an x32 call */

/* ---- the exit of every call ------------------------------------------------ */

SEC("?tp_btf/sys_exit")
int tp_sys_exit(unsigned long long *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)ctx[0];
	long nr, ret = ctx[1];

	if (!subject_of(task))
		return 0;
	nr = regs->orig_ax;
	if (nr < 0 || (ret < 0 && ret != -EINPROGRESS))
		return 0; /* a return from a signal has no number */
	if (task->thread_info.status & TS_COMPAT || nr & X32_CALL)
		count_loss(EV_LOSS_ABI, EV_CLASS_FILE, 1);
	else
		bpf_tail_call(ctx, &calls, nr);
	return 0;
}

/* ---- where a string starts ---------------------------------------------------- */

static __always_inline void place_of_path(const struct path *from, struct place *at)
{
	at->dentry = (__u64)BPF_CORE_READ(from, dentry);
	at->mnt = (__u64)BPF_CORE_READ(from, mnt);
}

/* Where a string starts: the root, the working directory or a descriptor. */
static void place_of(int fd, __u64 string, struct place *at)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fs_struct *fs = BPF_CORE_READ(task, fs);
	struct file *file;
	char first = 0;

	bpf_probe_read_user(&first, sizeof(first), (void *)string);
	if (first == '/') {
		place_of_path(&fs->root, at);
	} else if (fd == AT_FDCWD) {
		place_of_path(&fs->pwd, at);
	} else {
		file = file_of(fd);
		if (file)
			place_of_path(&file->f_path, at);
	}
}

/* ---- bytes ----------------------------------------------------------------- */

static __always_inline void touch(struct file_act *f, __u32 access, __u64 bytes)
{
	f->access = access;
	f->bytes = bytes;
	f->flags = EV_F_BYTES;
	send_touch(f);
}

FAMILY(rw)
{
	__u32 access = a->row.kind == EV_READ ? ACCESS_READ : ACCESS_WRITE;
	struct file_act f = {};

	if (see_regular(arg(a, a->row.fd), access, ret, &f))
		touch(&f, access, ret);
}

FAMILY(copy)
{
	struct file_act f = {};

	if (see_regular(arg(a, a->row.fd), ACCESS_READ, ret, &f))
		touch(&f, ACCESS_READ, ret);
	if (see_regular(arg(a, a->row.fd2), ACCESS_WRITE, ret, &f))
		touch(&f, ACCESS_WRITE, ret);
}

FAMILY(mmap)
{
	__u64 prot = arg(a, a->row.arg), flags = arg(a, a->row.arg + 1);
	struct file_act f = {};

	if (!(flags & MAP_ANONYMOUS) && see_regular(arg(a, a->row.fd), ACCESS_READ, ~0ull, &f))
		send_mapping(&f, prot, flags);
}

static long see_shared(struct task_struct *task, struct vm_area_struct *vma, struct file_act *f)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (file && BPF_CORE_READ(vma, vm_flags) & VM_SHARED)
		probe_file(file, f);
	return 0;
}

/*
 * A shared mapping that became writable. Of a range that spans several, the
 * first; none while another thread changes mappings (see docs/threat-model.md).
 */
FAMILY(protect)
{
	struct file_act f = {};

	if (!(arg(a, a->row.arg) & PROT_WRITE))
		return;
	bpf_find_vma(bpf_get_current_task_btf(), arg(a, a->row.str), see_shared, &f, 0);
	if (f.at.dentry && is_regular(&f) && !is_internal(f.at.mnt))
		send_mapping(&f, PROT_WRITE, MAP_SHARED);
}

FAMILY(size)
{
	struct file_act f = {};

	if (a->row.kind == EV_WRITE) {
		f.access = ACCESS_WRITE;
		if (see_regular(arg(a, a->row.fd), ACCESS_WRITE, ~0ull, &f))
			send_touch(&f);
		return;
	}
	f.bytes = arg(a, a->row.arg);
	f.flags = EV_F_BYTES;
	if (a->row.str != NO) {
		f.flags |= EV_F_UNPROVEN;
		place_of(AT_FDCWD, arg(a, a->row.str), &f.at);
	} else if (!see_regular(arg(a, a->row.fd), ACCESS_WRITE, ~0ull, &f)) {
		return;
	}
	send_truncate(&f, arg(a, a->row.str));
}

/* ---- open ------------------------------------------------------------------ */

/* creat() has no flags, openat2() keeps them behind a pointer. */
static __always_inline __u32 open_flags(const struct args *a)
{
	__u64 flags = O_TRUNC;

	if (a->row.arg != NO)
		return arg(a, a->row.arg);
	if (a->row.str != NO &&
	    bpf_probe_read_user(&flags, sizeof(flags), (void *)arg(a, a->row.str)))
		count_loss(EV_LOSS_FAULT, EV_CLASS_FILE, 1);
	return flags;
}

static __always_inline void send_created(const struct file_act *f)
{
	struct name_act n = {
		.obj = f->obj, .at = f->at, .kind = EV_CREATE, .mode = f->obj.mode,
	};

	send_name(&n);
}

FAMILY(open)
{
	struct file *file = file_of(ret);
	struct file_act f = {};
	__u32 oflags;

	if (!file || !probe_file(file, &f)) {
		count_loss(EV_LOSS_FAULT, EV_CLASS_FILE, 1); /* another thread closed it */
		return;
	}
	if (f.f_mode & FMODE_PATH || is_internal(f.at.mnt))
		return; /* a name, not yet an access; a pipe or a memfd once more */
	oflags = open_flags(a);
	f.access = f.f_mode & (FMODE_READ | FMODE_WRITE);
	if (f.f_mode & FMODE_CREATED) {
		send_created(&f);
		f.flags = EV_F_CREATED;
	}
	send_open(&f, oflags | f.f_flags);
	if (!(oflags & O_TRUNC) || f.f_mode & FMODE_CREATED || !is_regular(&f))
		return;
	f.flags = EV_F_BYTES;
	send_truncate(&f, 0);
}

/* ---- names and attributes --------------------------------------------------- */

static __always_inline void refine(struct name_act *n, const struct args *a)
{
	__u32 extra = arg(a, a->row.arg);

	if (n->kind == EV_UNLINK && extra & AT_REMOVEDIR)
		n->kind = EV_RMDIR;
	if (n->kind == EV_RENAME && extra & RENAME_EXCHANGE)
		n->flags |= EV_F_EXCHANGE;
	if (n->kind == EV_RENAME && extra & RENAME_WHITEOUT)
		n->flags |= EV_F_WHITEOUT;
	if (n->kind == EV_MKDIR)
		n->mode = after_umask(extra) | S_IFDIR;
	if (n->kind != EV_MKNOD)
		return;
	n->mode = after_umask(extra);
	n->rdev = arg(a, a->row.arg + 1);
	if (!(extra & S_IFMT) || (extra & S_IFMT) == S_IFREG) {
		n->kind = EV_CREATE;
		n->mode |= S_IFREG;
		n->rdev = 0;
	}
}

FAMILY(name)
{
	struct name_act n = { .kind = a->row.kind, .flags = EV_F_UNPROVEN };

	refine(&n, a);
	n.tail = arg(a, a->row.str);
	place_of(arg(a, a->row.fd), n.tail, &n.at);
	n.to_tail = arg(a, a->row.str2);
	if (a->row.fd2 != NO)
		place_of(arg(a, a->row.fd2), n.to_tail, &n.to);
	send_name(&n);
}

static __always_inline bool see_object(const struct args *a, struct name_act *n)
{
	struct file *file = file_of(arg(a, a->row.fd));
	struct file_act f = {};

	if (!file || !probe_file(file, &f))
		return false;
	n->at = f.at;
	n->obj = f.obj;
	return true;
}

FAMILY(attr)
{
	struct name_act n = { .kind = a->row.kind, .owner = NOBODY, .group = NOBODY };
	__u32 value = arg(a, a->row.arg);

	if (n.kind == EV_CHMOD) {
		n.mode = value & S_PERMS;
	} else {
		n.owner = value;
		n.group = arg(a, a->row.arg + 1);
	}
	n.tail = arg(a, a->row.str);
	if (a->row.str != NO) {
		n.flags = EV_F_UNPROVEN;
		place_of(arg(a, a->row.fd), n.tail, &n.at);
	} else if (!see_object(a, &n)) {
		return;
	}
	send_name(&n);
}

/* ---- what is not decoded ---------------------------------------------------- */

static __always_inline bool is_polled(__u64 params)
{
	__u32 flags = 0;

	bpf_probe_read_user(&flags, sizeof(flags), (void *)(params + IO_URING_FLAGS));
	return flags & IORING_SETUP_SQPOLL;
}

FAMILY(uring)
{
	__u64 params = arg(a, a->row.str);

	if (a->row.str == NO)
		count_loss(EV_LOSS_ABI, EV_CLASS_FILE, ret);
	else if (is_polled(params))
		count_loss(EV_LOSS_ABI, EV_CLASS_FILE, 1);
}
