/* SPDX-License-Identifier: MIT */
/*
 * The table of launchers. A row holds the name of a program and, where the
 * program is also a tool of its own, the verbs or options that make it a
 * launcher: `npm install` is npm's own deed, `npm exec` is not.
 */
#include "launcher.h"

#include "base/cur.h"
#include "base/macros.h"

#define MAX_VERBS 8

static const struct {
	const char *name;
	const char *verbs[MAX_VERBS]; /* none: always a launcher */
} launchers[] = {
	{ "npx", { NULL } },
	{ "bunx", { NULL } },
	{ "corepack", { NULL } },
	{ "npm", { "exec", "x", "run", "run-script", "test", "start" } },
	{ "pnpm", { "exec", "dlx", "run", "test", "start" } },
	{ "yarn", { "exec", "dlx", "run", "test", "start" } },
	{ "sh", { "-c" } },
	{ "bash", { "-c" } },
	{ "dash", { "-c" } },
	{ "zsh", { "-c" } },
	{ "busybox", { "sh" } },
	{ "env", { NULL } },
	{ "sudo", { NULL } },
	{ "doas", { NULL } },
	{ "timeout", { NULL } },
	{ "nice", { NULL } },
	{ "ionice", { NULL } },
	{ "taskset", { NULL } },
	{ "nohup", { NULL } },
	{ "setsid", { NULL } },
	{ "stdbuf", { NULL } },
	{ "time", { NULL } },
	{ "xargs", { NULL } },
	{ "script", { NULL } },
};

static struct cur base_name(struct cur path)
{
	struct cur part;

	while (cur_until(&path, '/', &part) == 0)
		;
	return path;
}

static bool ends_at(const struct cur *c, size_t n)
{
	struct cur rest = *c;

	(void)cur_skip(&rest, n); /* the caller has seen n bytes */
	return !cur_left(&rest) || cur_starts(&rest, "-cli.") || cur_starts(&rest, ".js") ||
	       cur_starts(&rest, ".cjs") || cur_starts(&rest, ".mjs");
}

/* "/usr/bin/npx" and ".../npm/bin/npx-cli.js" are both npx. */
static bool is_program(struct cur path, const char *name)
{
	struct cur base = base_name(path);

	return cur_starts(&base, name) && ends_at(&base, strlen(name));
}

static bool next_word(struct cur *argv, struct cur *ret)
{
	return cur_until(argv, '\0', ret) == 0;
}

static bool is_verb(const struct cur *word, const char *const *verbs)
{
	for (size_t i = 0; i < MAX_VERBS && verbs[i]; i++)
		if (cur_is(word, verbs[i]))
			return true;
	return false;
}

/* Options of a shell may be run together: -ec, -lc. */
static bool is_option(const struct cur *word, const char *const *verbs)
{
	return verbs[0][0] == '-' && cur_starts(word, "-") && !cur_starts(word, "--") &&
	       memchr(word->at, verbs[0][1], cur_left(word));
}

/* The first word behind the program that is no option decides; before it an option may. */
static bool has_verb(struct cur argv, const char *name, const char *const *verbs)
{
	struct cur word;
	bool first = true;

	for (; next_word(&argv, &word); first = false) {
		if (first || is_program(word, name))
			continue;
		if (is_verb(&word, verbs) || is_option(&word, verbs))
			return true;
		if (!cur_starts(&word, "-"))
			return false;
	}
	return false;
}

static bool was_called(struct cur argv, const char *name)
{
	struct cur word;

	return next_word(&argv, &word) && is_program(word, name);
}

bool launcher_is(struct str name, struct str path, struct str argv)
{
	struct cur n = cur_of(name.p, name.len), p = cur_of(path.p, path.len);
	struct cur words = cur_of(argv.p, argv.len);

	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const char *want = launchers[i].name;

		if (!cur_is(&n, want) && !is_program(p, want) && !was_called(words, want))
			continue;
		if (!launchers[i].verbs[0] || has_verb(words, want, launchers[i].verbs))
			return true;
	}
	return false;
}
