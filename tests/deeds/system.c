/* SPDX-License-Identifier: MIT */
/*
 * Mounts, modules, keys, clocks, BPF and other deeds that reach beyond the
 * files and sockets of a tool. Names of host and domain are those of the
 * deed's own namespace.
 */
#include "deed.h"
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <time.h>

#define SYSLOG_SIZE_BUFFER 10

SETUP(mount_tmpfs) { mkdir("mm", 0755); }
ACT(mount_tmpfs) { return mount("t", "mm", "tmpfs", 0, NULL); }

SETUP(mount_bind) { mkdir("mm", 0755); }
ACT(mount_bind) { return mount(".", "mm", 0, MS_BIND, 0); }

SETUP(umount)
{
	mkdir("mm", 0755);
	mount("t", "mm", "tmpfs", 0, 0);
}
ACT(umount) { return umount2("mm", 0); }

SETUP(remount_ro)
{
	mkdir("mm", 0755);
	mount("t", "mm", "tmpfs", 0, 0);
}
ACT(remount_ro) { return mount(0, "mm", 0, MS_REMOUNT | MS_RDONLY, 0); }

SETUP(mount_make_private) { unshare(CLONE_NEWNS); }
ACT(mount_make_private) { return mount(0, t.work, 0, MS_PRIVATE, 0); }

SETUP(pivot_root)
{
	unshare(CLONE_NEWNS);
	mkdir("mm", 0755);
	mount("t", "mm", "tmpfs", 0, 0);
	mkdir("mm/o", 0755);
}
ACT(pivot_root) { return syscall(SYS_pivot_root, "mm", "mm/o"); }

ACT(open_tree_clone) { return open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE); }

SETUP(move_mount)
{
	mkdir("mm", 0755);
	t.fd = open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE);
}
ACT(move_mount)
{
	return move_mount(t.fd, "", AT_FDCWD, "mm", MOVE_MOUNT_F_EMPTY_PATH);
}

SETUP(fsopen_fsmount)
{
	t.fd = fsopen("tmpfs", 0);
	fsconfig(t.fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}
ACT(fsopen_fsmount) { return fsmount(t.fd, 0, 0); }

SETUP(mount_setattr)
{
	mkdir("mm", 0755);
	mount("t", "mm", "tmpfs", 0, NULL);
}
ACT(mount_setattr)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount_setattr(AT_FDCWD, "mm", 0, &attr, sizeof(attr));
}

/* A module that is loaded already has passed all checks as well. */
static long or_errno(long ret, int good)
{
	return ret < 0 && errno == good ? 0 : ret;
}

SETUP(finit_module) { t.fd = open(t.module, O_RDONLY); }
ACT(finit_module)
{
	return or_errno(syscall(SYS_finit_module, t.fd, "", 0), EEXIST);
}

SETUP(init_module)
{
	t.fd = open(t.module, O_RDONLY);
	t.vec.iov_base = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE, t.fd, 0);
	t.vec.iov_len = size_of(t.module);
}
ACT(init_module)
{
	return or_errno(
		syscall(SYS_init_module, t.vec.iov_base, t.vec.iov_len, ""),
		EEXIST);
}

ACT(delete_module)
{
	return or_errno(syscall(SYS_delete_module, "nope", 0), ENOENT);
}

ACT(bpf_map_create)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
				.key_size = 4,
				.value_size = 4,
				.max_entries = 1 };

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

ACT(bpf_prog_next_id)
{
	union bpf_attr attr = { .start_id = 0 };

	return or_errno(
		syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)),
		ENOENT);
}

ACT(perf_event_open)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

ACT(add_key)
{
	return syscall(SYS_add_key, "user", "k", "v", 1,
		       KEY_SPEC_PROCESS_KEYRING);
}

SETUP(keyctl_read)
{
	t.fd = syscall(SYS_add_key, "user", "k", "v", 1,
		       KEY_SPEC_PROCESS_KEYRING);
}
ACT(keyctl_read) { return syscall(SYS_keyctl, KEYCTL_READ, t.fd, t.buf, 9); }

ACT(memfd_secret) { return syscall(SYS_memfd_secret, 0); }

ACT(syslog_size) { return klogctl(SYSLOG_SIZE_BUFFER, NULL, 0); }

ACT(clock_settime)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

ACT(dev_mem_open) { return open("/dev/mem", O_RDONLY); }

/* Any answer but EPERM means that the check was passed. */
static long unless_eperm(long ret)
{
	return ret < 0 && errno != EPERM ? 0 : ret;
}

ACT(quotactl)
{
	return unless_eperm(
		quotactl(QCMD(Q_GETINFO, USRQUOTA), "/dev/x", 0, NULL));
}

ACT(kexec_load)
{
	return unless_eperm(syscall(SYS_kexec_load, 0, 1, t.buf, 0));
}

ACT(userfaultfd) { return syscall(SYS_userfaultfd, 0); }

ACT(sethostname) { return sethostname("g", 1); }

SETUP(proc_sys_write) { t.fd = open("/proc/sys/kernel/domainname", O_WRONLY); }
ACT(proc_sys_write) { return write(t.fd, "x", 1); }

ACT(iopl) { return syscall(SYS_iopl, 0); }

ACT(fanotify_init) { return fanotify_init(FAN_CLASS_CONTENT, O_RDONLY); }

SETUP(seccomp_install) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
ACT(seccomp_install)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { .len = 1, .filter = &allow };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

ACT(landlock_ruleset)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE
	};

	return syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

SETUP(process_mrelease) { t.fd = pidfd_of(t.outsider); }
ACT(process_mrelease)
{
	return or_errno(syscall(SYS_process_mrelease, t.fd, 0), EINVAL);
}

ACT(personality) { return personality(0xffffffff); }

/* A terminal of our own: nothing is typed into that of the user. */
SETUP(tty_tiocsti)
{
	t.fd = posix_openpt(O_RDWR | O_NOCTTY);
	grantpt(t.fd);
	unlockpt(t.fd);
	t.fd2 = open(ptsname(t.fd), O_RDWR | O_NOCTTY);
}
ACT(tty_tiocsti) { return ioctl(t.fd2, TIOCSTI, "x"); }

/* clang-format off */
const struct deed system_deeds[] = {
	SA(mount_tmpfs),
	SA(mount_bind),
	SA(umount),
	SA(remount_ro),
	SA(mount_make_private),
	SA(pivot_root),
	A(open_tree_clone),
	SA(move_mount),
	SA(fsopen_fsmount),
	SA(mount_setattr),
	SA(finit_module, .needs = NEEDS_HOST | NEEDS_MODULE),
	SA(init_module, .needs = NEEDS_HOST | NEEDS_MODULE),
	A(delete_module, .needs = NEEDS_HOST),
	A(bpf_map_create),
	A(bpf_prog_next_id),
	A(perf_event_open),
	A(add_key),
	SA(keyctl_read),
	A(memfd_secret),
	A(syslog_size),
	A(clock_settime, .needs = NEEDS_HOST),
	A(dev_mem_open),
	A(quotactl),
	A(kexec_load, .needs = NEEDS_HOST),
	A(userfaultfd),
	A(sethostname),
	SA(proc_sys_write),
	A(iopl),
	A(fanotify_init),
	SA(seccomp_install),
	A(landlock_ruleset),
	SA(process_mrelease),
	A(personality),
	SA(tty_tiocsti),
	{ NULL },
};
