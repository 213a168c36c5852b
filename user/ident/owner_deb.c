/* SPDX-License-Identifier: MIT */
/*
 * Programs of Debian packages. Reading every list of files takes 11 to 115 ms
 * (846 packages, 8.5 MB, measured), too much at an exec. So only lists that
 * are likely are read: those named like the program, and those of the packages
 * that most programs come from. Anything else stays "not known". Answers are
 * kept for the run, the last MAX_KNOWN of them.
 */
#include "owner.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/macros.h"
#include "purl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#define DPKG	  "/var/lib/dpkg"
#define MAX_LIST  (1u << 20) /* one list of files; linux-headers has 1 MB */
#define MAX_KNOWN 64

/* behind the name of the program */
static const char *const endings[] = { "", "-minimal", "-bin", "-common" };
static const char *const usual[] = {
	"coreutils", "bash", "dash", "findutils", "grep", "sed", "mawk", "gawk", "diffutils",
	"tar", "gzip", "xz-utils", "bzip2", "procps", "util-linux", "util-linux-extra",
	"hostname", "debianutils", "perl-base", "nodejs", "git", "git-man", "curl", "wget",
	"openssh-client", "libc-bin", "make", "gcc-12", "cpp-12", "g++-12", "binutils",
	"binutils-x86-64-linux-gnu", "login", "passwd", "ncurses-bin", "file", "patch", "less",
};

static struct known {
	char *path, *name, *version; /* name NULL: no package */
} cache[MAX_KNOWN];
static size_t cache_next;

static bool has_line(const struct buf *text, const char *path)
{
	_cleanup_free_ char *line = xasprintf("\n%s\n", path);

	return text->len && memmem(text->data, text->len, line, strlen(line));
}

/*
 * Lists may still have the name from before /bin became a link to /usr/bin.
 * text: room to use again, page faults cost more than the reading.
 */
static bool lists_path(const char *package, const char *path, struct buf *text)
{
	_cleanup_free_ char *name = xasprintf(DPKG "/info/%s.list", package);

	buf_reset(text);
	if (file_read_at(AT_FDCWD, name, MAX_LIST, text) < 0)
		return false;
	return has_line(text, path) ||
	       (!strncmp(path, "/usr/", 5) && has_line(text, path + 4));
}

static bool is_package_name(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.");

	return len && !s[len] && len <= MAX_PACKAGE_NAME;
}

static char *package_of(const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *base = strrchr(path, '/') + 1;

	for (size_t i = 0; is_package_name(base) && i < ARRAY_SIZE(endings); i++) {
		_cleanup_free_ char *name = xasprintf("%s%s", base, endings[i]);

		if (lists_path(name, path, &text))
			return TAKE_PTR(name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (lists_path(usual[i], path, &text))
			return xstrdup(usual[i]);
	return NULL;
}

static bool is_version(const char *s)
{
	size_t len = 0;

	while (s[len] && (isalnum((unsigned char)s[len]) || strchr(".+-~:", s[len])))
		len++;
	return len && !s[len] && len <= MAX_PACKAGE_VERSION;
}

/* The text behind head if the line starts with it, NULL otherwise. */
static const char *field(const char *line, const char *head)
{
	size_t len = strlen(head);

	return strncmp(line, head, len) ? NULL : line + len;
}

/* By line: holding a megabyte at once costs 20 times as much in page faults (measured). */
static char *find_version(FILE *status, const char *package)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	bool here = false;
	const char *text;

	while (getline(&line, &size, status) > 0) {
		line[strcspn(line, "\n")] = '\0';
		text = field(line, "Package: ");
		if (text)
			here = !strcmp(text, package);
		text = here ? field(line, "Version: ") : NULL;
		if (text)
			return is_version(text) ? xstrdup(text) : NULL;
	}
	return NULL;
}

static char *version_of(const char *package)
{
	FILE *status = fopen(DPKG "/status", "re");
	char *version;

	if (!status)
		return NULL;
	version = find_version(status, package);
	(void)fclose(status); /* only read */
	return version;
}

static void known_done(struct known *k)
{
	free(k->path);
	free(k->name);
	free(k->version);
	*k = (struct known){ NULL };
}

static const struct known *look_up(const char *path)
{
	struct known *k;

	for (size_t i = 0; i < MAX_KNOWN; i++)
		if (cache[i].path && !strcmp(cache[i].path, path))
			return &cache[i];
	k = &cache[cache_next++ % MAX_KNOWN];
	known_done(k);
	k->path = xstrdup(path);
	k->name = package_of(path);
	k->version = k->name ? version_of(k->name) : NULL;
	return k;
}

int owner_deb(const char *path, struct package *ret)
{
	static const char *const trees[] = { "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/",
					     "/sbin/", "/usr/games/" };
	const struct known *k = NULL;

	for (size_t i = 0; !k && i < ARRAY_SIZE(trees); i++)
		if (!strncmp(path, trees[i], strlen(trees[i])))
			k = look_up(path);
	if (!k || !k->version)
		return -ENOENT;
	*ret = (struct package){ .name = xstrdup(k->name),
				 .version = xstrdup(k->version),
				 .purl = purl_make("deb", "debian", k->name, k->version) };
	return 0;
}
