/* SPDX-License-Identifier: MIT */
/* Rows into forms, see sink.h. */
#include "sink.h"

#include "base/json_out.h"
#include "say.h"

static bool is_json(const struct sink *k)
{
	return k->o->form == SHOW_JSON || k->o->form == SHOW_NDJSON;
}

/* Headings are ours and short; keys are the same words in lower case. */
static const char *key(struct sink *k, char text[static 32])
{
	const char *name = k->cols[k->cell++].name;
	size_t n = strnlen(name, 31);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)tolower((unsigned char)name[i]);
	text[n] = '\0';
	return text;
}

static void put_ids(const struct sink *k)
{
	json_out_cstr(k->to, "schema", k->schema);
	if (k->o->run)
		json_out_cstr(k->to, "run", k->o->run);
}

void sink_begin(struct sink *k, struct buf *to)
{
	k->to = to;
	if (!is_json(k)) {
		k->table = table_new(k->cols, k->n_cols);
		return;
	}
	if (k->o->form == SHOW_NDJSON)
		return;
	buf_addch(to, '{');
	put_ids(k);
	json_out_open(to, "rows", '[');
}

void sink_row(struct sink *k, size_t depth)
{
	k->cell = 0;
	if (k->table) {
		table_row(k->table, depth);
	} else if (k->o->form == SHOW_NDJSON) {
		buf_addch(k->to, '{');
		put_ids(k);
	} else {
		json_out_open(k->to, NULL, '{');
	}
}

void sink_str(struct sink *k, struct str text)
{
	char name[32];

	if (k->table) {
		table_cell(k->table, text.p, text.len);
		return;
	}
	(void)key(k, name);
	if (text.len)
		json_out_str(k->to, name, text.p, text.len);
}

void sink_argv(struct sink *k, struct str argv)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	char name[32];

	if (!k->table) {
		json_out_strv(k->to, key(k, name), argv.p, argv.len);
		return;
	}
	for (size_t at = 0, n; at < argv.len; at += n + 1) {
		n = strnlen(argv.p + at, argv.len - at);
		if (at)
			buf_addch(&words, ' ');
		say_word(&words, (struct str){ argv.p + at, n });
	}
	table_cell(k->table, buf_str(&words), words.len);
}

void sink_u64(struct sink *k, bool known, uint64_t n)
{
	char name[32];

	if (k->table && known)
		table_cell_u64(k->table, n);
	else if (k->table)
		table_cell(k->table, "", 0);
	else if (!known)
		k->cell++;
	else
		json_out_u64(k->to, key(k, name), MIN(n, (uint64_t)INT64_MAX));
}

void sink_row_end(struct sink *k)
{
	if (k->table)
		return;
	json_out_close(k->to, '}');
	if (k->o->form == SHOW_NDJSON)
		buf_addch(k->to, '\n');
}

void sink_end(struct sink *k)
{
	if (k->o->form == SHOW_JSON)
		buf_addstr(k->to, "]}\n");
	else if (k->o->form == SHOW_TEXT)
		table_text(k->table, k->o->width, k->to);
	else if (k->o->form == SHOW_TSV)
		table_tsv(k->table, k->to);
	table_free(k->table);
	k->table = NULL;
}
