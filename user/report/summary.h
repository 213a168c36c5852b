/* SPDX-License-Identifier: MIT */
/*
 * What a run did, in six lines for people, in one sentence, or as one JSON
 * object of schemas/summary.schema.json. Depends on the session and the run's
 * id only. Every form names the tier, what it cannot do, and what was lost.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "agg/session.h"

#define SUMMARY_SCHEMA	  "deedlog/summary/1"
#define SUMMARY_LIST_MAX  8 /* files or peers named in the text; the rest is counted */

/* run: id of the run, or NULL. All end with a newline. */
void summary_text(const struct session *s, const char *run, struct buf *to);
void summary_sentence(const struct session *s, struct buf *to);
void summary_json(const struct session *s, const char *run, struct buf *to);

#endif
