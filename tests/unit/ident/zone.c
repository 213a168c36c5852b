/* SPDX-License-Identifier: MIT */
/* Paths and the zones that people expect, row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "ident/zone.h"

#include <errno.h>

#define R ZONE_READ
#define W ZONE_WRITE
#define P ZONE_PROBE

static bool is_81234(const void *procs, uint32_t pid)
{
	return !procs && pid == 81234;
}

static struct zone_ctx context(void)
{
	return (struct zone_ctx){ .workspace = str_of("/home/u/p"),
				  .home = str_of("/home/u"),
				  .tool_root = str_of("/home/u/p/node_modules/prettier"),
				  .uid = 1000,
				  .is_ours = is_81234 };
}

static const struct {
	const char *path;
	uint32_t access;
	const char *zone, *class;
} rows[] = {
	{ "/home/u/p", R, "workspace", "src" },
	{ "/home/u/p/src/a.ts", R, "workspace", "src" },
	{ "/home/u/p/src/a.ts", R | W, "workspace", "src" },
	{ "/home/u/p/dist/chunk-AB12CD34.js", W, "workspace", "out" },
	{ "/home/u/p/.git/index", W, "workspace", "git" },
	{ "/home/u/p2/src/a.ts", R, "home", "home" },
	{ "/home/u/p/node_modules/prettier/plugins/babel.js", R, "tool", "tool" },
	{ "/home/u/p/node_modules/prettier/node_modules/x/a.js", R, "dependency", "dependency" },
	{ "/home/u/p/node_modules/yargs/lib/a.js", R, "dependency", "dependency" },
	{ "/home/u/p/node_modules/.vite/lock", W, "cache", "cache" },
	{ "/home/u/p/pkg/.eslintcache", W, "cache", "cache" },
	{ "/home/u/.cache/biome/x", W, "cache", "cache" },
	{ "/home/u/.cargo/registry/src/x/lib.rs", R, "dependency", "dependency" },
	{ "/tmp/.tmp-81234-7", W, "temp", "temp" },
	{ "/tmpfoo", W, "system", "other" },
	{ "/home/u/notes.txt", R, "home", "home" },
	{ "/usr/lib/x86_64-linux-gnu/libc.so.6", R, "system", "lib" },
	{ "/lib64/ld-linux-x86-64.so.2", R, "system", "lib" },
	{ "/etc/hosts", R, "system", "etc" },
	{ "/opt/x", R, "system", "other" },
	{ "/", R, "system", "other" },
	{ "", R, "system", "other" },
	{ "relative/part", R, "system", "other" },
	{ "/proc/81234/stat", R, "proc", "proc" },
	{ "/proc/81234/environ", R, "proc", "proc" },
	{ "/proc/81234/task/81235/environ", R, "proc", "proc" },
	{ "/proc/4711/environ", R, "secret", "proc-other" },
	{ "/proc/4711/task/4712/mem", W, "secret", "proc-other" },
	{ "/proc/4711/stat", R, "proc", "proc" },
	{ "/proc/self/stat", R, "proc", "proc" },
	/* secret before workspace, and only for what it says */
	{ "/home/u/p/.env", R, "secret", "cred-project" },
	{ "/home/u/p/sub/.env.local", R, "secret", "cred-project" },
	{ "/home/u/p/.env", W, "workspace", "src" },
	{ "/home/u/p/.env.example", R, "workspace", "src" },
	{ "/home/u/.npmrc", P, "secret", "cred-registry" },
	{ "/home/u/.ssh/id_ed25519", R, "secret", "cred-ssh" },
	{ "/home/u/.ssh/id_ed25519.pub", R, "home", "home" },
	{ "/home/u/.config/Ledger Live/app.json", R, "secret", "wallet" },
	{ "/home/other/.ssh/id_rsa", R, "system", "other" },
	/* persist on write, secret or nothing on read */
	{ "/home/u/.ssh/authorized_keys", W, "persist", "persist-shell" },
	{ "/home/u/.bashrc", W, "persist", "persist-shell" },
	{ "/home/u/.bashrc", R, "home", "home" },
	{ "/home/u/p/.git/hooks/pre-commit", W, "persist", "persist-git" },
	{ "/home/u/p/.github/workflows/a.yml", W, "persist", "persist-ci" },
	{ "/home/u/p/.github/workflows/a.yml", R, "workspace", "src" },
	{ "/etc/cron.d/x", W, "persist", "persist-service" },
	{ "/run/user/1000/bus", ZONE_CONNECT, "secret", "engine-socket" },
	{ "/run/user/1001/bus", ZONE_CONNECT, "system", "other" },
	/* packages ship such files; only what acts by being unpacked counts */
	{ "/home/u/p/node_modules/x/.github/workflows/a.yml", W, "dependency", "dependency" },
	{ "/home/u/p/node_modules/x/.npmrc", R, "dependency", "dependency" },
	{ "/home/u/p/node_modules/x/binding.gyp", W, "persist", "persist-build" },
	{ "/home/u/p/.claude/commands/x", W, "workspace", "src" },
	{ "/home/u/p/.husky/node_modules/x", W, "persist", "persist-git" },
	/* names from user memory */
	{ "/home/u/p/src/../.env", R, "secret", "cred-project" },
	{ "/home/u/p/./node_modules/../../.bashrc", W, "persist", "persist-shell" },
	{ "//home//u/p//.env", R, "secret", "cred-project" },
	{ "/../../etc/passwd", R, "system", "etc" },
};

static void puts_each_path_where_people_expect_it(void **state)
{
	struct zone_ctx ctx = context();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct zone_rule *r =
			zone_rule_of(&ctx, str_of(rows[i].path), rows[i].access);

		if (strcmp(zone_name(r->zone), rows[i].zone) || strcmp(r->class, rows[i].class))
			fail_msg("%s (%u): %s/%s, not %s/%s", rows[i].path, rows[i].access,
				 zone_name(r->zone), r->class, rows[i].zone, rows[i].class);
	}
}

static void a_workspace_below_tmp_is_a_workspace(void **state)
{
	struct zone_ctx ctx = context();

	(void)state;
	ctx.workspace = str_of("/tmp/clone/");
	assert_int_equal(zone_of(&ctx, str_of("/tmp/clone/a.c"), R), ZONE_WORKSPACE);
	assert_int_equal(zone_of(&ctx, str_of("/tmp/clone2/a.c"), R), ZONE_TEMP);
}

static void the_root_is_no_workspace_and_no_home(void **state)
{
	struct zone_ctx ctx = { .workspace = str_of("/"), .home = str_of("") };

	(void)state;
	assert_int_equal(zone_of(&ctx, str_of("/etc/passwd"), R), ZONE_SYSTEM);
	assert_int_equal(zone_of(&ctx, str_of("/.env"), R), ZONE_SYSTEM);
}

static void own_code_that_runs_as_a_tool_stays_workspace(void **state)
{
	struct zone_ctx ctx = context();

	(void)state;
	ctx.tool_root = str_of("/home/u/p");
	assert_int_equal(zone_of(&ctx, str_of("/home/u/p/src/a.ts"), R), ZONE_WORKSPACE);
	ctx.tool_root = str_of("/home/u/p/packages/cli");
	assert_int_equal(zone_of(&ctx, str_of("/home/u/p/packages/cli/a.ts"), R), ZONE_WORKSPACE);
	ctx.tool_root = str_of("/home/u");
	assert_int_equal(zone_of(&ctx, str_of("/home/u/x"), R), ZONE_HOME);
	ctx.tool_root = str_of("/usr/share/nodejs/npm");
	assert_int_equal(zone_of(&ctx, str_of("/usr/share/nodejs/npm/a.js"), R), ZONE_TOOL);
	assert_int_equal(zone_of(&ctx, str_of("/usr/share/nodejs/tar/a.js"), R), ZONE_DEPENDENCY);
}

static void takes_any_bytes_of_any_length(void **state)
{
	static char big[3 * MAX_ZONE_PATH];
	struct zone_ctx ctx = context();

	(void)state;
	memset(big, '/', sizeof(big));
	assert_int_equal(zone_of(&ctx, (struct str){ big, sizeof(big) }, R), ZONE_SYSTEM);
	memset(big, 0xff, sizeof(big));
	memcpy(big, "/tmp/", 5);
	assert_int_equal(zone_of(&ctx, (struct str){ big, sizeof(big) }, R), ZONE_TEMP);
	assert_int_equal(zone_of(&ctx, (struct str){ "/tmp/a\0b\x1b", 9 }, R), ZONE_TEMP);
	assert_int_equal(zone_of(&ctx, (struct str){ NULL, 0 }, R), ZONE_SYSTEM);
}

static void names_go_both_ways(void **state)
{
	enum zone z;

	(void)state;
	for (int i = 0; i < ZONE_COUNT; i++) {
		assert_int_equal(zone_from_name(zone_name((enum zone)i), &z), 0);
		assert_int_equal(z, i);
	}
	assert_int_equal(zone_from_name("secrets", &z), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_each_path_where_people_expect_it),
		cmocka_unit_test(a_workspace_below_tmp_is_a_workspace),
		cmocka_unit_test(the_root_is_no_workspace_and_no_home),
		cmocka_unit_test(own_code_that_runs_as_a_tool_stays_workspace),
		cmocka_unit_test(takes_any_bytes_of_any_length),
		cmocka_unit_test(names_go_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
