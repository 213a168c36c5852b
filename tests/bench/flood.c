/* SPDX-License-Identifier: MIT */
/*
 * Loss test: makes calls as fast as it can, counts them exactly and says so.
 * The tracer must account for each: printed = recorded + folded + repeated + lost.
 *
 *	flood [-k kind] [-w workers] [-s seconds | -n rounds] [-d folder]
 *	flood -l	lists the kinds
 *
 * Workers are processes. Prints `rounds N` and what one round did, as words of
 * schemas/event.def with their number; "pause_ms" is the longest time in
 * which one worker made no progress: a busy machine, or a tracer that froze it.
 */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 64, LOOK_EVERY = 64 };

struct files {
	int a, b;
	char name[320];
};

struct result {
	long rounds;
	double pause;
};

static void read_same(struct files *f)
{
	char c;

	if (pread(f->a, &c, 1, 0) != 1)
		err(1, "read");
}

static void write_to(int fd)
{
	if (pwrite(fd, "0123456789abcdef", 16, 0) != 16)
		err(1, "write");
}

static void write_same(struct files *f)
{
	write_to(f->a);
}

static void write_turns(struct files *f)
{
	write_to(f->a);
	write_to(f->b);
}

static int open_new(struct files *f)
{
	int fd = open(f->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		err(1, "%s", f->name);
	return fd;
}

static void create(struct files *f)
{
	close(open_new(f));
	if (unlink(f->name))
		err(1, "unlink");
}

static void churn(struct files *f)
{
	int fd = open_new(f);
	char c;

	write_to(fd);
	if (pread(fd, &c, 1, 0) != 1)
		err(1, "read");
	close(fd);
	if (unlink(f->name))
		err(1, "unlink");
}

static void spawn(struct files *f)
{
	char name[] = "true", *argv[] = { name, NULL };
	pid_t pid;

	(void)f;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		err(1, "/bin/true");
	waitpid(pid, NULL, 0);
}

static const struct kind {
	const char *name;
	void (*round)(struct files *f);
	const char *deeds; /* of one round */
	const char *why;
} kinds[] = {
	{ "read", read_same, "read 1", "repeats: counted, not listed" },
	{ "write", write_same, "write 1", "adjacent writes: may fold, with their number" },
	{ "turns", write_turns, "write 2", "two files in turn: nothing is adjacent" },
	{ "create", create, "create 1 unlink 1", "names: never left out" },
	{ "churn", churn, "create 1 write 1 read 1 unlink 1", "a new object each round" },
	{ "spawn", spawn, "fork 1 exec 1 exit 1", "processes come and go" },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Holds one byte, so that the first read finds one. Made before the clock runs. */
static int data_file(const char *dir, const char *name, int id)
{
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%.255s/%s.%d", dir, name, id);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, 1))
		err(1, "%s", path);
	return fd;
}

static void work(const struct kind *k, const char *dir, int id, double seconds, long rounds,
		 struct result *res)
{
	struct files f = { .a = data_file(dir, "a", id), .b = data_file(dir, "b", id) };
	double last = now(), end = last + seconds, t;

	snprintf(f.name, sizeof(f.name), "%.255s/new.%d", dir, id);
	while (rounds ? res->rounds < rounds : last < end) {
		long todo = k->round == spawn ? 1 : LOOK_EVERY;

		if (rounds && rounds - res->rounds < todo)
			todo = rounds - res->rounds;
		for (long i = 0; i < todo; i++)
			k->round(&f);
		res->rounds += todo;
		t = now();
		if (t - last > res->pause)
			res->pause = t - last;
		last = t;
	}
}

static const struct kind *kind_named(const char *name)
{
	for (int i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	errx(2, "%s: no such kind; -l lists them", name);
}

static int list_kinds(void)
{
	for (int i = 0; i < N_KINDS; i++)
		printf("%-8s %-34s %s\n", kinds[i].name, kinds[i].deeds, kinds[i].why);
	return 0;
}

static void report(const struct kind *k, const struct result *res, int workers, double seconds)
{
	struct result sum = { 0, 0 };

	for (int i = 0; i < workers; i++) {
		sum.rounds += res[i].rounds;
		if (res[i].pause > sum.pause)
			sum.pause = res[i].pause;
	}
	printf("kind %s\nworkers %d\nrounds %ld\nround %s\nseconds %.3f\n"
	       "rounds_per_second %.0f\npause_ms %.1f\n",
	       k->name, workers, sum.rounds, k->deeds, seconds, sum.rounds / seconds,
	       sum.pause * 1e3);
}

static void tear_down(const char *dir, int workers)
{
	char path[320];

	for (int i = 0; i < workers; i++) {
		snprintf(path, sizeof(path), "%.255s/a.%d", dir, i);
		unlink(path);
		snprintf(path, sizeof(path), "%.255s/b.%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
}

static int run(const struct kind *k, const char *dir, int workers, double seconds, long rounds)
{
	double start = now();
	int status, failed = 0;
	struct result *res = mmap(NULL, MAX_WORKERS * sizeof(*res), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (res == MAP_FAILED)
		err(1, "mmap");
	mkdir(dir, 0755);
	for (int i = 0; i < workers; i++) {
		if (!fork()) {
			work(k, dir, i, seconds, rounds, &res[i]);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	report(k, res, workers, now() - start);
	tear_down(dir, workers);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct kind *k = &kinds[0];
	const char *dir = "/dev/shm/deedlog-flood";
	double seconds = 1.5;
	int workers = 2, opt;
	long rounds = 0;

	while ((opt = getopt(argc, argv, "k:w:s:n:d:l")) > 0) {
		switch (opt) {
		case 'k': k = kind_named(optarg); break;
		case 'w': workers = strtol(optarg, NULL, 10); break;
		case 's': seconds = strtod(optarg, NULL); break;
		case 'n': rounds = strtol(optarg, NULL, 10); break;
		case 'd': dir = optarg; break;
		case 'l': return list_kinds();
		default: return 2;
		}
	}
	if (workers < 1 || workers > MAX_WORKERS)
		errx(2, "workers: 1 to %d", MAX_WORKERS);
	return run(k, dir, workers, seconds, rounds);
}
