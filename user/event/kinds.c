/* SPDX-License-Identifier: MIT */
/* The tables behind event.h and field.h, made from the rows of schemas/. */
#include "field.h"

#define EV(NAME, word, klass, body, fields)                                    \
	[EV_##NAME] = { #word, EV_CLASS_##klass, fields },
const struct event_kind event_kinds[EV_COUNT] = {
#include "schemas/event.def"
};
#undef EV

#define X(NAME, word) [EV_CLASS_##NAME] = #word,
const char *const event_class_words[EV_CLASS_COUNT] = { EV_CLASSES(X) };
#undef X

#define X(NAME, word) [EV_LOSS_##NAME] = #word,
const char *const event_loss_words[EV_LOSS_COUNT] = { EV_LOSSES(X) };
#undef X

#define AT_U32(member) offsetof(struct event, member)
#define AT_U64(member) offsetof(struct event, member)
#define AT_STR(member) offsetof(struct event, member)
#define AT_STRS(member) offsetof(struct event, member)
#define AT_ACCESS(member) offsetof(struct event, member)
#define AT_OBJ(member) offsetof(struct event, member)
#define AT_FLAG(member) 0
#define FIELD(NAME, key, type, member)                                         \
	[EVENT_FIELD_##NAME] = { #key, FIELD_##type, AT_##type(member) },
const struct field event_fields[EVENT_FIELD_COUNT] = {
#include "schemas/event_field.def"
};
#undef FIELD

bool field_is_text(enum field_type type)
{
	return type == FIELD_STR || type == FIELD_STRS || type == FIELD_OBJ;
}
