/* SPDX-License-Identifier: MIT */
/* Command lines of interpreters and what they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "ident/interp.h"

static const struct {
	const char *name;
	const char *args; /* behind argv[0], between bars */
	enum interp_found found;
	const char *what;
} rows[] = {
	{ "node", "x.js|--write", INTERP_SCRIPT, "x.js" },
	{ "node", "--max-old-space-size=9|-r|hook.js|x.js", INTERP_SCRIPT, "x.js" },
	{ "node", "--import|hook.js|--no-warnings|x.js", INTERP_SCRIPT, "x.js" },
	{ "node", "-e|1+1|x.js", INTERP_INLINE, NULL },
	{ "node", "-pe|1+1", INTERP_INLINE, NULL },
	{ "node", "--eval|1", INTERP_INLINE, NULL },
	{ "node", "", INTERP_INLINE, NULL },
	{ "node", "-|a", INTERP_INLINE, NULL },
	{ "node", "--|-odd.js", INTERP_SCRIPT, "-odd.js" },
	{ "node", "--", INTERP_INLINE, NULL },
	{ "nodejs", "x.js", INTERP_SCRIPT, "x.js" },
	{ "python3.11", "-W|error|-u|t.py", INTERP_SCRIPT, "t.py" },
	{ "python3", "-Werror|t.py", INTERP_SCRIPT, "t.py" },
	{ "python3", "-m|pytest|-q", INTERP_MODULE, "pytest" },
	{ "python3", "-Im|black|x.py", INTERP_MODULE, "black" },
	{ "python3", "-mblack", INTERP_MODULE, "black" },
	{ "python3", "-m", INTERP_INLINE, NULL },
	{ "python3", "-c|import os|x.py", INTERP_INLINE, NULL },
	{ "perl", "-I|lib|-w|x.pl", INTERP_SCRIPT, "x.pl" },
	{ "perl", "-MList::Util=sum|x.pl", INTERP_SCRIPT, "x.pl" },
	{ "perl", "-lne|print|x.pl", INTERP_INLINE, NULL },
	{ "ruby", "-r|json|-w|x.rb", INTERP_SCRIPT, "x.rb" },
	{ "sh", "-e|run.sh|a", INTERP_SCRIPT, "run.sh" },
	{ "sh", "-ec|echo|run.sh", INTERP_INLINE, NULL },
	{ "bash", "--rcfile|rc|-o|pipefail|run.sh", INTERP_SCRIPT, "run.sh" },
	{ "bash", "-s|a", INTERP_INLINE, NULL },
	{ "dash", "run.sh", INTERP_SCRIPT, "run.sh" },
	{ "php8.2", "-d|a=b|-f|x.php", INTERP_SCRIPT, "x.php" },
	{ "deno", "run|-A|x.ts", INTERP_SCRIPT, "x.ts" },
	{ "bun", "run|run", INTERP_SCRIPT, "run" },
	{ "git", "status", INTERP_NOT, NULL },
	{ "nodemon", "x.js", INTERP_NOT, NULL },
};

static struct str argv_of(const char *args, struct buf *b)
{
	buf_add(b, "argv0", 6);
	for (; *args; args++)
		buf_addch(b, *args == '|' ? '\0' : *args);
	if (b->data[b->len - 1])
		buf_addch(b, '\0');
	return (struct str){ b->data, b->len };
}

static void finds_the_script_as_the_rows_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;
		struct str what = { NULL, 0 };
		enum interp_found found =
			interp_look(str_of(rows[i].name), argv_of(rows[i].args, &b), &what);

		if (found != rows[i].found)
			fail_msg("%s %s: %d", rows[i].name, rows[i].args, found);
		if (!rows[i].what)
			continue;
		if (what.len != strlen(rows[i].what) || memcmp(what.p, rows[i].what, what.len))
			fail_msg("%s %s: %.*s", rows[i].name, rows[i].args, (int)what.len, what.p);
	}
}

static void reads_a_list_that_was_cut(void **state)
{
	struct str what, cut = { "node\0-r\0hook", 12 }, script = { "node\0x.j", 8 };

	(void)state;
	assert_int_equal(interp_look(str_of("node"), cut, &what), INTERP_INLINE);
	assert_int_equal(interp_look(str_of("node"), script, &what), INTERP_SCRIPT);
	assert_int_equal(what.len, 3);
	assert_int_equal(interp_look(str_of("node"), (struct str){ NULL, 0 }, &what), INTERP_INLINE);
	assert_int_equal(interp_look(str_of(""), script, &what), INTERP_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_script_as_the_rows_say),
		cmocka_unit_test(reads_a_list_that_was_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
