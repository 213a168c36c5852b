/* SPDX-License-Identifier: MIT */
/*
 * Zones, see zone.h. A path is first placed (where home, workspace and the
 * first dependency component are), then the rows are tried in order.
 */
#include "zone.h"

#include "base/macros.h"
#include "base/num.h"
#include "glob.h"

/* Where the anchors of one path are; .at is NULL where there is none. */
struct place {
	struct cur root, home, workspace, runtime, other, tool;
	struct cur depend;	  /* from the first dependency component on */
	const uint8_t *own_until; /* WORKSPACE patterns start before it */
};

typedef bool (*anchor_fn)(const struct place *pl, struct cur pattern);

/* Most rows fail on their first byte: looking at it makes a path four times as fast. */
static bool match_from(struct cur rest, struct cur pattern)
{
	if (!rest.at)
		return false;
	while (rest.at < rest.end && *rest.at == '/')
		rest.at++;
	if (!strchr("*?", *pattern.at) && (rest.at == rest.end || *rest.at != *pattern.at))
		return false;
	return glob_match(pattern, rest);
}

/* At any component of rest that starts before `until`. */
static bool match_within(struct cur rest, const uint8_t *until, struct cur pattern)
{
	struct cur part;

	if (!rest.at)
		return false;
	do {
		if (match_from(rest, pattern))
			return true;
	} while (path_next(&rest, &part) && rest.at < until);
	return false;
}

static bool at_root(const struct place *pl, struct cur pattern)
{
	return match_from(pl->root, pattern);
}

static bool at_home(const struct place *pl, struct cur pattern)
{
	return match_from(pl->home, pattern);
}

static bool at_runtime(const struct place *pl, struct cur pattern)
{
	return match_from(pl->runtime, pattern);
}

static bool at_workspace(const struct place *pl, struct cur pattern)
{
	return match_within(pl->workspace, pl->own_until, pattern);
}

static bool at_any(const struct place *pl, struct cur pattern)
{
	return match_within(pl->root, pl->root.end, pattern);
}

static bool at_other(const struct place *pl, struct cur pattern)
{
	return match_from(pl->other, pattern);
}

static bool at_depend(const struct place *pl, struct cur pattern)
{
	return match_from(pl->depend, pattern);
}

static bool at_tool(const struct place *pl, struct cur pattern)
{
	return match_from(pl->tool, pattern);
}

enum anchor { ROOT, HOME, RUNTIME, WORKSPACE, ANY, OTHER, DEPEND, TOOL };

static const anchor_fn anchors[] = {
	[ROOT] = at_root,	    [HOME] = at_home, [RUNTIME] = at_runtime,
	[WORKSPACE] = at_workspace, [ANY] = at_any,   [OTHER] = at_other,
	[DEPEND] = at_depend,	    [TOOL] = at_tool,
};

#define R   ZONE_READ
#define W   ZONE_WRITE
#define P   ZONE_PROBE
#define C   ZONE_CONNECT
#define ALL (~0u)
static const struct zone_rule rules[] = {
#define ZONE(zone, class, anchor, ops, pattern)                                                    \
	{ ZONE_##zone, class, anchor, ops, pattern, sizeof(pattern) - 1 },
#include "schemas/zones.def"
#undef ZONE
};
#undef R
#undef W
#undef P
#undef C
#undef ALL

static const char *const names[] = {
	[ZONE_WORKSPACE] = "workspace", [ZONE_DEPENDENCY] = "dependency",
	[ZONE_TOOL] = "tool",		[ZONE_CACHE] = "cache",
	[ZONE_TEMP] = "temp",		[ZONE_SYSTEM] = "system",
	[ZONE_HOME] = "home",		[ZONE_SECRET] = "secret",
	[ZONE_PERSIST] = "persist",	[ZONE_PROC] = "proc",
};
_Static_assert(ARRAY_SIZE(names) == ZONE_COUNT, "each zone has a name");

const char *zone_name(enum zone z)
{
	return names[z];
}

int zone_from_name(const char *name, enum zone *ret_zone)
{
	for (size_t i = 0; i < ZONE_COUNT; i++)
		if (!strcmp(names[i], name)) {
			*ret_zone = (enum zone)i;
			return 0;
		}
	return -EINVAL;
}

/* What follows root in path; none for a root that holds everything. */
static struct cur below(struct cur root, struct cur path)
{
	struct cur want, part;
	bool any = false;

	while (path_next(&root, &want)) {
		any = true;
		if (!path_next(&path, &part) || cur_left(&want) != cur_left(&part) ||
		    memcmp(want.at, part.at, cur_left(&want)))
			return (struct cur){ NULL, NULL };
	}
	return any ? path : (struct cur){ NULL, NULL };
}

static struct cur pattern_of(const struct zone_rule *r)
{
	return cur_of(r->pattern, r->len);
}

/* The DEPEND rows stand together; looked for once. */
static const struct zone_rule *first_depend(void)
{
	static const struct zone_rule *first = rules;

	while (first->anchor != DEPEND)
		first++;
	return first;
}

static bool is_dependency(struct cur rest)
{
	for (const struct zone_rule *r = first_depend(); r->anchor == DEPEND; r++)
		if (match_from(rest, pattern_of(r)))
			return true;
	return false;
}

static struct cur first_dependency(struct cur rest)
{
	struct cur part;

	do {
		if (is_dependency(rest))
			return rest;
	} while (path_next(&rest, &part));
	return (struct cur){ NULL, NULL };
}

/* /proc/PID/rest or /proc/PID/task/TID/rest of a process that is not the run's. */
static struct cur below_other(const struct zone_ctx *ctx, struct cur path)
{
	static const struct cur none;
	struct cur part, rest, tid;
	uint64_t n;

	if (!path_next(&path, &part) || !cur_is(&part, "proc") || !path_next(&path, &part) ||
	    num_u64((const char *)part.at, cur_left(&part), UINT32_MAX, &n) < 0 ||
	    (ctx->is_ours && ctx->is_ours(ctx->procs, (uint32_t)n)))
		return none;
	rest = path;
	if (path_next(&rest, &part) && cur_is(&part, "task") && path_next(&rest, &tid))
		return rest;
	return path;
}

static struct cur below_runtime(struct cur path, uint32_t uid)
{
	char root[32];
	int n = snprintf(root, sizeof(root), "/run/user/%u", uid);

	return below(cur_of(root, (size_t)n), path);
}

/* Own code of the workspace is workspace, also when it runs as a tool. */
static struct cur below_tool(const struct zone_ctx *ctx, struct cur path)
{
	static const struct cur none;
	struct cur root = cur_of(ctx->tool_root.p, ctx->tool_root.len);
	struct cur ws = cur_of(ctx->workspace.p, ctx->workspace.len), inside, rest;

	if (below(root, ws).at || below(root, cur_of(ctx->home.p, ctx->home.len)).at)
		return none;
	inside = below(ws, root);
	if (inside.at && !first_dependency(inside).at)
		return none;
	rest = below(root, path);
	return rest.at && !first_dependency(rest).at ? rest : none;
}

static void place_path(const struct zone_ctx *ctx, struct cur path, struct place *pl)
{
	pl->root = path;
	pl->home = below(cur_of(ctx->home.p, ctx->home.len), path);
	pl->workspace = below(cur_of(ctx->workspace.p, ctx->workspace.len), path);
	pl->runtime = below_runtime(path, ctx->uid);
	pl->other = below_other(ctx, path);
	pl->tool = below_tool(ctx, path);
	pl->depend = first_dependency(pl->workspace.at ? pl->workspace : path);
	pl->own_until = pl->depend.at ? pl->depend.at : path.end;
}

/* Drops the last component that was kept, for `..`; above / is /. */
static size_t clean_up(const char *to, size_t len)
{
	while (len && to[--len] != '/')
		;
	return len;
}

/* Takes `.`, `..` and double slashes out of an absolute path. */
static struct cur clean(struct str from, char *to)
{
	struct cur path = cur_of(from.p, from.len), part;
	size_t len = 0;

	if (from.len >= MAX_ZONE_PATH || !from.len || from.p[0] != '/')
		return path;
	while (path_next(&path, &part)) {
		if (cur_is(&part, "."))
			continue;
		if (cur_is(&part, "..")) {
			len = clean_up(to, len);
			continue;
		}
		to[len++] = '/';
		memcpy(to + len, part.at, cur_left(&part));
		len += cur_left(&part);
	}
	return cur_of(to, len);
}

/* `plain`: as if no row were sensitive. */
static const struct zone_rule *decide(const struct zone_ctx *ctx, struct str path,
				      uint32_t access, bool plain)
{
	char text[MAX_ZONE_PATH];
	struct place pl;

	place_path(ctx, clean(path, text), &pl);
	for (size_t i = 0; i < ARRAY_SIZE(rules) - 1; i++) {
		const struct zone_rule *r = &rules[i];

		if (!(r->ops & access) && r->ops != ~0u)
			continue;
		if (plain && zone_is_sensitive(r->zone))
			continue;
		if (!anchors[r->anchor](&pl, pattern_of(r)))
			continue;
		if (r->zone != ZONE_PLAIN)
			return r;
		plain = true;
	}
	return &rules[ARRAY_SIZE(rules) - 1]; /* the row that takes every path */
}

const struct zone_rule *zone_rule_of(const struct zone_ctx *ctx, struct str path,
				     uint32_t access)
{
	return decide(ctx, path, access, false);
}

enum zone zone_of(const struct zone_ctx *ctx, struct str path, uint32_t access)
{
	return zone_rule_of(ctx, path, access)->zone;
}

enum zone zone_place_of(const struct zone_ctx *ctx, struct str path, uint32_t access)
{
	return decide(ctx, path, access, true)->zone;
}

bool zone_is_sensitive(enum zone z)
{
	return z == ZONE_SECRET || z == ZONE_PERSIST;
}
