/* SPDX-License-Identifier: MIT */
/*
 * The tiers as data. A program's name says where it belongs: lsm_ and mod_ are
 * the two shells of one body, fx_ stands in for void hooks, tp_ serves all
 * tiers but for the dispatcher of system calls, call_ is reached from that one.
 */
#include "tier.h"

#include "base/macros.h"

#include <errno.h>
#include <string.h>

const struct tier_row tiers[TIER_COUNT] = {
	[TIER_LSM] = {
		.name = "lsm",
		.limits = "",
		.prefixes = { "lsm_", "tp_", "iter_" },
		.probe = "lsm/file_open",
		.stops_files = true,
	},
	[TIER_FMOD] = {
		.name = "fmod",
		.limits = "",
		.prefixes = { "mod_", "fx_", "tp_", "iter_" },
		.probe = "fmod_ret/security_file_open",
		.stops_files = true,
	},
	[TIER_TRACE] = {
		.name = "trace",
		.limits = "stops network only, no file access; names of unlink, rename, link, mkdir "
			  "and chmod are as the caller gave them; io_uring and 32-bit calls are "
			  "counted, not decoded",
		.prefixes = { "tp_", "call_", "cg_", "iter_" },
		.knows_bytes = true,
		.by_cgroup = true,
	},
};

/* Names that fit a prefix of more tiers than they are for. */
static const struct {
	const char *prefix;
	enum tier only;
} exceptions[] = {
	{ "tp_sys_", TIER_TRACE },
};

/* Young hooks: a kernel that takes the rest may refuse these. */
static const char *const can_miss[] = { "cg_connect_unix", "cg_sendmsg_unix" };

const struct hook_kind hook_kinds[] = {
	{ "lsm/", BPF_PROG_TYPE_LSM, BPF_LSM_MAC, "bpf_lsm_" },
	{ "fmod_ret/", BPF_PROG_TYPE_TRACING, BPF_MODIFY_RETURN, "" },
	{ "fentry/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "" },
	{ "fexit/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, "" },
	{ "tp_btf/", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, "btf_trace_" },
	{ "iter/", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, "bpf_iter_" },
};
const size_t hook_kinds_count = ARRAY_SIZE(hook_kinds);

const char *tier_name(enum tier t)
{
	return tiers[t].name;
}

const char *tier_limits(enum tier t)
{
	return tiers[t].limits;
}

int tier_from_name(const char *name, enum tier *ret_tier)
{
	for (enum tier t = 0; t < TIER_COUNT; t++) {
		if (strcmp(tiers[t].name, name))
			continue;
		*ret_tier = t;
		return 0;
	}
	return -EINVAL;
}

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool tier_has(enum tier t, const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(exceptions); i++)
		if (starts(program, exceptions[i].prefix) && t != exceptions[i].only)
			return false;
	for (size_t i = 0; i < MAX_TIER_PREFIXES && tiers[t].prefixes[i]; i++)
		if (starts(program, tiers[t].prefixes[i]))
			return true;
	return false;
}

bool tier_can_miss(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(can_miss); i++)
		if (!strcmp(program, can_miss[i]))
			return true;
	return false;
}

const struct hook_kind *hook_kind_of(const char *section, const char **ret_hook)
{
	for (size_t i = 0; i < hook_kinds_count; i++) {
		if (!starts(section, hook_kinds[i].section))
			continue;
		*ret_hook = section + strlen(hook_kinds[i].section);
		return &hook_kinds[i];
	}
	return NULL;
}
