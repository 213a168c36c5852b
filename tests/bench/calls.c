/* SPDX-License-Identifier: MIT */
/*
 * What one call costs, by kind: run it bare, then under a tracer, and compare.
 * Prints per op: name, best and median nanoseconds, separated by tabs.
 *
 *	calls [-o op,op...] [-r repetitions] [-m ms | -n ops] [-d folder] [-b program]
 *	calls -l	lists the ops
 *
 * Needs a writable folder (emptied at the end) and loopback for tcpconnect.
 * Linked statically it is the only program that a virtual machine needs; with
 * -n two runs do exactly the same calls.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REPS = 100, FRESH = 256 };

static const char *dir = "/dev/shm/deedlog-calls", *program = "/bin/true";
static int reps = 7;
static double target_ms = 40;
static long fixed_ops;

static char file[320], other[320]; /* 64 KiB of data; a name that is free between ops */
static int data = -1, listener = -1;
static struct sockaddr_in peer;
static char block[65536];

static void must(int ok, const char *what)
{
	if (!ok)
		err(1, "%s", what);
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	must(fd >= 0, path);
	return fd;
}

static void op_null(void)
{
	syscall(SYS_getppid);
}

static void op_openclose(void)
{
	close(open_or_die(file, O_RDONLY));
}

static void op_openreadclose(void)
{
	char buf[4096];
	int fd = open_or_die(file, O_RDONLY);

	must(read(fd, buf, sizeof(buf)) == sizeof(buf), "read");
	close(fd);
}

static void op_openfail(void)
{
	must(open("/nonexistent/file", O_RDONLY) < 0, "openfail");
}

static void op_pread4k(void)
{
	char buf[4096];

	must(pread(data, buf, sizeof(buf), 0) == sizeof(buf), "pread4k");
}

static void op_pwrite4k(void)
{
	must(pwrite(data, block, 4096, 0) == 4096, "pwrite4k");
}

static void op_stat(void)
{
	struct stat st;

	must(stat(file, &st) == 0, "stat");
}

static void op_creatunlink(void)
{
	close(open_or_die(other, O_CREAT | O_WRONLY | O_TRUNC));
	must(unlink(other) == 0, "unlink");
}

/* As an editor saves: write aside, rename over. */
static void op_save(void)
{
	int fd = open_or_die(other, O_CREAT | O_WRONLY | O_TRUNC);

	must(write(fd, block, 4096) == 4096, "write");
	close(fd);
	must(rename(other, file) == 0, "rename");
}

static void op_rename2(void)
{
	must(rename(file, other) == 0, "rename");
	must(rename(other, file) == 0, "rename");
}

static void op_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
}

static void op_spawn(void)
{
	char *argv[] = { (char *)program, NULL };
	pid_t pid;

	must(!posix_spawn(&pid, program, NULL, NULL, argv, environ), program);
	waitpid(pid, NULL, 0);
}

static void fresh_name(char *name, size_t size, int i)
{
	snprintf(name, size, "%s/fresh.%d", dir, i);
}

/* A new process meets FRESH files for the first time: nothing repeats. */
static void op_fresh(void)
{
	char name[340], c;
	pid_t pid = fork();

	if (pid) {
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
		return;
	}
	for (int i = 0; i < FRESH; i++) {
		int fd;

		fresh_name(name, sizeof(name), i);
		fd = open(name, O_RDONLY);
		if (read(fd, &c, 1) != 1)
			_exit(1);
		close(fd);
	}
	_exit(0);
}

static void op_tcpconnect(void)
{
	struct linger reset = { 1, 0 }; /* no TIME_WAIT, so ports do not run out */
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(connect(s, (void *)&peer, sizeof(peer)) == 0, "connect");
	setsockopt(s, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(s);
	close(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

static const struct op {
	const char *name;
	void (*run)(void);
	const char *what;
} ops[] = {
	{ "null", op_null, "getppid: the tax on calls that nobody records" },
	{ "openclose", op_openclose, "open for reading, close" },
	{ "openreadclose", op_openreadclose, "the same with one read of 4 KiB" },
	{ "openfail", op_openfail, "open of an absent path" },
	{ "pread4k", op_pread4k, "4 KiB of one file, again and again" },
	{ "pwrite4k", op_pwrite4k, "4 KiB to one file, again and again" },
	{ "stat", op_stat, "stat by path" },
	{ "creatunlink", op_creatunlink, "create, close, unlink" },
	{ "save", op_save, "create, write, rename over" },
	{ "rename2", op_rename2, "rename there and back" },
	{ "fork", op_fork, "fork, exit, wait" },
	{ "spawn", op_spawn, "posix_spawn of a small program, wait" },
	{ "fresh256", op_fresh, "a new process opens and reads 256 files" },
	{ "tcpconnect", op_tcpconnect, "TCP connect and accept on loopback" },
};
enum { N_OPS = sizeof(ops) / sizeof(ops[0]) };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double time_ops(const struct op *op, long n)
{
	double start = now_ns();

	for (long i = 0; i < n; i++)
		op->run();
	return now_ns() - start;
}

/* How many ops last about target_ms. */
static long calibrate(const struct op *op)
{
	long n = 1;
	double ns;

	if (fixed_ops)
		return fixed_ops;
	while ((ns = time_ops(op, n)) < target_ms * 1e6 / 4)
		n *= 4;
	n = n * target_ms * 1e6 / ns;
	return n > 0 ? n : 1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct op *op)
{
	double ns[MAX_REPS];
	long n = calibrate(op);

	for (int i = 0; i < reps; i++)
		ns[i] = time_ops(op, n) / n;
	qsort(ns, reps, sizeof(ns[0]), by_value);
	printf("%s\t%.1f\t%.1f\n", op->name, ns[0], ns[reps / 2]);
	fflush(stdout);
}

static void listen_on_loopback(void)
{
	socklen_t len = sizeof(peer);

	peer.sin_family = AF_INET;
	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(!bind(listener, (void *)&peer, len) && !listen(listener, 4096) &&
		     !getsockname(listener, (void *)&peer, &len),
	     "listen on loopback");
}

static void set_up(void)
{
	char name[340];

	memset(block, 'x', sizeof(block));
	mkdir(dir, 0755);
	snprintf(file, sizeof(file), "%.255s/file", dir);
	snprintf(other, sizeof(other), "%.255s/other", dir);
	data = open_or_die(file, O_RDWR | O_CREAT);
	must(write(data, block, sizeof(block)) == sizeof(block), file);
	for (int i = 0; i < FRESH; i++) {
		int fd;

		fresh_name(name, sizeof(name), i);
		fd = open_or_die(name, O_CREAT | O_WRONLY);
		must(write(fd, block, 64) == 64, name);
		close(fd);
	}
}

static void tear_down(void)
{
	char name[340];

	for (int i = 0; i < FRESH; i++) {
		fresh_name(name, sizeof(name), i);
		unlink(name);
	}
	unlink(file);
	rmdir(dir);
}

/* `list` is NULL, for all, or names separated by commas. */
static int selected(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, len) && (at[len] == ',' || !at[len]))
			return 1;
	}
	return !list;
}

static int list_ops(void)
{
	for (int i = 0; i < N_OPS; i++)
		printf("%-14s %s\n", ops[i].name, ops[i].what);
	return 0;
}

static long in_range(const char *text, long min, long max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < min || n > max)
		errx(2, "%s: not between %ld and %ld", text, min, max);
	return n;
}

int main(int argc, char **argv)
{
	const char *list = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "o:r:m:n:d:b:l")) > 0) {
		switch (opt) {
		case 'o': list = optarg; break;
		case 'r': reps = in_range(optarg, 1, MAX_REPS); break;
		case 'm': target_ms = in_range(optarg, 1, 60000); break;
		case 'n': fixed_ops = in_range(optarg, 1, 1000000000); break;
		case 'd': dir = optarg; break;
		case 'b': program = optarg; break;
		case 'l': return list_ops();
		default: return 2;
		}
	}
	set_up();
	listen_on_loopback();
	for (int i = 0; i < N_OPS; i++)
		if (selected(list, ops[i].name))
			measure(&ops[i]);
	tear_down();
	return 0;
}
