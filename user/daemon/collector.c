/* SPDX-License-Identifier: MIT */
/*
 * The recorder of one run, see collector.h. One loop: empty the ring each 5 ms
 * while records come, sleep until the kernel side wakes us when none do.
 */
#include "collector.h"

#include "link.h"
#include "pipeline.h"
#include "target.h"

#include "base/alloc.h"
#include "base/macros.h"
#include "base/timeutil.h"
#include "event/line.h"
#include "ident/workspace.h"
#include "ledger/ledger.h"
#include "ledger/runlog.h"
#include "ledger/digest.h"
#include "report/summary.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define BUSY_MS	   5
#define MAX_BATCH  8192		   /* events between two looks at the rest of the world */
#define COUNT_NS   (100 * NS_PER_MS) /* losses are asked of the kernel this often */
#define NOTE_NS	   NS_PER_S	   /* the user waits this long without a word */

struct collector {
	const struct collector_options *o;
	struct diag d;
	struct ledger *ledger;
	struct target target;
	struct tracer *tracer;
	struct runlog *log;
	struct pipeline *pipe;
	char run[RUN_ID_LEN + 1];
	char *workspace;
	int signals;
	bool front_gone, told, stop, has_status, storage_failed;
	int status;		    /* wait status of the command */
	uint64_t ended_ns;	    /* when the command had ended; 0 = it runs */
	uint64_t deadline_ns, counted_ns;
	uint64_t phase_ns; /* when the phase that is being timed began */
	struct loss lost;
};

/* ---- the front --------------------------------------------------------- */

static void on_front(struct collector *c)
{
	struct link_msg m = { 0 };

	if (link_recv(c->o->link, &m) < 0) {
		c->front_gone = true;
	} else if (m.type == LINK_STOP) {
		c->stop = true;
	} else if (m.type == LINK_EXIT && m.bytes.len == sizeof(c->status)) {
		memcpy(&c->status, m.bytes.data, sizeof(c->status));
		c->has_status = true;
	}
	buf_done(&m.bytes);
}

/* End in order as soon as the command has ended, whatever else still runs. */
static void on_sigterm(struct collector *c)
{
	struct signalfd_siginfo si;

	if (read(c->signals, &si, sizeof(si)) == sizeof(si))
		c->stop = true;
}

static int wait_for_target(struct collector *c, pid_t *ret_pid)
{
	struct link_msg m = { 0 };
	int r;

	r = link_recv(c->o->link, &m);
	if (!r && (m.type != LINK_TARGET || m.bytes.len != sizeof(*ret_pid)))
		r = -EBADMSG;
	if (!r)
		memcpy(ret_pid, m.bytes.data, sizeof(*ret_pid));
	buf_done(&m.bytes);
	return r < 0 ? diag_set(&c->d, r, "the front ended before the start") : 0;
}

static void tell(struct collector *c, enum link_type type, const char *text)
{
	if (!c->front_gone)
		(void)link_send_now(c->o->link, type, text, strlen(text)); /* may be lost */
}

/* A phase ends here; --timing tells how long it was. */
static void phase(struct collector *c, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	uint64_t now = time_boot_ns();

	if (c->o->timing && name) {
		buf_addf(&text, "timing: %s %.1f ms", name,
			 (double)(now - c->phase_ns) / NS_PER_MS);
		tell(c, LINK_NOTE, buf_str(&text));
	}
	c->phase_ns = now;
}

/* ---- before the start -------------------------------------------------- */

static int start_log(struct collector *c)
{
	char bpf[DIGEST_HEX_LEN + 1];
	const void *object;
	size_t len;
	struct run_facts facts = {
		.cmd = c->o->name,
		.uid = c->o->uid,
		.tier = tier_name(tracer_tier(c->tracer)),
		.mode = "record",
		.bpf = bpf,
	};
	int r;

	tracer_object(&object, &len);
	digest_hex(object, len, bpf);
	r = runlog_start(c->ledger, &facts, &c->d, &c->log);
	if (r < 0)
		return r;
	memcpy(c->run, runlog_id(c->log), sizeof(c->run));
	return 0;
}

static void begin(struct collector *c)
{
	struct event e = {
		.kind = EV_BEGIN,
		.boot_ns = time_boot_ns(),
		.have = EF(UID) | EF(CGROUP) | EF(TIER) | EF(HOME),
		.uid = c->o->uid,
		.cgroup = str_of(c->target.cgroup.path),
		.tier = str_of(tier_name(tracer_tier(c->tracer))),
		.home = c->o->home,
	};

	if (c->o->label.len) {
		e.have |= EF(LABEL);
		e.label = c->o->label;
	}
	if (c->target.pid) {
		e.have |= EF(PID);
		e.pid = (uint32_t)c->target.pid;
	}
	if (c->o->attach) {
		e.have |= EF(ATTACHED);
	} else {
		c->workspace = workspace_find(c->o->cwd.p, c->o->home.p);
		e.have |= EF(ARGV) | EF(CWD) | EF(WORKSPACE);
		e.argv = c->o->argv;
		e.cwd = c->o->cwd;
		e.workspace = str_of(c->workspace);
	}
	pipeline_event(&e, c->pipe);
}

/* A stretch of time of which the record knows nothing. */
static void gap(struct collector *c, const char *why, uint64_t from, uint64_t until)
{
	struct event e = {
		.kind = EV_GAP,
		.boot_ns = time_boot_ns(),
		.have = EF(WHY) | EF(LOST) | EF(FROM) | (until ? EF(UNTIL) : 0),
		.from = from,
		.until = until,
		.why = str_of(why),
		.lost = str_of("null"),
	};

	pipeline_event(&e, c->pipe);
}

static int mark(struct collector *c)
{
	if (c->target.pid)
		return tracer_add_process(c->tracer, c->target.pid, &c->d);
	return tracer_add_cgroup(c->tracer, &c->d);
}

static int send_armed(struct collector *c)
{
	struct link_armed a = { 0 };

	memcpy(a.run, c->run, sizeof(a.run));
	return link_send(c->o->link, LINK_ARMED, &a, sizeof(a));
}

static int start_tracer(struct collector *c)
{
	const struct tracer_options t = {
		.best = c->o->best,
		.worst = c->o->worst,
		.cgroup_fd = c->target.cgroup.fd,
		.owned = c->target.cgroup.owned,
		.by_process = !c->target.whole,
		.keep = c->o->keep,
	};

	return tracer_new(&t, &c->d, &c->tracer);
}

static int start_target(struct collector *c)
{
	int r;

	if (!c->o->attach) {
		r = wait_for_target(c, &c->target.pid);
		if (r < 0)
			return r;
	}
	return target_watch(&c->target, &c->d);
}

static int start_record(struct collector *c)
{
	struct pipeline_options p = { .uid = c->o->uid, .gid = c->o->gid };
	uint64_t from;
	int r;

	r = start_log(c);
	if (r < 0)
		return r;
	phase(c, "run-start");
	p.log = c->log;
	p.main = c->target.pid;
	c->pipe = pipeline_new(&p);
	from = time_boot_ns();
	r = mark(c);
	if (r < 0)
		return r;
	begin(c);
	if (c->o->attach)
		gap(c, "before-attach", 0, from);
	phase(c, "mark");
	return send_armed(c);
}

static int start(struct collector *c)
{
	int r;

	phase(c, NULL);
	r = ledger_open(c->o->dir, true, &c->d, &c->ledger);
	phase(c, "ledger");
	if (!r)
		r = target_open(&c->target, c->o->cgroup, !c->o->attach, c->o->pid, &c->d);
	if (!r)
		r = start_tracer(c);
	phase(c, "tracer");
	if (!r)
		r = start_target(c);
	return r ? r : start_record(c);
}

/* ---- while it runs ----------------------------------------------------- */

/* Reads that were counted instead of listed; what is zero is left out. */
static void sampled_to_json(uint64_t reads, struct buf *to)
{
	if (reads)
		buf_addf(to, "{\"%s\":%llu}", event_class_words[EV_CLASS_FILE],
			 (unsigned long long)reads);
	else
		buf_addstr(to, "{}");
}

static void count_losses(struct collector *c, uint64_t now)
{
	_cleanup_buf_ struct buf lost = BUF_INIT, sampled = BUF_INIT;

	c->counted_ns = now;
	tracer_losses(c->tracer, &c->lost);
	pipeline_losses(c->pipe, &c->lost);
	loss_to_json(&c->lost, &lost);
	sampled_to_json(pipeline_repeats(c->pipe) + tracer_pending_repeats(c->tracer), &sampled);
	runlog_counters(c->log, buf_str(&lost), buf_str(&sampled));
}

static void flush(struct collector *c)
{
	uint64_t now = time_boot_ns();

	pipeline_flush(c->pipe);
	if (now - c->counted_ns >= COUNT_NS)
		count_losses(c, now);
	c->deadline_ns = UINT64_MAX;
	if (!runlog_flush(c->log, now, &c->d, &c->deadline_ns))
		return;
	if (!c->storage_failed)
		tell(c, LINK_NOTE, c->d.msg);
	c->storage_failed = true;
}

static bool target_gone(struct collector *c)
{
	uint64_t lost_tasks = 0;

	if (target_populated(&c->target))
		return false;
	for (int i = 0; i < EV_LOSS_COUNT; i++)
		lost_tasks += c->lost.n[i][EV_CLASS_TASK];
	/* a lost exit would let us wait for ever; the cgroup is empty, that must do */
	return lost_tasks || !tracer_live(c->tracer);
}

/* Has the command ended, and do we know how? */
static void look_for_end(struct collector *c, uint64_t now)
{
	if (c->ended_ns || (c->target.pid && !target_main_ended(&c->target)))
		return;
	if (c->o->attach || c->has_status || c->front_gone)
		c->ended_ns = now;
}

static bool finished(struct collector *c)
{
	uint64_t now = time_boot_ns();

	look_for_end(c, now);
	if (c->stop && (c->o->attach || c->ended_ns))
		return true;
	if (!c->ended_ns)
		return false;
	if (c->o->detach_after_ns != UINT64_MAX && now - c->ended_ns >= c->o->detach_after_ns)
		return true;
	return target_gone(c);
}

static void note_waiting(struct collector *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (c->told || c->o->attach || !c->ended_ns || time_boot_ns() - c->ended_ns < NOTE_NS)
		return;
	c->told = true;
	buf_addstr(&text, "the command has ended, still recording what it left running: ");
	target_names(&c->target, pipeline_procs_known(c->pipe), &text);
	buf_addstr(&text, " (Ctrl-C stops waiting)");
	tell(c, LINK_NOTE, buf_str(&text));
}

static uint64_t wake_ns(const struct collector *c)
{
	uint64_t at = c->deadline_ns;

	if (!c->ended_ns)
		return at;
	if (c->o->detach_after_ns != UINT64_MAX)
		at = MIN(at, c->ended_ns + c->o->detach_after_ns);
	if (!c->told && !c->o->attach)
		at = MIN(at, c->ended_ns + NOTE_NS);
	return at;
}

static int timeout_ms(const struct collector *c, int drained)
{
	uint64_t now = time_boot_ns(), at = wake_ns(c);

	if (drained)
		return drained < MAX_BATCH ? BUSY_MS : 0;
	if (at <= now)
		return 0;
	return (int)MIN((at - now) / NS_PER_MS + 1, 60000);
}

/* `drained`: events that the last look at the ring gave. */
static int wait_for_more(struct collector *c, int drained)
{
	struct pollfd p[] = {
		{ c->front_gone ? -1 : c->o->link, POLLIN, 0 },
		{ c->signals, POLLIN, 0 },
		{ c->ended_ns ? -1 : c->target.pid_fd, POLLIN, 0 },
		{ c->target.events_fd, POLLPRI, 0 },
		{ -1, POLLIN, 0 },
	};

	if (!drained) {
		if (!tracer_sleep(c->tracer))
			return 0;
		p[4].fd = tracer_fd(c->tracer);
	}
	/* the command's own end is told by the front, which knows its status */
	if (c->target.pid && !c->front_gone && target_main_ended(&c->target))
		p[2].fd = -1;
	if (poll(p, ARRAY_SIZE(p), timeout_ms(c, drained)) < 0 && errno != EINTR)
		return -errno;
	if (p[0].revents)
		on_front(c);
	if (p[1].revents)
		on_sigterm(c);
	return 0;
}

static void record(struct collector *c)
{
	while (!finished(c)) {
		int n = tracer_drain(c->tracer, MAX_BATCH, pipeline_event, c->pipe);

		flush(c);
		note_waiting(c);
		if (wait_for_more(c, n) < 0)
			break;
	}
}

/* ---- the end ----------------------------------------------------------- */

static void name_left(pid_t pid, const char *name, void *arg)
{
	struct collector *c = arg;
	struct event e = {
		.kind = EV_LEFT,
		.boot_ns = time_boot_ns(),
		.have = EF(PID) | EF(NAME),
		.pid = (uint32_t)pid,
		.name = str_of(name),
	};

	pipeline_event(&e, c->pipe);
}

/* Everything that is on the way, until the target is gone or frozen. */
static void drain_all(struct collector *c)
{
	bool left = target_populated(&c->target);

	if (left && c->target.cgroup.owned)
		(void)cgroup_freeze(&c->target.cgroup, true); /* else the count is less exact */
	(void)tracer_drain(c->tracer, 0, pipeline_event, c->pipe);
	(void)tracer_repeats(c->tracer, pipeline_event, c->pipe);
	if (left && !c->o->attach)
		target_each(&c->target, pipeline_procs_known(c->pipe), name_left, c);
	pipeline_flush(c->pipe);
	count_losses(c, time_boot_ns());
}

static void exit_of(struct collector *c, int *ret_code, int *ret_signal)
{
	*ret_code = *ret_signal = -1;
	if (c->has_status && WIFEXITED(c->status))
		*ret_code = WEXITSTATUS(c->status);
	else if (c->has_status && WIFSIGNALED(c->status))
		*ret_signal = WTERMSIG(c->status);
	else
		(void)pipeline_saw_exit(c->pipe, ret_code, ret_signal); /* unknown stays -1 */
}

static void end_record(struct collector *c)
{
	_cleanup_buf_ struct buf lost = BUF_INIT, sampled = BUF_INIT;
	struct event e = { .kind = EV_END, .have = EF(PROCS) | EF(LOST) | EF(SAMPLED_OUT) };
	int code, sig;
	struct str line;

	exit_of(c, &code, &sig);
	loss_to_json(&c->lost, &lost);
	sampled_to_json(pipeline_repeats(c->pipe), &sampled);
	e.boot_ns = time_boot_ns();
	e.procs = pipeline_procs(c->pipe);
	e.lost = (struct str){ buf_str(&lost), lost.len };
	e.sampled_out = (struct str){ buf_str(&sampled), sampled.len };
	if (code >= 0) {
		e.have |= EF(CODE);
		e.code = (uint32_t)code;
	} else if (sig >= 0) {
		e.have |= EF(SIGNAL);
		e.signal = (uint32_t)sig;
	}
	line = pipeline_end(c->pipe, &e);
	if (runlog_end(TAKE_PTR(c->log), line.p, line.len, e.boot_ns, code, sig, NULL, &c->d) < 0) {
		c->storage_failed = true;
		tell(c, LINK_NOTE, c->d.msg);
	}
}

static void send_done(struct collector *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct session *s = pipeline_session(c->pipe);
	struct link_done done = {
		.storage_failed = c->storage_failed || pipeline_storage_failed(c->pipe),
	};
	struct counts counts;

	if (c->front_gone)
		return;
	session_count(s, &counts);
	if (!session_complete(s))
		done.found |= FOUND_LOST;
	if (counts.requests)
		done.found |= FOUND_NET;
	memcpy(done.run, c->run, sizeof(done.run));
	if (c->o->json)
		summary_json(s, c->run, &text);
	else
		summary_text(s, c->run, &text);
	(void)link_send2(c->o->link, LINK_DONE, &done, sizeof(done), text.data, text.len);
}

static void end(struct collector *c)
{
	if (c->o->attach && c->stop)
		gap(c, "detached", time_boot_ns(), 0);
	phase(c, NULL);
	drain_all(c);
	phase(c, "drain");
	end_record(c);
	phase(c, "run-end");
	send_done(c);
}

static void done(struct collector *c)
{
	tracer_free(c->tracer);
	target_done(&c->target); /* thaws; what is left goes where the front is */
	if (c->log)
		runlog_abandon(c->log);
	pipeline_free(c->pipe);
	ledger_free(c->ledger);
	free(c->workspace);
	closep(&c->signals);
}

static int take_sigterm(struct collector *c)
{
	sigset_t set;

	(void)sigfillset(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL); /* cannot fail with these arguments */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? diag_set(&c->d, -errno, "signalfd: %s", strerror(errno)) : 0;
}

int collector_main(const struct collector_options *o)
{
	struct collector c = { .o = o, .target = TARGET_INIT, .signals = -1 };
	int r;

	r = take_sigterm(&c);
	if (!r)
		r = start(&c);
	if (r < 0) {
		tell(&c, LINK_FAIL, c.d.msg);
	} else {
		record(&c);
		end(&c);
	}
	done(&c);
	return r < 0;
}
