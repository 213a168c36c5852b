/* SPDX-License-Identifier: MIT */
/* The workspace in folders made for each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fdio.h"
#include "ident/workspace.h"

#include <fcntl.h>
#include <ftw.h>

static char top[64];

static int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/deedlog-workspace-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
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

static const char *below(struct buf *b, const char *name)
{
	buf_reset(b);
	buf_addf(b, "%s%s", top, name);
	return buf_str(b);
}

static void make_dir(const char *name)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	assert_int_equal(dir_make_all(below(&b, name), 0755), 0);
}

static void make_file(const char *name)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_fd_ int fd = open(below(&b, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
}

static void expect(const char *cwd, const char *home, const char *want)
{
	_cleanup_buf_ struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;
	_cleanup_free_ char *got = workspace_find(below(&a, cwd), below(&b, home));

	assert_string_equal(got, below(&c, want));
}

static void the_git_folder_wins_over_a_nearer_manifest(void **state)
{
	(void)state;
	make_dir("/h/repo");
	make_dir("/h/repo/.git");
	make_dir("/h/repo/a");
	make_dir("/h/repo/a/src");
	make_file("/h/repo/a/package.json");
	expect("/h/repo/a/src", "/h", "/h/repo");
}

static void a_git_file_of_a_worktree_counts(void **state)
{
	(void)state;
	make_dir("/h/tree");
	make_dir("/h/tree/src");
	make_file("/h/tree/.git");
	expect("/h/tree/src", "/h", "/h/tree");
}

static void without_git_the_nearest_manifest_is_the_root(void **state)
{
	(void)state;
	make_dir("/h/out");
	make_dir("/h/out/in");
	make_dir("/h/out/in/src");
	make_file("/h/out/Makefile");
	make_file("/h/out/in/Cargo.toml");
	expect("/h/out/in/src", "/h", "/h/out/in");
	expect("/h/out", "/h", "/h/out");
}

static void without_anything_it_is_cwd(void **state)
{
	(void)state;
	make_dir("/h/bare");
	make_dir("/h/bare/x");
	expect("/h/bare/x", "/h", "/h/bare/x");
}

static void a_repository_of_dotfiles_does_not_count(void **state)
{
	(void)state;
	make_dir("/dot");
	make_dir("/dot/.git");
	make_dir("/dot/x");
	expect("/dot/x", "/dot", "/dot/x");
	expect("/dot", "/dot", "/dot");
}

static void the_root_folder_is_only_itself(void **state)
{
	_cleanup_free_ char *got = workspace_find("/", "");

	(void)state;
	assert_string_equal(got, "/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_git_folder_wins_over_a_nearer_manifest),
		cmocka_unit_test(a_git_file_of_a_worktree_counts),
		cmocka_unit_test(without_git_the_nearest_manifest_is_the_root),
		cmocka_unit_test(without_anything_it_is_cwd),
		cmocka_unit_test(a_repository_of_dotfiles_does_not_count),
		cmocka_unit_test(the_root_folder_is_only_itself),
	};

	return cmocka_run_group_tests(tests, make_top, remove_top);
}
