/* SPDX-License-Identifier: MIT */
/*
 * Credentials, signals, other processes, namespaces, cgroups. The outsider is
 * no member of the target: touching it is what a guard must refuse.
 */
#include "deed.h"
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>

ACT(setuid) { return setresuid(1000, 1000, 1000); }

ACT(setgid) { return setresgid(1000, 1000, 1000); }

ACT(setgroups)
{
	gid_t gid = 5;

	return syscall(SYS_setgroups, 1, &gid);
}

ACT(capset_drop)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &head, none);
}

ACT(prctl_no_new_privs) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

ACT(setpgid) { return setpgid(0, 0); }

ACT(ptrace_attach_outsider)
{
	return ptrace(PTRACE_SEIZE, t.outsider, NULL, NULL);
}

ACT(ptrace_traceme)
{
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0);
	return reap(pid);
}

/* The outsider is a fork of us: our addresses are valid in it. */
ACT(process_vm_readv)
{
	struct iovec ours = { t.buf, 4 }, theirs = { t.buf, 4 };

	return process_vm_readv(t.outsider, &ours, 1, &theirs, 1, 0);
}

ACT(process_vm_writev)
{
	struct iovec ours = { t.buf, 4 }, theirs = { t.buf, 4 };

	return process_vm_writev(t.outsider, &ours, 1, &theirs, 1, 0);
}

static const char *proc_file(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", t.outsider, name);
	return path;
}

ACT(proc_pid_mem_open) { return open(proc_file("mem"), O_RDWR); }

SETUP(proc_pid_mem_write) { t.fd = open(proc_file("mem"), O_RDWR); }
ACT(proc_pid_mem_write) { return pwrite(t.fd, "abcd", 4, (off_t)t.buf); }

SETUP(proc_self_mem_write) { t.fd = open("/proc/self/mem", O_RDWR); }
ACT(proc_self_mem_write) { return pwrite(t.fd, "abcd", 4, (off_t)t.buf); }

ACT(proc_pid_environ_open) { return open(proc_file("environ"), O_RDONLY); }

/* Open and read are one deed here: the check may sit at either. */
ACT(proc_pid_environ_read)
{
	int fd = open(proc_file("environ"), O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, t.buf, 64);

	return n ? n : keep_errno(-1, ENODATA);
}

/* From Linux 6.15 on CAP_PERFMON is an alternative to the ptrace check. */
static void drop_perfmon(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
						 0 };
	struct __user_cap_data_struct caps[2];

	syscall(SYS_capget, &head, caps);
	caps[0].effective &= ~(1u << CAP_SYS_ADMIN);
	caps[1].effective &= ~(1u << (CAP_PERFMON - 32));
	syscall(SYS_capset, &head, caps);
}

SETUP(proc_pid_environ_no_perfmon) { drop_perfmon(); }
ACT(proc_pid_environ_no_perfmon) { return act_proc_pid_environ_read(); }

ACT(proc_pid_fd_readlink)
{
	return readlink(proc_file("fd/1"), t.buf, sizeof(t.buf));
}

ACT(proc_pid_root_open) { return open(proc_file("root/etc/passwd"), O_RDONLY); }

ACT(kill_outsider) { return kill(t.outsider, SIGWINCH); }

ACT(kill_0_outsider) { return kill(t.outsider, 0); }

ACT(tgkill_outsider)
{
	return syscall(SYS_tgkill, t.outsider, t.outsider, SIGWINCH);
}

SETUP(pidfd_send_signal) { t.fd = pidfd_of(t.outsider); }
ACT(pidfd_send_signal)
{
	return syscall(SYS_pidfd_send_signal, t.fd, SIGWINCH, NULL, 0);
}

SETUP(pidfd_getfd) { t.fd = pidfd_of(t.outsider); }
ACT(pidfd_getfd) { return syscall(SYS_pidfd_getfd, t.fd, 1, 0); }

ACT(sigqueue_outsider)
{
	union sigval value = { .sival_int = 1 };

	return sigqueue(t.outsider, SIGWINCH, value);
}

ACT(prlimit_outsider)
{
	struct rlimit limit = { 100, 100 };

	return prlimit(t.outsider, RLIMIT_NOFILE, &limit, NULL);
}

ACT(setpriority_outsider) { return setpriority(PRIO_PROCESS, t.outsider, 5); }

ACT(sched_setaffinity_outsider)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return sched_setaffinity(t.outsider, sizeof(cpus), &cpus);
}

SETUP(process_madvise) { t.fd = pidfd_of(t.outsider); }
ACT(process_madvise)
{
	struct iovec page = { (void *)((long)t.buf & ~4095L), 4096 };

	return syscall(SYS_process_madvise, t.fd, &page, 1, MADV_COLD, 0);
}

ACT(kcmp) { return syscall(SYS_kcmp, getpid(), t.outsider, KCMP_FILE, 0, 0); }

ACT(unshare_user) { return unshare(CLONE_NEWUSER); }

ACT(unshare_mnt) { return unshare(CLONE_NEWNS); }

ACT(unshare_net) { return unshare(CLONE_NEWNET); }

ACT(unshare_pid) { return unshare(CLONE_NEWPID); }

SETUP(setns_pidfd) { t.fd = pidfd_of(1); }
ACT(setns_pidfd) { return setns(t.fd, CLONE_NEWNS | CLONE_NEWUTS); }

SETUP(setns_mnt) { t.fd = open("/proc/1/ns/mnt", O_RDONLY); }
ACT(setns_mnt) { return setns(t.fd, CLONE_NEWNS); }

static const char *top_file(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", t.cgroup_top, name);
	return path;
}

SETUP(cgroup_migrate_self) { t.fd = open(top_file("cgroup.procs"), O_WRONLY); }
ACT(cgroup_migrate_self) { return write(t.fd, "0", 1); }

ACT(cgroup_mkdir) { return mkdir(top_file("deeds_child"), 0755); }
CHECK(cgroup_mkdir) { return !rmdir(top_file("deeds_child")); }

SETUP(clone3_into_cgroup) { t.fd = open(t.cgroup_top, O_RDONLY); }
ACT(clone3_into_cgroup)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP,
				   .exit_signal = SIGCHLD,
				   .cgroup = t.fd };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		_exit(0);
	return reap(pid);
}

SETUP(shmget_shmat) { t.fd = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT); }
ACT(shmget_shmat)
{
	t.map = shmat(t.fd, NULL, 0);
	return t.map == (void *)-1 ? -1 : 0;
}

SETUP(msgsnd) { t.fd = msgget(IPC_PRIVATE, 0600 | IPC_CREAT); }
ACT(msgsnd)
{
	struct {
		long type;
		char text[4];
	} m = { 1, "a" };

	return msgsnd(t.fd, &m, sizeof(m.text), 0);
}

/* clang-format off */
const struct deed task_deeds[] = {
	A(setuid),
	A(setgid),
	A(setgroups),
	A(capset_drop),
	A(prctl_no_new_privs),
	A(setpgid),
	A(ptrace_attach_outsider),
	A(ptrace_traceme),
	A(process_vm_readv),
	A(process_vm_writev),
	A(proc_pid_mem_open),
	SA(proc_pid_mem_write),
	SA(proc_self_mem_write),
	A(proc_pid_environ_open),
	A(proc_pid_environ_read),
	SA(proc_pid_environ_no_perfmon),
	A(proc_pid_fd_readlink),
	A(proc_pid_root_open),
	A(kill_outsider),
	A(kill_0_outsider),
	A(tgkill_outsider),
	SA(pidfd_send_signal),
	SA(pidfd_getfd),
	A(sigqueue_outsider),
	A(prlimit_outsider),
	A(setpriority_outsider),
	A(sched_setaffinity_outsider),
	SA(process_madvise),
	A(kcmp),
	A(unshare_user),
	A(unshare_mnt),
	A(unshare_net),
	A(unshare_pid),
	SA(setns_pidfd),
	SA(setns_mnt),
	SA(cgroup_migrate_self, .needs = NEEDS_CGROUP),
	AC(cgroup_mkdir, .needs = NEEDS_CGROUP),
	SA(clone3_into_cgroup, .needs = NEEDS_CGROUP),
	SA(shmget_shmat),
	SA(msgsnd),
	{ NULL },
};
