/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shells of a judged hook: one for tier lsm, one for tier fmod. An earlier
 * program's refusal stands. `?`: loaded only if user space asks.
 */
#ifndef BPF_HOOK_H
#define BPF_HOOK_H

#include <bpf/bpf_tracing.h>

#define LSM(hook, body, args...)                                                                   \
	SEC("?lsm/" #hook)                                                                         \
	int BPF_PROG(lsm_##hook, args, int ret)                                                    \
	{                                                                                          \
		return ret ? ret : body;                                                           \
	}

/* Some functions have another name than their hook. */
#define MOD(hook, function, body, args...)                                                         \
	SEC("?fmod_ret/security_" #function)                                                       \
	int BPF_PROG(mod_##hook, args, int ret)                                                    \
	{                                                                                          \
		return ret ? ret : body;                                                           \
	}

#define HOOK(hook, body, args...)                                                                  \
	LSM(hook, body, args)                                                                      \
	MOD(hook, hook, body, args)

#endif
