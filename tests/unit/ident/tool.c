/* SPDX-License-Identifier: MIT */
/* From execs to packages, in a tree made for the test, hostile manifests included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fdio.h"
#include "ident/fsuser.h"
#include "ident/purl.h"
#include "ident/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

static char top[64];

static const char *below(struct buf *b, const char *name)
{
	buf_reset(b);
	buf_addf(b, "%s%s", top, name);
	return buf_str(b);
}

static void add_file(const char *name, const char *text)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_fd_ int fd = -1;
	char *slash = strrchr(below(&b, name), '/');

	*slash = '\0';
	assert_int_equal(dir_make_all(buf_str(&b), 0755), 0);
	*slash = '/';
	fd = open(buf_str(&b), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void add_link(const char *name, const char *target)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	assert_int_equal(symlink(target, below(&b, name)), 0);
}

static int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/deedlog-tool-XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0755) < 0)
		return -1;
	add_file("/p/package.json", "{\"name\":\"proj\",\"version\":\"1.0.0\"}");
	add_file("/p/scripts/build.sh", "");
	add_file("/p/node_modules/prettier/package.json",
		 "{\"name\":\"prettier\",\"version\":\"3.2.1\"}");
	add_file("/p/node_modules/prettier/bin/prettier.cjs", "");
	add_file("/p/node_modules/prettier/dist/esm/package.json", "{\"type\":\"module\"}");
	add_file("/p/node_modules/prettier/dist/esm/a.mjs", "");
	add_file("/p/node_modules/.bin/.keep", "");
	add_link("/p/node_modules/.bin/prettier", "../prettier/bin/prettier.cjs");
	add_file("/p/node_modules/@babel/core/package.json",
		 "{\"name\":\"@babel/core\",\"version\":\"7.0.0-rc.1+b2\"}");
	add_file("/p/node_modules/@babel/core/cli.js", "");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int remove_top(void **state)
{
	(void)state;
	return nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A user without rights where there is one, else ourselves. */
static uint32_t some_user(void)
{
	return geteuid() ? geteuid() : 65534;
}

static struct str list_of(const char *bars, struct buf *b)
{
	for (; *bars; bars++)
		buf_addch(b, *bars == '|' ? '\0' : *bars);
	if (b->len)
		buf_addch(b, '\0');
	return (struct str){ b->data, b->len };
}

/* exe, script and argv may start with "~": the test's tree. */
static void identify(const char *exe, const char *script, const char *argv, struct tool *ret)
{
	_cleanup_buf_ struct buf e = BUF_INIT, s = BUF_INIT, a = BUF_INIT, c = BUF_INIT;
	struct tool_query q = { .uid = some_user(), .gid = geteuid() ? getegid() : 65534 };

	q.exe = str_of(exe[0] == '~' ? below(&e, exe + 1) : exe);
	if (script)
		q.scripts = (struct str){ below(&s, script + 1), s.len + 1 };
	q.argv = list_of(argv, &a);
	q.cwd = str_of(below(&c, "/p"));
	tool_identify(&q, ret);
}

static void expect(const char *exe, const char *script, const char *argv, const char *name,
		   const char *purl)
{
	struct tool t;

	identify(exe, script, argv, &t);
	assert_string_equal(t.name, name);
	if (purl) {
		assert_non_null(t.of.purl);
		assert_string_equal(t.of.purl, purl);
	} else {
		assert_null(t.of.purl);
	}
	tool_done(&t);
}

static void an_interpreter_is_the_package_of_its_script(void **state)
{
	(void)state;
	expect("/nowhere/node", NULL, "node|node_modules/.bin/prettier|--write|.", "prettier",
	       "pkg:npm/prettier@3.2.1");
	expect("/nowhere/node", NULL, "node|-r|x|node_modules/prettier/dist/esm/a.mjs", "prettier",
	       "pkg:npm/prettier@3.2.1");
	expect("/nowhere/node", NULL, "node|node_modules/@babel/core/cli.js", "@babel/core",
	       "pkg:npm/%40babel/core@7.0.0-rc.1%2Bb2");
	expect("/nowhere/sh", NULL, "sh|scripts/build.sh", "proj", "pkg:npm/proj@1.0.0");
}

static void a_script_with_a_first_line_is_its_package(void **state)
{
	(void)state;
	expect("/nowhere/env", "~/p/node_modules/.bin/prettier", "env|node|x", "prettier",
	       "pkg:npm/prettier@3.2.1");
	expect("/nowhere/bash", "~/gone/curl", "bash|/x", "curl", NULL);
}

static void without_a_script_file_it_is_the_interpreter(void **state)
{
	(void)state;
	expect("/nowhere/node", NULL, "node|-e|1", "node", NULL);
	expect("/nowhere/sh", NULL, "sh|-c|prettier", "sh", NULL);
	expect("/nowhere/bun", NULL, "bun|run|build", "bun", NULL);
	expect("/nowhere/node", NULL, "", "node", NULL);
	expect("/nowhere/python3", NULL, "python3|-m|pytest", "pytest", NULL);
	expect("", NULL, "x", "", NULL);
}

static void says_where_the_package_is(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct tool t;

	(void)state;
	identify("/nowhere/node", NULL, "node|node_modules/.bin/prettier", &t);
	assert_string_equal(t.of.root, below(&b, "/p/node_modules/prettier"));
	assert_string_equal(t.path, below(&b, "/p/node_modules/prettier/bin/prettier.cjs"));
	assert_string_equal(t.of.version, "3.2.1");
	tool_done(&t);
}

static void our_own_descriptors_are_not_the_targets(void **state)
{
	(void)state;
	expect("/nowhere/sh", NULL, "sh|/dev/fd/3", "sh", NULL);
	expect("/nowhere/sh", NULL, "sh|/proc/self/exe", "sh", NULL);
	add_link("/p/exe", "/proc/self/exe");
	add_link("/p/cwd", "/dev/stdin");
	expect("/nowhere/sh", NULL, "sh|cwd", "sh", NULL);
}

/* A dependency that says nothing usable is not known; never the project around it. */
static void expect_unknown(const char *json)
{
	add_file("/p/node_modules/bad/x.js", "");
	if (json)
		add_file("/p/node_modules/bad/package.json", json);
	expect("/nowhere/node", NULL, "node|node_modules/bad/x.js", "x.js", NULL);
}

static void manifests_that_lie_are_ignored(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"name\":\"x\"",
		"[]",
		"{\"name\":\"x\",\"version\":1}",
		"{\"name\":\"a\\u001b[31m\",\"version\":\"1\"}",
		"{\"name\":\"a\\nb\",\"version\":\"1\"}",
		"{\"name\":\"a\\u0000\",\"version\":\"1\"}",
		"{\"name\":\"a\",\"version\":\"1\\n2\"}",
		"{\"name\":\"a\",\"version\":\"\"}",
		"{\"name\":\"\",\"version\":\"1\"}",
		"{\"name\":\"../x\",\"version\":\"1\"}",
		"{\"name\":\"a/b\",\"version\":\"1\"}",
		"{\"name\":\"@a\",\"version\":\"1\"}",
		"{\"name\":\"@/b\",\"version\":\"1\"}",
		"{\"name\":\"@a/b/c\",\"version\":\"1\"}",
		"{\"name\":\"_a\",\"version\":\"1\"}",
		"{\"name\":\"\xc3\xa4\",\"version\":\"1\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_unknown(bad[i]);
}

static void names_and_versions_have_limits(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT, name = BUF_INIT;
	struct tool t;

	(void)state;
	for (int i = 0; i < MAX_PACKAGE_NAME; i++)
		buf_addch(&name, 'a');
	buf_addf(&b, "{\"name\":\"%s\",\"version\":\"1\"}", buf_str(&name));
	add_file("/p/node_modules/long/x.js", "");
	add_file("/p/node_modules/long/package.json", buf_str(&b));
	identify("/nowhere/node", NULL, "node|node_modules/long/x.js", &t);
	assert_string_equal(t.name, buf_str(&name));
	tool_done(&t);
	buf_reset(&b);
	buf_addf(&b, "{\"name\":\"%sa\",\"version\":\"1\"}", buf_str(&name));
	expect_unknown(buf_str(&b));
	buf_reset(&b);
	buf_addf(&b, "{\"name\":\"a\",\"version\":\"%s%s\"}", buf_str(&name), buf_str(&name));
	expect_unknown(buf_str(&b));
}

static void manifests_that_are_no_files_are_ignored(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *path = below(&b, "/p/node_modules/bad/package.json");

	(void)state;
	expect_unknown("{}");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0666), 0); /* would hold who opens it */
	expect_unknown(NULL);
	assert_int_equal(unlink(path), 0);
	add_link("/p/node_modules/bad/package.json", "/etc/shadow");
	expect_unknown(NULL);
	assert_int_equal(unlink(path), 0);
	add_link("/p/node_modules/bad/package.json", "../prettier/package.json");
	expect_unknown(NULL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	expect_unknown(NULL);
	assert_int_equal(rmdir(path), 0);
}

static void a_huge_manifest_is_read_no_further_than_the_limit(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	(void)state;
	add_file("/p/node_modules/bad/package.json", "{\"name\":\"x\",\"version\":\"1\"}");
	assert_int_equal(truncate(below(&b, "/p/node_modules/bad/package.json"), 2ll << 30), 0);
	expect_unknown(NULL);
	expect_unknown("{}");
}

static void files_are_read_with_the_rights_of_the_user(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *path = below(&b, "/p/node_modules/bad/package.json");
	struct fsuser before;

	(void)state;
	if (geteuid()) {
		assert_int_equal(fsuser_enter(geteuid() + 1, getegid(), &before), -EPERM);
		return;
	}
	add_file("/p/node_modules/bad/package.json", "{\"name\":\"x\",\"version\":\"1\"}");
	assert_int_equal(chmod(path, 0600), 0);
	expect_unknown(NULL);
	assert_int_equal(chmod(path, 0644), 0);
	expect("/nowhere/node", NULL, "node|node_modules/bad/x.js", "x", "pkg:npm/x@1");
	assert_int_equal(setfsuid((uid_t)-1), 0); /* root again */
}

static void programs_of_the_system_are_debian_packages(void **state)
{
	struct tool t;

	(void)state;
	if (access("/var/lib/dpkg/info/coreutils.list", R_OK) < 0)
		skip();
	for (int i = 0; i < 2; i++) { /* looked up, then known */
		identify("/usr/bin/ls", NULL, "ls", &t);
		assert_string_equal(t.name, "ls");
		assert_string_equal(t.of.name, "coreutils");
		assert_memory_equal(t.of.purl, "pkg:deb/debian/coreutils@9", 26);
		assert_null(t.of.root);
		tool_done(&t);
	}
	identify("/usr/bin/deedlog-is-no-package", NULL, "x", &t);
	assert_string_equal(t.name, "deedlog-is-no-package");
	assert_null(t.of.purl);
	tool_done(&t);
}

static void purls_are_encoded(void **state)
{
	_cleanup_free_ char *a = purl_make("deb", "debian", "g++", "4:12.2.0-3~x");
	_cleanup_free_ char *b = purl_make("npm", NULL, "a/b@c%?#", "1 2");

	(void)state;
	assert_string_equal(a, "pkg:deb/debian/g%2B%2B@4:12.2.0-3~x");
	assert_string_equal(b, "pkg:npm/a%2Fb%40c%25%3F%23@1%202");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interpreter_is_the_package_of_its_script),
		cmocka_unit_test(a_script_with_a_first_line_is_its_package),
		cmocka_unit_test(without_a_script_file_it_is_the_interpreter),
		cmocka_unit_test(says_where_the_package_is),
		cmocka_unit_test(our_own_descriptors_are_not_the_targets),
		cmocka_unit_test(manifests_that_lie_are_ignored),
		cmocka_unit_test(names_and_versions_have_limits),
		cmocka_unit_test(manifests_that_are_no_files_are_ignored),
		cmocka_unit_test(a_huge_manifest_is_read_no_further_than_the_limit),
		cmocka_unit_test(files_are_read_with_the_rights_of_the_user),
		cmocka_unit_test(programs_of_the_system_are_debian_packages),
		cmocka_unit_test(purls_are_encoded),
	};

	return cmocka_run_group_tests(tests, make_top, remove_top);
}
