/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share, see record.h. */
#include "record.h"

#include "base/alloc.h"
#include "base/fdio.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

const struct opt_word tier_words[] = {
	{ "lsm", TIER_LSM }, { "fmod", TIER_FMOD }, { "trace", TIER_TRACE }, { NULL, 0 }
};
const struct opt_word found_words[] = { { "lost", FOUND_LOST }, { "net", FOUND_NET }, { NULL, 0 } };

static char *absolute(const char *path)
{
	_cleanup_free_ char *cwd = NULL;

	if (*path == '/')
		return xstrdup(path);
	cwd = getcwd(NULL, 0);
	return xasprintf("%s/%s", cwd ? cwd : "", path);
}

static int check_root(const char *name)
{
	if (!geteuid())
		return 0;
	say("%s needs root: run `sudo deedlog %s ...`; the command itself still runs as you", name,
	    name);
	return EXIT_OWN;
}

static int open_output(struct record *rec, const char *file)
{
	if (!file)
		return 0;
	rec->output_fd = who_open(&rec->who, file);
	if (rec->output_fd >= 0)
		return 0;
	say("cannot write %s: %s", file, strerror(-rec->output_fd));
	return EXIT_OWN;
}

static void fill_collector(struct record *rec, const struct record_args *a)
{
	struct collector_options *c = &rec->collector;

	rec->dir = absolute(a->common.dir);
	c->dir = rec->dir;
	c->best = a->tier >= 0 ? (enum tier)a->tier : TIER_LSM;
	c->worst = a->tier >= 0	    ? (enum tier)a->tier :
		   a->min_tier >= 0 ? (enum tier)a->min_tier :
				      TIER_TRACE;
	c->detach_after_ns = UINT64_MAX;
	c->json = a->json;
	c->timing = a->timing;
	c->keep = !a->no_keep;
	c->home = str_of(rec->who.home);
	c->label = str_of(a->label);
	c->uid = rec->who.uid;
	c->gid = rec->who.gid;
}

int record_prepare(struct record *rec, const struct record_args *a, const char *user)
{
	struct diag d;
	int status;

	rec->output_fd = -1;
	status = check_root(rec->collector.attach ? "attach" : "run");
	if (status)
		return status;
	if (who_find(user, &d, &rec->who) < 0)
		return fail(EXIT_OWN, &d);
	fill_collector(rec, a);
	rec->front.who = &rec->who;
	rec->front.collector = &rec->collector;
	rec->front.quiet = a->common.quiet;
	return open_output(rec, a->output);
}

bool record_report(struct record *rec, const struct record_args *a)
{
	const struct front_result *r = &rec->result;
	bool torn = r->orphaned || r->done.storage_failed;
	uint32_t found = r->done.found | (torn ? FOUND_LOST : 0);
	bool wanted = !a->no_summary && (!a->common.quiet || (found & FOUND_LOST));

	(void)signal(SIGPIPE, SIG_IGN); /* the command's status counts, not our reader */
	if (r->done.storage_failed)
		say("the record of run %.8s could not be written in full; see `deedlog verify %.8s`",
		    r->done.run, r->done.run);
	if (wanted && put(rec->output_fd >= 0 ? rec->output_fd : STDERR_FILENO, &r->summary) < 0)
		say("cannot write the summary: %s", strerror(errno));
	return found & a->fail_on;
}

void record_done(struct record *rec)
{
	buf_done(&rec->result.summary);
	who_done(&rec->who);
	closep(&rec->output_fd);
	free(rec->dir);
}
