/* SPDX-License-Identifier: MIT */
/* Calling git, see git.h. */
#include "git.h"

#include "base/alloc.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_ARGS   32
#define MAX_GROUPS 1024
#define MAX_SAID   4096 /* of stderr */

extern char **environ;

/* Of a repository whose owner may be our adversary. */
static const char *const clean_env[] = {
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"LC_ALL=C",
	"HOME=/nonexistent",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS=/bin/false",
	"GIT_PAGER=cat",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_REPLACE_OBJECTS=1", /* else refs/replace shows another message */
	"GIT_GRAFT_FILE=/dev/null", /* nor other parents */
	"GIT_NO_LAZY_FETCH=1",
	"GIT_AUTHOR_NAME=deedlog",
	"GIT_AUTHOR_EMAIL=deedlog@localhost",
	"GIT_COMMITTER_NAME=deedlog",
	"GIT_COMMITTER_EMAIL=deedlog@localhost",
	NULL,
};

/* In front of the command: settings of the repository that would run something. */
static const char *const clean_args[] = {
	"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
	"-c", "protocol.allow=never", "-c", "log.showSignature=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.pager=cat",
};

struct owner {
	bool change;
	uid_t uid;
	gid_t gid;
	gid_t groups[MAX_GROUPS];
	int n_groups;
};

/* Root must not run what the owner of a repository put into its configuration. */
static int find_owner(const struct git *g, struct owner *o, struct diag *d)
{
	const char *dir = g->dir ? g->dir : ".";
	const struct passwd *pw;
	struct stat st;

	if (stat(dir, &st) < 0)
		return diag_set(d, -errno, "cannot look at %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return diag_set(d, -ENOTDIR, "%s is no folder", dir);
	o->change = !g->as_is && !geteuid() && st.st_uid;
	o->uid = st.st_uid;
	o->gid = st.st_gid;
	o->n_groups = 1;
	o->groups[0] = st.st_gid;
	pw = o->change ? getpwuid(st.st_uid) : NULL;
	if (!pw)
		return 0;
	o->gid = pw->pw_gid;
	o->n_groups = MAX_GROUPS;
	if (getgrouplist(pw->pw_name, pw->pw_gid, o->groups, &o->n_groups) < 0)
		o->n_groups = 0; /* in more groups than we keep: then in none */
	return 0;
}

static _noreturn_ void child(const struct git *g, const struct owner *o, char *const *argv,
			     const int fds[3])
{
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(126);
	(void)close_range(3, ~0u, 0);
	if (o->change && (setgroups((size_t)o->n_groups, o->groups) < 0 ||
			  setresgid(o->gid, o->gid, o->gid) < 0 ||
			  setresuid(o->uid, o->uid, o->uid) < 0))
		_exit(126);
	if (g->dir && chdir(g->dir) < 0)
		_exit(126);
	(void)signal(SIGPIPE, SIG_DFL);
	if (!g->as_is)
		environ = (char **)clean_env;
	(void)execvp("git", argv);
	_exit(127);
}

static void fill_argv(const struct git *g, const char *const *args, const char **to)
{
	size_t n = 0;

	for (size_t i = 0; i < (g->as_is ? 1 : ARRAY_SIZE(clean_args)); i++)
		to[n++] = clean_args[i];
	while (*args && n + 1 < MAX_ARGS)
		to[n++] = *args++;
	to[n] = NULL;
}

/* Input comes from memory, so that git's reading never depends on our writing. */
static int input_of(const struct buf *in)
{
	int fd, r;

	if (!in || !in->len)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("git-input", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	r = fd_write_all(fd, in->data, in->len);
	if (!r && !lseek(fd, 0, SEEK_SET))
		return fd;
	(void)close(fd);
	return -1;
}

struct call {
	int in, out[2], err; /* err: in memory as well */
	pid_t pid;
};

static void call_done(struct call *c)
{
	closep(&c->in);
	closep(&c->out[0]);
	closep(&c->out[1]);
	closep(&c->err);
}

static int start(struct call *c, const struct git *g, const char *const *args,
		 const struct buf *in, struct diag *d)
{
	const char *argv[MAX_ARGS];
	struct owner o = { 0 };
	int r;

	r = find_owner(g, &o, d);
	if (r < 0)
		return r;
	fill_argv(g, args, argv);
	c->in = input_of(in);
	c->err = memfd_create("git-said", MFD_CLOEXEC);
	if (c->in < 0 || c->err < 0 || pipe2(c->out, O_CLOEXEC) < 0)
		return diag_set(d, -errno, "cannot start git: %s", strerror(errno));
	c->pid = fork();
	if (!c->pid)
		child(g, &o, (char *const *)argv, (const int[]){ c->in, c->out[1], c->err });
	closep(&c->out[1]);
	c->out[1] = -1;
	return c->pid < 0 ? diag_set(d, -errno, "cannot start git: %s", strerror(errno)) : 0;
}

static int wait_for(pid_t pid, int *ret_status)
{
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void read_said(int fd, struct buf *to)
{
	ssize_t n = pread(fd, buf_grow(to, MAX_SAID), MAX_SAID, 0);

	buf_cut(to, to->len + (size_t)MAX(n, 0));
	while (to->len && to->data[to->len - 1] == '\n')
		buf_cut(to, to->len - 1);
}

static int result(const struct call *c, int r, struct buf *said, struct diag *d)
{
	int status, w;

	if (r < 0)
		(void)kill(c->pid, SIGKILL); /* nobody reads what it says */
	w = wait_for(c->pid, &status);
	read_said(c->err, said);
	if (r == -EFBIG)
		return diag_set(d, r, "git said more than %u bytes", MAX_GIT_OUTPUT);
	if (r < 0 || w < 0)
		return diag_set(d, r < 0 ? r : w, "cannot read from git: %s", strerror(r < 0 ? -r : -w));
	if (!WIFEXITED(status))
		return diag_set(d, -EIO, "git was killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == 127)
		return diag_set(d, -ENOENT, "git is not installed");
	return WEXITSTATUS(status);
}

static int run(const struct git *g, const char *const *args, const struct buf *in,
	       struct buf *out, struct buf *said, struct diag *d)
{
	_cleanup_(call_done) struct call c = { .in = -1, .out = { -1, -1 }, .err = -1 };
	_cleanup_buf_ struct buf unread = BUF_INIT;
	int r;

	r = start(&c, g, args, in, d);
	if (r < 0)
		return r;
	r = fd_read_all(c.out[0], MAX_GIT_OUTPUT, out ? out : &unread);
	return result(&c, r, said, d);
}

int git_run(const struct git *g, const char *const *args, const struct buf *in, struct buf *out,
	    struct diag *d)
{
	_cleanup_buf_ struct buf said = BUF_INIT;

	return run(g, args, in, out, &said, d);
}

int git_must(const struct git *g, const char *const *args, const struct buf *in, struct buf *out,
	     struct diag *d)
{
	_cleanup_buf_ struct buf said = BUF_INIT;
	int r;

	r = run(g, args, in, out, &said, d);
	if (r <= 0)
		return r;
	return diag_set(d, -EIO, "%s: git %s failed: %s", g->dir ? g->dir : "here", args[0],
			said.len ? buf_str(&said) : "it does not say why");
}

int git_line(const struct git *g, const char *const *args, struct buf *out, struct diag *d)
{
	size_t before = out->len;
	int r;

	r = git_run(g, args, NULL, out, d);
	if (r)
		return r < 0 ? r : -ENOENT;
	while (out->len > before && out->data[out->len - 1] == '\n')
		buf_cut(out, out->len - 1);
	return out->len > before ? 0 : -ENOENT;
}
