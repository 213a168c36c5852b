/* SPDX-License-Identifier: MIT */
/*
 * Whom the traced command runs as, see who.h. SUDO_UID is set by sudo and only
 * believed by root: the worst that a forged value does is to give rights away.
 */
#include "who.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#define MAX_ENVIRON   (8u << 20) /* the kernel's limit is a quarter of the stack, 2 MiB by default */
#define MAX_STATUS    65536
#define MAX_ANCESTORS 8 /* sudo's own monitor processes */
#define MAX_GROUPS    65536 /* NGROUPS_MAX */

extern char **environ;

/* ---- environment ------------------------------------------------------- */

static void env_add(struct who *w, size_t *n, char *entry)
{
	w->env = xrealloc(w->env, *n + 2, sizeof(*w->env));
	w->env[(*n)++] = entry;
	w->env[*n] = NULL;
}

static void env_from_bytes(struct who *w, const struct buf *b)
{
	size_t n = 0;

	w->env = xcalloc(1, sizeof(*w->env));
	for (size_t at = 0; at < b->len; at += strlen(b->data + at) + 1)
		if (b->data[at])
			env_add(w, &n, xstrdup(b->data + at));
}

static void env_copy(struct who *w)
{
	size_t n = 0;

	w->env = xcalloc(1, sizeof(*w->env));
	for (char **e = environ; *e; e++)
		env_add(w, &n, xstrdup(*e));
}

static void env_set(struct who *w, const char *name, const char *value)
{
	size_t len = strlen(name), n = 0;

	for (; w->env[n]; n++)
		if (!strncmp(w->env[n], name, len) && w->env[n][len] == '=') {
			free(w->env[n]);
			w->env[n] = xasprintf("%s=%s", name, value);
			return;
		}
	env_add(w, &n, xasprintf("%s=%s", name, value));
}

static void env_drop(struct who *w, const char *prefix)
{
	size_t to = 0;

	for (size_t i = 0; w->env[i]; i++)
		if (strncmp(w->env[i], prefix, strlen(prefix)))
			w->env[to++] = w->env[i];
		else
			free(w->env[i]);
	w->env[to] = NULL;
}

/* ---- the sudo above us ------------------------------------------------- */

static bool is_sudo(pid_t pid)
{
	_cleanup_free_ char *link = xasprintf("/proc/%d/exe", pid);
	char exe[256];
	ssize_t n = readlink(link, exe, sizeof(exe) - 1);
	const char *base;

	if (n <= 0)
		return false;
	exe[n] = '\0';
	base = strrchr(exe, '/');
	return base && !strcmp(base, "/sudo");
}

/* The number behind `key` in /proc/PID/status. */
static int status_number(pid_t pid, const char *key, int base, unsigned *ret)
{
	_cleanup_free_ char *name = xasprintf("/proc/%d/status", pid);
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *at;
	int r;

	r = file_read_at(AT_FDCWD, name, MAX_STATUS, &b);
	if (r < 0)
		return r;
	at = strstr(buf_str(&b), key);
	if (!at)
		return -ENOENT;
	*ret = (unsigned)strtoul(at + strlen(key), NULL, base); /* the kernel's own text */
	return 0;
}

/* Topmost of the sudo processes that are our nearest ancestors; 0 = none. */
static pid_t sudo_above(void)
{
	pid_t found = 0;
	unsigned pid = (unsigned)getppid();

	for (int i = 0; i < MAX_ANCESTORS && pid > 1 && is_sudo((pid_t)pid); i++) {
		found = (pid_t)pid;
		if (status_number(found, "\nPPid:", 10, &pid) < 0)
			break;
	}
	return found;
}

/* What the user had before sudo cleaned it; false: sudo is not our parent. */
static bool env_before_sudo(struct who *w)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_free_ char *name = NULL;
	pid_t sudo = sudo_above();
	unsigned mask;

	if (!sudo)
		return false;
	name = xasprintf("/proc/%d/environ", sudo);
	if (file_read_at(AT_FDCWD, name, MAX_ENVIRON, &b) < 0 || !b.len)
		return false;
	env_from_bytes(w, &b);
	if (!status_number(sudo, "\nUmask:", 8, &mask))
		w->umask = mask & 0777;
	return true;
}

/* ---- identity ---------------------------------------------------------- */

static void take_groups(struct who *w, const char *name)
{
	int n = 64;

	w->groups = xcalloc((size_t)n, sizeof(gid_t));
	while (getgrouplist(name, w->gid, w->groups, &n) < 0 && n <= MAX_GROUPS)
		w->groups = xrealloc(w->groups, (size_t)n, sizeof(gid_t));
	w->n_groups = n;
}

static void take_passwd(struct who *w, const struct passwd *pw)
{
	w->change = true;
	w->uid = pw->pw_uid;
	w->gid = pw->pw_gid;
	w->home = xstrdup(pw->pw_dir);
	take_groups(w, pw->pw_name);
}

/* For an environment that was somebody else's until now. */
static void env_take_passwd(struct who *w, const struct passwd *pw)
{
	env_copy(w);
	env_drop(w, "SUDO_");
	env_set(w, "HOME", pw->pw_dir);
	env_set(w, "USER", pw->pw_name);
	env_set(w, "LOGNAME", pw->pw_name);
	env_set(w, "SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh");
}

static int from_user(struct who *w, const char *user, struct diag *d)
{
	const struct passwd *pw = getpwnam(user);

	if (!pw)
		return diag_set(d, -ENOENT, "--user %s: no such user; see `getent passwd`", user);
	take_passwd(w, pw);
	env_take_passwd(w, pw);
	return 0;
}

static int from_sudo(struct who *w, const char *uid_text, struct diag *d)
{
	const struct passwd *pw;
	uint64_t uid;

	if (num_u64(uid_text, strlen(uid_text), UINT32_MAX - 1, &uid) < 0)
		return diag_set(d, -EINVAL, "SUDO_UID is no user id: %s", uid_text);
	pw = getpwuid((uid_t)uid);
	if (!pw)
		return diag_set(d, -ENOENT,
				"user id %s of SUDO_UID is unknown; name the user: --user NAME", uid_text);
	take_passwd(w, pw);
	if (!env_before_sudo(w))
		env_take_passwd(w, pw);
	return 0;
}

int who_find(const char *user, struct diag *d, struct who *ret)
{
	_cleanup_who_ struct who w = { .uid = getuid(), .gid = getgid() };
	const char *sudo_uid = getenv("SUDO_UID");
	const char *home = getenv("HOME");
	int r = 0;

	w.umask = umask(0);
	(void)umask(w.umask);
	if (user)
		r = from_user(&w, user, d);
	else if (sudo_uid)
		r = from_sudo(&w, sudo_uid, d);
	if (r < 0)
		return r;
	if (!w.env) {
		env_copy(&w);
		w.home = xstrdup(home ? home : "/root");
	}
	*ret = w;
	w = (struct who){ 0 };
	return 0;
}

void who_done(struct who *w)
{
	for (char **e = w->env; e && *e; e++)
		free(*e);
	free(w->env);
	free(w->groups);
	free(w->home);
	*w = (struct who){ 0 };
}

int who_become(const struct who *w)
{
	(void)umask(w->umask);
	if (!w->change)
		return 0;
	if (setgroups((size_t)w->n_groups, w->groups) < 0 ||
	    setresgid(w->gid, w->gid, w->gid) < 0 || setresuid(w->uid, w->uid, w->uid) < 0)
		return -errno;
	return 0;
}

int who_open(const struct who *w, const char *path)
{
	int fd, err;

	if (w->change) {
		(void)setfsgid(w->gid); /* these two report nothing; the open tells */
		(void)setfsuid(w->uid);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	err = errno;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	return fd < 0 ? -err : fd;
}
