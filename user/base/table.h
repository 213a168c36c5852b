/* SPDX-License-Identifier: MIT */
/*
 * Rows and columns for people (libsmartcols: aligned, fitted to a width, trees)
 * or for programs (TSV with a header line, nothing cut). Cells may hold any
 * bytes: they pass esc_tty() on their way in, so no cell reaches the terminal
 * or breaks a column.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "buf.h"

#include <stdbool.h>

#define MAX_TABLE_COLS	8
#define MAX_TABLE_DEPTH 48 /* levels of a tree that are drawn; what is deeper stands at this one */

struct table_col {
	const char *name; /* heading; also the TSV column */
	bool right;	  /* numbers */
	bool tree;	  /* the column that shows the tree */
	bool cut;	  /* may be cut to fit the width */
};

struct table;

/* cols is borrowed until table_free(). */
struct table *table_new(const struct table_col *cols, size_t n_cols);
void table_free(struct table *t);
static inline void table_freep(struct table **t)
{
	table_free(*t);
}
#define _cleanup_table_ _cleanup_(table_freep)

/* Starts a row; depth 0 is a root, at most one more than the row before. */
void table_row(struct table *t, size_t depth);
/* The next cell of the row; rows may end early. */
void table_cell(struct table *t, const void *bytes, size_t len);
void table_cell_str(struct table *t, const char *text);
void table_cell_u64(struct table *t, uint64_t n);

void table_text(const struct table *t, size_t width, struct buf *to);
void table_tsv(const struct table *t, struct buf *to);

#endif
