/* SPDX-License-Identifier: MIT */
/* The glob against rows written by hand, against a slow matcher, and against the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/timeutil.h"
#include "ident/glob.h"

#define TEXT(s) cur_of(s, strlen(s))

static const struct {
	const char *pattern, *path;
	bool match;
} rows[] = {
	{ "a/b", "a/b", true },
	{ "a/b", "/a//b/", true },
	{ "a/b", "a/b/c", false },
	{ "a/b", "a", false },
	{ "*.pem", "x.pem", true },
	{ "*.pem", "d/x.pem", false },
	{ "id_*", "id_", true },
	{ "id_*", "id", false },
	{ "key?.db", "key4.db", true },
	{ "key?.db", "key.db", false },
	{ "key?.db", "key44.db", false },
	{ "a/**", "a", true },
	{ "a/**", "a/b/c", true },
	{ "a/**", "ab", false },
	{ "a/**/c", "a/c", true },
	{ "a/**/c", "a/b/b/c", true },
	{ "a/**/c", "a/c/d", false },
	{ "a/**/b/*/c", "a/b/x/b/y/c", true },
	{ "**/x/**/y", "x/x/y/y", true },
	{ "settings*.json", "settings.local.json", true },
	{ "*a*b*c", "aabbcc", true },
	{ "*a*b*c", "aabbccd", false },
	{ "**", "", true },
	{ "*", "", false },
	{ "a**b", "axxb", true }, /* no whole component: two stars */
	{ "a**b", "ax/xb", false },
	{ "\xff*", "\xff\xfe", true },
};

static void matches_as_the_rows_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (glob_match(TEXT(rows[i].pattern), TEXT(rows[i].path)) != rows[i].match)
			fail_msg("%s against %s", rows[i].pattern, rows[i].path);
}

/* The definition, in exponential time. */
static bool slow_part(const char *p, const char *s)
{
	if (*p == '*')
		return slow_part(p + 1, s) || (*s && *s != '/' && slow_part(p, s + 1));
	if (!*p || *p == '/')
		return !*s || *s == '/';
	return *s && *s != '/' && (*p == '?' || *p == *s) && slow_part(p + 1, s + 1);
}

static const char *slow_next(const char *s)
{
	s += strcspn(s, "/");
	return s + strspn(s, "/");
}

static bool slow(const char *p, const char *s)
{
	if (!*p)
		return !*s;
	if (!strncmp(p, "**", 2) && (!p[2] || p[2] == '/'))
		return slow(slow_next(p), s) || (*s && slow(p, slow_next(s)));
	return *s && slow_part(p, s) && slow(slow_next(p), slow_next(s));
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static void random_text(uint32_t *seed, const char *letters, char *to)
{
	size_t n = random_next(seed) % 12, of = strlen(letters), len = 0;

	while (n--) {
		char c = letters[random_next(seed) % of];

		if (c == '/' && (!len || to[len - 1] == '/'))
			continue;
		to[len++] = c;
	}
	while (len && to[len - 1] == '/')
		len--;
	to[len] = '\0';
}

static void agrees_with_the_slow_matcher(void **state)
{
	uint32_t seed = 20261129, matches = 0;
	char pattern[16], path[16];

	(void)state;
	for (int i = 0; i < 400000; i++) {
		bool want;

		random_text(&seed, "ab*/*?/", pattern);
		random_text(&seed, "aab/b/", path);
		want = slow(pattern, path);
		matches += want;
		if (glob_match(TEXT(pattern), TEXT(path)) != want)
			fail_msg("'%s' against '%s' should be %d", pattern, path, want);
	}
	assert_true(matches > 10000); /* else the loop above proves little */
}

static void takes_no_more_than_length_times_length(void **state)
{
	static char same[4096], deep[4096];
	uint64_t begin = time_boot_ns();

	(void)state;
	memset(same, 'a', sizeof(same));
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? 'a' : '/';
	for (int i = 0; i < 20; i++) {
		assert_false(glob_match(TEXT("*a*a*a*a*a*a*a*b"), cur_of(same, sizeof(same))));
		assert_false(glob_match(TEXT("**/a/**/a/**/a/**/a/*/*/*/b"),
					cur_of(deep, sizeof(deep))));
	}
	assert_true(time_boot_ns() - begin < NS_PER_S); /* exponential would be years */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_as_the_rows_say),
		cmocka_unit_test(agrees_with_the_slow_matcher),
		cmocka_unit_test(takes_no_more_than_length_times_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
