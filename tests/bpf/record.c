/* SPDX-License-Identifier: MIT */
/*
 * Records a child of ours that performs a dozen deeds, in the best tier of this
 * kernel or in the one named as argument, and compares. As root; leaves
 * nothing behind. Prints TAP.
 */
#include "base/buf.h"
#include "event/loss.h"
#include "trace/cgroup.h"
#include "trace/tracer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_KEPT 256
#define READS 5

struct kept {
	struct event e;
	char path[512], to[512], argv[64];
};

static struct kept kept[MAX_KEPT];
static size_t kept_n;
static char folder[] = "/tmp/deedlog-record-XXXXXX";
static int tests, failed;

static void check(bool good, const char *what)
{
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
}

/* ---- the child ---- */

static void name(char to[512], const char *file)
{
	(void)snprintf(to, 512, "%s/%s", folder, file);
}

static void must(bool good)
{
	if (!good)
		_exit(99);
}

static void write_a_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	must(fd >= 0 && write(fd, "hello", 5) == 5 && write(fd, "world", 5) == 5 && !close(fd));
}

static void read_a_file_often(const char *path)
{
	char c[10];
	int fd = open(path, O_RDONLY);

	must(fd >= 0);
	for (int i = 0; i < READS; i++)
		must(pread(fd, c, sizeof(c), 0) == sizeof(c));
	must(!close(fd));
}

static void connect_to_port(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0);
	(void)connect(fd, (struct sockaddr *)&to, sizeof(to)); /* nobody listens */
	must(!close(fd));
}

static void leave_a_grandchild(void)
{
	pid_t pid = fork();
	int status;

	must(pid >= 0);
	if (!pid)
		_exit(3);
	must(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static _noreturn_ void perform(void)
{
	char a[512], b[512], l[512], s[512], d[512], script[512];
	int fd;

	name(a, "a.ts");
	name(b, "b.ts");
	name(l, "link");
	name(s, "symlink");
	name(d, "folder");
	name(script, "script");
	write_a_file(a);
	read_a_file_often(a);
	must(!chmod(a, 0600) && !truncate(a, 3));
	must(!link(a, l) && !symlink("b.ts", s) && !mkdir(d, 0755));
	must(!rename(a, b) && !unlink(l) && !unlink(s) && !rmdir(d));
	connect_to_port(9);
	leave_a_grandchild();
	fd = open(script, O_WRONLY | O_CREAT, 0755);
	must(fd >= 0 && write(fd, "#!/bin/sh\nexit 7\n", 17) == 17 && !close(fd));
	(void)execl(script, script, "two words", (char *)NULL);
	_exit(98);
}

/* ---- what was recorded ---- */

static void copy(char *to, size_t size, struct str s)
{
	size_t n = MIN(s.len, size - 1);

	if (n)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

static void keep(const struct event *e, void *arg)
{
	struct kept *k = &kept[kept_n];

	(void)arg;
	if (kept_n == MAX_KEPT)
		return;
	k->e = *e;
	copy(k->path, sizeof(k->path), event_has(e, EF(PATH)) ? e->path : str_of(""));
	copy(k->to, sizeof(k->to), e->to);
	copy(k->argv, sizeof(k->argv), event_has(e, EF(ARGV)) ? e->argv : str_of(""));
	kept_n++;
}

/* The first event of the kind whose path is that of the file, from *at on. */
static const struct kept *find(enum ev_kind kind, const char *file)
{
	char path[512];

	name(path, file);
	for (size_t i = 0; i < kept_n; i++)
		if (kept[i].e.kind == kind && (!*file || !strcmp(kept[i].path, path)))
			return &kept[i];
	return NULL;
}

static size_t count(enum ev_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < kept_n; i++)
		n += kept[i].e.kind == kind;
	return n;
}

static const struct kept *find_by_object(enum ev_kind kind, const struct kept *as)
{
	for (size_t i = 0; as && i < kept_n; i++)
		if (kept[i].e.kind == kind && kept[i].e.obj.ino == as->e.obj.ino &&
		    kept[i].e.obj.dev == as->e.obj.dev)
			return &kept[i];
	return NULL;
}

static bool is_to(const struct kept *k, const char *file)
{
	char path[512];

	name(path, file);
	return k && !strcmp(k->to, path);
}

static void check_files(bool knows_bytes)
{
	const struct kept *w = find(EV_WRITE, "a.ts"), *r = find(EV_READ, "a.ts");
	const struct kept *repeat = find_by_object(EV_REPEAT, w);

	check(find(EV_OPEN, "a.ts"), "the open is recorded");
	check(w, "the first write is recorded with its path");
	check(!w || !knows_bytes || (event_has(&w->e, EF(BYTES)) && w->e.bytes == 5),
	      "and with its bytes where the tier knows them");
	check(r && r->e.obj.ino == w->e.obj.ino && r->e.obj.dev == w->e.obj.dev,
	      "the first read is recorded, of the same object");
	check(repeat && repeat->e.ops == READS - 1, "further reads are counted exactly");
	check(!repeat || !knows_bytes || repeat->e.bytes == 10 * (READS - 1), "with their bytes");
}

static void check_names(void)
{
	check(find(EV_CHMOD, "a.ts"), "chmod is recorded");
	check(find(EV_TRUNCATE, "a.ts"), "truncate is recorded");
	check(is_to(find(EV_LINK, "a.ts"), "link"), "link is recorded with both names");
	check(find(EV_SYMLINK, "symlink") && !strcmp(find(EV_SYMLINK, "symlink")->to, "b.ts"),
	      "symlink is recorded with its text");
	check(find(EV_MKDIR, "folder"), "mkdir is recorded");
	check(is_to(find(EV_RENAME, "a.ts"), "b.ts"), "rename is recorded with both names");
	check(find(EV_UNLINK, "link") && find(EV_UNLINK, "symlink"), "both unlinks are recorded");
	check(find(EV_RMDIR, "folder"), "rmdir is recorded");
}

static void check_tasks(pid_t pid)
{
	const struct kept *exec = find(EV_EXEC, ""), *fork_ = find(EV_FORK, ""), *end = NULL;

	for (size_t i = 0; i < kept_n; i++)
		if (kept[i].e.kind == EV_EXIT && kept[i].e.pid == (uint32_t)pid)
			end = &kept[i];
	check(count(EV_FORK) == 1 && fork_->e.pid == (uint32_t)pid, "one fork is recorded");
	check(count(EV_EXIT) == 2, "two processes end");
	check(end && end->e.code == 7, "the child with the status of its script");
	check(count(EV_EXEC) == 1 && exec->e.pid == (uint32_t)pid, "one exec is recorded");
	check(exec && !memcmp(exec->argv, "/bin/sh\0", 8), "with the arguments of the interpreter");
	check(exec && exec->e.scripts.len, "and with its script");
}

static void check_network(void)
{
	const struct kept *k = find(EV_CONNECT, "");

	check(count(EV_CONNECT) == 1 && k->e.port == 9, "the connect is recorded, the canary's is not");
}

/* ---- the run ---- */

static int record(struct tracer *t, struct cgroup *cg, pid_t *ret_pid)
{
	struct pollfd p = { tracer_fd(t), POLLIN, 0 };
	int go[2], pidfd = -1, status = -1;
	struct diag d = { "" };

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	*ret_pid = cgroup_fork(cg->fd, &pidfd);
	if (*ret_pid < 0)
		return *ret_pid;
	if (!*ret_pid) {
		char byte;

		must(read(go[0], &byte, 1) == 1);
		perform();
	}
	check(!tracer_add_process(t, *ret_pid, &d) && tracer_live(t) == 1, "the child is marked");
	(void)!write(go[1], "g", 1);
	while (tracer_live(t)) {
		if (tracer_drain(t, 0, keep, NULL) < 0)
			return -EIO;
		if (!tracer_sleep(t))
			continue;
		if (tracer_live(t) && !poll(&p, 1, 5000))
			return -ETIMEDOUT;
	}
	(void)waitpid(*ret_pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the deeds went well");
	check(cgroup_populated(cg) == 0, "nobody is left when the last process is seen to end");
	(void)close(go[0]);
	(void)close(go[1]);
	(void)close(pidfd);
	return 0;
}

static void check_counters(struct tracer *t)
{
	_cleanup_buf_ struct buf lost = BUF_INIT;
	struct loss loss;

	check(tracer_pending_repeats(t) >= READS - 1, "repeated reads wait in the kernel");
	check(tracer_repeats(t, keep, NULL) == 0, "and are taken out");
	check(tracer_pending_repeats(t) == 0, "once");
	tracer_losses(t, &loss);
	loss_to_json(&loss, &lost);
	printf("# lost %s\n", buf_str(&lost));
	check(!strcmp(buf_str(&lost), "{}"), "nothing is lost");
}

static int run(enum tier best, enum tier worst, bool keep_loaded)
{
	_cleanup_cgroup_ struct cgroup cg = CGROUP_INIT;
	struct tracer *t = NULL;
	struct diag d = { "" };
	char cg_name[32];
	pid_t pid = 0;
	int r;

	(void)snprintf(cg_name, sizeof(cg_name), "record-%d", getpid());
	r = cgroup_make(cg_name, &d, &cg);
	if (r >= 0)
		r = tracer_new(&(struct tracer_options){ .best = best,
							 .worst = worst,
							 .cgroup_fd = cg.fd,
							 .owned = true,
							 .keep = keep_loaded },
			       &d, &t);
	if (r < 0) {
		printf("Bail out! %s\n", d.msg);
		return r;
	}
	printf("# tier %s; %s\n", tier_name(tracer_tier(t)), tracer_skipped(t));
	kept_n = 0;
	r = record(t, &cg, &pid);
	check(!r, "the recording ends");
	check_counters(t);
	check_files(tracer_tier(t) == TIER_TRACE);
	check_names();
	check_tasks(pid);
	check_network();
	tracer_free(t);
	return 0;
}

static void remove_folder(void)
{
	static const char *const files[] = { "a.ts", "b.ts", "link", "symlink", "script" };
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		name(path, files[i]);
		(void)unlink(path);
	}
	name(path, "folder");
	(void)rmdir(path);
	(void)rmdir(folder);
}

static int record_once(enum tier best, enum tier worst, bool keep_loaded)
{
	int r;

	(void)snprintf(folder, sizeof(folder), "/tmp/deedlog-record-XXXXXX"); /* as large */
	if (!mkdtemp(folder))
		return 1;
	r = run(best, worst, keep_loaded);
	remove_folder();
	return r < 0;
}

int main(int argc, char **argv)
{
	enum tier best = TIER_LSM, worst = TIER_TRACE;

	if (geteuid()) {
		puts("1..0 # SKIP needs root");
		return 77;
	}
	if (argc > 1 && tier_from_name(argv[1], &best) < 0)
		return 2;
	if (argc > 1)
		worst = best;
	/* Loaded for itself; loaded and left behind; found, twice. */
	for (int i = 0; i < 4; i++)
		failed += record_once(best, worst, i > 0);
	if (tracer_unload() < 0)
		failed++;
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
