/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who becomes ours and who leaves: fork, exit, moves between cgroups, and the
 * tasks that were there before. A task that leaves the target's cgroup stays
 * ours. All tiers use these programs. Loads of pointers go through probes: a
 * typed one costs the verifier of Linux 6.4 and later a search of all types.
 */
#include "config.bpf.h"
#include "subject.bpf.h"

#define SIGNAL_GROUP_EXIT 0x4

/* Of the unified hierarchy (id 0), at or below the target's cgroup. */
static __always_inline bool is_inside(struct cgroup *cgrp)
{
	__u32 level = run_cgroup_level;

	if (!run_cgroup_id || BPF_CORE_READ(cgrp, root, hierarchy_id) ||
	    BPF_CORE_READ(cgrp, level) < (int)level)
		return false;
	bpf_core_read(&cgrp, sizeof(cgrp), &cgrp->ancestors[level]);
	return BPF_CORE_READ(cgrp, kn, id) == run_cgroup_id;
}

/* What an earlier run left in the entry counts for nothing. */
static __always_inline void take_in(struct subject *s)
{
	if (s->mark.run != run)
		__builtin_memset(s, 0, sizeof(*s));
	s->mark.run = run;
	s->mark.flags |= SUBJECT_OURS;
}

static __always_inline void mark(struct task_struct *task)
{
	struct subject *s;

	s = bpf_task_storage_get(&subjects, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		take_in(s);
	else
		count_loss(EV_LOSS_MAP, EV_CLASS_TASK, 1);
}

static __always_inline void send_fork(struct task_struct *child)
{
	struct scratch *s = rec_new(FORK, ev_task);

	if (!s)
		return;
	s->task.child = child->tgid;
	rec_send(s);
}

static __always_inline void send_escape(struct task_struct *task, struct cgroup *to)
{
	struct scratch *s = rec_new(ESCAPE, ev_task);

	if (!s)
		return;
	s->head.pid = task->tgid;
	s->head.tid = task->pid;
	s->task.cgroup = BPF_CORE_READ(to, kn, id);
	rec_send(s);
}

SEC("?tp_btf/task_newtask")
int BPF_PROG(tp_task_newtask, struct task_struct *task)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct cgroup *cgrp = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	if (!subject_of(parent)) {
		if (is_inside(cgrp)) /* CLONE_INTO_CGROUP by somebody outside */
			mark(task);
		return 0;
	}
	mark(task);
	if (task->tgid != parent->tgid)
		send_fork(task);
	if (run_cgroup_id && cgrp != BPF_CORE_READ(parent, cgroups, dfl_cgrp) && !is_inside(cgrp))
		send_escape(task, cgrp);
	return 0;
}

/* Other threads of a process that is moved in are not reached from here: counted. */
static __always_inline void come_in(struct task_struct *task, bool whole)
{
	int others = BPF_CORE_READ(task, signal, nr_threads) - 1;

	mark(task);
	if (whole && others > 0)
		count_loss(EV_LOSS_BUSY, EV_CLASS_TASK, others);
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(tp_cgroup_attach_task, struct cgroup *to, const char *path, struct task_struct *task,
	     bool whole)
{
	bool ours = subject_of(task);

	if (!run_cgroup_id || BPF_CORE_READ(to, root, hierarchy_id))
		return 0;
	if (is_inside(to)) {
		if (!ours)
			come_in(task, whole);
	} else if (ours) {
		send_escape(task, to);
	}
	return 0;
}

/* The status that the parent will be told. */
static __always_inline int wait_status(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

/*
 * Two last threads may both find nobody alive: the mark on the leader, which
 * stays until all are gone, lets one of them pass.
 */
static __always_inline bool is_first_to_tell(struct task_struct *leader)
{
	struct subject *s = bpf_task_storage_get(&subjects, leader, NULL, 0);

	return !s || !(__sync_fetch_and_or(&s->mark.flags, SUBJECT_EXITED) & SUBJECT_EXITED);
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(tp_process_exit, struct task_struct *task)
{
	struct scratch *s;

	if (!subject_of(task) || BPF_CORE_READ(task, signal, live.counter) ||
	    !is_first_to_tell(task->group_leader))
		return 0;
	s = rec_new(EXIT, ev_task);
	if (!s)
		return 0;
	s->task.status = wait_status(task);
	rec_send(s);
	return 0;
}

static __always_inline bool is_asked_for(struct task_struct *task)
{
	return iter_pid ? (__u32)task->tgid == iter_pid :
			  is_inside(BPF_CORE_READ(task, cgroups, dfl_cgrp));
}

/*
 * Run behind the attach: those who were in the cgroup before, or the threads of
 * one process. Again until nobody new was found: a thread that was not marked
 * yet may have made another one behind the walk.
 */
SEC("?iter/task")
int iter_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || !is_asked_for(task) || subject_of(task))
		return 0;
	mark(task);
	iter_marked++;
	return 0;
}
