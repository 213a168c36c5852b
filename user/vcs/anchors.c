/* SPDX-License-Identifier: MIT */
/*
 * Reading anchors, see anchors.h. `git log` only names the commits worth a
 * look; the messages come from `cat-file --batch`, which frames them by length,
 * so that nothing in a message can pass for something else.
 */
#include "anchors.h"

#include "base/num.h"
#include "trailer.h"

#include <errno.h>

struct object {
	char id[ANCHOR_ID_MAX + 1];
	struct cur content;
};

static bool is_commit_id(const struct cur *c)
{
	if (cur_left(c) != 40 && cur_left(c) != ANCHOR_ID_MAX)
		return false;
	for (const uint8_t *at = c->at; at < c->end; at++)
		if (!memchr("0123456789abcdef", *at, 16))
			return false;
	return true;
}

/* ID commit LENGTH\n CONTENT \n */
static int take_object(struct cur *in, struct object *ret)
{
	struct cur id, type, size, newline;
	uint64_t n;

	if (cur_until(in, ' ', &id) < 0 || !is_commit_id(&id) || cur_until(in, ' ', &type) < 0 ||
	    !cur_is(&type, "commit") || cur_until(in, '\n', &size) < 0 ||
	    num_u64((const char *)size.at, cur_left(&size), MAX_GIT_OUTPUT, &n) < 0 ||
	    cur_take(in, n, &ret->content) < 0 || cur_take(in, 1, &newline) < 0)
		return -EBADMSG;
	memcpy(ret->id, id.at, cur_left(&id)); /* bounded by is_commit_id() */
	ret->id[cur_left(&id)] = '\0';
	return 0;
}

/* Header lines end at the first empty line; a commit without one has no message. */
static struct cur message_of(struct cur content)
{
	struct cur line;

	while (!cur_until(&content, '\n', &line))
		if (!cur_left(&line))
			return content;
	return (struct cur){ content.end, content.end };
}

static int read_objects(const struct git *g, struct cur in, struct anchors *to, struct diag *d)
{
	int r = 0;

	while (!r && cur_left(&in)) {
		struct object o;

		r = take_object(&in, &o);
		if (!r)
			r = trailer_scan(message_of(o.content), o.id, to);
		if (!r && to->n > MAX_ANCHORS)
			r = -E2BIG;
	}
	if (r == -E2BIG)
		return diag_set(d, r, "%s holds more anchors than are looked at", g->dir ? g->dir : "it");
	return r < 0 ? diag_set(d, r, "%s: git shows a commit in no form that is known",
				g->dir ? g->dir : "here") : 0;
}

static int count(const struct git *g, struct anchors_seen *seen, struct diag *d)
{
	_cleanup_buf_ struct buf n = BUF_INIT, shallow = BUF_INIT;
	int r;

	r = GIT_LINE(g, &n, d, "rev-list", "--all", "--count");
	if (!r)
		r = num_u64(buf_str(&n), n.len, UINT64_MAX, &seen->commits);
	if (!r)
		r = GIT_LINE(g, &shallow, d, "rev-parse", "--is-shallow-repository");
	if (r == -ENOENT || r == -EINVAL)
		return diag_set(d, r, "cannot count the commits of %s", g->dir ? g->dir : "it");
	seen->shallow = !strcmp(buf_str(&shallow), "true");
	return r;
}

int anchors_collect(const struct git *g, const char *from, struct anchors *to,
		    struct anchors_seen *ret_seen, struct diag *d)
{
	_cleanup_buf_ struct buf ids = BUF_INIT, objects = BUF_INIT;
	int r;

	/* a fixed string anywhere in a line: also behind blanks */
	r = GIT_MUST(g, NULL, &ids, d, "log", "--no-show-signature", "--no-mailmap", "--fixed-strings",
		     "--grep=" TRAILER_KEY ": ", "--format=%H", from);
	if (!r && ids.len)
		r = GIT_MUST(g, &ids, &objects, d, "cat-file", "--batch");
	if (!r)
		r = read_objects(g, cur_of(objects.data, objects.len), to, d);
	if (!r && ret_seen)
		r = count(g, ret_seen, d);
	return r;
}
