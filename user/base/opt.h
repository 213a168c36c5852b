/* SPDX-License-Identifier: MIT */
/*
 * Command lines from tables. One row per option drives getopt_long, the
 * DEEDLOG_* mirror in the environment, and the text of --help. Values land in
 * a struct of the command, which holds the defaults beforehand; text points
 * into argv or the environment.
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include "buf.h"
#include "diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_OPTS 40 /* rows of one table */
#define MAX_OPT_LIST 64 /* values of one option that may be repeated */

enum opt_kind {
	OPT_FLAG,    /* bool */
	OPT_TEXT,    /* const char * */
	OPT_U32,     /* uint32_t */
	OPT_SECONDS, /* uint64_t, ns; "1.5" */
	OPT_WORD,    /* int: value of one of `words` */
	OPT_SET,     /* uint32_t: values of comma-separated words, or-ed */
	OPT_LIST,    /* struct opt_list: may be repeated */
	OPT_MAYBE,   /* const char *; "" when given without =VALUE */
};

struct opt_list {
	const char *item[MAX_OPT_LIST];
	size_t n;
};

struct opt_word {
	const char *word;
	int value;
}; /* ends with a NULL word */

struct opt {
	const char *name; /* "detach-after"; NULL ends the table */
	char letter;	  /* 0: none */
	enum opt_kind kind;
	size_t at; /* offsetof() the value */
	const char *arg;  /* name of the value in help, NULL for flags */
	const char *help;
	const struct opt_word *words;
};

/*
 * Reads DEEDLOG_<NAME> of each row, then argv[1..]. `operands_first`: the first
 * operand ends the options, as `run CMD --x` needs. Returns the index of the
 * first operand in argv, which may be permuted; -EINVAL with a sentence.
 */
int opt_parse(const struct opt *table, void *values, bool operands_first, int argc, char **argv,
	      struct diag *d);

/* One line per row: letter, name, value, help, words. */
void opt_help(const struct opt *table, struct buf *to);

/* The entry that differs from `word` by the fewest edits, NULL when none is near. */
const char *opt_nearest(const char *word, const char *const *words, size_t n);

#endif
