/* SPDX-License-Identifier: MIT */
/* Long records in several lines, see line.h. */
#include "line.h"

#include "base/json_line.h"
#include "base/num.h"

#define MORE_ROOM 32		   /* for ,"more":N in the head line */
#define TEXT_MAX (LINE_MAX_BYTES - 1) /* without the newline */

/* ---- the top level of a line ------------------------------------------------ */

struct part {
	struct cur key;
	enum json_type type;
	struct cur all; /* the value's text, with quotes or brackets */
};

struct parts {
	struct part part[JSON_MAX_KEYS];
	size_t n;
};

static int next_part(struct json_line *j, struct part *ret)
{
	struct json_val v;
	int r;

	r = json_line_next(j, &v);
	if (r <= 0)
		return r;
	ret->key = v.key;
	ret->type = v.type;
	ret->all = v.text;
	if (v.type == JSON_STR)
		ret->all = (struct cur){ v.text.at - 1, v.text.end + 1 }; /* its quotes */
	if (v.type >= JSON_OBJ && json_line_skip(j, &v, &ret->all) < 0)
		return -EBADMSG;
	return 1;
}

static int take_apart(struct cur line, struct parts *ret)
{
	struct json_line j;
	int r;

	ret->n = 0;
	r = json_line_start(&j, line);
	while (!r) {
		struct part p;

		r = next_part(&j, &p);
		if (r == 0)
			return json_line_end(&j);
		if (r > 0)
			ret->part[ret->n++] = p; /* the parser counts keys */
		r = r < 0 ? r : 0;
	}
	return r;
}

int line_check(struct cur line)
{
	struct json_line j;
	struct part p;
	size_t n = 0;
	int r;

	r = json_line_start(&j, line);
	if (r < 0)
		return r;
	for (; (r = next_part(&j, &p)) > 0; n++)
		if (cur_is(&p.key, "s") || cur_is(&p.key, "h"))
			return -EBADMSG;
	if (r < 0 || !n)
		return -EBADMSG;
	return json_line_end(&j);
}

static struct cur inside(const struct cur *all)
{
	return (struct cur){ all->at + 1, all->end - 1 };
}

/* ---- splitting -------------------------------------------------------------- */

/* What is still to be written of a value that was cut. */
struct rest {
	struct part *part;
	struct cur in;
	bool mid; /* `in` begins within a string element of an array */
};

/* As many whole characters and escapes as fit. */
static struct cur take_chars(struct cur *in, size_t room)
{
	const uint8_t *from = in->at, *to = from;
	uint32_t ch;

	while (cur_left(in) && *in->at != '"' && !json_char(in, &ch) &&
	       (size_t)(in->at - from) <= room)
		to = in->at;
	in->at = to;
	return (struct cur){ from, to };
}

static void cut_string(struct rest *rest, size_t room, struct buf *to)
{
	struct cur some = take_chars(&rest->in, room);

	buf_addch(to, '"');
	buf_add(to, some.at, cur_left(&some));
	buf_addch(to, '"');
}

/* 1 = the element is complete, 0 = no more fits. */
static int cut_string_elem(struct rest *rest, size_t room, struct buf *to)
{
	struct rest after = *rest;
	struct cur some;

	if (!after.mid)
		(void)cur_skip(&after.in, 1); /* its opening quote */
	some = take_chars(&after.in, room);
	after.mid = *after.in.at != '"';
	if (after.mid && !cur_left(&some))
		return 0;
	buf_addch(to, '"');
	buf_add(to, some.at, cur_left(&some));
	buf_addch(to, '"');
	if (!after.mid)
		(void)cur_skip(&after.in, 1); /* its closing quote */
	*rest = after;
	return !rest->mid;
}

static struct cur take_other_elem(struct cur *in)
{
	const uint8_t *from = in->at;
	size_t depth = 0;
	struct cur c = *in;
	bool quoted = false;

	/* the text is canonical: only quotes and brackets matter */
	for (uint8_t b; cur_left(&c); (void)cur_u8(&c, &b)) {
		b = *c.at;
		if (quoted && b == '\\')
			(void)cur_skip(&c, 1);
		else if (b == '"')
			quoted = !quoted;
		else if (!quoted && (b == '[' || b == '{'))
			depth++;
		else if (!quoted && (b == ']' || b == '}'))
			depth--;
		else if (!quoted && !depth && b == ',')
			break;
	}
	in->at = c.at;
	return (struct cur){ from, c.at };
}

static int cut_other_elem(struct rest *rest, size_t room, struct buf *to)
{
	struct cur in = rest->in, elem = take_other_elem(&in);

	if (cur_left(&elem) > room)
		return 0;
	buf_add(to, elem.at, cur_left(&elem));
	rest->in = in;
	return 1;
}

static void cut_array(struct rest *rest, size_t room, struct buf *to)
{
	size_t end = to->len + room;
	int whole = 1;

	buf_addch(to, '[');
	while (whole && cur_left(&rest->in)) {
		size_t before = to->len, overhead = 4; /* comma, two quotes, bracket */

		if (to->len + overhead > end)
			break;
		if (to->data[before - 1] != '[')
			buf_addch(to, ',');
		room = end - before - overhead;
		if (rest->mid || *rest->in.at == '"')
			whole = cut_string_elem(rest, room, to);
		else
			whole = cut_other_elem(rest, room, to);
		if (!whole && to->data[to->len - 1] == ',' && to->len == before + 1)
			buf_cut(to, before);
		if (whole && cur_left(&rest->in))
			(void)cur_skip(&rest->in, 1); /* the comma between elements */
	}
	buf_addch(to, ']');
}

/* The head of the value, or its next piece, as JSON of at most `room` bytes. */
static void cut(struct rest *rest, size_t room, struct buf *to)
{
	if (rest->part->type == JSON_STR)
		cut_string(rest, room - 2, to);
	else
		cut_array(rest, room, to);
}

static struct part *longest(struct parts *p, const struct rest *cuts, size_t n_cuts)
{
	struct part *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct part *q = &p->part[i];
		bool taken = q->type != JSON_STR && q->type != JSON_ARR;

		for (size_t c = 0; c < n_cuts; c++)
			taken |= cuts[c].part == q;
		if (!taken && (!best || cur_left(&q->all) > cur_left(&best->all)))
			best = q;
	}
	return best;
}

struct split {
	struct parts parts;
	struct rest cuts[LINE_MAX_CUTS];
	struct buf heads[LINE_MAX_CUTS]; /* what the head line keeps of each */
	size_t n_cuts;
};

static void split_done(struct split *s)
{
	for (size_t i = 0; i < LINE_MAX_CUTS; i++)
		buf_done(&s->heads[i]);
}

/* Cuts the longest values until the head line fits. */
static int choose_cuts(struct split *s, size_t len)
{
	while (len > TEXT_MAX - MORE_ROOM) {
		size_t excess = len - (TEXT_MAX - MORE_ROOM), had, keep;
		struct rest *c = &s->cuts[s->n_cuts];

		if (s->n_cuts == LINE_MAX_CUTS)
			return -EMSGSIZE;
		*c = (struct rest){ .part = longest(&s->parts, s->cuts, s->n_cuts) };
		if (!c->part)
			return -EMSGSIZE;
		had = cur_left(&c->part->all);
		keep = had > excess + 2 ? had - excess : 2;
		c->in = inside(&c->part->all);
		cut(c, keep, &s->heads[s->n_cuts]);
		len = len - had + s->heads[s->n_cuts++].len;
	}
	return 0;
}

static void more_open(struct buf *to, uint64_t leaf, const struct cur *key, uint64_t i,
		      uint64_t of, bool mid)
{
	buf_addf(to, "{\"t\":\"more\",\"r\":%llu,\"k\":\"", (unsigned long long)leaf);
	buf_add(to, key->at, cur_left(key));
	buf_addf(to, "\",\"i\":%llu,\"of\":%llu,%s\"v\":", (unsigned long long)i,
		 (unsigned long long)of, mid ? "\"c\":1," : "");
}

/* One `more` line; -EMSGSIZE if not even one element fits. */
static int more_line(struct rest *rest, uint64_t leaf, uint64_t i, uint64_t of, struct buf *to)
{
	const uint8_t *before = rest->in.at;
	size_t from = to->len, used;

	more_open(to, leaf, &rest->part->key, i, of, rest->mid);
	used = to->len - from;
	if (used + MORE_ROOM > TEXT_MAX)
		return -EMSGSIZE; /* a key of that length */
	cut(rest, TEXT_MAX - used - 1, to);
	buf_add(to, "}\n", 2);
	return rest->in.at == before ? -EMSGSIZE : 0;
}

/* Counts with `of` 0 first, then writes; the numbers' room is the same for both. */
static int more_lines(const struct split *s, uint64_t leaf, uint64_t of, struct buf *to)
{
	int n = 0, r;

	for (size_t c = 0; c < s->n_cuts; c++) {
		struct rest rest = s->cuts[c];

		while (cur_left(&rest.in)) {
			r = more_line(&rest, leaf, (uint64_t)++n, of, to);
			if (r < 0)
				return r;
		}
	}
	return n;
}

static void head_line(const struct split *s, struct cur text, int more, struct buf *to)
{
	const uint8_t *at = text.at;

	for (size_t i = 0; i < s->parts.n; i++)
		for (size_t c = 0; c < s->n_cuts; c++) {
			const struct part *p = &s->parts.part[i];

			if (s->cuts[c].part != p)
				continue;
			buf_add(to, at, (size_t)(p->all.at - at));
			buf_add(to, s->heads[c].data, s->heads[c].len);
			at = p->all.end;
		}
	buf_add(to, at, (size_t)(text.end - at) - 1);
	buf_addf(to, ",\"more\":%d}\n", more);
}

/* 9999 is beyond what RECORD_MAX_BYTES can need: the widest `of` is measured first. */
static int split_long(struct split *s, struct cur text, uint64_t leaf, struct buf *to)
{
	_cleanup_buf_ struct buf more = BUF_INIT;
	int n, r;

	r = choose_cuts(s, cur_left(&text));
	if (r < 0)
		return r;
	n = more_lines(s, leaf, 9999, &more);
	if (n < 0)
		return n;
	for (uint64_t of = (uint64_t)n;; of = (uint64_t)n) {
		buf_reset(&more);
		n = more_lines(s, leaf, of, &more);
		if (n < 0 || (uint64_t)n == of)
			break;
	}
	if (n < 0)
		return n;
	head_line(s, text, n, to);
	buf_add(to, more.data, more.len);
	return n + 1;
}

static bool has_key(const struct parts *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (cur_is(&p->part[i].key, key))
			return true;
	return false;
}

int line_split(struct cur text, uint64_t leaf, struct buf *to)
{
	_cleanup_(split_done) struct split s = { 0 };

	if (cur_left(&text) > RECORD_MAX_BYTES)
		return -EMSGSIZE;
	if (take_apart(text, &s.parts) < 0 || !s.parts.n || has_key(&s.parts, "s") ||
	    has_key(&s.parts, "h") || has_key(&s.parts, "more"))
		return -EBADMSG;
	if (cur_left(&text) > TEXT_MAX)
		return split_long(&s, text, leaf, to);
	buf_add(to, text.at, cur_left(&text));
	buf_addch(to, '\n');
	return 1;
}

/* ---- joining ---------------------------------------------------------------- */

bool line_has_more(struct cur line, uint64_t *ret_n)
{
	struct json_line j;
	struct json_val v;
	uint64_t n = 0;
	int r;

	if (!memmem(line.at, cur_left(&line), "\"more\":", 7) || json_line_start(&j, line) < 0)
		return false; /* few lines are parsed */
	while ((r = json_line_next(&j, &v)) > 0) { /* the last key decides */
		n = cur_is(&v.key, "more") && v.type == JSON_INT && v.num > 0 ? (uint64_t)v.num : 0;
		if (v.type >= JSON_OBJ && json_line_skip(&j, &v, NULL) < 0)
			return false;
	}
	if (r < 0 || !n)
		return false;
	*ret_n = n;
	return true;
}

void line_join_done(struct line_join *j)
{
	buf_done(&j->head);
	for (size_t i = 0; i < LINE_MAX_CUTS; i++) {
		buf_done(&j->cuts[i].key);
		buf_done(&j->cuts[i].value);
	}
	*j = (struct line_join){ 0 };
}

int line_join_start(struct line_join *j, struct cur head, uint64_t leaf)
{
	line_join_done(j);
	if (cur_left(&head) > TEXT_MAX || !line_has_more(head, &j->want) ||
	    j->want >= RECORD_MAX_BYTES)
		return -EBADMSG;
	buf_add(&j->head, head.at, cur_left(&head));
	j->leaf = leaf;
	return 0;
}

struct more {
	struct cur key, value;
	enum json_type type;
	int64_t leaf, i, of, continued;
};

/* One spelling; all of them are there or counted as missing. */
static bool is_in_order(const struct parts *p)
{
	static const char *const keys[] = { "t", "r", "k", "i", "of", "c", "v" };
	size_t at = 0;

	for (size_t n = 0; n < p->n; n++, at++) {
		while (at < ARRAY_SIZE(keys) && !cur_is(&p->part[n].key, keys[at]))
			at++;
		if (at == ARRAY_SIZE(keys))
			return false;
	}
	return true;
}

/* {"t":"more","r":…,"k":"…","i":…,"of":…[,"c":1],"v":…} and nothing else */
static int parse_more(struct cur line, struct more *m)
{
	static const struct {
		const char *key;
		enum json_type type;
		size_t num_at;
	} rows[] = {
		{ "r", JSON_INT, offsetof(struct more, leaf) },
		{ "i", JSON_INT, offsetof(struct more, i) },
		{ "of", JSON_INT, offsetof(struct more, of) },
		{ "c", JSON_INT, offsetof(struct more, continued) },
	};
	struct parts p;
	size_t seen = 0;

	*m = (struct more){ 0 };
	if (take_apart(line, &p) < 0 || !is_in_order(&p))
		return -EBADMSG;
	for (size_t n = 0; n < p.n; n++) {
		const struct part *q = &p.part[n];

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			if (!cur_is(&q->key, rows[i].key) || q->type != rows[i].type)
				continue;
			if (num_i64((const char *)q->all.at, cur_left(&q->all),
				    (int64_t *)((char *)m + rows[i].num_at)) < 0)
				return -EBADMSG;
			seen++;
		}
		if (cur_is(&q->key, "t") && cur_is(&q->all, "\"more\""))
			seen++;
		if (cur_is(&q->key, "k") && q->type == JSON_STR)
			m->key = inside(&q->all), seen++;
		if (cur_is(&q->key, "v") && (q->type == JSON_STR || q->type == JSON_ARR))
			m->value = q->all, m->type = q->type, seen++;
	}
	if (seen != p.n || seen != 6 + (size_t)!!m->continued || (uint64_t)m->continued > 1)
		return -EBADMSG;
	return m->key.at && m->value.at ? 0 : -EBADMSG;
}

static int head_value(const struct line_join *j, const struct cur *key, struct cur *ret)
{
	struct parts p;

	if (cur_is(key, "t") || take_apart(cur_of(j->head.data, j->head.len), &p) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < p.n; i++) {
		if (cur_left(&p.part[i].key) != cur_left(key) ||
		    memcmp(p.part[i].key.at, key->at, cur_left(key)))
			continue;
		*ret = p.part[i].all;
		return p.part[i].type == JSON_STR || p.part[i].type == JSON_ARR ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}

static struct line_cut *find_cut(struct line_join *j, const struct cur *key)
{
	struct line_cut *c;
	struct cur value;

	for (size_t i = 0; i < j->n_cuts; i++)
		if (cur_is(key, buf_str(&j->cuts[i].key)))
			return &j->cuts[i];
	if (j->n_cuts == LINE_MAX_CUTS || head_value(j, key, &value) < 0)
		return NULL;
	c = &j->cuts[j->n_cuts++];
	buf_add(&c->key, key->at, cur_left(key));
	buf_add(&c->value, value.at, cur_left(&value));
	return c;
}

static int append_string(struct buf *value, const struct more *m)
{
	struct cur piece = inside(&m->value);

	if (m->continued)
		return -EBADMSG;
	buf_cut(value, value->len - 1); /* its quote comes with the piece */
	buf_add(value, piece.at, cur_left(&piece));
	buf_addch(value, '"');
	return 0;
}

static int append_array(struct buf *value, const struct more *m)
{
	struct cur piece = inside(&m->value);
	bool empty = value->len == 2;

	if (!cur_left(&piece))
		return m->continued ? -EBADMSG : 0;
	buf_cut(value, value->len - 1); /* the bracket */
	if (m->continued) {
		if (empty || value->data[value->len - 1] != '"' || *piece.at != '"')
			return -EBADMSG;
		buf_cut(value, value->len - 1);
		(void)cur_skip(&piece, 1); /* both halves of one string */
	} else if (!empty) {
		buf_addch(value, ',');
	}
	buf_add(value, piece.at, cur_left(&piece));
	buf_addch(value, ']');
	return 0;
}

static size_t joined_len(const struct line_join *j)
{
	size_t n = j->head.len;

	for (size_t i = 0; i < j->n_cuts; i++)
		n += j->cuts[i].value.len;
	return n;
}

int line_join_add(struct line_join *j, struct cur line)
{
	struct line_cut *c;
	struct more m;
	int r;

	if (parse_more(line, &m) < 0 || (uint64_t)m.leaf != j->leaf ||
	    (uint64_t)m.i != j->got + 1 || (uint64_t)m.of != j->want)
		return -EBADMSG;
	c = find_cut(j, &m.key);
	if (!c || (c->value.data[0] == '"') != (m.type == JSON_STR))
		return -EBADMSG;
	r = m.type == JSON_STR ? append_string(&c->value, &m) : append_array(&c->value, &m);
	if (r < 0 || joined_len(j) > RECORD_MAX_BYTES + LINE_MAX_BYTES)
		return -EBADMSG;
	j->got++;
	return j->got == j->want;
}

int line_join_finish(const struct line_join *j, struct buf *to)
{
	struct cur head = cur_of(j->head.data, j->head.len);
	const uint8_t *at = head.at;
	struct parts p;

	if (j->got != j->want || take_apart(head, &p) < 0)
		return -EBADMSG;
	if (!cur_is(&p.part[p.n - 1].key, "more"))
		return -EBADMSG; /* the writer puts it last */
	for (size_t i = 0; i + 1 < p.n; i++)
		for (size_t c = 0; c < j->n_cuts; c++) {
			if (!cur_is(&p.part[i].key, buf_str(&j->cuts[c].key)))
				continue;
			buf_add(to, at, (size_t)(p.part[i].all.at - at));
			buf_add(to, j->cuts[c].value.data, j->cuts[c].value.len);
			at = p.part[i].all.end;
		}
	buf_add(to, at, (size_t)(p.part[p.n - 1].key.at - 2 - at)); /* up to its comma */
	buf_addch(to, '}');
	return 0;
}
