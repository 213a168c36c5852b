/* SPDX-License-Identifier: MIT */
/*
 * schemas/event_field.def as a table: which key a field has in a line, how it
 * is written, and where it lives in struct event. The line codec, the fold and
 * the tests walk this table; none of them names a field.
 */
#ifndef EVENT_FIELD_H
#define EVENT_FIELD_H

#include "event.h"

enum field_type {
	FIELD_U32,
	FIELD_U64,
	FIELD_STR,
	FIELD_STRS,
	FIELD_FLAG, /* has no member: the bit in `have` is the value */
	FIELD_ACCESS,
	FIELD_OBJ,
	FIELD_TYPE_COUNT,
};

struct field {
	const char *key;
	enum field_type type;
	size_t at; /* offset in struct event */
};
extern const struct field event_fields[EVENT_FIELD_COUNT];

static inline void *field_of(struct event *e, const struct field *f)
{
	return (char *)e + f->at;
}

static inline const void *field_of_const(const struct event *e, const struct field *f)
{
	return (const char *)e + f->at;
}

/* Takes the lowest field out of the set `fields`, which must not be empty. */
static inline size_t field_take(uint64_t *fields)
{
	size_t i = (size_t)__builtin_ctzll(*fields);

	*fields &= *fields - 1;
	return i;
}

/* True for the types whose member is a struct str. */
bool field_is_text(enum field_type type);

#endif
