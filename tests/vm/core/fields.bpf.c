/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tools/check-core must tell apart: a field that every kernel has, one
 * that is asked for through a flavour, and with -DBAD one that is read from a
 * plain struct although older kernels lack it. Compiled by core/run, never
 * loaded.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct {
	int tgid;
};

struct inode {
	long i_mtime_sec; /* Linux 6.11 */
};

struct inode___v6_11 {
	long i_mtime_sec;
};
#pragma clang attribute pop

SEC("tp_btf/sched_process_exit")
int fields(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct inode___v6_11 *young = (void *)ctx[0];
	struct inode *plain = (void *)ctx[0];

	if (bpf_core_field_exists(young->i_mtime_sec))
		return 1;
#ifdef BAD
	return BPF_CORE_READ(plain, i_mtime_sec);
#else
	(void)plain; /* only read by the bad one */
	return BPF_CORE_READ(task, tgid);
#endif
}
