/* SPDX-License-Identifier: MIT */
/*
 * One deed is one act that a tracer must be able to see: at most one set-up,
 * one act and one look at the world afterwards. Each deed is done by a fresh
 * child with its own mount, network, UTS and IPC namespaces and an empty
 * working folder that holds the files "a" and "b".
 *
 * Deeds are rows of tables, one table per file. The act returns >= 0, or -1
 * with errno. The check looks at what the act would change; it runs before and
 * after it, and the deed happened if the two numbers differ (an open of an
 * existing file changes nothing). Nothing is printed by a deed.
 *
 * Layout: a body of one statement stands on the line of its name, so that a
 * file of deeds reads as a list.
 */
#ifndef DEED_H
#define DEED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum needs {
	NEEDS_CGROUP = 1 << 0, /* -t FOLDER, a cgroup outside of the target */
	NEEDS_HOST = 1 << 1,   /* acts on the whole machine: -a, best in a VM */
	NEEDS_MODULE = 1 << 2, /* -k FILE, a module without dependencies */
};

struct deed {
	const char *name;
	void (*setup)(void);
	long (*act)(void);
	long (*check)(void);
	unsigned needs;
};

#define SETUP(n) static void setup_##n(void)
#define ACT(n) static long act_##n(void)
#define CHECK(n) static long check_##n(void)

/* Rows: which of setup (S), act (A) and check (C) a deed has. */
#define A(n, ...) { .name = #n, .act = act_##n, ##__VA_ARGS__ }
#define SA(n, ...) A(n, .setup = setup_##n, ##__VA_ARGS__)
#define AC(n, ...) A(n, .check = check_##n, ##__VA_ARGS__)
#define SAC(n, ...) A(n, .setup = setup_##n, .check = check_##n, ##__VA_ARGS__)

/* A table ends with a row without a name. */
extern const struct deed file_deeds[], name_deeds[], overlay_deeds[], uring_deeds[],
	exec_deeds[], task_deeds[], net_deeds[], system_deeds[];

/*
 * What the parts of one deed share. Filled by run_deed() and by set-ups; a
 * child does one deed only, so nothing is ever reset.
 */
struct fixture {
	/* given by the caller */
	const char *work;	/* existing, empty folder */
	const char *cgroup_top; /* a cgroup outside of the target, or NULL */
	const char *module;	/* path of a .ko, or NULL */
	const char *hello;	/* a dynamic program that does nothing */
	pid_t outsider;		/* a process that the deed did not start */
	/* free for use by a deed */
	int fd, fd2;
	int sock, peer;
	int ends[2];
	char *map;
	struct stat st;
	struct iovec vec;
	struct msghdr msg;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	char control[64];
	char buf[65536];
};
extern struct fixture t;

#define LOADER "/lib64/ld-linux-x86-64.so.2" /* x86-64 only */

/* files */
void make_file(const char *name, const char *text);
void copy_file(const char *from, int to_fd);
bool exists(const char *name);
long size_of(const char *name);   /* -1: none */
long mode_of(const char *name);   /* permission bits */
long owner_of(const char *name);
char first_byte(const char *name);
long map_of(int fd, int prot, int flags); /* sets t.map */
void mount_overlay(void);	  /* m over l and u, holds "x" */

/* processes */
long reap(pid_t pid); /* 0, or -1: exit status, 1000 + signal in errno */
long run(const char *path, const char *arg0, const char *arg1);
long run_fd(int fd);
int pidfd_of(pid_t pid);
long keep_errno(long ret, int err);

/* sockets: t.peer is bound to loopback, t.sock is ours, t.in4/t.in6 the peer */
#define TO4 (struct sockaddr *)&t.in4, sizeof(t.in4)
#define TO6 (struct sockaddr *)&t.in6, sizeof(t.in6)
#define TO_UNIX (struct sockaddr *)&t.un, sizeof(t.un)
#define TO_ABSTRACT (struct sockaddr *)&t.un, 7
#define PEER_PORT 7001
#define OWN_PORT 7002
void loopback4(int port);
void loopback6(int port);
void listen_on(int family, int type);
void tcp_ready(void);	   /* listener and unconnected socket */
void tcp_connected(void);
void udp_ready(void);
void udp_connected(void);
void unix_ready(int type, bool abstract);
void message_to(void *name, socklen_t len); /* fills t.msg with "hello" */
void attach_fd(int fd);			    /* SCM_RIGHTS in t.msg */
bool something_arrived(void); /* at t.peer: a connection or a datagram */
bool bytes_arrived(void);     /* on the connection that waits at t.peer */

/* io_uring, without liburing */
#define SQE(o, ...) (struct io_uring_sqe){ .opcode = o, __VA_ARGS__ }
void ring_open(unsigned setup_flags);
void ring_fix_file(int fd); /* registers fd as fixed file 0 */
long ring_do(struct io_uring_sqe sqe);

/* The runner. */
struct identity {
	unsigned dev; /* as the kernel keeps it: major << 20 | minor */
	unsigned long ino;
};

struct outcome {
	bool ran;
	pid_t pid;
	unsigned long long from_ns, until_ns; /* CLOCK_BOOTTIME around the act */
	struct identity a, b; /* of the two files, before the set-up */
	long ret;
	int err; /* errno, or 1000 + signal that ended the child */
	long was, is; /* the check before and after; -1 without one */
};

/* Returns 0 when the act was tried, also when a signal ended it. */
int run_deed(const struct deed *deed, struct outcome *ret_outcome);
const char *answer_of(const struct outcome *o); /* "ok", "EPERM", "SIG11" */
const char *why_skipped(const struct deed *deed, bool host_allowed);
void fixture_init(void); /* outsider, shared page */
void fixture_done(void);
/* NULL gives the first deed; returns NULL after the last one. */
const struct deed *deed_next(const struct deed *deed, const char **ret_group);

#endif
