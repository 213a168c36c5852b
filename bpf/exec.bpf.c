/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that start. A chain of `#!` scripts is sent while the kernel checks
 * it, one part per script, before it is known whether the exec succeeds: the
 * first part of a chain voids older ones. Arguments and the exec itself
 * follow once the new program stands. All tiers share that last step.
 */
#include "file.bpf.h"
#include "hook.bpf.h"
#include "judge.bpf.h"
#include "subject.bpf.h"

#define MAX_ARGV_PARTS (EV_ARGV_BYTES / EV_PART_BYTES)

static __always_inline struct scratch *new_part(__u32 of)
{
	struct scratch *s = rec_new(PART, ev_part);

	if (!s)
		return NULL;
	s->part.of = of;
	return s;
}

/* Behind the slice was filled, which sets its flags. */
static __always_inline void send_part(struct subject *subj, struct scratch *s)
{
	if (!(subj->mark.flags & SUBJECT_CHAIN))
		s->part.bytes.flags |= EV_S_FIRST;
	subj->mark.flags |= SUBJECT_CHAIN;
	rec_send(s);
}

static void send_script(struct subject *subj, const struct place *at)
{
	struct scratch *s = new_part(EV_PART_SCRIPT);

	if (!s)
		return;
	add_path(s, at->dentry, at->mnt, &s->part.bytes);
	send_part(subj, s);
}

static __always_inline void send_script_name(struct subject *subj, __u64 name)
{
	struct scratch *s = new_part(EV_PART_SCRIPT);

	if (!s)
		return;
	add_string(s, name, &s->part.bytes);
	send_part(subj, s);
}

/* ---- the chain, tiers lsm and fmod ---------------------------------------- */

static __always_inline int on_exec_start(struct linux_binprm *bprm)
{
	struct subject *subj = subject();
	struct place at = {};

	if (!subj)
		return 0;
	subj->mark.flags &= ~SUBJECT_CHAIN;
	subj->level = 0;
	if (is_canary()) {
		at.dentry = (__u64)bprm->file->f_path.dentry;
		at.mnt = (__u64)bprm->file->f_path.mnt;
		send_script(subj, &at);
	}
	return to_errno(is_canary());
}

/*
 * A file that is followed by another one was a script. The kernel has let go
 * of it by then, but frees it only when the system call ends.
 */
static __always_inline int on_exec_check(struct linux_binprm *bprm)
{
	struct subject *subj = subject();
	struct place at = {};

	if (!subj)
		return 0;
	at.dentry = subj->script;
	at.mnt = subj->script_mnt;
	if (subj->level++)
		send_script(subj, &at);
	subj->script = (__u64)bprm->file->f_path.dentry;
	subj->script_mnt = (__u64)bprm->file->f_path.mnt;
	return 0;
}

HOOK(bprm_creds_for_exec, on_exec_start(bprm), struct linux_binprm *bprm)
LSM(bprm_check_security, on_exec_check(bprm), struct linux_binprm *bprm)
MOD(bprm_check_security, bprm_check, on_exec_check(bprm), struct linux_binprm *bprm)

/* ---- the new program, all tiers ------------------------------------------- */

/* The position is in the subject, where the verifier does not follow its values. */
static long send_argv_part(__u32 i, struct subject **at)
{
	struct subject *subj = *at;
	__u64 n = subj->argv_left;
	struct scratch *s;

	if (!n)
		return 1;
	s = new_part(EV_PART_ARGV);
	if (!s)
		return 1;
	if (n > EV_PART_BYTES)
		n = EV_PART_BYTES;
	if (bpf_probe_read_user(s->rec + sizeof(s->part), n, (void *)subj->argv) < 0) {
		count_loss(EV_LOSS_FAULT, EV_CLASS_TASK, 1);
		rec_drop(s);
		return 1;
	}
	s->pos += n;
	s->part.bytes.len = n;
	send_part(subj, s);
	subj->argv += n;
	subj->argv_left -= n;
	return 0;
}

static __always_inline __u64 send_argv(struct subject *subj, struct mm_struct *mm)
{
	__u64 start = BPF_CORE_READ(mm, arg_start);
	__u64 len = BPF_CORE_READ(mm, arg_end) - start;

	subj->argv = start;
	subj->argv_left = len;
	if (len > EV_ARGV_BYTES) {
		count_loss(EV_LOSS_CUT, EV_CLASS_TASK, 1);
		subj->argv_left = EV_ARGV_BYTES;
	}
	bpf_loop(MAX_ARGV_PARTS, send_argv_part, &subj, 0);
	return len;
}

static __always_inline void send_exec(struct task_struct *task, struct linux_binprm *bprm,
				      __u32 argv_bytes)
{
	struct scratch *s = rec_new(EXEC, ev_exec);
	struct file_act a = {};
	struct fs_struct *fs;

	if (!s)
		return;
	probe_file(BPF_CORE_READ(bprm, file), &a);
	s->exec.obj = a.obj;
	s->exec.uid = BPF_CORE_READ(task, cred, euid.val);
	s->exec.gid = BPF_CORE_READ(task, cred, egid.val);
	s->exec.argv_bytes = argv_bytes;
	if (!a.obj.nlink || is_internal(a.at.mnt))
		s->head.flags |= EV_F_FILELESS;
	add_path(s, a.at.dentry, a.at.mnt, &s->exec.path);
	add_string(s, (__u64)BPF_CORE_READ(bprm, filename), &s->exec.name);
	fs = BPF_CORE_READ(task, fs);
	add_path(s, (__u64)BPF_CORE_READ(fs, pwd.dentry), (__u64)BPF_CORE_READ(fs, pwd.mnt),
		 &s->exec.cwd);
	rec_send(s);
}

/* Tier trace sees no chain, but that there was one: the outermost script as the caller named it. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(tp_process_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct subject *subj = subject_of(task);
	__u32 argv_bytes;
	__u64 name;

	if (!subj)
		return 0;
	name = (__u64)BPF_CORE_READ(bprm, filename);
	if (!(subj->mark.flags & SUBJECT_CHAIN) && name != (__u64)BPF_CORE_READ(bprm, interp))
		send_script_name(subj, name);
	argv_bytes = send_argv(subj, BPF_CORE_READ(task, mm));
	send_exec(task, bprm, argv_bytes);
	subj->mark.flags &= ~SUBJECT_CHAIN;
	return 0;
}
