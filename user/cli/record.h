/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share: options, and what is said at the end. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli.h"
#include "front.h"

/* First member of their arguments, after struct common. */
struct record_args {
	struct common common;
	const char *output, *label;
	bool json, no_summary, no_keep, timing;
	int tier, min_tier; /* enum tier; -1 = not given */
	uint32_t fail_on;   /* FOUND_* */
};
#define RECORD_DEFAULTS { .common = COMMON_DEFAULTS, .tier = -1, .min_tier = -1 }

extern const struct opt_word tier_words[], found_words[];
#define OPT_RECORD                                                                             \
	{ "output", 'o', OPT_TEXT, offsetof(struct record_args, output), "FILE",               \
	  "write the summary there instead of to stderr", NULL },                              \
	{ "label", 0, OPT_TEXT, offsetof(struct record_args, label), "TEXT",                   \
	  "put TEXT into the record, to find the run by", NULL },                              \
	{ "json", 0, OPT_FLAG, offsetof(struct record_args, json), NULL, "summary as JSON",    \
	  NULL },                                                                              \
	{ "no-summary", 0, OPT_FLAG, offsetof(struct record_args, no_summary), NULL,           \
	  "no summary", NULL },                                                                \
	{ "min-tier", 0, OPT_WORD, offsetof(struct record_args, min_tier), "TIER",             \
	  "refuse to start below it", tier_words },                                            \
	{ "tier", 0, OPT_WORD, offsetof(struct record_args, tier), "TIER",                     \
	  "use exactly this one", tier_words },                                                \
	{ "no-keep", 0, OPT_FLAG, offsetof(struct record_args, no_keep), NULL,                 \
	  "leave no programs loaded in the kernel for the next run", NULL },                   \
	{ "timing", 0, OPT_FLAG, offsetof(struct record_args, timing), NULL,                   \
	  "say where the time before and after the command goes", NULL },                      \
	{ "fail-on", 0, OPT_SET, offsetof(struct record_args, fail_on), "LIST",                \
	  "exit 3 when one of these happened", found_words }

struct record {
	struct front_options front;
	struct collector_options collector;
	struct front_result result;
	struct who who;
	char *dir;     /* absolute */
	int output_fd; /* -1: stderr */
};

/* Everything before the start. An exit status, 0 = go on. */
int record_prepare(struct record *rec, const struct record_args *a, const char *user);
/* Prints the summary. True: --fail-on found something. */
bool record_report(struct record *rec, const struct record_args *a);
void record_done(struct record *rec);

#endif
