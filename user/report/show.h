/* SPDX-License-Identifier: MIT */
/*
 * One run in full: processes, files, network, events. Tables for a terminal,
 * TSV for a pipe, JSON for programs. Everything ends in a buffer; every text of
 * the target is escaped for the form it stands in.
 */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H

#include "agg/session.h"

enum show_form { SHOW_TEXT, SHOW_TSV, SHOW_JSON, SHOW_NDJSON };

struct show_options {
	enum show_form form;
	size_t width;	 /* of the terminal; SHOW_TEXT */
	const char *run; /* id, or NULL */
};

/* JSON: {"schema":"deedlog/tree/1","run":...,"rows":[...]}; NDJSON: the rows, each with schema and run. */
void show_tree(const struct session *s, const struct show_options *o, struct buf *to);
void show_files(const struct session *s, const struct show_options *o, struct buf *to);
void show_net(const struct session *s, const struct show_options *o, struct buf *to);

/*
 * Events stream through: head, each event, tail; the buffer may be emptied in
 * between. NDJSON rows are the lines of the record as they are.
 */
struct show_stream {
	const struct show_options *o;
	uint64_t begin_ns; /* times are shown from here on */
	uint64_t n;	   /* events so far; starts as 0 */
};

void show_events_head(struct show_stream *st, struct buf *to);
void show_event(struct show_stream *st, const struct event *e, struct buf *to);
void show_events_tail(struct show_stream *st, struct buf *to);

#endif
