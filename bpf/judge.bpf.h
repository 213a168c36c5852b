/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verdicts. So far one rule: the canary, a process of ours that must be
 * refused, proves that these hooks decide and do not only listen.
 */
#ifndef BPF_JUDGE_H
#define BPF_JUDGE_H

#include "config.bpf.h"
#include "record.bpf.h"

/*
 * Linux 6.12 refuses an LSM program whose result is computed as -flag: two
 * constants and a barrier keep the compiler from doing that.
 */
static __always_inline int to_errno(bool deny)
{
	int err = 0;

	if (deny) {
		err = -EPERM;
		barrier_var(err);
	}
	return err;
}

static __always_inline bool is_canary(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	return canary_pid && pid == canary_pid;
}

static __always_inline bool is_canary_file(const struct ev_object *o)
{
	return is_canary() && o->ino == canary_ino && o->dev == canary_dev;
}

#endif
