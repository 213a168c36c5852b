/* SPDX-License-Identifier: MIT */
/*
 * Lines look like
 *   36 35 98:0 /root /mnt rw,noatime master:1 shared:2 - ext3 /dev/sda1 rw
 * with any number of optional fields before the dash.
 */
#include "mountinfo.h"

static void unescape(struct cur word, struct buf *to)
{
	uint8_t c, octal[3];

	buf_reset(to);
	while (!cur_u8(&word, &c)) {
		if (c == '\\' && !cur_copy(&word, octal, sizeof(octal)))
			c = (uint8_t)((octal[0] - '0') << 6 | (octal[1] - '0') << 3 |
				      (octal[2] - '0'));
		buf_addch(to, (char)c);
	}
}

static int skip_words(struct cur *c, int n)
{
	struct cur word;
	int r;

	for (; n; n--) {
		r = cur_until(c, ' ', &word);
		if (r < 0)
			return r;
	}
	return 0;
}

static int skip_to_dash(struct cur *c)
{
	struct cur word;
	int r;

	do {
		r = cur_until(c, ' ', &word);
		if (r < 0)
			return r;
	} while (!cur_is(&word, "-"));
	return 0;
}

int mountinfo_next(struct cur *text, struct mount_line *line)
{
	struct cur c, root, point;
	int r;

	if (!cur_left(text))
		return 0;
	r = cur_until(text, '\n', &c);
	if (r < 0)
		return r;
	r = skip_words(&c, 3);
	if (r < 0)
		return r;
	r = cur_until(&c, ' ', &root);
	if (r < 0)
		return r;
	r = cur_until(&c, ' ', &point);
	if (r < 0)
		return r;
	r = skip_to_dash(&c);
	if (r < 0)
		return r;
	r = cur_until(&c, ' ', &line->type);
	if (r < 0)
		return r;
	unescape(root, &line->root);
	unescape(point, &line->point);
	return 1;
}

void mount_line_done(struct mount_line *line)
{
	buf_done(&line->root);
	buf_done(&line->point);
}

int mountinfo_cgroup2(struct cur text, char **ret_point)
{
	_cleanup_(mount_line_done) struct mount_line line = MOUNT_LINE_INIT;
	_cleanup_buf_ struct buf whole = BUF_INIT, part = BUF_INIT;
	struct buf *to;
	int r;

	while ((r = mountinfo_next(&text, &line)) > 0) {
		if (!cur_is(&line.type, "cgroup2"))
			continue;
		to = strcmp(buf_str(&line.root), "/") ? &part : &whole;
		buf_reset(to);
		buf_add(to, line.point.data, line.point.len);
	}
	if (r < 0)
		return r;
	to = whole.len ? &whole : &part;
	if (!to->len)
		return -ENOENT;
	*ret_point = buf_take(to);
	return 0;
}

static int count_parts(const char *path)
{
	int n = 0;

	for (; *path; path++)
		n += *path == '/' && path[1] && path[1] != '/';
	return n;
}

/* What follows the mount point, or NULL. */
static const char *rest_below(const char *point, const char *path)
{
	size_t n = strcmp(point, "/") ? strlen(point) : 0;

	if (strncmp(point, path, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

int mountinfo_cgroup2_depth(struct cur text, const char *path)
{
	_cleanup_(mount_line_done) struct mount_line line = MOUNT_LINE_INIT;
	int r, depth = -ENOENT;
	size_t best = 0;
	const char *rest;

	while ((r = mountinfo_next(&text, &line)) > 0) {
		if (!cur_is(&line.type, "cgroup2"))
			continue;
		rest = rest_below(buf_str(&line.point), path);
		if (!rest || line.point.len < best)
			continue;
		best = line.point.len;
		depth = count_parts(buf_str(&line.root)) + count_parts(rest);
	}
	return r < 0 ? r : depth;
}
