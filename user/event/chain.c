/* SPDX-License-Identifier: MIT */
/* Parts of execs under way, see chain.h. */
#include "chain.h"

#include "base/alloc.h"

struct chain {
	uint32_t pid, tid; /* pid 0: free */
	uint64_t used;	   /* the clock of the last part, for giving way */
	size_t n_scripts;
	struct slice script_head[MAX_SCRIPTS]; /* flags and lengths; the bytes lie in `scripts` */
	struct buf scripts, argv;
};

struct chains {
	struct chain chain[MAX_CHAINS];
	uint64_t clock;
	size_t n_used;
};

struct chains *chains_new(void)
{
	return xcalloc(1, sizeof(struct chains));
}

static void forget(struct chains *c, struct chain *chain)
{
	if (!chain->pid)
		return;
	buf_done(&chain->scripts);
	buf_done(&chain->argv);
	*chain = (struct chain){ 0 };
	c->n_used--;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < MAX_CHAINS; i++)
		forget(c, &c->chain[i]);
	free(c);
}

void chains_drop(struct chains *c, uint32_t pid)
{
	for (size_t i = 0; c->n_used && i < MAX_CHAINS; i++)
		if (c->chain[i].pid == pid)
			forget(c, &c->chain[i]);
}

static struct chain *find(struct chains *c, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; c->n_used && i < MAX_CHAINS; i++)
		if (c->chain[i].pid == pid && c->chain[i].tid == tid)
			return &c->chain[i];
	return NULL;
}

static struct chain *start(struct chains *c, const struct ev_head *h)
{
	struct chain *best = &c->chain[0];

	for (size_t i = 1; i < MAX_CHAINS && best->pid; i++)
		if (c->chain[i].used < best->used)
			best = &c->chain[i]; /* a free one was never used: it wins */
	forget(c, best);
	best->pid = h->pid;
	best->tid = h->tid;
	c->n_used++;
	return best;
}

static int add_script(struct chain *chain, const struct slice *s)
{
	if (chain->n_scripts == MAX_SCRIPTS)
		return -EBADMSG;
	chain->script_head[chain->n_scripts++] = *s;
	buf_add(&chain->scripts, s->bytes.at, cur_left(&s->bytes));
	return 0;
}

static int add_argv(struct chain *chain, const struct slice *s)
{
	if (chain->argv.len + cur_left(&s->bytes) > EV_ARGV_BYTES)
		return -EBADMSG;
	buf_add(&chain->argv, s->bytes.at, cur_left(&s->bytes));
	return 0;
}

static int (*const adders[])(struct chain *chain, const struct slice *s) = {
	[EV_PART_SCRIPT] = add_script,
	[EV_PART_ARGV] = add_argv,
};

int chains_add(struct chains *c, const struct ev_part *part, const struct slice *bytes)
{
	struct chain *chain = find(c, part->head.pid, part->head.tid);

	if (part->of >= ARRAY_SIZE(adders) || !part->head.pid)
		return -EBADMSG;
	if (chain && bytes->flags & EV_S_FIRST)
		forget(c, chain); /* the exec before failed after its check */
	if (!chain || !chain->pid)
		chain = start(c, &part->head);
	chain->used = ++c->clock;
	return adders[part->of](chain, bytes);
}

/* One script's path with its NUL; nothing if it is the executable itself. */
static void put_script(struct slice s, const struct event *e, struct buf *to)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	if (s.flags & EV_S_LEAF_FIRST) {
		if (name_join(&s, NULL, &path) < 0)
			return;
	} else {
		buf_add(&path, e->cwd.p, e->cwd.len);
		name_below(&path, s.bytes);
	}
	if (!path.len || (path.len == e->path.len && !memcmp(buf_str(&path), e->path.p, path.len)))
		return;
	buf_add(to, buf_str(&path), path.len + 1);
}

static void put_scripts(const struct chain *chain, const struct event *e, struct buf *to)
{
	struct cur bytes = cur_of(buf_str(&chain->scripts), chain->scripts.len);

	for (size_t i = 0; i < chain->n_scripts; i++) {
		struct slice s = chain->script_head[i];

		if (cur_take(&bytes, cur_left(&s.bytes), &s.bytes) == 0)
			put_script(s, e, to);
	}
}

static const struct chain *with_scripts(const struct chains *c, const struct ev_head *h)
{
	const struct chain *any = NULL;

	for (size_t i = 0; i < MAX_CHAINS; i++) {
		const struct chain *chain = &c->chain[i];

		if (chain->pid != h->pid || !chain->n_scripts)
			continue;
		if (chain->tid == h->tid)
			return chain;
		any = chain;
	}
	return any;
}

void chains_take(struct chains *c, const struct ev_head *h, const struct event *e,
		 struct buf *argv, struct buf *scripts)
{
	const struct chain *own = find(c, h->pid, h->tid), *other;

	if (own)
		buf_add(argv, own->argv.data, own->argv.len);
	other = c->n_used ? with_scripts(c, h) : NULL;
	if (other)
		put_scripts(other, e, scripts);
	chains_drop(c, h->pid);
}
