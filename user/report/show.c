/* SPDX-License-Identifier: MIT */
/* The views of show.h, each a walk over the session that feeds a sink. */
#include "show.h"

#include "base/alloc.h"
#include "say.h"
#include "sink.h"

/* ---- --tree ------------------------------------------------------------------ */

static const struct table_col tree_cols[] = {
	{ "PID", true, false, false },	  { "PARENT", true, false, false },
	{ "EXIT", false, false, false },  { "EXECS", true, false, false },
	{ "EXE", false, true, false },	  { "ARGV", false, false, true },
};

static void put_end(struct sink *k, const struct process *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (p->ended && p->killed)
		say_exit(&text, true, true, 0, p->signal);
	else if (p->ended)
		buf_addu64(&text, p->code);
	sink_str(k, (struct str){ buf_str(&text), text.len });
}

static void put_process(struct sink *k, const struct process *p, size_t depth)
{
	const struct str none = { "", 0 };
	const struct image *last = p->n_images ? &p->images[p->n_images - 1] : NULL;

	sink_row(k, depth);
	sink_u64(k, true, p->pid);
	sink_u64(k, p->parent, p->parent ? p->parent->pid : 0);
	put_end(k, p);
	sink_u64(k, true, p->execs);
	sink_str(k, last ? last->exe : none);
	sink_argv(k, last ? last->argv : none);
	sink_row_end(k);
}

void show_tree(const struct session *s, const struct show_options *o, struct buf *to)
{
	struct sink k = { .o = o, .schema = "deedlog/tree/1", .cols = tree_cols,
			  .n_cols = ARRAY_SIZE(tree_cols) };
	const struct process *p = NULL;
	size_t depth = 0;

	sink_begin(&k, to);
	while ((p = procs_next(&s->procs, p, &depth)))
		put_process(&k, p, depth);
	sink_end(&k);
}

/* ---- --files ------------------------------------------------------------------ */

static const struct table_col file_cols[] = {
	{ "ZONE", false, false, false },
	{ "ACCESS", false, false, false },
	{ "CHANGE", false, false, false },
	{ "PATH", false, false, false },
	{ "FROM", false, false, false },
};

struct named {
	const struct file *file;
	struct str path; /* owned */
};

/* By path, so that a directory stands together; files without a name come first, by age. */
static int by_path(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int r = memcmp(x->path.p, y->path.p, MIN(x->path.len, y->path.len));

	if (!r && x->path.len != y->path.len)
		r = x->path.len < y->path.len ? -1 : 1;
	return r ? r : (x->file->id < y->file->id ? -1 : x->file->id > y->file->id);
}

static struct named *sorted_files(const struct session *s, size_t *ret_n)
{
	struct named *all = xcalloc(s->files.n + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < s->files.n; i++) {
		struct buf path = BUF_INIT;
		size_t len;

		if (!tally_counts(s->files.files[i]))
			continue;
		tally_path(&s->files, s->files.files[i], &path);
		len = path.len;
		all[n++] = (struct named){ s->files.files[i], { buf_take(&path), len } };
	}
	qsort(all, n, sizeof(*all), by_path);
	*ret_n = n;
	return all;
}

static const char *change_word(const struct file *f)
{
	static const struct {
		uint32_t mask, is;
		const char *word;
	} rows[] = {
		{ DEED_BORN | DEED_GONE, DEED_BORN | DEED_GONE, "temporary" },
		{ DEED_GONE, DEED_GONE, "removed" },
		{ DEED_BORN, DEED_BORN, "created" },
		{ DEED_RENAMED, DEED_RENAMED, "renamed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((f->deeds & rows[i].mask) == rows[i].is)
			return rows[i].word;
	return "";
}

static const char *zone_word(const struct zone_ctx *ctx, const struct named *n)
{
	bool wrote = n->file->deeds & (DEED_WROTE | DEED_GONE);

	if (!n->path.len)
		return "unnamed";
	return zone_name(zone_of(ctx, n->path, wrote ? ZONE_WRITE : ZONE_READ));
}

static void put_file(struct sink *k, const struct zone_ctx *ctx, const struct named *n)
{
	static const char *const access[] = { "", "r", "w", "rw" };
	const struct file *f = n->file;

	sink_row(k, 0);
	sink_str(k, str_of(zone_word(ctx, n)));
	sink_str(k, str_of(access[f->deeds & (DEED_READ | DEED_WROTE)]));
	sink_str(k, str_of(change_word(f)));
	sink_str(k, n->path);
	sink_str(k, f->deeds & DEED_RENAMED ? f->from : (struct str){ "", 0 });
	sink_row_end(k);
}
_Static_assert((DEED_READ | DEED_WROTE) == 3, "put_file() looks the words up by these bits");

void show_files(const struct session *s, const struct show_options *o, struct buf *to)
{
	struct sink k = { .o = o, .schema = "deedlog/files/1", .cols = file_cols,
			  .n_cols = ARRAY_SIZE(file_cols) };
	struct zone_ctx ctx;
	struct named *all;
	size_t n;

	session_zones(s, &ctx);
	all = sorted_files(s, &n);
	sink_begin(&k, to);
	for (size_t i = 0; i < n; i++) {
		put_file(&k, &ctx, &all[i]);
		free((void *)all[i].path.p);
	}
	sink_end(&k);
	free(all);
}

/* ---- --net --------------------------------------------------------------------- */

static const struct table_col net_cols[] = {
	{ "PROTO", false, false, false },   { "ADDR", false, false, false },
	{ "PORT", true, false, false },	    { "NAME", false, false, false },
	{ "CONNECTS", true, false, false }, { "SENDS", true, false, false },
	{ "BINDS", true, false, false },    { "WHERE", false, false, false },
};

static const char *where_word(const struct peer_deed *p)
{
	if (p->local)
		return "local";
	if (!p->connects && !p->sends)
		return "own"; /* only bound */
	return p->loopback ? "loopback" : "outside";
}

void show_net(const struct session *s, const struct show_options *o, struct buf *to)
{
	struct sink k = { .o = o, .schema = "deedlog/net/1", .cols = net_cols,
			  .n_cols = ARRAY_SIZE(net_cols) };
	const struct peer_deed *p;
	size_t at = 0;

	sink_begin(&k, to);
	while ((p = session_peer(s, &at))) {
		sink_row(&k, 0);
		sink_str(&k, p->proto);
		sink_str(&k, p->addr);
		sink_u64(&k, p->has_port, p->port);
		sink_str(&k, p->name);
		sink_u64(&k, true, p->connects);
		sink_u64(&k, true, p->sends);
		sink_u64(&k, true, p->binds);
		sink_str(&k, str_of(where_word(p)));
		sink_row_end(&k);
	}
	sink_end(&k);
}
