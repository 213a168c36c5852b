/* SPDX-License-Identifier: MIT */
/* What is being recorded, see target.h. */
#include "target.h"

#include "base/alloc.h"
#include "base/cur.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/pidfd.h>

#define MAX_NAMED      5     /* processes that a sentence lists */
#define MAX_CGROUP_TXT 65536 /* of /proc/PID/cgroup */

/* The cgroup v2 folder of a process; the caller frees. */
static int cgroup_of(const char *proc_file, struct diag *d, char **ret_path)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *mount = NULL;
	struct cur c, line;
	int r;

	r = cgroup_mount(d, &mount);
	if (r < 0)
		return r;
	r = file_read_at(AT_FDCWD, proc_file, MAX_CGROUP_TXT, &text);
	if (r < 0)
		return diag_set(d, r, "cannot read %s: %s", proc_file,
				r == -ENOENT ? "no such process" : strerror(-r));
	c = cur_of(buf_str(&text), text.len);
	while (!cur_until(&c, '\n', &line))
		if (cur_starts(&line, "0::/") && !cur_skip(&line, 3)) {
			*ret_path = xasprintf("%s%.*s", mount, (int)cur_left(&line), line.at);
			return 0;
		}
	return diag_set(d, -ENOENT, "%s names no cgroup v2", proc_file);
}

int target_open(struct target *t, const char *path, bool owned, pid_t pid, struct diag *d)
{
	_cleanup_free_ char *found = NULL, *proc_file = NULL;
	int r;

	t->pid = pid;
	t->whole = path != NULL;
	if (!path) {
		proc_file = xasprintf("/proc/%d/cgroup", pid);
		r = cgroup_of(proc_file, d, &found);
		if (r < 0)
			return r;
	}
	r = cgroup_open(path ? path : found, d, &t->cgroup);
	if (!r)
		t->cgroup.owned = owned;
	return r;
}

int target_watch(struct target *t, struct diag *d)
{
	if (t->pid) {
		t->pid_fd = pidfd_open(t->pid, 0);
		if (t->pid_fd < 0)
			return diag_set(d, -errno, "cannot watch process %d: %s", t->pid,
					strerror(errno));
	}
	t->events_fd = cgroup_events_fd(&t->cgroup);
	if (t->events_fd == -ENOENT) { /* the root has no such file and never ends */
		t->events_fd = -1;
		return t->whole ? diag_set(d, -EINVAL, "the root cgroup holds the whole machine; "
						       "name one below %s", t->cgroup.path)
				: 0;
	}
	if (t->events_fd < 0)
		return diag_set(d, t->events_fd, "cannot watch the cgroup %s: %s", t->cgroup.path,
				strerror(-t->events_fd));
	return 0;
}

bool target_main_ended(const struct target *t)
{
	struct pollfd p = { t->pid_fd, POLLIN, 0 };

	return t->pid_fd >= 0 && poll(&p, 1, 0) > 0;
}

bool target_populated(const struct target *t)
{
	return t->whole && cgroup_populated(&t->cgroup) > 0;
}

/* ---- who is left ------------------------------------------------------- */

struct each {
	const struct proctab *procs;
	target_fn fn;
	void *arg;
};

static void each_pid(pid_t pid, void *arg)
{
	const struct each *e = arg;

	e->fn(pid, proctab_name(e->procs, (uint32_t)pid), e->arg);
}

void target_each(const struct target *t, const struct proctab *procs, target_fn fn, void *arg)
{
	struct each e = { procs, fn, arg };

	if (t->whole)
		(void)cgroup_each(&t->cgroup, each_pid, &e); /* it may be gone by now */
}

struct names {
	struct buf *to;
	size_t n;
};

static void add_name(pid_t pid, const char *name, void *arg)
{
	struct names *n = arg;

	if (n->n++ < MAX_NAMED)
		buf_addf(n->to, "%s%s (%d)", n->n > 1 ? ", " : "", *name ? name : "process", pid);
}

void target_names(const struct target *t, const struct proctab *procs, struct buf *to)
{
	struct names n = { to, 0 };

	target_each(t, procs, add_name, &n);
	if (n.n > MAX_NAMED)
		buf_addf(to, " and %zu more", n.n - MAX_NAMED);
	if (!n.n)
		buf_addstr(to, "processes in other cgroups");
}

/* ---- the end ----------------------------------------------------------- */

static void move_to(pid_t pid, void *arg)
{
	const struct cgroup *to = arg;

	(void)cgroup_join(to, pid); /* it may have ended */
}

static void release_left(struct target *t)
{
	_cleanup_cgroup_ struct cgroup home = CGROUP_INIT;
	_cleanup_free_ char *path = NULL;

	(void)cgroup_freeze(&t->cgroup, false); /* was not frozen, as a rule */
	if (!target_populated(t))
		return;
	if (!cgroup_of("/proc/self/cgroup", NULL, &path) && !cgroup_open(path, NULL, &home))
		(void)cgroup_each(&t->cgroup, move_to, &home); /* else they stay, and so does the folder */
}

void target_done(struct target *t)
{
	if (t->cgroup.owned)
		release_left(t);
	cgroup_done(&t->cgroup);
	closep(&t->pid_fd);
	closep(&t->events_fd);
	*t = (struct target)TARGET_INIT;
}
