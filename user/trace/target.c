/* SPDX-License-Identifier: MIT */
/*
 * A process is marked through a descriptor, not by number alone: numbers are
 * reused. Its other threads are found by a walk over all tasks, since
 * descriptors of single threads exist only from Linux 6.9 on.
 */
#include "target.h"

#include "base/alloc.h"
#include "schemas/state.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>

int target_mark(const struct load *l, int pidfd)
{
	_cleanup_free_ struct subject_mark *subject = xcalloc(1, l->subject_bytes);

	*subject = (struct subject_mark){ SUBJECT_OURS, l->run };
	return bpf_map_update_elem(l->maps[MAP_subjects], &pidfd, subject, BPF_NOEXIST);
}

pid_t target_fork(int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	if (pid)
		*ret_pidfd = pidfd;
	return pid;
}

static bool is_alive(int pidfd)
{
	return !syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0);
}

int target_mark_process(const struct load *l, pid_t pid)
{
	_cleanup_fd_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = target_mark(l, fd);
	if (r < 0 && r != -EEXIST)
		return r;
	r = load_mark_tasks(l, pid);
	if (r < 0)
		return r;
	return is_alive(fd) ? 0 : -ESRCH; /* else the number may have been another's */
}

/* ---- who is alive ---- */

static size_t place(const struct pids *p, uint32_t pid)
{
	size_t i = pid * 0x9e3779b1u & (p->size - 1);

	while (p->slot[i] && p->slot[i] != pid)
		i = (i + 1) & (p->size - 1);
	return i;
}

static void grow(struct pids *p)
{
	struct pids old = *p;

	p->size = old.size ? 2 * old.size : 64;
	p->slot = xcalloc(p->size, sizeof(*p->slot));
	for (size_t i = 0; i < old.size; i++)
		if (old.slot[i])
			p->slot[place(p, old.slot[i])] = old.slot[i];
	free(old.slot);
}

void pids_add(struct pids *p, uint32_t pid)
{
	size_t i;

	if (p->n * 2 >= p->size)
		grow(p);
	i = place(p, pid);
	p->n += !p->slot[i];
	p->slot[i] = pid;
}

void pids_remove(struct pids *p, uint32_t pid)
{
	uint32_t moved;
	size_t i;

	if (!pids_have(p, pid))
		return;
	i = place(p, pid);
	p->slot[i] = 0;
	p->n--;
	/* What stands behind may have been pushed there by the one that left. */
	for (i = (i + 1) & (p->size - 1); p->slot[i]; i = (i + 1) & (p->size - 1)) {
		moved = p->slot[i];
		p->slot[i] = 0;
		p->slot[place(p, moved)] = moved;
	}
}

bool pids_have(const struct pids *p, uint32_t pid)
{
	return p->size && p->slot[place(p, pid)];
}

void pids_done(struct pids *p)
{
	free(p->slot);
	*p = (struct pids){ 0 };
}
