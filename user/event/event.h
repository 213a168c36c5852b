/* SPDX-License-Identifier: MIT */
/*
 * The one shape of everything that happens. Events come from the ring
 * (decode.c) or from a line of a ledger (line.c) and go to any number of
 * sinks; a sink borrows the event and its bytes until it returns.
 *
 * `have` says which fields are known; schemas/event_field.def lists them. An
 * event encoded to a line and decoded again is equal, field by field.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "schemas/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of struct event.have. */
enum event_field {
#define FIELD(NAME, key, type, member) EVENT_FIELD_##NAME,
#include "schemas/event_field.def"
#undef FIELD
	EVENT_FIELD_COUNT,
};
#define EF(NAME) (1ull << EVENT_FIELD_##NAME)
_Static_assert(EVENT_FIELD_COUNT <= 64, "struct event.have is a u64");

struct str {
	const char *p; /* borrowed, may hold any byte; a list: each item ends in NUL */
	size_t len;
};

struct object {
	uint64_t ino;
	uint32_t dev, gen;
};

struct event {
	enum ev_kind kind;
	uint64_t have;	  /* EF() bits */
	uint64_t boot_ns; /* CLOCK_BOOTTIME */
	uint32_t pid, child, uid;
	uint32_t access;  /* 1 read, 2 write, 3 both */
	struct object obj, over;
	uint64_t ops, bytes;
	uint32_t mode, rdev, owner, group;
	uint32_t port, code, signal;
	uint64_t procs, from, until;
	struct str path, to, proto, addr, name, scripts, cwd, argv;
	struct str version, purl, cgroup, tier, workspace, home, label, why;
	struct str lost, sampled_out, leaves;
};

static inline bool event_has(const struct event *e, uint64_t fields)
{
	return (e->have & fields) == fields;
}

static inline struct str str_of(const char *s)
{
	return (struct str){ s, s ? __builtin_strlen(s) : 0 };
}

/* Facts of a kind, from schemas/event.def. */
struct event_kind {
	const char *word; /* "t" of a line */
	enum ev_class class;
	uint64_t fields; /* what a line of this kind may have */
};
extern const struct event_kind event_kinds[EV_COUNT];
extern const char *const event_class_words[EV_CLASS_COUNT];
extern const char *const event_loss_words[EV_LOSS_COUNT];

/* A sink. Must not keep pointers of the event. */
typedef void (*event_fn)(const struct event *e, void *arg);

#endif
