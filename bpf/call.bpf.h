/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A system call at its exit: its arguments by the columns of schemas/calls.def,
 * and the files behind descriptors.
 */
#ifndef BPF_CALL_H
#define BPF_CALL_H

#include "file.bpf.h"
#include "maps.bpf.h"

#define AT_FDCWD -100

/* Where arguments are, beside 0..5. */
enum { CWD = 6, NO = 7, RET = NO };

struct call {
	__u8 kind, fd, str, fd2, str2, arg;
};

static const struct call rows[MAX_CALLS] = {
#define CALL(nr, name, family, kind, fd, str, fd2, str2, arg)                                      \
	[nr] = { EV_##kind, fd, str, fd2, str2, arg },
#include "schemas/calls.def"
#undef CALL
};

struct args {
	struct pt_regs *regs;
	struct call row;
};

static __always_inline long load(unsigned long long *ctx, struct args *a)
{
	__u64 nr;

	a->regs = (struct pt_regs *)ctx[0];
	nr = a->regs->orig_ax;
	if (nr < MAX_CALLS)
		a->row = rows[nr];
	return ctx[1];
}

/* Out of an array: see veil(). A column behind NO only follows one that is none. */
static __noinline __u64 value_of(struct pt_regs *regs, __u32 column)
{
	__u64 all[] = {
		regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9,
		[CWD] = AT_FDCWD,
		[NO] = 0,
	};

	return all[column & 7];
}

static __always_inline __u64 arg(const struct args *a, __u8 column)
{
	return value_of(a->regs, column);
}

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *fdt = task->files->fdt;
	struct file *file = NULL;

	if (fd < 0 || (__u32)fd >= fdt->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd);
	return file;
}

/*
 * The regular file behind the descriptor of a call that succeeded; false: there
 * is none. A descriptor that is closed by now was taken away by another thread:
 * the act is counted as lost, unless it moved no more than the wake-up of an
 * event loop (`moved`). One that fits may be another file by now, see
 * docs/threat-model.md; one that cannot be what the call needed (`access`) is
 * none to believe.
 */
#define WAKEUP_BYTES 8

static __always_inline bool see_regular(int fd, __u32 access, __u64 moved, struct file_act *a)
{
	struct file *file = file_of(fd);
	__u32 class = access & ACCESS_WRITE ? EV_CLASS_WRITE : EV_CLASS_FILE;

	if (!file || !probe_file(file, a)) {
		if (moved > WAKEUP_BYTES)
			count_loss(EV_LOSS_FAULT, class, 1);
		return false;
	}
	if (!is_regular(a) || is_kernels(a))
		return false;
	if ((a->f_mode & access) == access)
		return true;
	if (moved > WAKEUP_BYTES)
		count_loss(EV_LOSS_FAULT, class, 1);
	return false;
}

/*
 * The program of one family of calls, entered by a tail call: its body gets
 * the arguments and the result, which is no error.
 */
#define FAMILY(name)                                                                               \
	static __always_inline void on_##name(struct args *a, long ret);                           \
	SEC("?tp_btf/sys_exit")                                                                    \
	int call_##name(unsigned long long *ctx)                                                   \
	{                                                                                          \
		struct args a = {};                                                                \
		long ret = load(ctx, &a);                                                          \
                                                                                                   \
		on_##name(&a, ret);                                                                \
		return 0;                                                                          \
	}                                                                                          \
	static __always_inline void on_##name(struct args *a, long ret)

#endif
