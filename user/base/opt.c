/* SPDX-License-Identifier: MIT */
/* Command lines from tables, see opt.h. */
#include "opt.h"

#include "macros.h"
#include "num.h"
#include "timeutil.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#define MAX_WORD 32 /* longest word that is worth a suggestion */
#define NAME_VALUE 256 /* getopt value of row 0; letters stay below */

static size_t rows(const struct opt *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

static int takes_value(const struct opt *o)
{
	if (o->kind == OPT_MAYBE)
		return optional_argument;
	return o->kind == OPT_FLAG ? no_argument : required_argument;
}

/* ---- values ------------------------------------------------------------ */

static int bad_value(const struct opt *o, const char *text, struct diag *d)
{
	_cleanup_buf_ struct buf words = BUF_INIT;

	for (const struct opt_word *w = o->words; w && w->word; w++)
		buf_addf(&words, "%s%s", words.len ? ", " : "", w->word);
	if (words.len)
		return diag_set(d, -EINVAL, "--%s: \"%s\" is none of: %s", o->name, text,
				buf_str(&words));
	return diag_set(d, -EINVAL, "--%s: \"%s\" is no %s", o->name, text,
			o->kind == OPT_SECONDS ? "number of seconds" :
			o->kind == OPT_U32     ? "number" :
						 "choice (use 1 or 0)");
}

static int set_flag(const char *text, void *to)
{
	bool on = !strcmp(text, "1");

	if (!on && *text && strcmp(text, "0"))
		return -EINVAL;
	*(bool *)to = on;
	return 0;
}

static int set_seconds(const char *text, void *to)
{
	const char *dot = strchr(text, '.');
	size_t whole = dot ? (size_t)(dot - text) : strlen(text);
	uint64_t s, frac = 0, scale = NS_PER_S;
	int r;

	r = num_u64(text, whole, UINT64_MAX / NS_PER_S - 1, &s);
	if (r < 0)
		return r;
	for (const char *p = dot ? dot + 1 : ""; *p; p++) {
		if (!isdigit((unsigned char)*p) || scale == 1)
			return -EINVAL;
		scale /= 10;
		frac += scale * (uint64_t)(*p - '0');
	}
	*(uint64_t *)to = s * NS_PER_S + frac;
	return 0;
}

static int set_u32(const char *text, void *to)
{
	uint64_t n;
	int r = num_u64(text, strlen(text), UINT32_MAX, &n);

	if (!r)
		*(uint32_t *)to = (uint32_t)n;
	return r;
}

static int add_item(const char *text, struct opt_list *to)
{
	if (to->n == MAX_OPT_LIST)
		return -E2BIG;
	to->item[to->n++] = text;
	return 0;
}

static int find_word(const struct opt_word *words, const char *text, size_t len, int *ret)
{
	for (; words->word; words++)
		if (strlen(words->word) == len && !memcmp(words->word, text, len)) {
			*ret = words->value;
			return 0;
		}
	return -EINVAL;
}

static int set_set(const struct opt_word *words, const char *text, void *to)
{
	uint32_t all = 0;
	int one, r;

	for (;;) {
		size_t len = strcspn(text, ",");

		r = find_word(words, text, len, &one);
		if (r < 0)
			return r;
		all |= (uint32_t)one;
		if (!text[len])
			break;
		text += len + 1;
	}
	*(uint32_t *)to = all;
	return 0;
}

static int set_value(const struct opt *o, const char *text, void *values, struct diag *d)
{
	void *to = (char *)values + o->at;
	int r = 0;

	switch (o->kind) {
	case OPT_FLAG:
		r = set_flag(text, to);
		break;
	case OPT_TEXT:
	case OPT_MAYBE:
		*(const char **)to = text;
		break;
	case OPT_LIST:
		r = add_item(text, to);
		break;
	case OPT_U32:
		r = set_u32(text, to);
		break;
	case OPT_SECONDS:
		r = set_seconds(text, to);
		break;
	case OPT_WORD:
		r = find_word(o->words, text, strlen(text), to);
		break;
	case OPT_SET:
		r = set_set(o->words, text, to);
		break;
	}
	if (r == -E2BIG)
		return diag_set(d, r, "--%s may be given %d times at most", o->name, MAX_OPT_LIST);
	return r < 0 ? bad_value(o, text, d) : 0;
}

/* ---- environment and argv ---------------------------------------------- */

static int from_environment(const struct opt *table, void *values, struct diag *d)
{
	for (const struct opt *o = table; o->name; o++) {
		_cleanup_buf_ struct buf name = BUF_INIT;
		const char *text;
		int r;

		buf_addstr(&name, "DEEDLOG_");
		for (const char *p = o->name; *p; p++)
			buf_addch(&name, *p == '-' ? '_' : (char)toupper((unsigned char)*p));
		text = getenv(buf_str(&name));
		if (!text)
			continue;
		r = set_value(o, text, values, d);
		if (r < 0)
			return r;
	}
	return 0;
}

struct spec {
	struct option longs[MAX_OPTS + 1];
	char shorts[2 * MAX_OPTS + 3];
};

static void spec_fill(struct spec *s, const struct opt *table, bool operands_first)
{
	char *at = s->shorts;
	size_t n = rows(table);

	memset(s, 0, sizeof(*s));
	if (operands_first)
		*at++ = '+';
	*at++ = ':'; /* tell a missing value from an unknown option */
	for (size_t i = 0; i < n && i < MAX_OPTS; i++) {
		const struct opt *o = &table[i];

		s->longs[i] = (struct option){
			o->name, takes_value(o), NULL, NAME_VALUE + (int)i,
		};
		if (!o->letter)
			continue;
		*at++ = o->letter;
		if (takes_value(o))
			*at++ = ':';
	}
}

static const struct opt *row_of(const struct opt *table, int c)
{
	if (c >= NAME_VALUE)
		return &table[c - NAME_VALUE];
	for (; table->name; table++)
		if (table->letter == c)
			return table;
	return NULL;
}

static int unknown(const struct opt *table, const char *given, struct diag *d)
{
	const char *names[MAX_OPTS];
	const char *near;
	size_t n = rows(table);

	for (size_t i = 0; i < n; i++)
		names[i] = table[i].name;
	near = strncmp(given, "--", 2) ? NULL : opt_nearest(given + 2, names, n);
	if (near)
		return diag_set(d, -EINVAL, "no option %s; did you mean --%s?", given, near);
	return diag_set(d, -EINVAL, "no option %s; --help lists them", given);
}

/* What getopt_long() just refused, as it was typed. */
static int refused(const struct opt *table, int c, char **argv, struct diag *d)
{
	const struct opt *o = optopt ? row_of(table, optopt) : NULL;
	const char *given = argv[optind - 1];

	if (c == ':' && o)
		return diag_set(d, -EINVAL, "--%s needs a value: %s", o->name, o->arg);
	if (o)
		return diag_set(d, -EINVAL, "--%s takes no value", o->name);
	if (optopt && given[0] == '-' && given[1] != '-')
		return unknown(table, (char[]){ '-', (char)optopt, 0 }, d);
	return unknown(table, given, d);
}

int opt_parse(const struct opt *table, void *values, bool operands_first, int argc, char **argv,
	      struct diag *d)
{
	const struct opt *row;
	struct spec s;
	int c, r;

	r = from_environment(table, values, d);
	if (r < 0)
		return r;
	spec_fill(&s, table, operands_first);
	optind = 0; /* glibc: start anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, s.shorts, s.longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return refused(table, c, argv, d);
		row = row_of(table, c);
		r = set_value(row, optarg ? optarg : row->kind == OPT_MAYBE ? "" : "1", values, d);
		if (r < 0)
			return r;
	}
	return optind;
}

/* ---- help and suggestions ---------------------------------------------- */

void opt_help(const struct opt *table, struct buf *to)
{
	for (const struct opt *o = table; o->name; o++) {
		_cleanup_buf_ struct buf left = BUF_INIT;
		const char *sep = " (";

		if (o->letter)
			buf_addf(&left, "-%c, ", o->letter);
		else
			buf_addstr(&left, "    ");
		buf_addf(&left, o->kind == OPT_MAYBE ? "--%s[=%s]" : o->arg ? "--%s %s" : "--%s%s",
			 o->name, o->arg ? o->arg : "");
		buf_addf(to, "  %-30s %s", buf_str(&left), o->help);
		for (const struct opt_word *w = o->words; w && w->word; w++) {
			buf_addf(to, "%s%s", sep, w->word);
			sep = ", ";
		}
		buf_addstr(to, o->words ? ")\n" : "\n");
	}
}

/* Edits (one character added, dropped or changed, two swapped) from a to b. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t row[3][MAX_WORD + 1];

	if (n > MAX_WORD || m > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = MIN(up[j - 1] + (a[i - 1] != b[j - 1]),
				     MIN(up[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], up2[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

const char *opt_nearest(const char *word, const char *const *words, size_t n)
{
	const char *best = NULL;
	size_t least = 1 + strlen(word) / 3; /* "rnu" -> run, but not "x" -> run */

	for (size_t i = 0; i < n; i++) {
		size_t edits = distance(word, words[i]);

		if (edits <= least && (!best || edits < least)) {
			best = words[i];
			least = edits;
		}
	}
	return best;
}
