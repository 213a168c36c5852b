/* SPDX-License-Identifier: MIT */
/* Heads in commit messages, see trailer.h. */
#include "trailer.h"

#include "base/base64.h"
#include "base/num.h"

#define HOST "deedlog.invalid/"

/* ---- from a head -------------------------------------------------------------- */

static bool is_log_name(struct cur name)
{
	struct cur digits;

	if (!cur_starts(&name, HOST) || cur_skip(&name, strlen(HOST)) < 0 ||
	    cur_take(&name, LOG_ID_LEN, &digits) < 0 || cur_left(&name))
		return false;
	for (; digits.at < digits.end; digits.at++)
		if (!memchr("0123456789abcdef", *digits.at, 16))
			return false;
	return true;
}

static void add_sig(struct buf *to, const struct note_sig *s)
{
	buf_addch(to, ' ');
	base64_add(to, s->blob, s->len);
}

/* The index key signs under the log's own name, the identity under its own. */
static const struct note_sig *find_sig(const struct note *n, bool index, size_t len)
{
	for (size_t i = 0; i < n->n_sigs; i++)
		if (n->sigs[i].len == len && cur_is(&n->sigs[i].name, n->cp.origin) == index &&
		    (index || cur_starts(&n->sigs[i].name, HOST "id/")))
			return &n->sigs[i];
	return NULL;
}

int trailer_of_head(struct cur note, struct buf *to)
{
	const struct note_sig *index, *identity;
	struct note n;

	if (note_parse(note, &n) < 0 || !n.cp.size ||
	    !is_log_name(cur_of(n.cp.origin, strlen(n.cp.origin))))
		return -EBADMSG;
	index = find_sig(&n, true, ANCHOR_SIG_LEN);
	identity = find_sig(&n, false, ANCHOR_COSIG_LEN);
	if (!index)
		return -EBADMSG;
	buf_addf(to, "%s %llu ", n.cp.origin, (unsigned long long)n.cp.size);
	base64_add(to, n.cp.root.b, sizeof(n.cp.root.b));
	add_sig(to, index);
	if (identity)
		add_sig(to, identity);
	return 0;
}

/* ---- from a message ------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim_end(struct cur *c)
{
	while (cur_left(c) && is_blank(c->end[-1]))
		c->end--;
}

static int take_size(struct cur *value, uint64_t *ret)
{
	struct cur text;

	if (cur_until(value, ' ', &text) < 0 ||
	    num_u64((const char *)text.at, cur_left(&text), INT64_MAX, ret) < 0)
		return -EBADMSG;
	return *ret ? 0 : -EBADMSG;
}

static int parse(struct cur value, struct anchor *a)
{
	struct cur name, root, sig;

	if (cur_until(&value, ' ', &name) < 0 || !is_log_name(name) ||
	    take_size(&value, &a->cp.size) < 0 || cur_until(&value, ' ', &root) < 0 ||
	    base64_exact(root, a->cp.root.b, sizeof(a->cp.root.b)) < 0)
		return -EBADMSG;
	memcpy(a->cp.origin, name.at, cur_left(&name)); /* its length is that of a log's name */
	a->cp.origin[cur_left(&name)] = '\0';
	a->has_cosig = !cur_until(&value, ' ', &sig);
	if (!a->has_cosig)
		sig = value;
	if (base64_exact(sig, a->sig, sizeof(a->sig)) < 0)
		return -EBADMSG;
	return a->has_cosig ? base64_exact(value, a->cosig, sizeof(a->cosig)) : 0;
}

bool trailer_parse(struct cur value, struct anchor *a)
{
	struct anchor parsed = { 0 };

	trim_end(&value);
	parsed.malformed = parse(value, &parsed) < 0;
	if (parsed.malformed)
		parsed = (struct anchor){ .malformed = true };
	*a = parsed;
	return !parsed.malformed;
}

static bool take_key(struct cur *line, bool *ret_squashed)
{
	*ret_squashed = false;
	while (cur_left(line) && is_blank(*line->at)) {
		(void)cur_skip(line, 1); /* there is one */
		*ret_squashed = true;
	}
	return cur_starts(line, TRAILER_KEY ": ") && !cur_skip(line, strlen(TRAILER_KEY ": "));
}

static void take_line(struct cur *message, struct cur *ret)
{
	if (!cur_until(message, '\n', ret))
		return;
	*ret = *message;
	message->at = message->end;
}

int trailer_scan(struct cur message, const char *commit, struct anchors *to)
{
	size_t found = 0;

	while (cur_left(&message)) {
		struct anchor *a;
		struct cur line;
		bool squashed;

		take_line(&message, &line);
		if (!take_key(&line, &squashed))
			continue;
		if (found++ == MAX_MESSAGE_HEADS)
			return -E2BIG;
		a = anchors_add(to);
		(void)trailer_parse(line, a); /* it says so itself */
		a->squashed = squashed;
		(void)snprintf(a->commit, sizeof(a->commit), "%s", commit); /* its length was checked */
	}
	return 0;
}
