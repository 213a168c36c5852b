/* SPDX-License-Identifier: MIT */
/*
 * The target may write to its own cgroup.freeze when it runs as our user: this
 * is back-pressure, never a wall. What it loses by that is counted.
 */
#include "freeze.h"

#include "base/fdio.h"
#include "base/timeutil.h"

#include <errno.h>
#include <fcntl.h>

void freeze_init(struct freeze *f, int cgroup_fd, bool owned)
{
	*f = (struct freeze){ .cgroup = { .fd = owned ? cgroup_fd : -1 } };
}

void freeze_done(struct freeze *f)
{
	freeze_end(f, NULL, NULL);
}

/* Without waiting: records are drained while the tasks come to rest. */
static int order(const struct freeze *f, const char *what)
{
	_cleanup_fd_ int fd = openat(f->cgroup.fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd_write_all(fd, what, 1);
}

static int start(struct freeze *f, const char *why)
{
	int r = order(f, "1");

	if (r < 0)
		return r;
	f->from = time_boot_ns();
	f->why = why;
	return 0;
}

void freeze_watch(struct freeze *f, const char *why, size_t fill, size_t size, event_fn out,
		  void *arg)
{
	if (f->cgroup.fd < 0)
		return;
	if (!f->from && fill > size / 4 * 3)
		(void)start(f, why); /* cannot: what does not fit is counted as lost */
	else if (f->from && fill < size / 4)
		freeze_end(f, out, arg);
}

int freeze_now(struct freeze *f, const char *why)
{
	int r;

	if (f->cgroup.fd < 0)
		return -EPERM;
	r = f->from ? 0 : start(f, why);
	if (r < 0)
		return r;
	return cgroup_freeze(&f->cgroup, true);
}

void freeze_end(struct freeze *f, event_fn out, void *arg)
{
	struct event e = {
		.kind = EV_FREEZE,
		.have = EF(FROM) | EF(UNTIL) | EF(WHY),
		.from = f->from,
		.why = str_of(f->why),
	};

	if (!f->from)
		return;
	(void)order(f, "0"); /* fails only if the cgroup is gone, and its tasks with it */
	f->from = 0;
	e.boot_ns = e.until = time_boot_ns();
	if (out)
		out(&e, arg);
}
