/* SPDX-License-Identifier: MIT */
/*
 * The front of a recording, see front.h. Signals are taken from a signalfd and
 * dispositions are left alone, so that the command inherits what we were
 * started with (nohup, background jobs).
 */
#include "front.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "base/macros.h"
#include "cli.h"
#include "trace/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LINK_FD 3 /* of the collector, above its /dev/null stdio */

extern char **environ;

struct front {
	const struct front_options *o;
	struct front_result *ret;
	sigset_t old_mask;
	int signals, link, go, exec_error;
	pid_t cmd, collector;
	struct cgroup cgroup; /* of the command */
	bool armed, cmd_gone, collector_gone, done;
	struct link_armed facts;
	struct link_msg msg;
	struct diag *d;
	int failed; /* -errno of a collector that could not start */
};

static void front_done(struct front *f)
{
	if (f->signals >= 0)
		(void)sigprocmask(SIG_SETMASK, &f->old_mask, NULL);
	closep(&f->signals);
	closep(&f->link);
	closep(&f->go);
	closep(&f->exec_error);
	buf_done(&f->msg.bytes);
}

/* ---- signals ----------------------------------------------------------- */

/* Taken from the signalfd; those with `pass` are for the command. */
static const struct {
	int sig;
	bool pass, ends_wait;
} signal_rules[] = {
	{ SIGINT, true, true },	  { SIGQUIT, true, true },  { SIGTERM, true, true },
	{ SIGHUP, true, true },	  { SIGTSTP, true, false }, { SIGCONT, true, false },
	{ SIGUSR1, true, false }, { SIGUSR2, true, false }, { SIGALRM, true, false },
	{ SIGTTOU, false, false }, { SIGPIPE, false, false }, { SIGCHLD, false, false },
};

static int take_signals(struct front *f)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signal_rules); i++)
		(void)sigaddset(&set, signal_rules[i].sig);
	if (sigprocmask(SIG_BLOCK, &set, &f->old_mask) < 0)
		return -errno;
	f->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return f->signals < 0 ? -errno : 0;
}

/*
 * The terminal gives a signal to the whole group, and so does a process of the
 * command that signals its own group: the command has it already. Our parent
 * (timeout, npm) names us alone.
 */
static bool command_has_it(const struct front *f, const struct signalfd_siginfo *si)
{
	pid_t sender = (pid_t)si->ssi_pid;

	if (si->ssi_code > 0 || !sender) /* from the kernel */
		return true;
	if (sender == f->cmd)
		return true;
	return sender != getppid() && getpgid(sender) == getpgrp();
}

/* Job control: without a terminal nobody would wake us again. */
static void stop_with_command(const struct front *f)
{
	_cleanup_fd_ int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (tty < 0)
		return;
	(void)kill(getpid(), SIGSTOP);
	(void)kill(f->cmd, SIGCONT); /* `fg` woke us, perhaps not its own group */
}

static void reap_command(struct front *f)
{
	int status;

	while (!f->cmd_gone && waitpid(f->cmd, &status, WNOHANG | WUNTRACED) == f->cmd) {
		if (WIFSTOPPED(status)) {
			stop_with_command(f);
			continue;
		}
		f->cmd_gone = true;
		f->ret->status = status;
		if (f->armed && !f->collector_gone)
			(void)link_send(f->link, LINK_EXIT, &status, sizeof(status)); /* EOF tells */
	}
}

static void on_signal(struct front *f, const struct signalfd_siginfo *si)
{
	for (size_t i = 0; i < ARRAY_SIZE(signal_rules); i++) {
		if (signal_rules[i].sig != (int)si->ssi_signo)
			continue;
		if (!f->cmd_gone && signal_rules[i].pass && !command_has_it(f, si))
			(void)kill(f->cmd, (int)si->ssi_signo);
		else if (f->cmd_gone && signal_rules[i].ends_wait)
			(void)link_send(f->link, LINK_STOP, NULL, 0); /* EOF tells */
	}
}

static void read_signals(struct front *f)
{
	struct signalfd_siginfo si;

	while (read(f->signals, &si, sizeof(si)) == sizeof(si))
		on_signal(f, &si);
	if (f->cmd)
		reap_command(f);
}

_noreturn_ void front_die_of(int sig)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
	_exit(128 + sig); /* a signal that does not kill us */
}

/* ---- the two children -------------------------------------------------- */

static _noreturn_ void collector_child(const struct front *f, int link)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	if (null < 0 || dup2(link, LINK_FD) < 0)
		_exit(1);
	for (int fd = 0; fd < LINK_FD; fd++)
		(void)dup2(null, fd); /* the user's pipes must not wait for us */
	(void)close_range(LINK_FD + 1, ~0u, 0);
	(void)chdir("/");
	(void)umask(027); /* the user's was taken already */
	f->o->collector->link = LINK_FD;
	_exit(collector_main(f->o->collector));
}

static int make_cgroup(struct front *f)
{
	_cleanup_free_ char *name = NULL;
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		return diag_set(f->d, -EIO, "no random bytes");
	name = xasprintf("%016llx", (unsigned long long)n);
	return cgroup_make(name, f->d, &f->cgroup);
}

static int start_collector(struct front *f)
{
	int pair[2], r;

	r = link_pair(pair);
	if (r < 0)
		return r;
	if (f->o->argv)
		f->o->collector->cgroup = f->cgroup.path;
	f->link = pair[0];
	f->collector = fork();
	if (!f->collector)
		collector_child(f, pair[1]);
	(void)close(pair[1]);
	return f->collector < 0 ? -errno : 0;
}

/* Waits for the word of the front, then becomes the command. */
static _noreturn_ void command_child(const struct front *f, int go, int exec_error)
{
	char word;
	int err;

	(void)sigprocmask(SIG_SETMASK, &f->old_mask, NULL);
	(void)close(f->go); /* our copy: the front's death must be seen */
	if (read(go, &word, 1) != 1)
		_exit(EXIT_OWN);
	err = -who_become(f->o->who);
	if (!err) {
		environ = f->o->who->env;
		(void)execvp(f->o->argv[0], f->o->argv);
		err = errno;
	}
	(void)fd_write_all(exec_error, &err, sizeof(err)); /* the exit status tells too */
	_exit(err == ENOENT ? 127 : 126);
}

static int start_command(struct front *f)
{
	_cleanup_fd_ int pid_fd = -1;
	int go[2], error[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return -errno;
	f->go = go[0];
	if (pipe2(error, O_CLOEXEC) < 0) {
		(void)close(go[1]);
		return -errno;
	}
	f->exec_error = error[0];
	f->cmd = cgroup_fork(f->cgroup.fd, &pid_fd);
	if (!f->cmd)
		command_child(f, go[1], error[1]);
	(void)close(go[1]);
	(void)close(error[1]);
	if (f->cmd < 0)
		return (int)f->cmd;
	r = link_send(f->link, LINK_TARGET, &f->cmd, sizeof(f->cmd));
	return r == -EPIPE ? 0 : r; /* what ended the collector waits to be read */
}

/* ---- messages ---------------------------------------------------------- */

static void on_armed(struct front *f)
{
	if (f->msg.bytes.len != sizeof(f->facts))
		return;
	memcpy(&f->facts, f->msg.bytes.data, sizeof(f->facts));
	f->armed = true;
	if (!f->cmd) {
		if (!f->o->quiet)
			say("recording as run %.8s, Ctrl-C ends it", f->facts.run);
		return;
	}
	(void)send(f->go, "g", 1, MSG_NOSIGNAL); /* a command killed meanwhile is reaped */
	closep(&f->go);
	f->go = -1;
}

static void on_done(struct front *f)
{
	struct link_done *done = &f->ret->done;

	if (f->msg.bytes.len < sizeof(*done))
		return;
	memcpy(done, f->msg.bytes.data, sizeof(*done));
	buf_add(&f->ret->summary, f->msg.bytes.data + sizeof(*done),
		f->msg.bytes.len - sizeof(*done));
	f->done = true;
}

static void on_fail(struct front *f)
{
	if (f->armed) {
		say("%s", buf_str(&f->msg.bytes));
		return;
	}
	f->failed = diag_set(f->d, -EIO, "%s", buf_str(&f->msg.bytes));
}

static void on_note(struct front *f)
{
	if (!f->o->quiet)
		say("%s", buf_str(&f->msg.bytes));
}

static void (*const on_message[])(struct front *) = {
	[LINK_ARMED] = on_armed,
	[LINK_FAIL] = on_fail,
	[LINK_NOTE] = on_note,
	[LINK_DONE] = on_done,
};

static void on_collector_gone(struct front *f)
{
	f->collector_gone = true;
	if (f->done || f->failed)
		return;
	if (!f->armed) {
		f->failed = diag_set(f->d, -EIO,
				     "the recorder ended before the start; see `deedlog doctor`");
		return;
	}
	f->ret->orphaned = true;
	if (f->cgroup.owned)
		(void)cgroup_freeze(&f->cgroup, false); /* it may have died with the target frozen */
	say("the recorder of run %.8s died: the rest of this command is NOT recorded; what was "
	    "sealed before stays valid, see `deedlog verify %.8s`",
	    f->facts.run, f->facts.run);
}

static void read_link(struct front *f)
{
	if (link_recv(f->link, &f->msg) < 0) {
		on_collector_gone(f);
		return;
	}
	if (f->msg.type < ARRAY_SIZE(on_message) && on_message[f->msg.type])
		on_message[f->msg.type](f);
}

static void read_exec_error(struct front *f)
{
	int err;

	if (read(f->exec_error, &err, sizeof(err)) == sizeof(err))
		f->ret->exec_errno = err;
	(void)close(f->exec_error);
	f->exec_error = -1;
}

/* ---- the loop ---------------------------------------------------------- */

static bool finished(const struct front *f)
{
	if (f->failed)
		return true;
	if (!f->cmd_gone)
		return false;
	if (!f->armed)
		return f->cmd > 0; /* killed before its start */
	return f->done || f->collector_gone;
}

static int loop(struct front *f)
{
	while (!finished(f)) {
		struct pollfd p[] = {
			{ f->signals, POLLIN, 0 },
			{ f->collector_gone ? -1 : f->link, POLLIN, 0 },
			{ f->exec_error, POLLIN, 0 },
		};

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return -errno;
		if (p[2].revents)
			read_exec_error(f);
		if (p[0].revents)
			read_signals(f);
		if (p[1].revents)
			read_link(f);
	}
	return f->failed;
}

/* A command that did not get its word ends by the closed socket. */
static void abandon_command(struct front *f)
{
	closep(&f->go);
	f->go = -1;
	if (f->cmd > 0 && !f->cmd_gone)
		(void)waitpid(f->cmd, NULL, 0);
}

static int start(struct front *f)
{
	int r;

	r = f->o->argv ? make_cgroup(f) : 0;
	if (r < 0)
		return r;
	r = take_signals(f);
	if (!r)
		r = start_collector(f);
	if (!r && f->o->argv)
		r = start_command(f);
	return r ? diag_set(f->d, r, "cannot start: %s", strerror(-r)) : 0;
}

int front_run(const struct front_options *o, struct diag *d, struct front_result *ret)
{
	struct front f = { .o = o, .ret = ret, .d = d, .signals = -1, .link = -1, .go = -1,
			   .exec_error = -1, .cmd_gone = !o->argv, .cgroup = CGROUP_INIT };
	int r;

	r = start(&f);
	if (!r)
		r = loop(&f);
	if (!f.armed)
		abandon_command(&f);
	closep(&f.link); /* a collector that still waits sees it */
	f.link = -1;
	if (f.collector > 0)
		(void)waitpid(f.collector, NULL, 0);
	cgroup_done(&f.cgroup); /* there is still one if the collector could not remove it */
	front_done(&f);
	return r;
}
