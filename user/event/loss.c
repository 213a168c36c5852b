/* SPDX-License-Identifier: MIT */
/* Counts of what is missing, and their JSON form, see loss.h. */
#include "loss.h"

#include "base/json_line.h"
#include "base/json_out.h"

uint64_t loss_total(const struct loss *l)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < EV_LOSS_COUNT; cause++)
		for (int class = 0; class < EV_CLASS_COUNT; class++)
			sum += l->n[cause][class];
	return sum;
}

void loss_add(struct loss *l, const struct loss *more)
{
	for (int cause = 0; cause < EV_LOSS_COUNT; cause++)
		for (int class = 0; class < EV_CLASS_COUNT; class++)
			l->n[cause][class] += more->n[cause][class];
	l->unknown |= more->unknown;
}

static void cause_to_json(const uint64_t *n, const char *word, struct buf *to)
{
	bool open = false;

	for (int class = 0; class < EV_CLASS_COUNT; class++) {
		if (!n[class])
			continue;
		if (!open)
			json_out_open(to, word, '{');
		open = true;
		json_out_u64(to, event_class_words[class], n[class]);
	}
	if (open)
		json_out_close(to, '}');
}

void loss_to_json(const struct loss *l, struct buf *to)
{
	if (l->unknown) {
		buf_addstr(to, "null");
		return;
	}
	buf_addch(to, '{');
	for (int cause = 0; cause < EV_LOSS_COUNT; cause++)
		cause_to_json(l->n[cause], event_loss_words[cause], to);
	buf_addch(to, '}');
}

/* The number of the word that `key` is, or -EBADMSG. */
static int word_of(const struct cur *key, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (cur_is(key, words[i]))
			return i;
	return -EBADMSG;
}

static int cause_from_json(struct json_line *j, uint64_t *n)
{
	struct json_val v;
	int r;

	while ((r = json_line_next(j, &v)) > 0) {
		int class = word_of(&v.key, event_class_words, EV_CLASS_COUNT);

		if (class < 0 || v.type != JSON_INT || v.num <= 0)
			return -EBADMSG;
		n[class] = (uint64_t)v.num;
	}
	return r;
}

int loss_from_json(const char *text, size_t len, struct loss *ret)
{
	struct cur in = cur_of(text, len);
	struct loss l = { .unknown = cur_is(&in, "null") };
	struct json_line j;
	struct json_val v;
	int r;

	if (!l.unknown) {
		r = json_line_start(&j, in);
		if (r < 0)
			return r;
		while ((r = json_line_next(&j, &v)) > 0) {
			int cause = word_of(&v.key, event_loss_words, EV_LOSS_COUNT);

			if (cause < 0 || v.type != JSON_OBJ || cause_from_json(&j, l.n[cause]) < 0)
				return -EBADMSG;
		}
		if (r < 0 || json_line_end(&j) < 0)
			return -EBADMSG;
	}
	*ret = l;
	return 0;
}
