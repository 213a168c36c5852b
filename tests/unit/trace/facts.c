/* SPDX-License-Identifier: MIT */
/* Which cache is trusted. Reads the running kernel's BTF; skipped where there is none. */
#include "trace/facts.h"

#include "base/buf.h"
#include "trace/load.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[] = "/tmp/deedlog-facts-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

/* The only file in the folder; false: there is none. */
static bool cached_file(char *path, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (!found && (entry = readdir(dir))) {
		found = entry->d_name[0] != '.';
		(void)snprintf(path, size, "%s/%s", folder, entry->d_name);
	}
	(void)closedir(dir);
	return found;
}

static int forget(void **state)
{
	char path[512];

	(void)state;
	while (cached_file(path, sizeof(path)))
		if (unlink(path) < 0)
			return -1;
	return chmod(folder, 0700);
}

static int tear_down(void **state)
{
	return forget(state) < 0 ? -1 : rmdir(folder);
}

/* Was it read from the cache? */
static bool get(const char *cache_dir)
{
	struct facts f = FACTS_INIT;
	struct diag d = { "" };
	bool cached;

	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		skip();
	if (load_facts(cache_dir, &d, &f) < 0)
		fail_msg("%s", d.msg);
	assert_int_equal(access(f.path, R_OK), 0);
	cached = f.cached;
	facts_done(&f);
	return cached;
}

static void reads_the_kernel_once_and_the_cache_then(void **state)
{
	char path[512];

	(void)state;
	assert_false(get(folder));
	assert_true(cached_file(path, sizeof(path)));
	assert_true(get(folder));
}

static void works_without_a_folder(void **state)
{
	(void)state;
	assert_false(get(NULL));
	assert_false(get("/proc/no/such/folder"));
}

static void does_not_trust_a_folder_that_others_can_enter(void **state)
{
	char path[512];

	(void)state;
	assert_int_equal(chmod(folder, 0755), 0);
	assert_false(get(folder));
	assert_false(cached_file(path, sizeof(path)));
}

static void does_not_trust_a_link_to_a_folder(void **state)
{
	char link[64];

	(void)state;
	(void)get(folder);
	(void)snprintf(link, sizeof(link), "%s-link", folder);
	assert_int_equal(symlink(folder, link), 0);
	assert_false(get(link));
	assert_int_equal(unlink(link), 0);
}

static void does_not_trust_a_file_that_others_can_write(void **state)
{
	char path[512];

	(void)state;
	(void)get(folder);
	assert_true(cached_file(path, sizeof(path)));
	assert_int_equal(chmod(path, 0666), 0);
	assert_false(get(folder));
}

static void does_not_trust_the_folder_of_another_user(void **state)
{
	(void)state;
	(void)get(folder);
	if (chown(folder, 65534, (gid_t)-1) < 0)
		skip();
	assert_false(get(folder));
	assert_int_equal(chown(folder, geteuid(), (gid_t)-1), 0);
}

static void makes_a_broken_file_anew(void **state)
{
	char path[512];

	(void)state;
	(void)get(folder);
	assert_true(cached_file(path, sizeof(path)));
	assert_int_equal(truncate(path, 100), 0);
	assert_false(get(folder));
	assert_true(get(folder));
}

#define TEST(name) cmocka_unit_test_setup(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_the_kernel_once_and_the_cache_then),
		TEST(works_without_a_folder),
		TEST(does_not_trust_a_folder_that_others_can_enter),
		TEST(does_not_trust_a_link_to_a_folder),
		TEST(does_not_trust_a_file_that_others_can_write),
		TEST(does_not_trust_the_folder_of_another_user),
		TEST(makes_a_broken_file_anew),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
