/* SPDX-License-Identifier: MIT */
/* Installing hooks, see hooks.h. */
#include "hooks.h"

#include "base/alloc.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_HOOK 65536
#define MARK "# deedlog: the head of the ledger as a trailer"

/* Whoever has no deedlog commits as before. */
#define LINE "! command -v deedlog >/dev/null || deedlog hook run commit-msg \"$1\"\n"

static const struct hook_manager managers[] = {
	{ "husky", ".husky/commit-msg", LINE },
	{ "lefthook", "lefthook.yml",
	  "commit-msg:\n"
	  "  commands:\n"
	  "    deedlog:\n"
	  "      run: '! command -v deedlog >/dev/null || deedlog hook run commit-msg {1}'\n" },
	{ "pre-commit", ".pre-commit-config.yaml, then `pre-commit install -t commit-msg`",
	  "- repo: local\n"
	  "  hooks:\n"
	  "    - {id: deedlog, name: deedlog, entry: deedlog hook run commit-msg, language: system, "
	  "stages: [commit-msg], always_run: true, verbose: true, require_serial: true}\n" },
	{ "hooksPath", "the file commit-msg in the folder that core.hooksPath names", LINE },
	{ "plain", "the file .git/hooks/commit-msg", LINE },
};

static const struct hook_file {
	const char *path; /* in the top folder of the repository */
	const char *manager;
} signs[] = {
	{ ".husky", "husky" },
	{ "lefthook.yml", "lefthook" },
	{ "lefthook.yaml", "lefthook" },
	{ ".lefthook.yml", "lefthook" },
	{ ".lefthook.yaml", "lefthook" },
	{ "lefthook.toml", "lefthook" },
	{ "lefthook.json", "lefthook" },
	{ ".pre-commit-config.yaml", "pre-commit" },
};

const struct hook_manager *hooks_row(size_t i)
{
	return i < ARRAY_SIZE(managers) ? &managers[i] : NULL;
}

const struct hook_manager *hooks_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(managers); i++)
		if (!strcmp(name, managers[i].name))
			return &managers[i];
	return NULL;
}

/* A manager's own files say more than the path that it set. */
static const char *manager_by_file(const char *top)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", top, signs[i].path);

		if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
			return signs[i].manager;
	}
	return NULL;
}

int hooks_manager(const struct git *g, struct diag *d, const struct hook_manager **ret)
{
	_cleanup_buf_ struct buf top = BUF_INIT, path = BUF_INIT;
	const char *name = NULL;
	int r;

	/* a bare repository has no top folder */
	r = GIT_LINE(g, &top, d, "rev-parse", "--show-toplevel");
	if (r == -ENOENT && GIT_LINE(g, &path, d, "rev-parse", "--git-dir") < 0)
		return diag_set(d, r, "this is no git repository");
	if (r < 0 && r != -ENOENT)
		return r;
	buf_reset(&path);
	if (!r)
		name = manager_by_file(buf_str(&top));
	r = GIT_LINE(g, &path, d, "config", "--get", "core.hooksPath");
	if (r < 0 && r != -ENOENT)
		return r;
	if (!name)
		name = r ? "plain" : "hooksPath";
	*ret = hooks_find(name);
	return 0;
}

/* ---- writing ---------------------------------------------------------------------- */

static int check_free(int dirfd, struct diag *d)
{
	_cleanup_buf_ struct buf old = BUF_INIT;
	int r;

	r = file_read_at(dirfd, "commit-msg", MAX_HOOK, &old);
	if (r == -ENOENT || (!r && strstr(buf_str(&old), MARK)))
		return 0;
	return diag_set(d, -EEXIST, "there is a commit-msg hook already; add this line to it");
}

static int write_hook(int dirfd, struct diag *d)
{
	static const char text[] = "#!/bin/sh\n" MARK "\n" LINE;
	mode_t before = umask(022);
	int r;

	r = file_replace_at(dirfd, "commit-msg", 0755, text, sizeof(text) - 1);
	(void)umask(before);
	return r < 0 ? diag_set(d, r, "cannot write the hook: %s", strerror(-r)) : 0;
}

int hooks_install(const struct git *g, struct diag *d)
{
	_cleanup_buf_ struct buf dir = BUF_INIT;
	_cleanup_fd_ int fd = -1;
	int r;

	/* the folder of all worktrees, wherever this one is */
	r = GIT_LINE(g, &dir, d, "rev-parse", "--git-path", "hooks");
	if (r < 0)
		return r == -ENOENT ? diag_set(d, r, "this is no git repository") : r;
	if (mkdir(buf_str(&dir), 0777) < 0 && errno != EEXIST)
		return diag_set(d, -errno, "cannot make %s: %s", buf_str(&dir), strerror(errno));
	fd = open(buf_str(&dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(d, -errno, "cannot open %s: %s", buf_str(&dir), strerror(errno));
	r = check_free(fd, d);
	return r < 0 ? r : write_hook(fd, d);
}

int hooks_configure_notes(const struct git *g, struct diag *d)
{
	static const char *const settings[][2] = {
		{ "notes.rewriteRef", "refs/notes/deedlog" },
		{ "notes.deedlog.mergeStrategy", "cat_sort_uniq" },
		{ "deedlog.notes", "true" },
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(settings); i++) {
		/* rewriteRef may have others' values, which stay */
		_cleanup_free_ char *exact = xasprintf("^%s$", settings[i][1]);

		r = GIT_MUST(g, NULL, NULL, d, "config", "--replace-all", settings[i][0],
			     settings[i][1], exact);
	}
	return r;
}
