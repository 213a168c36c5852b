/* SPDX-License-Identifier: MIT */
/* Component by component with one point of return per level, see glob.h. */
#include "glob.h"

bool path_next(struct cur *path, struct cur *ret_part)
{
	const uint8_t *end;

	while (path->at < path->end && *path->at == '/')
		path->at++;
	if (path->at == path->end)
		return false;
	end = memchr(path->at, '/', cur_left(path));
	*ret_part = (struct cur){ path->at, end ? end : path->end };
	path->at = ret_part->end;
	return true;
}

/* On a mismatch the last star takes one byte more: an earlier one never has to. */
bool glob_match_part(struct cur pattern, struct cur part)
{
	struct cur star = { NULL, NULL }, held = part;

	while (part.at < part.end) {
		if (pattern.at < pattern.end && *pattern.at == '*') {
			pattern.at++;
			star = pattern;
			held = part;
		} else if (pattern.at < pattern.end &&
			   (*pattern.at == '?' || *pattern.at == *part.at)) {
			pattern.at++;
			part.at++;
		} else if (star.at) {
			held.at++;
			part = held;
			pattern = star;
		} else {
			return false;
		}
	}
	while (pattern.at < pattern.end && *pattern.at == '*')
		pattern.at++;
	return pattern.at == pattern.end;
}

static bool only_stars(struct cur pattern)
{
	struct cur want;

	while (path_next(&pattern, &want))
		if (!cur_is(&want, "**"))
			return false;
	return true;
}

bool glob_match(struct cur pattern, struct cur path)
{
	struct cur star = { NULL, NULL }, held = path, rest, want, part;

	for (;;) {
		rest = path;
		if (!path_next(&rest, &part))
			return only_stars(pattern);
		if (path_next(&pattern, &want)) {
			if (cur_is(&want, "**")) {
				star = pattern;
				held = path;
				continue;
			}
			if (glob_match_part(want, part)) {
				path = rest;
				continue;
			}
		}
		if (!star.at || !path_next(&held, &part))
			return false;
		path = held;
		pattern = star;
	}
}
