/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * What bpf/ puts on the ring and what user/ reads from it: both sides of one
 * build include this file, so there is no version on the wire.
 *
 * A record is a head, the body that its kind names, then the bytes of the
 * body's slices, one behind the other in the order of the slices. Records are
 * as long as their content; every one is zeroed before it is filled.
 */
#ifndef SCHEMAS_EVENT_H
#define SCHEMAS_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define EV_PATH_BYTES 4096  /* of one path; a longer one is cut at the root side */
#define EV_NAME_BYTES 4096  /* of one name from user memory, PATH_MAX */
#define EV_ARGV_BYTES 262144 /* of all arguments of one exec; the ledger's limit for a record */
#define EV_PART_BYTES 4096  /* of one part record */
#define EV_ADDR_BYTES 128   /* sizeof(struct sockaddr_storage) */

enum ev_kind {
#define EV(NAME, word, class, body, fields) EV_##NAME,
#include "event.def"
#undef EV
	EV_COUNT,
	EV_PART = 255, /* piece of the next EV_EXEC of that thread, struct ev_part */
};

/* What a loss is counted under, and what a sampling rate is set for. */
#define EV_CLASSES(X) X(TASK, task) X(FILE, file) X(WRITE, write) X(NAME, name) X(NET, net)
enum ev_class {
#define X(NAME, word) EV_CLASS_##NAME,
	EV_CLASSES(X)
#undef X
	EV_CLASS_COUNT,
};

/* Why something is not in the record. The first four are counted in the kernel. */
#define EV_LOSSES(X)                                                                       \
	X(RING, ring)	/* no room on the ring */                                          \
	X(FAULT, fault) /* the kernel could not read what it was to record */              \
	X(BUSY, busy)	/* no scratch buffer free, or the program was skipped */            \
	X(ABI, abi)	/* made through an ABI that tier trace cannot decode */            \
	X(MAP, map)	/* a state table was full and no record could stand in */          \
	X(QUEUE, queue) /* the collector could not keep it */                              \
	X(DISK, disk)	/* the ledger could not be written */                              \
	X(CUT, cut)	/* a value was longer than its limit */
enum ev_loss {
#define X(NAME, word) EV_LOSS_##NAME,
	EV_LOSSES(X)
#undef X
	EV_LOSS_COUNT,
};

/* head.flags */
#define EV_F_UNPROVEN	(1 << 0) /* names are what user memory held */
#define EV_F_MAPPED	(1 << 1) /* by a mapping, not by a call */
#define EV_F_CREATED	(1 << 2)
#define EV_F_EXCHANGE	(1 << 3)
#define EV_F_WHITEOUT	(1 << 4)
#define EV_F_FILELESS	(1 << 5)
#define EV_F_BYTES	(1 << 6) /* ev_file.bytes is known */
#define EV_F_FIRST	(1 << 7) /* first touch of this object by this process */

/* ev_slice.flags */
#define EV_S_LEAF_FIRST	 (1 << 0) /* components, leaf first, each behind one length byte */
#define EV_S_CUT	 (1 << 1) /* too deep or too long: the root side is missing */
#define EV_S_UNREACHABLE (1 << 2) /* ended at a mount that hangs nowhere */
#define EV_S_STRING	 (1 << 3) /* plain bytes, no NUL */
#define EV_S_FIRST	 (1 << 4) /* part: a new exec starts, older parts of this thread are void */

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct ev_slice {
	__u16 len;
	__u16 flags;
};

struct ev_head {
	__u64 boot_ns; /* CLOCK_BOOTTIME */
	__u64 seq;     /* per CPU, without a hole unless a loss was counted */
	__u32 pid;     /* thread group, initial namespace */
	__u32 tid;
	__u32 session;
	__u16 cpu;
	__u8 kind;
	__u8 flags;
};

/* The name of an object that survives renames: kernel s_dev, i_ino, i_generation. */
struct ev_object {
	__u64 ino; /* 0: not known */
	__u32 dev;
	__u32 gen;
	__u32 mode; /* i_mode */
	__u32 nlink;
};

struct ev_task {
	struct ev_head head;
	__u32 child;  /* fork: the new process */
	__s32 status; /* exit: raw wait status of the process */
	__u64 cgroup; /* escape: id of the cgroup it went to */
};

struct ev_file {
	struct ev_head head;
	struct ev_object obj;
	__u64 bytes;	/* moved, or the new size; valid with EV_F_BYTES */
	__u32 oflags;	/* open: O_* */
	__u32 access;	/* open: 1 read, 2 write, 3 both */
	struct ev_slice path; /* empty when this process had this object before */
	struct ev_slice tail; /* as in ev_name: truncate by name, in tier trace */
};

/*
 * A name is `path` (of an object, leaf first) followed by `tail` (a string as
 * the caller gave it, relative to path; only in tier trace).
 */
struct ev_name {
	struct ev_head head;
	struct ev_object obj;
	struct ev_object over; /* rename: what stood there before */
	struct ev_slice path, tail;
	struct ev_slice to, to_tail; /* second name; symlink: tail is the text */
	__u32 mode;
	__u32 rdev;
	__u32 owner; /* (__u32)-1: not changed */
	__u32 group;
};

struct ev_net {
	struct ev_head head;
	__u16 family;
	__u16 type;	/* SOCK_* */
	__u16 protocol; /* IPPROTO_* */
	__u16 pad;
	struct ev_slice addr; /* struct sockaddr as the kernel copied it */
	__u32 pad2;
};

/* Comes after its parts: scripts (leaf first or string), then argv. */
struct ev_exec {
	struct ev_head head;
	struct ev_object obj; /* the executable that runs */
	__u32 uid, gid;	      /* after the exec */
	__u32 argv_bytes;     /* exact length, also when argv was cut */
	struct ev_slice path; /* of obj */
	struct ev_slice name; /* string: as the caller gave it */
	struct ev_slice cwd;
};

enum ev_part_of { EV_PART_SCRIPT, EV_PART_ARGV };

struct ev_part {
	struct ev_head head;
	__u32 of; /* enum ev_part_of */
	struct ev_slice bytes;
};

#pragma GCC diagnostic pop

_Static_assert(sizeof(struct ev_head) == 32, "wire layout");
_Static_assert(sizeof(struct ev_object) == 24, "wire layout");
_Static_assert(sizeof(struct ev_task) == 48, "wire layout");
_Static_assert(sizeof(struct ev_file) == 80, "wire layout");
_Static_assert(sizeof(struct ev_name) == 112, "wire layout");
_Static_assert(sizeof(struct ev_net) == 48, "wire layout");
_Static_assert(sizeof(struct ev_exec) == 80, "wire layout");
_Static_assert(sizeof(struct ev_part) == 40, "wire layout");

#endif
