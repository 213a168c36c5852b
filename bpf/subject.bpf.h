/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is ours. A task is ours if it has an entry in `subjects`; children
 * inherit it before they run. The first test of every hook costs outsiders
 * two loads.
 */
#ifndef BPF_SUBJECT_H
#define BPF_SUBJECT_H

#include "config.bpf.h"
#include "maps.bpf.h"

static __always_inline bool is_marked(const struct subject *s)
{
	return s->mark.flags & SUBJECT_OURS && s->mark.run == run;
}

static __always_inline struct subject *subject_of(struct task_struct *task)
{
	struct subject *s;

	if (!task->bpf_storage)
		return NULL;
	s = bpf_task_storage_get(&subjects, task, NULL, 0);
	return s && is_marked(s) ? s : NULL;
}

static __always_inline struct subject *subject(void)
{
	return subject_of(bpf_get_current_task_btf());
}

#endif
