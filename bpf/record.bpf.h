/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record under construction. It grows in a scratch buffer and leaves by
 * rec_send(), which also gives the buffer back. Programs may be preempted, so
 * a CPU has several buffers; a caller that gets none has been counted as a
 * loss and returns.
 */
#ifndef BPF_RECORD_H
#define BPF_RECORD_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "schemas/event.h"

#define EPERM  1
#define EEXIST 17

#define SCRATCH_SLOTS 4 /* programs that can be under way on one CPU */
#define NAME_ROOM     256 /* length byte and component */
#define REC_BYTES     (sizeof(struct ev_name) + 4 * EV_PATH_BYTES + NAME_ROOM)

/* Where a mount hangs and where it begins; pointers as numbers. */
struct anchor {
	__u64 parent, point, root;
};

struct scratch {
	__u64 veil;
	__u32 busy;
	__u32 class; /* of the record */
	__u32 pos;   /* bytes of it so far */

	/*
	 * The slice under construction. The walk keeps its state here, not in
	 * registers: the verifier would follow each value of them.
	 */
	__u32 start;
	__u32 flags; /* EV_S_* */
	__u32 done;
	__u64 dentry, mount;
	struct anchor anchor; /* of the mount */

	union {
		struct ev_head head;
		struct ev_task task;
		struct ev_file file;
		struct ev_name name;
		struct ev_net net;
		struct ev_exec exec;
		struct ev_part part;
		__u8 rec[REC_BYTES];
	};
};

/*
 * The same value, but one that the verifier knows nothing about. That of Linux
 * 6.1 prunes too much behind calls: a branch that the first caller's constant
 * decides is cut out for all. So shared code branches on veiled arguments.
 */
static __always_inline __u64 veil(struct scratch *s, __u64 value)
{
	*(volatile __u64 *)&s->veil = value;
	return *(volatile __u64 *)&s->veil;
}

/* The class of each kind, from its row. */
enum {
#define EV(NAME, word, class, body, fields) CLASS_OF_##NAME = EV_CLASS_##class,
#include "schemas/event.def"
#undef EV
	CLASS_OF_PART = EV_CLASS_TASK,
};

/* A zeroed record with its head filled for the current task; NULL: none free, counted. */
#define rec_new(KIND, body) rec_start(EV_##KIND, CLASS_OF_##KIND, sizeof(struct body))
struct scratch *rec_start(__u32 kind, __u32 class, __u32 size);

void rec_send(struct scratch *s);
void rec_drop(struct scratch *s); /* the caller counted why */

void count_loss(__u32 cause, __u32 class, __u64 n);

/*
 * What a slice holds. Each appends to the record and fills *slice, which lies
 * in it. A string that cannot be read is counted (fault) and left empty.
 */
void add_path(struct scratch *s, __u64 dentry, __u64 mnt, struct ev_slice *slice);
void add_string(struct scratch *s, __u64 from, struct ev_slice *slice);
void add_user_string(struct scratch *s, __u64 from, struct ev_slice *slice);

#endif
