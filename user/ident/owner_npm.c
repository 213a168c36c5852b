/* SPDX-License-Identifier: MIT */
/*
 * Packages of npm: the nearest package.json upwards that has a name and a
 * version. Those without (`{"type":"module"}`) are no package. The search
 * does not leave node_modules, so a dependency without a name is never taken
 * for the project around it.
 */
#include "owner.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/json_in.h"
#include "purl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#define MAX_LEVELS 64 /* folders to look at */

static bool is_made_of(const char *s, size_t len, const char *marks)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !memchr(marks, s[i], strlen(marks)))
			return false;
	return true;
}

/* One part of a name; the last five marks are legal in old names only. */
static bool is_plain(const char *s, size_t len)
{
	if (!is_made_of(s, len, "-._~!'()*"))
		return false;
	return len && s[0] != '.' && s[0] != '_';
}

static bool is_name(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);

	if (!len || len > MAX_PACKAGE_NAME)
		return false;
	if (s[0] != '@')
		return is_plain(s, len);
	return slash && is_plain(s + 1, (size_t)(slash - s) - 1) &&
	       is_plain(slash + 1, len - (size_t)(slash - s) - 1);
}

static bool is_version(const char *s, size_t len)
{
	return len && len <= MAX_PACKAGE_VERSION && is_made_of(s, len, "-.+");
}

static char *npm_purl(const char *name, const char *version)
{
	const char *slash = strchr(name, '/');
	_cleanup_free_ char *scope = NULL;

	if (!slash)
		return purl_make("npm", NULL, name, version);
	scope = xmemdup(name, (size_t)(slash - name));
	return purl_make("npm", scope, slash + 1, version);
}

static int read_manifest(const char *dir, struct package *ret)
{
	_cleanup_free_ char *path = xasprintf("%s/package.json", dir);
	_cleanup_json_in_ struct json_in *json = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *name, *version;
	size_t name_len, version_len;
	int r;

	r = file_read_at(AT_FDCWD, path, JSON_IN_MAX_BYTES, &text);
	if (r < 0)
		return r;
	r = json_in_object(buf_str(&text), text.len, &json);
	if (r < 0)
		return r;
	if (json_in_str(json, "name", &name, &name_len) < 0 ||
	    json_in_str(json, "version", &version, &version_len) < 0)
		return -ENOENT;
	if (!is_name(name, name_len) || !is_version(version, version_len))
		return -EBADMSG;
	*ret = (struct package){ .name = xmemdup(name, name_len),
				 .version = xmemdup(version, version_len),
				 .purl = npm_purl(name, version),
				 .root = xstrdup(dir) };
	return 0;
}

static bool is_modules(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash && !strcmp(slash, "/node_modules");
}

int owner_npm(const char *path, struct package *ret)
{
	_cleanup_free_ char *dir = xstrdup(path);

	for (int level = 0; level < MAX_LEVELS; level++) {
		char *slash = strrchr(dir, '/');

		if (!slash || slash == dir)
			break;
		*slash = '\0';
		if (is_modules(dir))
			break;
		if (read_manifest(dir, ret) == 0)
			return 0;
	}
	return -ENOENT;
}
