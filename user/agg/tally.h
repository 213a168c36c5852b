/* SPDX-License-Identifier: MIT */
/*
 * What a run did to files. Names form a tree, so that the rename of a folder
 * carries all below it in one step; objects point into the tree, so that an
 * event without a path finds its name and a file is counted once whatever it
 * was called. A write is known by where it lands: what was written under a
 * temporary name counts for the name that it was renamed onto.
 *
 * Bounded by MAX_TALLY_NAMES and MAX_TALLY_BYTES; an event that finds no room
 * is counted, not kept.
 */
#ifndef AGG_TALLY_H
#define AGG_TALLY_H

#include "base/buf.h"
#include "base/map.h"
#include "event/event.h"

#define MAX_TALLY_NAMES (1u << 18)   /* folders on the way included; about 64 MiB */
#define MAX_TALLY_BYTES (64u << 20)  /* of names and first paths */
#define MAX_TALLY_DEPTH 1024	     /* levels of a name that renames built up */
#define MAX_TALLY_PATH	8192	     /* bytes of a path that is taken apart */

/* Bits of file.deeds. */
enum deed {
	DEED_READ = 1 << 0,
	DEED_WROTE = 1 << 1, /* also truncated, made, renamed or linked onto */
	DEED_BORN = 1 << 2,  /* this name did not exist when the run began */
	DEED_GONE = 1 << 3,  /* and does not now */
	DEED_MOVED = 1 << 4, /* gone because it was renamed away */
	DEED_RENAMED = 1 << 5, /* was there before the run, under the name `from` */
	DEED_FOLDER = 1 << 6,
	DEED_KNOWN = 1 << 7, /* an event named it, it is not just a folder on the way */
};

struct file {
	struct file *parent; /* NULL: a root, or a file whose name is not known */
	struct file *into;   /* what replaced it; then this one no longer counts */
	struct file *heir;   /* the name that a hard link gave it last */
	char *name;	     /* last component */
	size_t len;
	uint32_t id;	     /* in the order of appearance */
	uint32_t deeds;	     /* enum deed */
	uint32_t below;	     /* names whose parent it is */
	struct object obj;   /* last known, ino 0: none */
	struct str from;     /* owned; with DEED_RENAMED */
};

struct tally {
	struct map names;   /* {id of the parent, name} -> struct file */
	struct map objects; /* struct object -> struct file */
	struct file **files; /* every one, by id */
	size_t n, cap;
	size_t bytes;
	struct file *root, *loose; /* "/", and above paths that do not start there */
	uint64_t overflow;  /* events without room */
	uint64_t unproven;  /* events whose name came from user memory */
};

void tally_init(struct tally *t);
void tally_done(struct tally *t);
void tally_event(struct tally *t, const struct event *e);

/* True if the file is one to count: did or suffered something, and is no folder. */
bool tally_counts(const struct file *f);

/* Appends its path, nothing if it is not known. */
void tally_path(const struct tally *t, const struct file *f, struct buf *to);

#endif
