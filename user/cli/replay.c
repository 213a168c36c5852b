/* SPDX-License-Identifier: MIT */
/* Reads one recorded run back, see replay.h. */
#include "replay.h"

#include "event/line.h"
#include "ledger/ledger.h"

#include <errno.h>

static int each_record(struct reader *reader, event_fn each, void *arg, struct diag *d,
		       struct replay *ret)
{
	_cleanup_buf_ struct buf store = BUF_INIT;
	struct record rec;
	struct event e;
	int r;

	while ((r = reader_next(reader, d, &rec)) > 0) {
		r = event_from_line(rec.line, rec.len, &store, d, &e);
		if (r == -ENOMSG) {
			ret->unknown++;
			continue;
		}
		if (r < 0)
			return r;
		each(&e, arg);
	}
	return r;
}

static int open_and_find(const char *dir, const char *prefix, struct diag *d, struct ledger **ret_l,
			 struct replay *ret)
{
	int r;

	*ret = (struct replay){ 0 };
	r = ledger_open(dir, false, d, ret_l);
	if (r == -EACCES)
		return diag_set(d, r, "no right to read %s: run it with sudo", dir);
	if (r == -ENOENT)
		return diag_set(d, r, "no ledger in %s yet; `sudo deedlog run -- COMMAND` makes one",
				dir);
	return r < 0 ? r : ledger_find_run(*ret_l, prefix, d, ret->run);
}

int replay_find(const char *dir, const char *prefix, struct diag *d, struct replay *ret)
{
	_cleanup_ledger_ struct ledger *l = NULL;

	return open_and_find(dir, prefix, d, &l, ret);
}

int replay_run(const char *dir, const char *prefix, event_fn each, void *arg, struct diag *d,
	       struct replay *ret)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_reader_ struct reader *reader = NULL;
	int r;

	r = open_and_find(dir, prefix, d, &l, ret);
	if (!r)
		r = reader_open(l, ret->run, d, &reader);
	if (!r)
		r = each_record(reader, each, arg, d, ret);
	if (!r)
		ret->open = !reader_closed(reader);
	return r;
}

void replay_remarks(const struct replay *r)
{
	if (r->open)
		say("run %.8s has no end yet: it still runs or its recorder died; see `deedlog "
		    "verify %.8s`", r->run, r->run);
	if (r->unknown)
		say("run %.8s holds %llu records of kinds that this version does not know", r->run,
		    (unsigned long long)r->unknown);
}
