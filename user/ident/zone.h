/* SPDX-License-Identifier: MIT */
/*
 * What kind of place a path is, by the rows of schemas/zones.def. Works on
 * bytes alone: links and mounts are resolved before (the kernel's paths are),
 * `.`, `..` and double slashes are taken out here because a name from user
 * memory may still have them. Allocates nothing, opens nothing.
 * A path costs some microseconds: callers keep the answer for an object.
 */
#ifndef IDENT_ZONE_H
#define IDENT_ZONE_H

#include "event/event.h"

#include <stdbool.h>

enum zone {
	ZONE_WORKSPACE,
	ZONE_DEPENDENCY,
	ZONE_TOOL,
	ZONE_CACHE,
	ZONE_TEMP,
	ZONE_SYSTEM,
	ZONE_HOME,
	ZONE_SECRET,
	ZONE_PERSIST,
	ZONE_PROC,
	ZONE_COUNT,
	ZONE_PLAIN = ZONE_COUNT, /* of rows only: neither secret nor persist */
};

/* Bits of `access`; the first two are those of struct event. */
#define ZONE_READ    (1u << 0)
#define ZONE_WRITE   (1u << 1) /* any change: also rename onto, unlink, chmod */
#define ZONE_PROBE   (1u << 2) /* a failed open */
#define ZONE_CONNECT (1u << 3) /* to a unix socket */

#define MAX_ZONE_PATH 8192 /* path and tail of one name; a longer one is matched as it is */

/* Borrowed. A workspace or home of "/" or "" is none. */
struct zone_ctx {
	struct str workspace; /* root, see workspace.h */
	struct str home;
	struct str tool_root; /* package root of the running tool, may be empty */
	uint32_t uid;	      /* of the traced user */
	/*
	 * Is that process one of the run? Its /proc/PID is then nothing secret.
	 * NULL: every /proc/PID is another's.
	 */
	bool (*is_ours)(const void *procs, uint32_t pid);
	const void *procs;
};

struct zone_rule {
	enum zone zone;
	const char *class; /* finer word: "cred-ssh", "git", "lib" */
	int anchor;
	uint32_t ops;
	const char *pattern;
	size_t len; /* of pattern */
};

enum zone zone_of(const struct zone_ctx *ctx, struct str path, uint32_t access);

/* Where the path lies, secret or not: never ZONE_SECRET or ZONE_PERSIST. */
enum zone zone_place_of(const struct zone_ctx *ctx, struct str path, uint32_t access);
bool zone_is_sensitive(enum zone z); /* secret or persist */

/* The row that decides; never NULL, borrowed for ever. */
const struct zone_rule *zone_rule_of(const struct zone_ctx *ctx, struct str path,
				     uint32_t access);

const char *zone_name(enum zone z);
int zone_from_name(const char *name, enum zone *ret_zone); /* -EINVAL */

#endif
