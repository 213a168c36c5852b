/* SPDX-License-Identifier: MIT */
/*
 * One list of rows in the four forms of show.h. A view names its columns and
 * gives each row's cells once; here they become a table, TSV or JSON.
 */
#ifndef REPORT_SINK_H
#define REPORT_SINK_H

#include "base/table.h"
#include "show.h"

struct sink {
	const struct show_options *o;
	const char *schema;
	const struct table_col *cols; /* names are headings; JSON keys in lower case */
	size_t n_cols;
	struct table *table; /* text and TSV */
	struct buf *to;	     /* JSON and NDJSON */
	size_t cell;	     /* next column of the row */
};

void sink_begin(struct sink *k, struct buf *to);
void sink_row(struct sink *k, size_t depth);
void sink_str(struct sink *k, struct str text); /* empty: not known, absent in JSON */
void sink_argv(struct sink *k, struct str argv); /* a list in JSON, words in a table */
void sink_u64(struct sink *k, bool known, uint64_t n);
void sink_row_end(struct sink *k);
void sink_end(struct sink *k);

#endif
