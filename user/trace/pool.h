/* SPDX-License-Identifier: MIT */
/*
 * Loaded programs and maps that outlive a run: pinned in a BPF file system, in
 * folders of our user with mode 0700, so that the next run need not verify
 * them again. A slot serves one run at a time; who holds its lock owns it.
 * Nothing in a slot is attached to anything while no run holds it.
 */
#ifndef TRACE_POOL_H
#define TRACE_POOL_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

#define POOL_SLOTS 4 /* runs at the same time; more are loaded for themselves */

struct slot {
	int fd;	    /* of the folder, locked; -1: no slot */
	char *path;
	bool whole; /* everything is there; else it is empty */
};
#define SLOT_INIT { .fd = -1 }

/* The folder of all slots, for the caller to free; mounts a BPF file system if need be. */
int pool_open(char **ret_root);

/*
 * A slot for sets of that name, "VERSION-KIND". -EBUSY: all are in use. Before a
 * new set, slots of other versions that nobody uses are emptied.
 */
int pool_take(const char *root, const char *set, struct slot *ret);
void slot_done(struct slot *s); /* gives it back */

int slot_pin(const struct slot *s, const char *name, int fd);
int slot_note(const struct slot *s, const char *name); /* a name without an object */
int slot_finish(struct slot *s); /* from now on it is whole */
int slot_get(const struct slot *s, const char *name); /* a descriptor, or -errno */
/* Calls fn for each name in the slot; stops at the first error. */
int slot_each(const struct slot *s, int (*fn)(const char *name, void *arg), void *arg);

/* Removes every slot of that folder that is not in use. Returns how many still are. */
int pool_empty(const char *root);
/* The same for the folder of pool_open(), and what it mounted. */
int pool_remove(void);

#endif
