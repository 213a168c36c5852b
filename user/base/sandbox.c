/* SPDX-License-Identifier: MIT */
/* Confinement, see sandbox.h. */
#include "sandbox.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH_NOW AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_NOW AUDIT_ARCH_AARCH64
#endif

#define MAX_CALLS 32

int sandbox_hide_memory(void)
{
	const struct rlimit none = { 0, 0 };

	if (prctl(PR_SET_DUMPABLE, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	return 0;
}

int sandbox_keep_only(int fd)
{
	if (fd > 0 && close_range(0, (unsigned)fd - 1, 0) < 0)
		return -errno;
	return close_range((unsigned)fd + 1, UINT_MAX, 0) < 0 ? -errno : 0;
}

/* The filter: right architecture, then one comparison a call, then death. */
int sandbox_calls_only(const int *calls, size_t n)
{
	struct sock_filter code[MAX_CALLS + 6];
	struct sock_fprog prog = { .filter = code };
	unsigned short at = 0;

	if (n > MAX_CALLS)
		return -E2BIG;
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, arch));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_NOW, 1, 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned)calls[i],
							   (unsigned char)(n - i), 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return -errno;
	return 0;
}
