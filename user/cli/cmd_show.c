/* SPDX-License-Identifier: MIT */
/* deedlog show: one run in full. */
#include "replay.h"

#include "agg/session.h"
#include "ledger/ledger.h"
#include "report/show.h"

#include <sys/ioctl.h>

#define PIPE_WIDTH  80	    /* a terminal that does not tell */
#define FLUSH_BYTES (1u << 16) /* events are written out in pieces of this size */

struct show_args {
	struct common common;
	bool tree, files, net, events, json, ndjson;
};

static struct show_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "tree", 0, OPT_FLAG, offsetof(struct show_args, tree), NULL,
	  "processes, and who started whom (default)", NULL },
	{ "files", 0, OPT_FLAG, offsetof(struct show_args, files), NULL,
	  "files, by folder and zone", NULL },
	{ "net", 0, OPT_FLAG, offsetof(struct show_args, net), NULL, "peers", NULL },
	{ "events", 0, OPT_FLAG, offsetof(struct show_args, events), NULL,
	  "everything, in order", NULL },
	{ "json", 0, OPT_FLAG, offsetof(struct show_args, json), NULL, "one JSON object", NULL },
	{ "ndjson", 0, OPT_FLAG, offsetof(struct show_args, ndjson), NULL,
	  "one JSON object per line", NULL },
	OPT_COMMON,
	OPT_END,
};

static size_t width_of(int fd)
{
	struct winsize w;

	return !ioctl(fd, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : PIPE_WIDTH;
}

static struct show_options options_of(const struct show_args *a)
{
	return (struct show_options){
		.form = a->ndjson		? SHOW_NDJSON :
			a->json			? SHOW_JSON :
			isatty(STDOUT_FILENO) ? SHOW_TEXT :
						  SHOW_TSV,
		.width = width_of(STDOUT_FILENO),
	};
}

/* ---- events stream through --------------------------------------------- */

struct stream {
	struct show_stream show;
	struct buf out;
	int error;
};

static void stream_flush(struct stream *s)
{
	if (!s->error)
		s->error = put(STDOUT_FILENO, &s->out);
	buf_reset(&s->out);
}

static void stream_event(const struct event *e, void *arg)
{
	struct stream *s = arg;

	if (e->kind == EV_BEGIN)
		s->show.begin_ns = e->boot_ns;
	show_event(&s->show, e, &s->out);
	if (s->out.len >= FLUSH_BYTES)
		stream_flush(s);
}

static int show_stream_of(const struct show_args *a, const char *prefix)
{
	struct show_options o = options_of(a);
	struct stream s = { .show.o = &o };
	struct replay found, r; /* the head names the run before it is read */
	struct diag d;
	int e;

	e = replay_find(a->common.dir, prefix, &d, &found);
	if (e < 0)
		return fail(EXIT_TROUBLE, &d);
	o.run = found.run;
	show_events_head(&s.show, &s.out);
	e = replay_run(a->common.dir, found.run, stream_event, &s, &d, &r);
	if (e < 0)
		say("%s", d.msg);
	show_events_tail(&s.show, &s.out);
	stream_flush(&s);
	buf_done(&s.out);
	replay_remarks(&r);
	return e < 0 || s.error ? EXIT_TROUBLE : EXIT_OK;
}

/* ---- views of the whole ------------------------------------------------ */

static void fold(const struct event *e, void *arg)
{
	session_event(arg, e);
}

static int show_view(const struct show_args *a, const char *prefix)
{
	_cleanup_session_ struct session *s = session_new();
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct show_options o = options_of(a);
	struct replay r;
	struct diag d;

	if (replay_run(a->common.dir, prefix, fold, s, &d, &r) < 0)
		return fail(EXIT_TROUBLE, &d);
	o.run = r.run;
	if (a->files)
		show_files(s, &o, &out);
	else if (a->net)
		show_net(s, &o, &out);
	else
		show_tree(s, &o, &out);
	replay_remarks(&r);
	return put(STDOUT_FILENO, &out) < 0 ? EXIT_TROUBLE : EXIT_OK;
}

static int run(void *arg, int argc, char **argv)
{
	const struct show_args *a = arg;

	if (argc > 1) {
		say("show takes one run, or none for the newest");
		return EXIT_TROUBLE;
	}
	if (a->tree + a->files + a->net + a->events > 1) {
		say("show one of --tree, --files, --net, --events at a time");
		return EXIT_TROUBLE;
	}
	return a->events ? show_stream_of(a, argv[0]) : show_view(a, argv[0]);
}

const struct command cmd_show = {
	.name = "show",
	.operands = "[RUN]",
	.help = "one run in full: processes, files, network or events",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
