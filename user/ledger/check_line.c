/* SPDX-License-Identifier: MIT */
/*
 * What a line must be besides canonical: `t` first, a time only behind it, and
 * `more` lines only where a record waits for them. Keeps one record that is
 * being continued, of bounded size.
 */
#include "base/json_line.h"
#include "check.h"

int check_order(struct cur line, struct line_time *ret)
{
	struct json_line j;
	struct json_val v;
	int r;

	*ret = (struct line_time){ 0 };
	if (json_line_start(&j, line) < 0 || json_line_next(&j, &v) != 1 ||
	    !cur_is(&v.key, "t") || v.type != JSON_STR)
		return -EBADMSG;
	for (size_t n = 1; (r = json_line_next(&j, &v)) > 0; n++) {
		if (cur_is(&v.key, "b") && v.type == JSON_INT) {
			if (n != 1 || v.num < 0)
				return -EBADMSG;
			*ret = (struct line_time){ true, (uint64_t)v.num };
			return 0; /* no key stands twice */
		}
		if (v.type >= JSON_OBJ && json_line_skip(&j, &v, NULL) < 0)
			return -EBADMSG;
	}
	return r;
}

static int finish(struct chain *c)
{
	_cleanup_buf_ struct buf whole = BUF_INIT;
	int r;

	r = line_join_finish(&c->join, &whole);
	c->waits = false;
	line_join_done(&c->join);
	return r < 0 || whole.len > RECORD_MAX_BYTES ? -EBADMSG : 0;
}

static int go_on(struct chain *c, struct cur line)
{
	int r;

	if (c->blind)
		return 0;
	r = c->waits ? line_join_add(&c->join, line) : -EBADMSG;
	return r == 1 ? finish(c) : r;
}

int chain_add(struct chain *c, struct cur line, uint64_t leaf)
{
	uint64_t n;

	if (cur_starts(&line, "{\"t\":\"segment\"") || cur_starts(&line, "{\"t\":\"seal\""))
		return 0; /* may stand between the lines of one record */
	if (cur_starts(&line, "{\"t\":\"more\""))
		return go_on(c, line);
	c->blind = false;
	if (c->waits)
		return -EBADMSG;
	if (!line_has_more(line, &n))
		return 0;
	c->waits = true;
	return line_join_start(&c->join, line, leaf);
}

void chain_skip(struct chain *c, bool blind)
{
	line_join_done(&c->join);
	*c = (struct chain){ .blind = blind };
}
