/* SPDX-License-Identifier: MIT */
/* One table gives parsing, environment, help and suggestions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/opt.h"

struct args {
	bool quiet;
	const char *dir;
	uint32_t uid, set;
	uint64_t wait_ns;
	int tier;
	struct opt_list repos;
	const char *age;
};
#define AT(field) offsetof(struct args, field)

static const struct opt_word tiers[] = { { "lsm", 5 }, { "trace", 7 }, { NULL, 0 } };
static const struct opt_word flags[] = { { "lost", 1 }, { "net", 4 }, { NULL, 0 } };
static const struct opt table[] = {
	{ "quiet", 'q', OPT_FLAG, AT(quiet), NULL, "say less", NULL },
	{ "dir", 0, OPT_TEXT, AT(dir), "DIR", "ledger folder", NULL },
	{ "uid", 0, OPT_U32, AT(uid), "N", "user", NULL },
	{ "wait-for", 'w', OPT_SECONDS, AT(wait_ns), "S", "wait", NULL },
	{ "tier", 0, OPT_WORD, AT(tier), "TIER", "tier", tiers },
	{ "fail-on", 0, OPT_SET, AT(set), "LIST", "fail", flags },
	{ "repo", 'r', OPT_LIST, AT(repos), "DIR", "repository", NULL },
	{ "age", 0, OPT_MAYBE, AT(age), "AGE", "age", NULL },
	{ NULL, 0, 0, 0, NULL, NULL, NULL },
};

static int parse(struct args *a, struct diag *d, char *const *argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return opt_parse(table, a, true, argc, (char **)argv, d);
}
#define PARSE(a, d, ...) parse(a, d, (char *[]){ (char *)"cmd", __VA_ARGS__ __VA_OPT__(, ) NULL })
#define A(s) (char *)s

static void an_option_may_be_repeated(void **state)
{
	struct args a = { 0 };
	struct diag d;
	char *many[MAX_OPT_LIST + 3] = { (char *)"cmd" };

	(void)state;
	assert_int_equal(PARSE(&a, &d, A("--repo"), A("one"), A("-r"), A("two")), 5);
	assert_int_equal(a.repos.n, 2);
	assert_string_equal(a.repos.item[0], "one");
	assert_string_equal(a.repos.item[1], "two");
	a = (struct args){ 0 };
	for (size_t i = 1; i <= MAX_OPT_LIST + 1; i++)
		many[i] = (char *)"--repo=x";
	assert_true(parse(&a, &d, many) < 0);
}

static void a_value_may_be_left_out(void **state)
{
	struct args a = { 0 };
	_cleanup_buf_ struct buf help = BUF_INIT;
	struct diag d;

	(void)state;
	assert_int_equal(PARSE(&a, &d, A("--age"), A("7d")), 2); /* 7d is an operand */
	assert_string_equal(a.age, "");
	assert_int_equal(PARSE(&a, &d, A("--age=7d")), 2);
	assert_string_equal(a.age, "7d");
	opt_help(table, &help);
	assert_non_null(strstr(buf_str(&help), "--age[=AGE]"));
}

static void reads_every_kind(void **state)
{
	struct args a = { .dir = "/default" };
	struct diag d;

	(void)state;
	assert_int_equal(PARSE(&a, &d, A("-q"), A("--dir=/x"), A("--uid"), A("1000"), A("-w"),
			       A("1.25"), A("--tier"), A("trace"), A("--fail-on"), A("net,lost"),
			       A("op"), A("--quiet")),
			 11);
	assert_true(a.quiet);
	assert_string_equal(a.dir, "/x");
	assert_int_equal(a.uid, 1000);
	assert_int_equal(a.wait_ns, 1250000000);
	assert_int_equal(a.tier, 7);
	assert_int_equal(a.set, 5);
}

static void keeps_defaults_and_stops_at_two_dashes(void **state)
{
	struct args a = { .dir = "/default" };
	struct diag d;

	(void)state;
	assert_int_equal(PARSE(&a, &d, A("--"), A("-q")), 2);
	assert_false(a.quiet);
	assert_string_equal(a.dir, "/default");
}

static void options_after_an_operand_belong_to_it(void **state)
{
	struct args a = { 0 };
	struct diag d;

	(void)state;
	assert_int_equal(PARSE(&a, &d, A("ls"), A("-q")), 1);
	assert_false(a.quiet);
}

static void environment_is_a_mirror_and_loses_to_argv(void **state)
{
	struct args a = { 0 };
	struct diag d;

	(void)state;
	setenv("DEEDLOG_WAIT_FOR", "2", 1);
	setenv("DEEDLOG_DIR", "/env", 1);
	setenv("DEEDLOG_QUIET", "1", 1);
	assert_int_equal(PARSE(&a, &d, A("--dir"), A("/argv")), 3);
	assert_string_equal(a.dir, "/argv");
	assert_int_equal(a.wait_ns, 2000000000);
	assert_true(a.quiet);
	setenv("DEEDLOG_QUIET", "perhaps", 1);
	assert_int_equal(PARSE(&a, &d), -EINVAL);
	assert_string_equal(d.msg, "--quiet: \"perhaps\" is no choice (use 1 or 0)");
	unsetenv("DEEDLOG_WAIT_FOR");
	unsetenv("DEEDLOG_DIR");
	unsetenv("DEEDLOG_QUIET");
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *argv[3], *says;
	} cases[] = {
		{ { "--teir", "lsm" }, "no option --teir; did you mean --tier?" },
		{ { "--zzzzzz" }, "no option --zzzzzz; --help lists them" },
		{ { "-z" }, "no option -z; --help lists them" },
		{ { "-qz" }, "no option -z; --help lists them" },
		{ { "--dir" }, "--dir needs a value: DIR" },
		{ { "-w" }, "--wait-for needs a value: S" },
		{ { "--quiet=1" }, "--quiet takes no value" },
		{ { "--tier", "lms" }, "--tier: \"lms\" is none of: lsm, trace" },
		{ { "--fail-on", "lost,,net" }, "--fail-on: \"lost,,net\" is none of: lost, net" },
		{ { "--uid", "4294967296" }, "--uid: \"4294967296\" is no number" },
		{ { "--wait-for", "1.x" }, "--wait-for: \"1.x\" is no number of seconds" },
		{ { "--wait-for", "-1" }, "--wait-for: \"-1\" is no number of seconds" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct args a = { 0 };
		struct diag d = { "" };

		assert_int_equal(PARSE(&a, &d, A(cases[i].argv[0]), A(cases[i].argv[1])), -EINVAL);
		assert_string_equal(d.msg, cases[i].says);
	}
}

static void help_has_a_line_per_row(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	opt_help(table, &b);
	assert_string_equal(buf_str(&b), "  -q, --quiet                    say less\n"
					 "      --dir DIR                  ledger folder\n"
					 "      --uid N                    user\n"
					 "  -w, --wait-for S               wait\n"
					 "      --tier TIER                tier (lsm, trace)\n"
					 "      --fail-on LIST             fail (lost, net)\n"
			    "  -r, --repo DIR                 repository\n"
			    "      --age[=AGE]                age\n");
}

static void suggests_only_what_is_near(void **state)
{
	static const char *const words[] = { "run", "verify", "summary", "show" };

	(void)state;
	assert_string_equal(opt_nearest("rnu", words, 4), "run");
	assert_string_equal(opt_nearest("verfy", words, 4), "verify");
	assert_string_equal(opt_nearest("sumary", words, 4), "summary");
	assert_null(opt_nearest("xyz", words, 4));
	assert_null(opt_nearest("", words, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind),
		cmocka_unit_test(an_option_may_be_repeated),
		cmocka_unit_test(a_value_may_be_left_out),
		cmocka_unit_test(keeps_defaults_and_stops_at_two_dashes),
		cmocka_unit_test(options_after_an_operand_belong_to_it),
		cmocka_unit_test(environment_is_a_mirror_and_loses_to_argv),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(help_has_a_line_per_row),
		cmocka_unit_test(suggests_only_what_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
