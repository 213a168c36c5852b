/* SPDX-License-Identifier: MIT */
/*
 * Events one by one, see show.h. Walks the field table, so a new field shows
 * without a change here; numbers that say nothing to people (device, inode)
 * are left to the JSON form.
 */
#include "show.h"

#include "base/esc.h"
#include "base/json_out.h"
#include "base/timeutil.h"
#include "event/field.h"
#include "event/line.h"
#include "say.h"

#define HIDDEN                                                                             \
	(EF(PID) | EF(PATH) | EF(DEV) | EF(INO) | EF(GEN) | EF(OVER_DEV) | EF(OVER_INO) |  \
	 EF(OVER_GEN) | EF(ADDR) | EF(PORT) | EF(PROTO))

static void put_u32(struct buf *to, const void *member)
{
	buf_addu64(to, *(const uint32_t *)member);
}

static void put_u64(struct buf *to, const void *member)
{
	buf_addu64(to, *(const uint64_t *)member);
}

static void put_access(struct buf *to, const void *member)
{
	static const char *const words[] = { "", "r", "w", "rw" };

	buf_addstr(to, words[*(const uint32_t *)member & 3]);
}

static void put_text(struct buf *to, const void *member)
{
	say_text(to, *(const struct str *)member);
}

static void put_list(struct buf *to, const void *member)
{
	const struct str *list = member;
	_cleanup_buf_ struct buf words = BUF_INIT;

	for (size_t at = 0, n; at < list->len; at += n + 1) {
		n = strnlen(list->p + at, list->len - at);
		if (at)
			buf_addch(&words, ' ');
		say_word(&words, (struct str){ list->p + at, n });
	}
	esc_tty(to, buf_str(&words), words.len);
}

static void (*const writers[FIELD_TYPE_COUNT])(struct buf *to, const void *member) = {
	[FIELD_U32] = put_u32,	  [FIELD_U64] = put_u64,   [FIELD_ACCESS] = put_access,
	[FIELD_STR] = put_text,	  [FIELD_OBJ] = put_text,  [FIELD_STRS] = put_list,
	[FIELD_FLAG] = NULL, /* the key alone says it */
};

static void put_details(const struct event *e, struct buf *to)
{
	uint64_t left = e->have & event_kinds[e->kind].fields & ~HIDDEN;

	for (bool first = true; left; first = false) {
		const struct field *f = &event_fields[field_take(&left)];

		buf_addf(to, "%s%s", first ? "" : " ", f->key);
		if (!writers[f->type])
			continue;
		buf_addch(to, '=');
		writers[f->type](to, field_of_const(e, f));
	}
}

/* Path or peer: what it was done to. */
static void put_object(const struct event *e, struct buf *to)
{
	struct peer_deed p = { .port = e->port, .has_port = event_has(e, EF(PORT)) };

	if (event_has(e, EF(PATH)))
		say_text(to, e->path);
	if (!event_has(e, EF(PROTO)))
		return;
	p.proto = e->proto;
	if (event_has(e, EF(ADDR)))
		p.addr = e->addr;
	say_peer(to, &p);
}

static void put_time(const struct event *e, uint64_t begin_ns, struct buf *to)
{
	bool before = e->boot_ns < begin_ns;
	uint64_t ns = before ? begin_ns - e->boot_ns : e->boot_ns - begin_ns;

	buf_addf(to, "%s%llu.%06llu", before ? "-" : "", (unsigned long long)(ns / NS_PER_S),
		 (unsigned long long)(ns % NS_PER_S / 1000));
}

static void put_columns(const struct event *e, uint64_t begin_ns, bool tsv, struct buf *to)
{
	_cleanup_buf_ struct buf time = BUF_INIT, pid = BUF_INIT;

	put_time(e, begin_ns, &time);
	if (event_has(e, EF(PID)))
		buf_addu64(&pid, e->pid);
	buf_addf(to, tsv ? "%s\t%s\t%s\t" : "%12s  %7s  %-9s ", buf_str(&time), buf_str(&pid),
		 event_kinds[e->kind].word);
	put_object(e, to);
	buf_addstr(to, tsv ? "\t" : "  ");
	put_details(e, to);
	while (!tsv && to->len && to->data[to->len - 1] == ' ')
		buf_cut(to, to->len - 1);
}

void show_events_head(struct show_stream *st, struct buf *to)
{
	const struct show_options *o = st->o;

	if (o->form == SHOW_TSV)
		buf_addstr(to, "TIME\tPID\tEVENT\tOBJECT\tDETAILS\n");
	if (o->form != SHOW_JSON)
		return;
	buf_addstr(to, "{\"schema\":\"deedlog/events/1\"");
	if (o->run)
		json_out_cstr(to, "run", o->run);
	json_out_open(to, "rows", '[');
}

void show_event(struct show_stream *st, const struct event *e, struct buf *to)
{
	enum show_form form = st->o->form;

	if (form == SHOW_JSON && st->n)
		buf_addch(to, ',');
	st->n++;
	if (form == SHOW_JSON || form == SHOW_NDJSON)
		event_to_line(e, to);
	else
		put_columns(e, st->begin_ns, form == SHOW_TSV, to);
	if (form != SHOW_JSON)
		buf_addch(to, '\n');
}

void show_events_tail(struct show_stream *st, struct buf *to)
{
	if (st->o->form == SHOW_JSON)
		buf_addstr(to, "]}\n");
}
