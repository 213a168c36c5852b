/* SPDX-License-Identifier: MIT */
/*
 * Creation, removal, renaming, attributes: what happens to names and inodes.
 * The attribute is trusted.*, because tmpfs has no user.* before Linux 6.6.
 */
#include "deed.h"
#include <dirent.h>
#include <linux/fs.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define XATTR "trusted.q"
#define NR_FCHMODAT2 452 /* Linux 6.6 */

ACT(unlink) { return unlink("a"); }
CHECK(unlink) { return exists("a"); }

ACT(mkdir) { return mkdir("nd", 0755); }
CHECK(mkdir) { return exists("nd"); }

SETUP(rmdir) { mkdir("nd", 0755); }
ACT(rmdir) { return rmdir("nd"); }
CHECK(rmdir) { return exists("nd"); }

ACT(mknod_fifo) { return mknod("n", S_IFIFO | 0600, 0); }
CHECK(mknod_fifo) { return exists("n"); }

ACT(mknod_reg) { return mknod("n", S_IFREG | 0600, 0); }
CHECK(mknod_reg) { return exists("n"); }

ACT(mknod_chrdev) { return mknod("n", S_IFCHR | 0600, makedev(1, 3)); }
CHECK(mknod_chrdev) { return exists("n"); }

ACT(symlink) { return symlink("tgt", "n"); }
CHECK(symlink) { return exists("n"); }

ACT(link) { return link("a", "n"); }
CHECK(link) { return exists("n"); }

SETUP(linkat_tmpfile)
{
	t.fd = open(".", O_TMPFILE | O_RDWR, 0600);
	snprintf(t.buf, sizeof(t.buf), "/proc/self/fd/%d", t.fd);
}
ACT(linkat_tmpfile)
{
	return linkat(AT_FDCWD, t.buf, AT_FDCWD, "n", AT_SYMLINK_FOLLOW);
}
CHECK(linkat_tmpfile) { return exists("n"); }

ACT(rename) { return rename("a", "n"); }
CHECK(rename) { return exists("n"); }

ACT(rename_over_existing) { return rename("b", "a"); }
CHECK(rename_over_existing) { return first_byte("a") == 'B'; }

ACT(renameat2_exchange)
{
	return renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE);
}
CHECK(renameat2_exchange) { return first_byte("a") == 'B'; }

ACT(renameat2_whiteout)
{
	return renameat2(AT_FDCWD, "a", AT_FDCWD, "n", RENAME_WHITEOUT);
}
CHECK(renameat2_whiteout) { return exists("n"); }

SETUP(rename_folder) { mkdir("nd", 0755); }
ACT(rename_folder) { return rename("nd", "n"); }
CHECK(rename_folder) { return exists("n"); }

ACT(chmod) { return chmod("a", 0700); }
CHECK(chmod) { return mode_of("a"); }

SETUP(fchmod) { t.fd = open("a", O_RDONLY); }
ACT(fchmod) { return fchmod(t.fd, 0700); }
CHECK(fchmod) { return mode_of("a"); }

ACT(fchmodat2)
{
	return syscall(NR_FCHMODAT2, AT_FDCWD, "a", 0700, AT_SYMLINK_NOFOLLOW);
}
CHECK(fchmodat2) { return mode_of("a"); }

ACT(chown) { return chown("a", 5, 5); }
CHECK(chown) { return owner_of("a"); }

SETUP(fchown) { t.fd = open("a", O_RDONLY); }
ACT(fchown) { return fchown(t.fd, 5, 5); }
CHECK(fchown) { return owner_of("a"); }

ACT(utimensat)
{
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	return utimensat(AT_FDCWD, "a", times, 0);
}
CHECK(utimensat) { return !stat("a", &t.st) && t.st.st_mtime == 1; }

SETUP(futimens) { t.fd = open("a", O_RDWR); }
ACT(futimens) { return futimens(t.fd, 0); }

ACT(setxattr) { return setxattr("a", XATTR, "v", 1, 0); }
CHECK(setxattr) { return getxattr("a", XATTR, t.buf, 9); }

SETUP(fsetxattr) { t.fd = open("a", O_RDWR); }
ACT(fsetxattr) { return fsetxattr(t.fd, XATTR, "v", 1, 0); }
CHECK(fsetxattr) { return getxattr("a", XATTR, t.buf, 9); }

SETUP(removexattr) { setxattr("a", XATTR, "v", 1, 0); }
ACT(removexattr) { return removexattr("a", XATTR); }
CHECK(removexattr) { return getxattr("a", XATTR, t.buf, 9); }

/* Format 2, then (tag, permission, id): owner rw, group r, others r. */
static const struct {
	unsigned version;
	struct {
		unsigned short tag, perm;
		unsigned id;
	} entry[3];
} acl = { 2, { { 0x01, 6, -1 }, { 0x04, 4, -1 }, { 0x20, 4, -1 } } };

ACT(setxattr_posix_acl)
{
	return setxattr("a", "system.posix_acl_access", &acl, sizeof(acl), 0);
}
CHECK(setxattr_posix_acl) { return mode_of("a"); }

SETUP(getxattr) { setxattr("a", XATTR, "v", 1, 0); }
ACT(getxattr) { return getxattr("a", XATTR, t.buf, 9); }

ACT(listxattr) { return listxattr("a", t.buf, 99); }

SETUP(ioctl_setflags) { t.fd = open("a", O_RDONLY); }
ACT(ioctl_setflags)
{
	int flags = FS_NOATIME_FL;

	return ioctl(t.fd, FS_IOC_SETFLAGS, &flags);
}

ACT(stat) { return stat("a", &t.st); }

ACT(statx) { return syscall(SYS_statx, AT_FDCWD, "a", 0, 0xfff, t.buf); }

SETUP(fstat) { t.fd = open("a", O_RDONLY); }
ACT(fstat) { return fstat(t.fd, &t.st); }

ACT(access) { return access("a", R_OK); }

SETUP(readlink) { symlink("a", "ln"); }
ACT(readlink) { return readlink("ln", t.buf, 99); }

SETUP(getdents) { t.fd = open(".", O_RDONLY); }
ACT(getdents) { return syscall(SYS_getdents64, t.fd, t.buf, 1000); }

ACT(chdir) { return chdir("/"); }

ACT(chroot) { return chroot(t.work); }

static struct statfs fs;

ACT(statfs) { return statfs("a", &fs); }

SETUP(inotify_add_watch) { t.fd = inotify_init(); }
ACT(inotify_add_watch) { return inotify_add_watch(t.fd, "a", IN_ALL_EVENTS); }

SETUP(fanotify_mark) { t.fd = fanotify_init(0, O_RDONLY); }
ACT(fanotify_mark)
{
	return fanotify_mark(t.fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "a");
}

SETUP(flock) { t.fd = open("a", O_RDONLY); }
ACT(flock) { return flock(t.fd, LOCK_EX); }

SETUP(fcntl_setfl) { t.fd = open("a", O_RDONLY); }
ACT(fcntl_setfl) { return fcntl(t.fd, F_SETFL, O_APPEND); }

SETUP(dup) { t.fd = open("a", O_RDONLY); }
ACT(dup) { return dup(t.fd); }

SETUP(close) { t.fd = open("a", O_RDONLY); }
ACT(close) { return close(t.fd); }

SETUP(fsync) { t.fd = open("a", O_RDWR); }
ACT(fsync) { return fsync(t.fd); }

SETUP(fchdir) { t.fd = open("/", O_RDONLY); }
ACT(fchdir) { return fchdir(t.fd); }

/* clang-format off */
const struct deed name_deeds[] = {
	AC(unlink),
	AC(mkdir),
	SAC(rmdir),
	AC(mknod_fifo),
	AC(mknod_reg),
	AC(mknod_chrdev),
	AC(symlink),
	AC(link),
	SAC(linkat_tmpfile),
	AC(rename),
	AC(rename_over_existing),
	AC(renameat2_exchange),
	AC(renameat2_whiteout),
	SAC(rename_folder),
	AC(chmod),
	SAC(fchmod),
	AC(fchmodat2),
	AC(chown),
	SAC(fchown),
	AC(utimensat),
	SA(futimens),
	AC(setxattr),
	SAC(fsetxattr),
	SAC(removexattr),
	AC(setxattr_posix_acl),
	SA(getxattr),
	A(listxattr),
	SA(ioctl_setflags),
	A(stat),
	A(statx),
	SA(fstat),
	A(access),
	SA(readlink),
	SA(getdents),
	A(chdir),
	A(chroot),
	A(statfs),
	SA(inotify_add_watch),
	SA(fanotify_mark),
	SA(flock),
	SA(fcntl_setfl),
	SA(dup),
	SA(close),
	SA(fsync),
	SA(fchdir),
	{ NULL },
};
