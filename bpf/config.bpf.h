/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What user space sets: constants of one load (cfg_*, between open and load,
 * so the verifier drops the arms that they rule out), and words that both
 * sides read and write while the programs run. Defined in emit.bpf.c.
 */
#ifndef BPF_CONFIG_H
#define BPF_CONFIG_H

#include "vmlinux.h"

/*
 * Layouts, told apart by counting BTF parameters of the named function:
 * Linux 6.2 and later hand an idmap to bpf_lsm_inode_setattr (3 instead of 2)
 * and each kernel since 5.12 hands a namespace or an idmap to
 * security_inode_setattr (3 instead of 2).
 */
extern const volatile bool cfg_setattr_lsm3; /* bpf_lsm_inode_setattr has 3 parameters */
extern const volatile bool cfg_setattr_mod3; /* security_inode_setattr has 3 parameters */

/*
 * Task storage can be had in cgroup socket address programs
 * (libbpf_probe_bpf_helper(CGROUP_SOCK_ADDR, TASK_STORAGE_GET); Linux 6.2 or
 * so). Else they take any task that owns some BPF storage as ours.
 */
extern const volatile bool cfg_cg_storage;

/*
 * Set before the attach. Programs may stay loaded from run to run, so these are
 * no constants. The number is in every record's head; 0 is the canary's.
 */
extern __u32 run;

/* The target's cgroup v2: kernfs id and depth (the root is 0). Id 0: no cgroup is ours. */
extern __u64 run_cgroup_id;
extern __u32 run_cgroup_level;

extern __u32 asleep; /* the collector blocks: the next record wakes it and stores 0 */

/* The process that proves the tier (0: none) and the file that it must not open. */
extern __u32 canary_pid;
extern __u64 canary_ino;
extern __u32 canary_dev; /* s_dev, kernel encoding */

/* iter_tasks: whose threads it marks (0: the tasks of the cgroup), and how many it marked. */
extern __u32 iter_pid;
extern __u32 iter_marked;

extern __u64 touch_count; /* entries in `touches`: counted up here, down by who takes them out */

#endif
