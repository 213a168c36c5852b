/* SPDX-License-Identifier: MIT */
/*
 * Opens, reads, writes, mappings, truncation: what happens to the bytes of a
 * file. Names are changed in name.c; io_uring has uring.c.
 */
#include "deed.h"
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>

ACT(open_rdonly) { return open("a", O_RDONLY); }

ACT(open_wronly) { return open("a", O_WRONLY); }
CHECK(open_wronly) { return size_of("a"); }

ACT(open_rdwr_trunc) { return open("a", O_RDWR | O_TRUNC); }
CHECK(open_rdwr_trunc) { return size_of("a"); }

ACT(open_creat_new) { return open("n", O_CREAT | O_WRONLY, 0644); }
CHECK(open_creat_new) { return exists("n"); }

ACT(open_creat_existing) { return open("a", O_CREAT | O_WRONLY, 0644); }
CHECK(open_creat_existing) { return size_of("a"); }

ACT(open_o_path) { return open("a", O_PATH); }

ACT(open_tmpfile) { return open(".", O_TMPFILE | O_RDWR, 0600); }

ACT(open_dir) { return open(".", O_RDONLY | O_DIRECTORY); }

ACT(openat2_beneath)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };

	return syscall(SYS_openat2, AT_FDCWD, "a", &how, sizeof(how));
}

SETUP(open_symlink) { symlink("a", "ln"); }
ACT(open_symlink) { return open("ln", O_RDONLY); }

SETUP(open_proc_self_fd_reopen)
{
	t.fd = open("a", O_RDONLY);
	snprintf(t.buf, sizeof(t.buf), "/proc/self/fd/%d", t.fd);
}
ACT(open_proc_self_fd_reopen) { return open(t.buf, O_RDWR); }

static struct {
	struct file_handle head;
	char bytes[MAX_HANDLE_SZ];
} handle;

static long handle_of_a(void)
{
	int mount_id;

	handle.head.handle_bytes = sizeof(handle.bytes);
	return name_to_handle_at(AT_FDCWD, "a", &handle.head, &mount_id, 0);
}

ACT(name_to_handle_at) { return handle_of_a(); }

SETUP(open_by_handle_at)
{
	handle_of_a();
	t.fd = open(".", O_RDONLY);
}
ACT(open_by_handle_at) { return open_by_handle_at(t.fd, &handle.head, O_RDWR); }

SETUP(open_fifo) { mkfifo("ff", 0600); }
ACT(open_fifo) { return open("ff", O_RDWR); }

ACT(open_dev_null) { return open("/dev/null", O_RDWR); }

ACT(memfd_create) { return memfd_create("x", 0); }

ACT(pipe) { return pipe(t.ends); }

SETUP(read) { t.fd = open("a", O_RDONLY); }
ACT(read) { return read(t.fd, t.buf, 5); }

SETUP(pread) { t.fd = open("a", O_RDONLY); }
ACT(pread) { return pread(t.fd, t.buf, 5, 1); }

SETUP(readv)
{
	t.fd = open("a", O_RDONLY);
	t.vec.iov_base = t.buf;
	t.vec.iov_len = 5;
}
ACT(readv) { return readv(t.fd, &t.vec, 1); }

SETUP(preadv2)
{
	t.fd = open("a", O_RDONLY);
	t.vec.iov_base = t.buf;
	t.vec.iov_len = 5;
}
ACT(preadv2) { return preadv2(t.fd, &t.vec, 1, 0, 0); }

SETUP(mmap_shared_read) { t.fd = open("a", O_RDONLY); }
ACT(mmap_shared_read) { return map_of(t.fd, PROT_READ, MAP_SHARED); }

SETUP(mmap_private_rw) { t.fd = open("a", O_RDONLY); }
ACT(mmap_private_rw)
{
	return map_of(t.fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

SETUP(mmap_load)
{
	t.fd = open("a", O_RDONLY);
	map_of(t.fd, PROT_READ, MAP_SHARED);
}
ACT(mmap_load) { return *(volatile char *)t.map == 'h' ? 0 : -1; }

SETUP(mmap_shared_rw) { t.fd = open("a", O_RDWR); }
ACT(mmap_shared_rw) { return map_of(t.fd, PROT_READ | PROT_WRITE, MAP_SHARED); }

SETUP(mmap_store)
{
	t.fd = open("a", O_RDWR);
	map_of(t.fd, PROT_READ | PROT_WRITE, MAP_SHARED);
}
ACT(mmap_store)
{
	*t.map = 'X';
	return 0;
}
CHECK(mmap_store) { return first_byte("a") == 'X'; }

SETUP(mmap_write_after_close)
{
	t.fd = open("a", O_RDWR);
	map_of(t.fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	close(t.fd);
}
ACT(mmap_write_after_close)
{
	*t.map = 'X';
	msync(t.map, 4096, MS_SYNC);
	return munmap(t.map, 4096);
}
CHECK(mmap_write_after_close) { return first_byte("a") == 'X'; }

SETUP(mprotect_to_write)
{
	t.fd = open("a", O_RDWR);
	map_of(t.fd, PROT_READ, MAP_SHARED);
}
ACT(mprotect_to_write)
{
	int r = mprotect(t.map, 4096, PROT_READ | PROT_WRITE);

	if (!r)
		*t.map = 'X';
	return r;
}
CHECK(mprotect_to_write) { return first_byte("a") == 'X'; }

SETUP(mmap_private_exec) { t.fd = open("a", O_RDONLY); }
ACT(mmap_private_exec)
{
	return map_of(t.fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

SETUP(mprotect_to_exec)
{
	t.fd = open("a", O_RDONLY);
	map_of(t.fd, PROT_READ, MAP_PRIVATE);
}
ACT(mprotect_to_exec) { return mprotect(t.map, 4096, PROT_READ | PROT_EXEC); }

ACT(mmap_anon_exec)
{
	return map_of(-1, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS);
}

SETUP(mremap_grow)
{
	t.fd = open("a", O_RDONLY);
	map_of(t.fd, PROT_READ, MAP_SHARED);
}
ACT(mremap_grow)
{
	void *grown = mremap(t.map, 4096, 8192, MREMAP_MAYMOVE);

	return grown == MAP_FAILED ? -1 : 0;
}

SETUP(splice_file_to_pipe)
{
	t.fd = open("a", O_RDONLY);
	pipe(t.ends);
}
ACT(splice_file_to_pipe) { return splice(t.fd, 0, t.ends[1], 0, 5, 0); }

SETUP(splice_pipe_to_file)
{
	t.fd = open("a", O_WRONLY);
	pipe(t.ends);
	write(t.ends[1], "ZZ", 2);
}
ACT(splice_pipe_to_file) { return splice(t.ends[0], 0, t.fd, 0, 2, 0); }
CHECK(splice_pipe_to_file) { return first_byte("a") == 'Z'; }

SETUP(vmsplice_to_pipe)
{
	pipe(t.ends);
	t.vec.iov_base = t.buf;
	t.vec.iov_len = 5;
}
ACT(vmsplice_to_pipe) { return vmsplice(t.ends[1], &t.vec, 1, 0); }

SETUP(sendfile_file_to_socket)
{
	t.fd = open("a", O_RDONLY);
	socketpair(AF_UNIX, SOCK_STREAM, 0, t.ends);
}
ACT(sendfile_file_to_socket) { return sendfile(t.ends[0], t.fd, 0, 5); }

SETUP(sendfile_file_to_file)
{
	t.fd = open("b", O_RDONLY);
	t.fd2 = open("a", O_WRONLY);
}
ACT(sendfile_file_to_file) { return sendfile(t.fd2, t.fd, 0, 5); }
CHECK(sendfile_file_to_file) { return first_byte("a") == 'B'; }

SETUP(copy_file_range)
{
	t.fd = open("b", O_RDONLY);
	t.fd2 = open("a", O_WRONLY);
}
ACT(copy_file_range) { return copy_file_range(t.fd, 0, t.fd2, 0, 5, 0); }
CHECK(copy_file_range) { return first_byte("a") == 'B'; }

SETUP(ioctl_ficlone)
{
	t.fd = open("b", O_RDONLY);
	t.fd2 = open("a", O_WRONLY);
}
ACT(ioctl_ficlone) { return ioctl(t.fd2, FICLONE, t.fd); }
CHECK(ioctl_ficlone) { return first_byte("a") == 'B'; }

SETUP(write) { t.fd = open("a", O_WRONLY); }
ACT(write) { return write(t.fd, "Z", 1); }
CHECK(write) { return first_byte("a") == 'Z'; }

SETUP(pwrite) { t.fd = open("a", O_WRONLY); }
ACT(pwrite) { return pwrite(t.fd, "Z", 1, 0); }
CHECK(pwrite) { return first_byte("a") == 'Z'; }

SETUP(writev)
{
	t.fd = open("a", O_WRONLY);
	t.vec.iov_base = (char *)"Z";
	t.vec.iov_len = 1;
}
ACT(writev) { return writev(t.fd, &t.vec, 1); }
CHECK(writev) { return first_byte("a") == 'Z'; }

SETUP(pwritev2)
{
	t.fd = open("a", O_WRONLY);
	t.vec.iov_base = (char *)"Z";
	t.vec.iov_len = 1;
}
ACT(pwritev2) { return pwritev2(t.fd, &t.vec, 1, 0, 0); }
CHECK(pwritev2) { return first_byte("a") == 'Z'; }

SETUP(ftruncate) { t.fd = open("a", O_RDWR); }
ACT(ftruncate) { return ftruncate(t.fd, 2); }
CHECK(ftruncate) { return size_of("a"); }

ACT(truncate) { return truncate("a", 2); }
CHECK(truncate) { return size_of("a"); }

SETUP(fallocate) { t.fd = open("a", O_RDWR); }
ACT(fallocate) { return fallocate(t.fd, 0, 0, 8192); }
CHECK(fallocate) { return size_of("a"); }

SETUP(fallocate_punch) { t.fd = open("a", O_RDWR); }
ACT(fallocate_punch)
{
	return fallocate(t.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			 4096);
}
CHECK(fallocate_punch) { return first_byte("a"); }

/* clang-format off */
const struct deed file_deeds[] = {
	A(open_rdonly),
	AC(open_wronly),
	AC(open_rdwr_trunc),
	AC(open_creat_new),
	AC(open_creat_existing),
	A(open_o_path),
	A(open_tmpfile),
	A(open_dir),
	A(openat2_beneath),
	SA(open_symlink),
	SA(open_proc_self_fd_reopen),
	A(name_to_handle_at),
	SA(open_by_handle_at),
	SA(open_fifo),
	A(open_dev_null),
	A(memfd_create),
	A(pipe),
	SA(read),
	SA(pread),
	SA(readv),
	SA(preadv2),
	SA(mmap_shared_read),
	SA(mmap_private_rw),
	SA(mmap_load),
	SA(mmap_shared_rw),
	SAC(mmap_store),
	SAC(mmap_write_after_close),
	SAC(mprotect_to_write),
	SA(mmap_private_exec),
	SA(mprotect_to_exec),
	A(mmap_anon_exec),
	SA(mremap_grow),
	SA(splice_file_to_pipe),
	SAC(splice_pipe_to_file),
	SA(vmsplice_to_pipe),
	SA(sendfile_file_to_socket),
	SAC(sendfile_file_to_file),
	SAC(copy_file_range),
	SAC(ioctl_ficlone),
	SAC(write),
	SAC(pwrite),
	SAC(writev),
	SAC(pwritev2),
	SAC(ftruncate),
	AC(truncate),
	SAC(fallocate),
	SAC(fallocate_punch),
	{ NULL },
};
