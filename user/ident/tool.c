/* SPDX-License-Identifier: MIT */
/* From an exec to a tool, see tool.h: find the file that decides, then its owner. */
#include "tool.h"

#include "base/alloc.h"
#include "base/macros.h"
#include "fsuser.h"
#include "interp.h"

#include <sys/stat.h>

/* What names the tool: a file, or only a word. */
struct subject {
	char *path; /* as given, made absolute, or NULL */
	char *word;
};

static void subject_done(struct subject *s)
{
	free(s->path);
	free(s->word);
}

static struct str base_name(struct str path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	if (!slash)
		return path;
	return (struct str){ slash + 1, path.len - (size_t)(slash + 1 - path.p) };
}

static char *copy_name(struct str s)
{
	return xmemdup(s.p, MIN(s.len, (size_t)MAX_TOOL_NAME));
}

static struct str first_of(struct str list)
{
	return (struct str){ list.p, list.len ? strnlen(list.p, list.len) : 0 };
}

static char *absolute(struct str path, struct str cwd)
{
	if (!path.len || path.p[0] == '/' || !cwd.len)
		return xmemdup(path.p, path.len);
	return xasprintf("%.*s/%.*s", (int)MIN(cwd.len, (size_t)EV_PATH_BYTES), cwd.p,
			 (int)MIN(path.len, (size_t)EV_NAME_BYTES), path.p);
}

/* /proc and /dev would show our own descriptors, not the target's. */
static bool is_ours(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
}

/* The regular file behind all links; NULL if there is none. */
static char *resolve(const char *path)
{
	_cleanup_free_ char *real = NULL;
	struct stat st;

	if (path[0] != '/' || is_ours(path))
		return NULL;
	real = realpath(path, NULL);
	if (!real || is_ours(real) || lstat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	return TAKE_PTR(real);
}

static void take_path(struct subject *s, char *path)
{
	free(s->path);
	free(s->word);
	s->path = path;
	s->word = copy_name(base_name(str_of(path)));
}

/* A script that is no file (`bun run build`) leaves the interpreter as it is. */
static void take_script(struct subject *s, struct str script, struct str cwd)
{
	_cleanup_free_ char *given = absolute(script, cwd);
	char *real = resolve(given);

	if (real)
		take_path(s, real);
}

static void find_subject(const struct tool_query *q, struct subject *s)
{
	struct str script = first_of(q->scripts), what;

	take_path(s, absolute(script.len ? script : q->exe, q->cwd));
	if (script.len)
		return;
	switch (interp_look(base_name(q->exe), q->argv, &what)) {
	case INTERP_SCRIPT:
		take_script(s, what, q->cwd);
		break;
	case INTERP_MODULE:
		free(s->word);
		s->word = copy_name(what);
		free(s->path);
		s->path = NULL;
		break;
	case INTERP_NOT:
	case INTERP_INLINE:
		break;
	}
}

/* With the rights of the traced user in force. */
static void find_owner(struct subject *s, struct package *ret)
{
	char *real = s->path ? resolve(s->path) : NULL;

	if (!real)
		return;
	take_path(s, real);
	(void)owner_find(real, ret); /* no owner is an answer too */
}

void tool_identify(const struct tool_query *q, struct tool *ret)
{
	_cleanup_(subject_done) struct subject s = { NULL, NULL };
	struct package of = { NULL };
	struct fsuser before;
	bool may_read = fsuser_enter(q->uid, q->gid, &before) == 0;

	if (may_read) {
		find_subject(q, &s);
		find_owner(&s, &of);
		fsuser_leave(&before);
	} else {
		take_path(&s, absolute(q->exe, q->cwd));
	}
	/* a package that is one folder names its tool; coreutils holds a hundred */
	*ret = (struct tool){ .name = of.root ? xstrdup(of.name) : TAKE_PTR(s.word),
			      .path = s.path ? TAKE_PTR(s.path) : xmemdup(q->exe.p, q->exe.len),
			      .of = of };
}

void tool_done(struct tool *t)
{
	free(t->name);
	free(t->path);
	package_done(&t->of);
}
