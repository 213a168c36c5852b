/* SPDX-License-Identifier: MIT */
/*
 * All runs of a log, by several processes when the caller wants that. Each
 * worker is a copy of this process after the index was read: it checks every
 * n-th run and sends what it finds through a pipe; findings come out in the
 * order of the runs, as if there were one. A worker that dies leaves runs that
 * could not be looked at, never runs that pass.
 */
#include "base/alloc.h"
#include "base/fdio.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#define MAX_JOBS 64
#define MAX_TEXT 4096 /* of one finding */

/* Pointers in it mean the same on both sides: a worker is a copy. */
struct frame {
	bool done; /* of this run; else a finding */
	struct finding f;
	size_t text_len;
	struct verify_totals totals;
	bool trouble;
};

struct worker {
	int fd;
	pid_t pid;
};

/* ---- the worker ------------------------------------------------------------------- */

static void send_frame(int fd, const struct frame *f, const char *text)
{
	if (fd_write_all(fd, f, sizeof(*f)) < 0 || fd_write_all(fd, text, f->text_len) < 0)
		_exit(1); /* nobody listens */
}

static void send_finding(const struct finding *f, void *arg)
{
	struct frame frame = { .f = *f, .text_len = strnlen(f->text, MAX_TEXT) };

	send_frame(*(int *)arg, &frame, f->text);
}

static _Noreturn void work(struct check *c, size_t first, size_t step, int fd)
{
	c->each = send_finding;
	c->arg = &fd;
	for (size_t i = first; i < c->st.n_runs; i += step) {
		struct frame end = { .done = true };

		c->totals = (struct verify_totals){ 0 };
		c->trouble = false;
		check_run(c, &c->st.runs[i]);
		end.totals = c->totals;
		end.trouble = c->trouble;
		send_frame(fd, &end, "");
	}
	_exit(0);
}

/* ---- this side --------------------------------------------------------------------- */

static int start(struct check *c, size_t i, size_t n, struct worker *ret)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (!pid)
		work(c, i, n, ends[1]);
	(void)close(ends[1]); /* the worker's */
	if (pid < 0) {
		(void)close(ends[0]);
		return -EAGAIN;
	}
	*ret = (struct worker){ ends[0], pid };
	return 0;
}

static int read_exact(int fd, void *to, size_t n)
{
	while (n) {
		ssize_t got = read(fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EPIPE;
		to = (char *)to + got;
		n -= (size_t)got;
	}
	return 0;
}

static void merge(struct check *c, const struct frame *f)
{
	struct verify_totals *t = &c->totals;

	t->tampered |= f->totals.tampered;
	t->incomplete |= f->totals.incomplete;
	t->runs += f->totals.runs;
	t->valid += f->totals.valid;
	t->records += f->totals.records;
	t->unsealed += f->totals.unsealed;
	c->trouble |= f->trouble;
	if (f->totals.first_wall_ns) {
		check_wall(c, f->totals.first_wall_ns);
		check_wall(c, f->totals.last_wall_ns);
	}
}

/* Everything about one run. */
static int take_run(struct check *c, const struct worker *w)
{
	char text[MAX_TEXT + 1];
	struct frame f;
	int r;

	for (;;) {
		r = read_exact(w->fd, &f, sizeof(f));
		if (!r && f.text_len > MAX_TEXT)
			r = -EBADMSG;
		if (!r)
			r = read_exact(w->fd, text, f.text_len);
		if (r < 0)
			return r;
		if (f.done)
			break;
		text[f.text_len] = '\0';
		f.f.text = text;
		if (c->each)
			c->each(&f.f, c->arg);
	}
	merge(c, &f);
	return 0;
}

static void stop(struct worker *w)
{
	closep(&w->fd);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void share(struct check *c, size_t n)
{
	struct worker workers[MAX_JOBS];
	size_t i = 0;

	while (i < n && start(c, i, n, &workers[i]) == 0)
		i++;
	if (i < n) { /* some of their runs would be nobody's: none of them, then */
		while (i--)
			stop(&workers[i]);
		check_runs(c, 1);
		return;
	}
	for (i = 0; i < c->st.n_runs; i++)
		if (take_run(c, &workers[i % n]) < 0)
			check_unreadable(c, c->st.runs[i].info.id, -EPIPE);
	for (i = 0; i < n; i++)
		stop(&workers[i]);
}

void check_runs(struct check *c, unsigned jobs)
{
	size_t n = MIN(MIN((size_t)jobs, c->st.n_runs), (size_t)MAX_JOBS);

	if (n > 1) {
		share(c, n);
		return;
	}
	for (size_t i = 0; i < c->st.n_runs; i++)
		check_run(c, &c->st.runs[i]);
}
