/* SPDX-License-Identifier: MIT */
/*
 * Deeds through io_uring: no system call of their own; done by the caller, by
 * a worker thread (iou-wrk) or by the kernel's polling thread (iou-sqp).
 * Sockets are here too. What the kernel lacks answers EINVAL.
 */
#include "deed.h"
#include <linux/openat2.h>
#include <sys/xattr.h>

#define XATTR "trusted.q"

/* Numbers of operations, for headers older than the kernel under test. */
enum {
	OP_FSETXATTR = 41, /* Linux 5.19 */
	OP_SETXATTR = 42,
	OP_SOCKET = 45,
	OP_URING_CMD = 46,
	OP_SEND_ZC = 47, /* 6.0 */
	OP_BIND = 56,	 /* 6.11 */
	OP_LISTEN = 57,
};

SETUP(uring_read)
{
	t.fd = open("a", O_RDONLY);
	ring_open(0);
}
ACT(uring_read)
{
	return ring_do(
		SQE(IORING_OP_READ, .fd = t.fd, .addr = (long)t.buf, .len = 5));
}
CHECK(uring_read) { return t.buf[0]; }

SETUP(uring_read_async)
{
	t.fd = open("a", O_RDONLY);
	ring_open(0);
}
ACT(uring_read_async)
{
	return ring_do(SQE(IORING_OP_READ, .fd = t.fd, .addr = (long)t.buf,
			   .len = 5, .flags = IOSQE_ASYNC));
}
CHECK(uring_read_async) { return t.buf[0]; }

SETUP(uring_read_sqpoll)
{
	t.fd = open("a", O_RDONLY);
	ring_open(IORING_SETUP_SQPOLL);
	ring_fix_file(t.fd);
}
ACT(uring_read_sqpoll)
{
	return ring_do(SQE(IORING_OP_READ, .fd = 0, .addr = (long)t.buf,
			   .len = 5, .flags = IOSQE_FIXED_FILE));
}
CHECK(uring_read_sqpoll) { return t.buf[0]; }

SETUP(uring_readv_fixedfile)
{
	t.fd = open("a", O_RDONLY);
	ring_open(0);
	ring_fix_file(t.fd);
	close(t.fd);
	t.vec.iov_base = t.buf;
	t.vec.iov_len = 5;
}
ACT(uring_readv_fixedfile)
{
	return ring_do(SQE(IORING_OP_READV, .fd = 0, .addr = (long)&t.vec,
			   .len = 1, .flags = IOSQE_FIXED_FILE));
}
CHECK(uring_readv_fixedfile) { return t.buf[0]; }

SETUP(uring_write)
{
	t.fd = open("a", O_WRONLY);
	ring_open(0);
}
ACT(uring_write)
{
	return ring_do(
		SQE(IORING_OP_WRITE, .fd = t.fd, .addr = (long)"Z", .len = 1));
}
CHECK(uring_write) { return first_byte("a") == 'Z'; }

SETUP(uring_write_sqpoll)
{
	t.fd = open("a", O_WRONLY);
	ring_open(IORING_SETUP_SQPOLL);
	ring_fix_file(t.fd);
}
ACT(uring_write_sqpoll)
{
	return ring_do(SQE(IORING_OP_WRITE, .fd = 0, .addr = (long)"Z",
			   .len = 1, .flags = IOSQE_FIXED_FILE));
}
CHECK(uring_write_sqpoll) { return first_byte("a") == 'Z'; }

SETUP(uring_openat_creat) { ring_open(0); }
ACT(uring_openat_creat)
{
	return ring_do(SQE(IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (long)"n",
			   .len = 0644, .open_flags = O_CREAT | O_WRONLY));
}
CHECK(uring_openat_creat) { return exists("n"); }

SETUP(uring_openat_sqpoll) { ring_open(IORING_SETUP_SQPOLL); }
ACT(uring_openat_sqpoll)
{
	return ring_do(SQE(IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (long)"a",
			   .open_flags = O_RDONLY));
}

SETUP(uring_openat2) { ring_open(0); }
ACT(uring_openat2)
{
	static struct open_how how = { .flags = O_RDONLY };

	return ring_do(SQE(IORING_OP_OPENAT2, .fd = AT_FDCWD, .addr = (long)"a",
			   .len = sizeof(how), .off = (long)&how));
}

SETUP(uring_unlinkat) { ring_open(0); }
ACT(uring_unlinkat)
{
	return ring_do(
		SQE(IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = (long)"a"));
}
CHECK(uring_unlinkat) { return exists("a"); }

SETUP(uring_renameat) { ring_open(0); }
ACT(uring_renameat)
{
	return ring_do(SQE(IORING_OP_RENAMEAT, .fd = AT_FDCWD,
			   .addr = (long)"a", .addr2 = (long)"n",
			   .len = AT_FDCWD));
}
CHECK(uring_renameat) { return exists("n"); }

SETUP(uring_mkdirat) { ring_open(0); }
ACT(uring_mkdirat)
{
	return ring_do(SQE(IORING_OP_MKDIRAT, .fd = AT_FDCWD,
			   .addr = (long)"nd", .len = 0755));
}
CHECK(uring_mkdirat) { return exists("nd"); }

SETUP(uring_fallocate)
{
	t.fd = open("a", O_RDWR);
	ring_open(0);
}
ACT(uring_fallocate)
{
	return ring_do(SQE(IORING_OP_FALLOCATE, .fd = t.fd, .addr = 8192,
			   .off = 0, .len = 0));
}
CHECK(uring_fallocate) { return size_of("a"); }

SETUP(uring_splice)
{
	t.fd = open("a", O_RDONLY);
	pipe(t.ends);
	ring_open(0);
}
ACT(uring_splice)
{
	return ring_do(SQE(IORING_OP_SPLICE, .fd = t.ends[1],
			   .splice_fd_in = t.fd, .len = 5, .splice_off_in = 0,
			   .off = -1));
}

SETUP(uring_statx) { ring_open(0); }
ACT(uring_statx)
{
	return ring_do(SQE(IORING_OP_STATX, .fd = AT_FDCWD, .addr = (long)"a",
			   .len = STATX_BASIC_STATS, .off = (long)t.buf));
}

SETUP(uring_setxattr) { ring_open(0); }
ACT(uring_setxattr)
{
	return ring_do(SQE(OP_SETXATTR, .addr = (long)XATTR, .off = (long)"v",
			   .addr3 = (long)"a", .len = 1));
}
CHECK(uring_setxattr) { return getxattr("a", XATTR, t.buf, 9); }

SETUP(uring_fsetxattr)
{
	t.fd = open("a", O_RDWR);
	ring_open(0);
}
ACT(uring_fsetxattr)
{
	return ring_do(SQE(OP_FSETXATTR, .fd = t.fd, .addr = (long)XATTR,
			   .off = (long)"v", .len = 1));
}
CHECK(uring_fsetxattr) { return getxattr("a", XATTR, t.buf, 9); }

SETUP(uring_symlinkat) { ring_open(0); }
ACT(uring_symlinkat)
{
	return ring_do(SQE(IORING_OP_SYMLINKAT, .fd = AT_FDCWD,
			   .addr = (long)"tgt", .addr2 = (long)"n"));
}
CHECK(uring_symlinkat) { return exists("n"); }

SETUP(uring_linkat) { ring_open(0); }
ACT(uring_linkat)
{
	return ring_do(SQE(IORING_OP_LINKAT, .fd = AT_FDCWD, .addr = (long)"a",
			   .addr2 = (long)"n", .len = AT_FDCWD));
}
CHECK(uring_linkat) { return exists("n"); }

SETUP(uring_socket) { ring_open(0); }
ACT(uring_socket)
{
	return ring_do(SQE(OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM));
}

SETUP(uring_connect)
{
	tcp_ready();
	ring_open(0);
}
ACT(uring_connect)
{
	return ring_do(SQE(IORING_OP_CONNECT, .fd = t.sock,
			   .addr = (long)&t.in4, .off = sizeof(t.in4)));
}
CHECK(uring_connect) { return something_arrived(); }

SETUP(uring_connect_sqpoll)
{
	tcp_ready();
	ring_open(IORING_SETUP_SQPOLL);
	ring_fix_file(t.sock);
}
ACT(uring_connect_sqpoll)
{
	return ring_do(SQE(IORING_OP_CONNECT, .fd = 0, .addr = (long)&t.in4,
			   .off = sizeof(t.in4), .flags = IOSQE_FIXED_FILE));
}
CHECK(uring_connect_sqpoll) { return something_arrived(); }

SETUP(uring_send_tcp)
{
	tcp_connected();
	ring_open(0);
}
ACT(uring_send_tcp)
{
	return ring_do(SQE(IORING_OP_SEND, .fd = t.sock, .addr = (long)"abc",
			   .len = 3));
}
CHECK(uring_send_tcp) { return bytes_arrived(); }

SETUP(uring_sendmsg_udp4_addr)
{
	udp_ready();
	message_to(&t.in4, sizeof(t.in4));
	ring_open(0);
}
ACT(uring_sendmsg_udp4_addr)
{
	return ring_do(SQE(IORING_OP_SENDMSG, .fd = t.sock,
			   .addr = (long)&t.msg, .len = 1));
}
CHECK(uring_sendmsg_udp4_addr) { return something_arrived(); }

SETUP(uring_sendzc_udp4_addr)
{
	udp_ready();
	ring_open(0);
}
ACT(uring_sendzc_udp4_addr)
{
	return ring_do(SQE(OP_SEND_ZC, .fd = t.sock, .addr = (long)"abc",
			   .len = 3, .addr2 = (long)&t.in4,
			   .addr_len = sizeof(t.in4)));
}
CHECK(uring_sendzc_udp4_addr) { return something_arrived(); }

SETUP(uring_write_tcp)
{
	tcp_connected();
	ring_open(0);
}
ACT(uring_write_tcp)
{
	return ring_do(SQE(IORING_OP_WRITE, .fd = t.sock, .addr = (long)"abc",
			   .len = 3));
}
CHECK(uring_write_tcp) { return bytes_arrived(); }

SETUP(uring_bind)
{
	t.sock = socket(AF_INET, SOCK_STREAM, 0);
	loopback4(OWN_PORT);
	ring_open(0);
}
ACT(uring_bind)
{
	return ring_do(SQE(OP_BIND, .fd = t.sock, .addr = (long)&t.in4,
			   .off = sizeof(t.in4)));
}

SETUP(uring_listen)
{
	t.sock = socket(AF_INET, SOCK_STREAM, 0);
	loopback4(OWN_PORT);
	bind(t.sock, TO4);
	ring_open(0);
}
ACT(uring_listen) { return ring_do(SQE(OP_LISTEN, .fd = t.sock, .len = 5)); }

SETUP(uring_accept)
{
	tcp_connected();
	ring_open(0);
}
ACT(uring_accept) { return ring_do(SQE(IORING_OP_ACCEPT, .fd = t.peer)); }

/* Command 0 asks a socket how many bytes are unread (Linux 6.7). */
SETUP(uring_cmd_socket)
{
	tcp_connected();
	ring_open(0);
}
ACT(uring_cmd_socket)
{
	return ring_do(SQE(OP_URING_CMD, .fd = t.sock, .cmd_op = 0));
}

static struct io_uring_params params;

ACT(io_uring_setup) { return syscall(SYS_io_uring_setup, 4, &params); }

SETUP(io_uring_setup_sqpoll) { params.flags = IORING_SETUP_SQPOLL; }
ACT(io_uring_setup_sqpoll) { return syscall(SYS_io_uring_setup, 4, &params); }

/* clang-format off */
const struct deed uring_deeds[] = {
	SAC(uring_read),
	SAC(uring_read_async),
	SAC(uring_read_sqpoll),
	SAC(uring_readv_fixedfile),
	SAC(uring_write),
	SAC(uring_write_sqpoll),
	SAC(uring_openat_creat),
	SA(uring_openat_sqpoll),
	SA(uring_openat2),
	SAC(uring_unlinkat),
	SAC(uring_renameat),
	SAC(uring_mkdirat),
	SAC(uring_fallocate),
	SA(uring_splice),
	SA(uring_statx),
	SAC(uring_setxattr),
	SAC(uring_fsetxattr),
	SAC(uring_symlinkat),
	SAC(uring_linkat),
	SA(uring_socket),
	SAC(uring_connect),
	SAC(uring_connect_sqpoll),
	SAC(uring_send_tcp),
	SAC(uring_sendmsg_udp4_addr),
	SAC(uring_sendzc_udp4_addr),
	SAC(uring_write_tcp),
	SA(uring_bind),
	SA(uring_listen),
	SA(uring_accept),
	SA(uring_cmd_socket),
	A(io_uring_setup),
	SA(io_uring_setup_sqpoll),
	{ NULL },
};
