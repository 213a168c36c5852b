/* SPDX-License-Identifier: MIT */
/* From the ring to the sinks, see pipeline.h. */
#include "pipeline.h"

#include "base/alloc.h"
#include "event/fold.h"
#include "event/line.h"
#include "ident/pathtab.h"
#include "ident/tool.h"
#include "ledger/line.h"

#include <errno.h>

#define CRITICAL ((1ull << EV_EXEC) | (1ull << EV_CONNECT) | (1ull << EV_BIND) | (1ull << EV_SEND))

struct pipeline {
	struct pipeline_options o;
	struct pathtab *paths;
	struct proctab *procs;
	struct fold *fold;
	struct session *session;
	struct buf line, argv;
	struct loss lost;
	uint64_t repeats, forks;
	bool main_ended, storage_failed;
	int code, signal;
};

/* ---- sinks ------------------------------------------------------------- */

static void write_line(struct pipeline *p, const struct event *e)
{
	buf_reset(&p->line);
	event_to_line(e, &p->line);
}

/*
 * Arguments that the kernel side kept whole can outgrow a record once control
 * bytes are escaped: their tail is left out, marked and counted, so that the
 * exec itself is never lost.
 */
static void cut_argv(struct pipeline *p, struct event *e)
{
	const struct str all = e->argv;
	size_t keep = all.len;

	p->lost.n[EV_LOSS_CUT][event_kinds[e->kind].class]++;
	e->have |= EF(CUT);
	while (keep && p->line.len > RECORD_MAX_BYTES) {
		keep = keep * RECORD_MAX_BYTES / p->line.len * 15 / 16;
		buf_reset(&p->argv);
		buf_add(&p->argv, all.p, keep);
		buf_addch(&p->argv, '\0'); /* of the argument that was cut */
		e->argv = (struct str){ p->argv.data, p->argv.len };
		write_line(p, e);
	}
}

static void to_sinks(const struct event *in, void *arg)
{
	struct pipeline *p = arg;
	struct event fit = *in, *e = &fit;
	int r;

	write_line(p, e);
	if (p->line.len > RECORD_MAX_BYTES && event_has(e, EF(ARGV)))
		cut_argv(p, e);
	r = runlog_append(p->o.log, p->line.data, p->line.len, e->boot_ns,
			  CRITICAL >> e->kind & 1);
	if (r < 0) {
		p->storage_failed = true;
		p->lost.n[EV_LOSS_DISK][event_kinds[e->kind].class]++;
		return;
	}
	session_event(p->session, e);
}

struct str pipeline_end(struct pipeline *p, const struct event *end)
{
	buf_reset(&p->line);
	event_to_line(end, &p->line);
	session_event(p->session, end);
	return (struct str){ p->line.data, p->line.len };
}

/* ---- on the way -------------------------------------------------------- */

static void fill_path(struct pipeline *p, struct event *e)
{
	/* an object that was never known (memfd, pipe) has no path to lose */
	if (pathtab_event(p->paths, e) == -ENOENT && pathtab_evicted(p->paths))
		p->lost.n[EV_LOSS_MAP][event_kinds[e->kind].class]++;
}

static void tool_event(struct pipeline *p, const struct event *exec, const struct tool *t)
{
	struct event e = {
		.kind = EV_TOOL,
		.boot_ns = exec->boot_ns,
		.have = EF(PID) | EF(NAME),
		.pid = exec->pid,
		.name = str_of(t->name),
		.version = str_of(t->of.version),
		.purl = str_of(t->of.purl),
		.path = str_of(t->path),
	};

	e.have |= (t->of.version ? EF(VERSION) : 0) | (t->of.purl ? EF(PURL) : 0) |
		  (t->path ? EF(PATH) : 0);
	proctab_event(p->procs, &e);
	fold_event(p->fold, &e);
}

static void name_tool(struct pipeline *p, const struct event *exec)
{
	const struct tool_query q = {
		.exe = exec->path,
		.scripts = exec->scripts,
		.argv = exec->argv,
		.cwd = exec->cwd,
		.uid = event_has(exec, EF(UID)) ? exec->uid : p->o.uid,
		.gid = p->o.gid,
	};
	struct tool t = { 0 };

	tool_identify(&q, &t);
	if (t.of.name)
		tool_event(p, exec, &t);
	tool_done(&t);
}

static void count(struct pipeline *p, const struct event *e)
{
	if (e->kind == EV_FORK)
		p->forks++;
	if (e->kind == EV_REPEAT)
		p->repeats += e->ops;
	if (e->kind == EV_EXIT && p->o.main && e->pid == (uint32_t)p->o.main) {
		p->main_ended = true;
		p->code = event_has(e, EF(CODE)) ? (int)e->code : -1;
		p->signal = event_has(e, EF(SIGNAL)) ? (int)e->signal : -1;
	}
}

void pipeline_event(const struct event *in, void *arg)
{
	struct pipeline *p = arg;
	struct event e = *in;

	fill_path(p, &e);
	count(p, &e);
	proctab_event(p->procs, &e);
	fold_event(p->fold, &e);
	if (e.kind == EV_EXEC)
		name_tool(p, &e);
}

void pipeline_flush(struct pipeline *p)
{
	fold_flush(p->fold);
}

/* ---- life and facts ---------------------------------------------------- */

struct pipeline *pipeline_new(const struct pipeline_options *o)
{
	struct pipeline *p = xcalloc(1, sizeof(*p));

	p->o = *o;
	p->paths = pathtab_new(0, 0);
	p->procs = proctab_new();
	p->fold = fold_new(to_sinks, p);
	p->session = session_new();
	return p;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	fold_free(p->fold);
	session_free(p->session);
	proctab_free(p->procs);
	pathtab_free(p->paths);
	buf_done(&p->line);
	buf_done(&p->argv);
	free(p);
}

void pipeline_losses(const struct pipeline *p, struct loss *to)
{
	loss_add(to, &p->lost);
}

bool pipeline_storage_failed(const struct pipeline *p)
{
	return p->storage_failed;
}

uint64_t pipeline_repeats(const struct pipeline *p)
{
	return p->repeats;
}

uint64_t pipeline_procs(const struct pipeline *p)
{
	return p->forks + (p->o.main != 0);
}

bool pipeline_saw_exit(const struct pipeline *p, int *ret_code, int *ret_signal)
{
	if (!p->main_ended)
		return false;
	*ret_code = p->code;
	*ret_signal = p->signal;
	return true;
}

const struct session *pipeline_session(const struct pipeline *p)
{
	return p->session;
}

const struct proctab *pipeline_procs_known(const struct pipeline *p)
{
	return p->procs;
}
