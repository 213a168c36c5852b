/* SPDX-License-Identifier: MIT */
/* Tables, see table.h. The only includer of libsmartcols. */
#include "table.h"

#include "alloc.h"
#include "esc.h"

#include <libsmartcols/libsmartcols.h>

struct table_row {
	size_t depth, n;
	char *cells[MAX_TABLE_COLS]; /* escaped */
};

struct table {
	const struct table_col *cols;
	size_t n_cols;
	struct table_row *rows;
	size_t n, cap;
};

struct table *table_new(const struct table_col *cols, size_t n_cols)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->cols = cols;
	t->n_cols = MIN(n_cols, (size_t)MAX_TABLE_COLS);
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->rows[i].n; k++)
			free(t->rows[i].cells[k]);
	free(t->rows);
	free(t);
}

void table_row(struct table *t, size_t depth)
{
	size_t most = t->n ? t->rows[t->n - 1].depth + 1 : 0;

	if (t->n == t->cap) {
		t->cap = t->cap * 2 + 16;
		t->rows = xrealloc(t->rows, t->cap, sizeof(*t->rows));
	}
	t->rows[t->n++] = (struct table_row){
		.depth = MIN(MIN(depth, most), (size_t)MAX_TABLE_DEPTH),
	};
}

void table_cell(struct table *t, const void *bytes, size_t len)
{
	struct table_row *r = &t->rows[t->n - 1];
	struct buf text = BUF_INIT;

	if (r->n == t->n_cols)
		return;
	esc_tty(&text, bytes, len);
	r->cells[r->n++] = buf_take(&text);
}

void table_cell_str(struct table *t, const char *text)
{
	table_cell(t, text, strlen(text));
}

void table_cell_u64(struct table *t, uint64_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addu64(&text, n);
	table_cell(t, text.data, text.len);
}

void table_tsv(const struct table *t, struct buf *to)
{
	for (size_t k = 0; k < t->n_cols; k++)
		buf_addf(to, "%s%s", k ? "\t" : "", t->cols[k].name);
	buf_addch(to, '\n');
	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; k < t->n_cols; k++)
			buf_addf(to, "%s%s", k ? "\t" : "",
				 k < t->rows[i].n ? t->rows[i].cells[k] : "");
		buf_addch(to, '\n');
	}
}

/* ---- libsmartcols; its failures are those of memory ------------------------- */

static void *some(void *p)
{
	if (!p)
		abort();
	return p;
}

static void add_cols(const struct table *t, struct libscols_table *tb)
{
	for (size_t k = 0; k < t->n_cols; k++) {
		const struct table_col *c = &t->cols[k];
		int flags = (c->right ? SCOLS_FL_RIGHT : 0) | (c->tree ? SCOLS_FL_TREE : 0) |
			    (c->cut ? SCOLS_FL_TRUNC : 0);

		(void)some(scols_table_new_column(tb, c->name, 0, flags));
	}
}

static void add_rows(const struct table *t, struct libscols_table *tb)
{
	struct libscols_line *way[MAX_TABLE_DEPTH + 1] = { NULL };

	for (size_t i = 0; i < t->n; i++) {
		const struct table_row *r = &t->rows[i];
		struct libscols_line *parent = r->depth ? way[r->depth - 1] : NULL;

		way[r->depth] = some(scols_table_new_line(tb, parent));
		for (size_t k = 0; k < r->n; k++)
			if (scols_line_set_data(way[r->depth], k, r->cells[k]) < 0)
				abort();
	}
}

void table_text(const struct table *t, size_t width, struct buf *to)
{
	struct libscols_table *tb = some(scols_new_table());
	char *text = NULL;

	scols_table_enable_noencoding(tb, 1); /* esc_tty() was here before */
	scols_table_set_termforce(tb, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(tb, width);
	add_cols(t, tb);
	add_rows(t, tb);
	if (t->n && scols_print_table_to_string(tb, &text) < 0)
		abort();
	if (text) {
		buf_addstr(to, text);
		buf_addch(to, '\n'); /* the library leaves the last line open */
	}
	free(text);
	scols_unref_table(tb);
}
