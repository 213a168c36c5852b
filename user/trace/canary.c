/* SPDX-License-Identifier: MIT */
/*
 * The child must harm nobody should it be let through: it opens /proc/version,
 * connects to the discard port of the loopback address and executes a program
 * of 132 bytes that ends at once. Its records carry session 0.
 */
#include "canary.h"

#include "base/fdio.h"
#include "base/timeutil.h"
#include "cgroup.h"
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Of a file system where stat() tells the kernel's own device and inode numbers. */
#define FILE_TO_OPEN "/proc/version"
#define DISCARD_PORT 9
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u /* Linux 6.3 */
#endif

/* exit(0) for x86-64: ELF header, one program header, 12 bytes of code. */
static const unsigned char program[] = {
	0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 64 bits, little endian */
	2, 0, 62, 0, 1, 0, 0, 0,			/* executable, x86-64 */
	0x78, 0, 0x40, 0, 0, 0, 0, 0,			/* entry 0x400078 */
	64, 0, 0, 0, 0, 0, 0, 0,			/* program headers behind this one */
	0, 0, 0, 0, 0, 0, 0, 0,				/* no sections */
	0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0,
	1, 0, 0, 0, 5, 0, 0, 0,				/* load, readable and executable */
	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0x40, 0, 0, 0, 0, 0,
	0, 0, 0x40, 0, 0, 0, 0, 0,
	132, 0, 0, 0, 0, 0, 0, 0,
	132, 0, 0, 0, 0, 0, 0, 0,
	0, 0x10, 0, 0, 0, 0, 0, 0,
	0xb8, 60, 0, 0, 0,				/* mov $60, %eax */
	0x31, 0xff,					/* xor %edi, %edi */
	0x0f, 0x05,					/* syscall */
	0xcc, 0xcc, 0xcc,
};
_Static_assert(sizeof(program) == 132, "the program header says 132");

enum deed { DEED_OPEN, DEED_CONNECT, DEED_EXEC, DEED_COUNT };
static const char *const deed_words[DEED_COUNT] = { "open", "connect", "exec" };

struct canary {
	const struct load *l;
	int program_fd;		 /* what it executes */
	int go[2], answers[2];	 /* pipes: parent to child, child to parent */
	pid_t pid;
	int pidfd;
	int answer[DEED_COUNT]; /* errno; 0 = let through */
	bool seen[DEED_COUNT];
};
#define CANARY_INIT { .program_fd = -1, .go = { -1, -1 }, .answers = { -1, -1 }, .pidfd = -1 }

static void canary_done(struct canary *c)
{
	*c->l->word.canary_pid = 0;
	closep(&c->program_fd);
	for (int i = 0; i < 2; i++) {
		closep(&c->go[i]);
		closep(&c->answers[i]);
	}
	closep(&c->pidfd);
}

/* Where files in memory may not be executed, a program of the system stands in. */
static int open_program(void)
{
	_cleanup_fd_ int fd = memfd_create("canary", MFD_CLOEXEC | MFD_EXEC);
	int r;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("canary", MFD_CLOEXEC);
	if (fd < 0)
		fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	else if ((r = fd_write_all(fd, program, sizeof(program))) < 0)
		return r;
	return fd < 0 ? -errno : TAKE_FD(fd);
}

static int prepare(struct canary *c)
{
	char path[32];
	struct stat st;
	int fd;

	fd = open_program();
	if (fd < 0)
		return fd;
	/* Read-only: a program that is open for writing cannot be executed. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd); /* fits */
	c->program_fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)close(fd); /* the content is in memory */
	if (c->program_fd < 0 || stat(FILE_TO_OPEN, &st) < 0)
		return -errno;
	if (pipe2(c->go, O_CLOEXEC) < 0 || pipe2(c->answers, O_CLOEXEC) < 0)
		return -errno;
	*c->l->word.canary_ino = st.st_ino;
	*c->l->word.canary_dev = major(st.st_dev) << 20 | minor(st.st_dev);
	return 0;
}

/* ---- the child: system calls only, its memory is a copy made without the C library's knowledge ---- */

static int try_open(void)
{
	return open(FILE_TO_OPEN, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;
}

static int try_connect(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(DISCARD_PORT),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	/* A datagram socket: connecting it sends nothing to anybody. */
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}

static _noreturn_ void child(const struct canary *c)
{
	static char *const argv[] = { (char *)(uintptr_t)"canary", NULL };
	int answer[DEED_COUNT];
	char byte;

	if (read(c->go[0], &byte, 1) != 1)
		_exit(1);
	answer[DEED_OPEN] = try_open();
	answer[DEED_CONNECT] = try_connect();
	answer[DEED_EXEC] = 0;
	(void)fd_write_all(c->answers[1], answer, sizeof(answer)); /* too short: seen by the parent */
	(void)syscall(SYS_execveat, c->program_fd, "", argv, argv + 1, AT_EMPTY_PATH);
	answer[DEED_EXEC] = errno;
	(void)fd_write_all(c->answers[1], &answer[DEED_EXEC], sizeof(int)); /* as above */
	_exit(1);
}

/* ---- the parent ---- */

static pid_t start(struct canary *c, int cgroup_fd, bool owned)
{
	c->pid = owned ? cgroup_fork(cgroup_fd, &c->pidfd) : target_fork(&c->pidfd);
	if (!c->pid)
		child(c);
	return c->pid;
}

/* Reads until the child is gone or has become the program: the pipe closes on exec. */
static int hear_answers(struct canary *c)
{
	int got[DEED_COUNT + 1] = { 0 };
	size_t have = 0;
	ssize_t n;

	closep(&c->answers[1]);
	while (have < sizeof(got) &&
	       (n = read(c->answers[0], (char *)got + have, sizeof(got) - have)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		have += n > 0 ? (size_t)n : 0;
	}
	if (have < DEED_COUNT * sizeof(int))
		return -EPROTO;
	c->answer[DEED_OPEN] = got[DEED_OPEN];
	c->answer[DEED_CONNECT] = got[DEED_CONNECT];
	c->answer[DEED_EXEC] = got[DEED_COUNT];
	return 0;
}

static int reap(struct canary *c)
{
	while (waitpid(c->pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int perform(struct canary *c)
{
	int r;

	r = target_mark(c->l, c->pidfd);
	if (r >= 0 || r == -EEXIST)
		r = fd_write_all(c->go[1], "g", 1);
	closep(&c->go[1]); /* a child that was not let go ends */
	if (r >= 0)
		r = hear_answers(c);
	(void)reap(c); /* its own child, once */
	return r;
}

static void note(struct canary *c, const struct ev_head *h)
{
	if (h->pid != (uint32_t)c->pid)
		return;
	c->seen[DEED_OPEN] |= h->kind == EV_OPEN;
	c->seen[DEED_CONNECT] |= h->kind == EV_CONNECT;
	/* A refused exec leaves the first part of its record only. */
	c->seen[DEED_EXEC] |= h->kind == EV_EXEC || h->kind == EV_PART;
}

static bool all_seen(const struct canary *c)
{
	return c->seen[DEED_OPEN] && c->seen[DEED_CONNECT] && c->seen[DEED_EXEC];
}

static int look_for_records(struct canary *c, struct ring ring)
{
	uint64_t end = time_boot_ns() + CANARY_WAIT_MS * NS_PER_MS;
	const void *rec;
	size_t len;
	int r;

	for (;;) {
		while ((r = ring_next(&ring, &rec, &len)) > 0)
			if (len >= sizeof(struct ev_head))
				note(c, rec);
		if (r < 0 || all_seen(c) || time_boot_ns() > end)
			return r;
		(void)poll(NULL, 0, 1); /* a millisecond */
	}
}

static bool must_refuse(const struct tier_row *tier, enum deed deed, bool owned)
{
	if (deed == DEED_CONNECT)
		return !tier->by_cgroup || owned;
	return tier->stops_files;
}

static int judge(const struct canary *c, const struct tier_row *tier, bool owned, struct diag *d)
{
	for (enum deed i = 0; i < DEED_COUNT; i++) {
		if (must_refuse(tier, i, owned) && c->answer[i] != EPERM)
			return diag_set(d, -ENOTSUP, "its programs are attached but do not refuse: "
					"an %s that they forbid answers \"%s\"", deed_words[i],
					c->answer[i] ? strerror(c->answer[i]) : "success");
		if (!c->seen[i] && (must_refuse(tier, i, owned) || i != DEED_CONNECT))
			return diag_set(d, -ENOTSUP, "its programs are attached but do not record: "
					"an %s was not seen", deed_words[i]);
	}
	return 0;
}

int canary_run(const struct load *l, int cgroup_fd, bool owned, const struct tier_row *tier,
	       struct diag *d)
{
	_cleanup_(canary_done) struct canary c = CANARY_INIT;
	int r;

	c.l = l;
	r = prepare(&c);
	if (r < 0)
		return diag_set(d, r, "cannot prepare the canary: %s", strerror(-r));
	r = start(&c, cgroup_fd, owned);
	if (r < 0)
		return diag_set(d, r, "cannot start the canary in the target's cgroup: %s",
				strerror(-r));
	*l->word.canary_pid = (uint32_t)c.pid;
	r = perform(&c);
	if (r < 0)
		return diag_set(d, r, "the canary failed: %s", strerror(-r));
	r = look_for_records(&c, l->ring);
	if (r < 0)
		return diag_set(d, r, "the ring is not in order: %s", strerror(-r));
	return judge(&c, tier, owned, d);
}
