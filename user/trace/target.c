/* SPDX-License-Identifier: MIT */
/*
 * A task is marked through a descriptor, never by number: numbers are reused.
 * Descriptors of single threads exist since Linux 6.9; before, only the thread
 * that leads the process can be marked from here.
 */
#include "target.h"

#include "base/alloc.h"
#include "base/num.h"
#include "schemas/state.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>

#define PIDFD_FOR_THREAD O_EXCL /* PIDFD_THREAD */
#define MAX_THREAD_PASSES 16	/* new threads of marked ones are marked by the kernel */

int target_mark(const struct load *l, int pidfd)
{
	_cleanup_free_ uint32_t *subject = xcalloc(1, l->subject_bytes);

	subject[0] = SUBJECT_OURS;
	return bpf_map_update_elem(l->subjects_fd, &pidfd, subject, BPF_NOEXIST) < 0 ? -errno : 0;
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

/* 1: newly marked, 0: was marked or is gone. */
static int mark_thread(const struct load *l, pid_t tid)
{
	_cleanup_fd_ int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_FOR_THREAD);
	int r;

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	r = target_mark(l, fd);
	if (r == -EEXIST || r == -ESRCH)
		return 0;
	return r < 0 ? r : 1;
}

/* One pass over the threads; the number of those newly marked. */
static int mark_threads(const struct load *l, DIR *dir)
{
	struct dirent *entry;
	uint64_t tid;
	int r, marked = 0;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (num_u64(entry->d_name, strlen(entry->d_name), INT32_MAX, &tid) < 0)
			continue;
		r = mark_thread(l, (pid_t)tid);
		if (r < 0)
			return r;
		marked += r;
	}
	return marked;
}

static int mark_others(const struct load *l, pid_t pid)
{
	char path[32];
	DIR *dir;
	int r = 1;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid); /* fits */
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	for (int i = 0; r > 0 && i < MAX_THREAD_PASSES; i++)
		r = mark_threads(l, dir);
	(void)closedir(dir); /* only read */
	return r > 0 ? -EAGAIN : r;
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
	r = mark_others(l, pid);
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
