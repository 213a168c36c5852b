/* SPDX-License-Identifier: MIT */
/* Arguments of interpreters, see interp.h. */
#include "interp.h"

#include "base/macros.h"
#include "glob.h"

#define MAX_WORDS 8

struct interp {
	const char *pattern;		/* of the base name */
	const char *values;		/* letters that take a value */
	const char *brings;		/* letters whose value, or lack of one, is the program */
	const char *swallows;		/* letters to which the rest of the word belongs */
	char file, module;		/* letters whose value is a script, a module */
	const char *words[MAX_WORDS];	/* long options that take the next argument */
	const char *inlines[MAX_WORDS]; /* long options that bring the program */
	const char *verbs[MAX_WORDS];	/* words before the script */
};

#define SHELL(name) { name, "oO", "cs", "", 0, 0, { "--rcfile", "--init-file" }, { NULL }, { NULL } }
#define NODE(name)                                                                             \
	{ name, "rC", "ep", "", 0, 0,                                                          \
	  { "--require", "--import", "--loader", "--experimental-loader", "--conditions",      \
	    "--title", "--env-file" },                                                         \
	  { "--eval", "--print", "--run" }, { NULL } }

static const struct interp interps[] = {
	NODE("node"),
	NODE("nodejs"),
	{ "python*", "WX", "c", "", 0, 'm', { "--check-hash-based-pycs" }, { NULL }, { NULL } },
	{ "perl*", "I", "eE", "MmdDiFx", 0, 0, { NULL }, { NULL }, { NULL } },
	{ "ruby*", "IrCE", "e", "KTWxF", 0, 0, { NULL }, { NULL }, { NULL } },
	SHELL("sh"),
	SHELL("bash"),
	SHELL("dash"),
	{ "php*", "dczt", "rRBS", "", 'f', 0, { "--define", "--php-ini" }, { "--run" }, { NULL } },
	{ "deno", "c", "", "", 0, 0, { "--config", "--import-map", "--ext" }, { NULL },
	  { "run", "test", "serve", "bench" } },
	{ "bun", "rd", "ep", "", 0, 0, { "--preload", "--cwd", "--config" },
	  { "--eval", "--print" }, { "run", "test" } },
};

static bool has_word(const char *const *words, struct cur word)
{
	for (size_t i = 0; i < MAX_WORDS && words[i]; i++)
		if (cur_is(&word, words[i]))
			return true;
	return false;
}

static const struct interp *find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(interps); i++)
		if (glob_match_part(cur_of(interps[i].pattern, strlen(interps[i].pattern)),
				    cur_of(name.p, name.len)))
			return &interps[i];
	return NULL;
}

/* The last one may lack its NUL: the kernel cut the list. */
static bool next_arg(struct cur *args, struct cur *ret_arg)
{
	if (!cur_left(args))
		return false;
	if (cur_until(args, '\0', ret_arg) == 0)
		return true;
	*ret_arg = *args;
	args->at = args->end;
	return true;
}

static enum interp_found give(enum interp_found what, struct cur text, struct str *ret)
{
	*ret = (struct str){ (const char *)text.at, cur_left(&text) };
	return text.at < text.end ? what : INTERP_INLINE;
}

/* The value of an option letter: the rest of the word, else the next argument. */
static struct cur value_of(struct cur word, struct cur *args)
{
	struct cur next = { NULL, NULL };

	if (!cur_left(&word))
		(void)next_arg(args, &next); /* a missing value stays empty */
	return cur_left(&word) ? word : next;
}

/* INTERP_NOT: go on with the next argument. */
static enum interp_found read_letters(const struct interp *it, struct cur word,
				      struct cur *args, struct str *ret)
{
	uint8_t c;

	while (cur_u8(&word, &c) == 0) {
		if (strchr(it->brings, c))
			return INTERP_INLINE;
		if (c == it->module)
			return give(INTERP_MODULE, value_of(word, args), ret);
		if (c == it->file)
			return give(INTERP_SCRIPT, value_of(word, args), ret);
		if (strchr(it->swallows, c))
			return INTERP_NOT;
		if (strchr(it->values, c)) {
			(void)value_of(word, args); /* taken, not looked at */
			return INTERP_NOT;
		}
	}
	return INTERP_NOT;
}

static enum interp_found read_option(const struct interp *it, struct cur word,
				     struct cur *args, struct str *ret)
{
	struct cur skipped;

	if (has_word(it->inlines, word))
		return INTERP_INLINE;
	if (has_word(it->words, word))
		(void)next_arg(args, &skipped); /* a missing value ends the list anyway */
	if (cur_starts(&word, "--"))
		return INTERP_NOT;
	(void)cur_skip(&word, 1); /* the dash is there */
	return cur_left(&word) ? read_letters(it, word, args, ret) : INTERP_INLINE;
}

static enum interp_found read_args(const struct interp *it, struct cur args, struct str *ret)
{
	enum interp_found found;
	bool verbs = true;
	struct cur arg;

	while (next_arg(&args, &arg)) {
		if (cur_is(&arg, "--"))
			return next_arg(&args, &arg) ? give(INTERP_SCRIPT, arg, ret) :
						       INTERP_INLINE;
		if (cur_starts(&arg, "-")) {
			found = read_option(it, arg, &args, ret);
			if (found != INTERP_NOT)
				return found;
		} else if (verbs && has_word(it->verbs, arg)) {
			verbs = false;
		} else {
			return give(INTERP_SCRIPT, arg, ret);
		}
	}
	return INTERP_INLINE;
}

enum interp_found interp_look(struct str name, struct str argv, struct str *ret_what)
{
	const struct interp *it = find(name);
	struct cur args = cur_of(argv.p, argv.len), self;

	if (!it)
		return INTERP_NOT;
	if (!next_arg(&args, &self))
		return INTERP_INLINE;
	return read_args(it, args, ret_what);
}
