/* SPDX-License-Identifier: MIT */
/* Finding the workspace, see workspace.h. */
#include "workspace.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

static const char *const toplevels[] = { ".git", NULL };
static const char *const manifests[] = {
	"package.json", "Cargo.toml", "pyproject.toml", "setup.py", "go.mod",
	"pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json",
	"deno.json", "CMakeLists.txt", "meson.build", "Makefile", NULL,
};

static bool has_one_of(const char *dir, const char *const *names)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct stat st;

	for (; *names; names++) {
		buf_reset(&b);
		buf_addf(&b, "%s/%s", dir, *names);
		if (!fstatat(AT_FDCWD, buf_str(&b), &st, AT_SYMLINK_NOFOLLOW))
			return true;
	}
	return false;
}

/* Cuts the last component off; false where the search ends. */
static bool step_up(char *dir, const char *home)
{
	char *slash = strrchr(dir, '/');

	if (!slash || slash == dir)
		return false;
	*slash = '\0';
	return strcmp(dir, home) != 0;
}

static char *nearest_with(const char *cwd, const char *home, const char *const *names)
{
	_cleanup_free_ char *dir = xstrdup(cwd);

	if (!strcmp(dir, home) || !strcmp(dir, "/"))
		return NULL;
	do {
		if (has_one_of(dir, names))
			return TAKE_PTR(dir);
	} while (step_up(dir, home));
	return NULL;
}

char *workspace_find(const char *cwd, const char *home)
{
	char *found = nearest_with(cwd, home, toplevels);

	if (!found)
		found = nearest_with(cwd, home, manifests);
	return found ? found : xstrdup(cwd);
}
