/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Kernel state that user space reads or sets besides the ring: keys and values
 * of maps. Both sides of one build include this file.
 */
#ifndef SCHEMAS_STATE_H
#define SCHEMAS_STATE_H

#include "event.h"

#define MAX_TOUCHES 65536 /* (process, object, access) triples; full: one record per call */
#define CHAIN_MAX   8	  /* scripts of one exec; the kernel allows 5 levels */

/* A hole in a key would be hashed with whatever it holds. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/*
 * Map `touches`: what a process did to an object. The insert is the first
 * touch and is recorded with its path; for reads later ones only count here.
 */
struct touch_key {
	__u64 ino;
	__u32 dev;
	__u32 gen;
	__u32 pid;
	__u32 access; /* 1 read, 2 write */
};

struct touch {
	__u64 ops;   /* not recorded one by one; writes: always 0 */
	__u64 bytes; /* of these; tiers without byte counts: 0 */
};

#pragma GCC diagnostic pop

/*
 * Map `subjects` (task storage), how a value starts: the task is ours in the run
 * with that number. A mark of another run is none. Zeroed by the kernel.
 */
struct subject_mark {
	__u32 flags;
	__u32 run;
};
#define SUBJECT_OURS (1 << 0)

#endif
