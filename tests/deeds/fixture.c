/* SPDX-License-Identifier: MIT */
/*
 * The shared tools of the deeds: files, children, sockets, a small io_uring.
 * A failing set-up is not reported: the act that needs it then fails, and the
 * comparison with the expected answer shows it.
 */
#include "deed.h"
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>

struct fixture t = { .fd = -1, .fd2 = -1, .sock = -1, .peer = -1 };

void make_file(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0755);

	(void)!write(fd, text, strlen(text));
	close(fd);
}

void copy_file(const char *from, int to_fd)
{
	int fd = open(from, O_RDONLY);
	ssize_t n;

	while ((n = read(fd, t.buf, sizeof(t.buf))) > 0)
		(void)!write(to_fd, t.buf, n);
	close(fd);
}

bool exists(const char *name)
{
	return !lstat(name, &t.st);
}

long size_of(const char *name)
{
	return stat(name, &t.st) ? -1 : t.st.st_size;
}

long mode_of(const char *name)
{
	return stat(name, &t.st) ? -1 : (long)(t.st.st_mode & 0777);
}

long owner_of(const char *name)
{
	return stat(name, &t.st) ? -1 : (long)t.st.st_uid;
}

char first_byte(const char *name)
{
	int fd = open(name, O_RDONLY);
	char c = 0;

	(void)!read(fd, &c, 1);
	close(fd);
	return c;
}

long map_of(int fd, int prot, int flags)
{
	t.map = mmap(NULL, 4096, prot, flags, fd, 0);
	return t.map == MAP_FAILED ? -1 : 0;
}

void mount_overlay(void)
{
	mkdir("l", 0755);
	mkdir("u", 0755);
	mkdir("w", 0755);
	mkdir("m", 0755);
	make_file("l/x", "LOWER");
	mount("ovl", "m", "overlay", 0, "lowerdir=l,upperdir=u,workdir=w");
}

long keep_errno(long ret, int err)
{
	errno = err;
	return ret;
}

long reap(pid_t pid)
{
	int st = 0;

	if (pid < 0)
		return -1;
	waitpid(pid, &st, 0);
	if (WIFEXITED(st) && !WEXITSTATUS(st))
		return 0;
	errno = WIFEXITED(st) ? WEXITSTATUS(st) : 1000 + WTERMSIG(st);
	return -1;
}

long run(const char *path, const char *arg0, const char *arg1)
{
	char *argv[] = { (char *)arg0, (char *)arg1, NULL };
	char *envp[] = { NULL };
	pid_t pid = fork();

	if (!pid) {
		execve(path, argv, envp);
		_exit(errno);
	}
	return reap(pid);
}

long run_fd(int fd)
{
	char *argv[] = { (char *)"true", NULL };
	char *envp[] = { NULL };
	pid_t pid = fork();

	if (!pid) {
		syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
		_exit(errno);
	}
	return reap(pid);
}

int pidfd_of(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0);
}

void loopback4(int port)
{
	t.in4 = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_port = htons(port) };
	t.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

void loopback6(int port)
{
	t.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
				       .sin6_port = htons(port) };
	t.in6.sin6_addr = in6addr_loopback;
}

void listen_on(int family, int type)
{
	t.peer = socket(family, type, 0);
	if (family == AF_INET) {
		loopback4(PEER_PORT);
		bind(t.peer, TO4);
	} else {
		loopback6(PEER_PORT);
		bind(t.peer, TO6);
	}
	if (type == SOCK_STREAM)
		listen(t.peer, 5);
}

void tcp_ready(void)
{
	listen_on(AF_INET, SOCK_STREAM);
	t.sock = socket(AF_INET, SOCK_STREAM, 0);
}

void tcp_connected(void)
{
	tcp_ready();
	connect(t.sock, TO4);
}

void udp_ready(void)
{
	listen_on(AF_INET, SOCK_DGRAM);
	t.sock = socket(AF_INET, SOCK_DGRAM, 0);
}

void udp_connected(void)
{
	udp_ready();
	connect(t.sock, TO4);
}

void unix_ready(int type, bool abstract)
{
	t.un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(t.un.sun_path + abstract, "sock", 5);
	t.peer = socket(AF_UNIX, type, 0);
	if (abstract)
		bind(t.peer, TO_ABSTRACT);
	else
		bind(t.peer, TO_UNIX);
	if (type == SOCK_STREAM)
		listen(t.peer, 5);
	t.sock = socket(AF_UNIX, type, 0);
}

void message_to(void *name, socklen_t len)
{
	t.vec = (struct iovec){ .iov_base = (char *)"hello", .iov_len = 5 };
	t.msg = (struct msghdr){ .msg_name = name, .msg_namelen = len,
				 .msg_iov = &t.vec, .msg_iovlen = 1 };
}

void attach_fd(int fd)
{
	struct cmsghdr *c;

	message_to(NULL, 0);
	t.msg.msg_control = t.control;
	t.msg.msg_controllen = CMSG_SPACE(sizeof(fd));
	c = CMSG_FIRSTHDR(&t.msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 20) == 1 && (p.revents & POLLIN);
}

bool something_arrived(void)
{
	return readable(t.peer);
}

bool bytes_arrived(void)
{
	static int conn = -1;

	if (conn < 0)
		conn = accept(t.peer, NULL, NULL);
	return readable(conn);
}

static struct ring {
	int fd;
	bool polled; /* the kernel's own thread submits */
	unsigned *sq_tail, *sq_mask, *sq_array;
	unsigned *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring = { .fd = -1 };

static void ring_map(const struct io_uring_params *p)
{
	size_t sq = p->sq_off.array + p->sq_entries * sizeof(unsigned);
	size_t cq = p->cq_off.cqes + p->cq_entries * sizeof(*ring.cqes);
	char *m = mmap(NULL, sq > cq ? sq : cq, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);

	ring.sqes = mmap(NULL, p->sq_entries * sizeof(*ring.sqes),
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			 ring.fd, IORING_OFF_SQES);
	ring.sq_tail = (unsigned *)(m + p->sq_off.tail);
	ring.sq_mask = (unsigned *)(m + p->sq_off.ring_mask);
	ring.sq_array = (unsigned *)(m + p->sq_off.array);
	ring.cq_head = (unsigned *)(m + p->cq_off.head);
	ring.cq_tail = (unsigned *)(m + p->cq_off.tail);
	ring.cq_mask = (unsigned *)(m + p->cq_off.ring_mask);
	ring.cqes = (struct io_uring_cqe *)(m + p->cq_off.cqes);
}

void ring_open(unsigned setup_flags)
{
	struct io_uring_params p = { .flags = setup_flags,
				     .sq_thread_idle = 2000 };

	ring.polled = setup_flags & IORING_SETUP_SQPOLL;
	ring.fd = syscall(SYS_io_uring_setup, 8, &p);
	if (ring.fd >= 0)
		ring_map(&p);
}

void ring_fix_file(int fd)
{
	syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &fd, 1);
}

static bool ring_answered(void)
{
	return *ring.cq_head != __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
}

static long ring_wait(void)
{
	if (!ring.polled)
		return syscall(SYS_io_uring_enter, ring.fd, 1, 1,
			       IORING_ENTER_GETEVENTS, NULL, 0);
	syscall(SYS_io_uring_enter, ring.fd, 0, 0, IORING_ENTER_SQ_WAKEUP,
		NULL, 0);
	for (int ms = 0; ms < 3000 && !ring_answered(); ms++)
		usleep(1000);
	return ring_answered() ? 0 : keep_errno(-1, ETIME);
}

long ring_do(struct io_uring_sqe sqe)
{
	unsigned tail, slot;
	int res;

	if (ring.fd < 0)
		return keep_errno(-1, ENOSYS);
	tail = *ring.sq_tail;
	slot = tail & *ring.sq_mask;
	ring.sqes[slot] = sqe;
	ring.sq_array[slot] = slot;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (ring_wait() < 0)
		return -1;
	res = ring.cqes[*ring.cq_head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
	return res < 0 ? keep_errno(-1, -res) : res;
}
