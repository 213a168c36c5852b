/* SPDX-License-Identifier: MIT */
/*
 * The only includer of the skeleton. libbpf is given an extract of the
 * kernel's BTF for CO-RE, and our own handlers of sections that bring the
 * attach ids along: so it never reads the kernel's 5 MB of BTF, which would
 * take longer than everything else together.
 */
#include "load.h"

#include "base/alloc.h"
#include "kbtf.h"
#include "tier.h"
#include "words.h"

#include "deedlog.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#define MAX_RETRIES 4

/* Layouts that differ between kernels, told by the number of parameters. */
static const struct layout {
	const char *function;
	int32_t params;
	size_t offset;
} layouts[] = {
	{ "bpf_lsm_inode_setattr", 3, offsetof(struct deedlog__rodata, cfg_setattr_lsm3) },
	{ "security_inode_setattr", 3, offsetof(struct deedlog__rodata, cfg_setattr_mod3) },
};

/* Attach types younger than libbpf's header. */
static const struct {
	const char *program, *value;
} young[] = {
	{ "cg_connect_unix", "BPF_CGROUP_UNIX_CONNECT" },
	{ "cg_sendmsg_unix", "BPF_CGROUP_UNIX_SENDMSG" },
};

/* System calls that tier trace decodes, and the programs that do it. */
static const struct {
	uint32_t number;
	const char *program;
} calls[] = {
#define CALL(number, name, family, ...) { number, "call_" #family },
#include "schemas/calls.def"
#undef CALL
};

int load_facts(const char *cache_dir, struct diag *d, struct facts *ret)
{
	const char *hooks[ARRAY_SIZE(layouts) + 1] = { NULL };
	const char *values[ARRAY_SIZE(young) + 2] = { "BPF_FUNC_loop" };

	words_capture();
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		hooks[i] = layouts[i].function;
	for (size_t i = 0; i < ARRAY_SIZE(young); i++)
		values[1 + i] = young[i].value;
	return facts_get(load_object(), hooks, values, cache_dir, d, ret);
}

/* ---- our own handlers of sections ---- */

/*
 * Registered once and for good, since libbpf 1.1.2 frees its table twice when
 * the last handler is unregistered. So what a load hands to its handlers is
 * a static.
 */
static const struct facts *loading;

static char *target_of(const struct bpf_program *p, const struct hook_kind **ret_kind)
{
	const char *hook;

	*ret_kind = hook_kind_of(bpf_program__section_name(p), &hook);
	return *ret_kind ? xasprintf("%s%s", (*ret_kind)->target, hook) : NULL;
}

static int set_target(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	_cleanup_free_ char *target = NULL;
	const struct hook_kind *kind;

	(void)cookie; /* outlives every load */
	target = target_of(p, &kind);
	opts->attach_btf_id = (uint32_t)kbtf_hook(loading->btf, target);
	return bpf_program__set_type(p, kind->type);
}

/*
 * Registered as raw tracepoints: of programs that say LSM or TRACING from the
 * start libbpf thinks that it must read the kernel's BTF itself.
 */
static int register_handlers(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = set_target);
	static size_t done;
	int r;

	for (; done < hook_kinds_count; done++) {
		r = libbpf_register_prog_handler(hook_kinds[done].section,
						 BPF_PROG_TYPE_RAW_TRACEPOINT,
						 hook_kinds[done].attach, &opts);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- choosing ---- */

/* The attach type, if libbpf does not know it; 0: it does; -1: the kernel does not. */
static int32_t young_type(const struct facts *f, const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(young); i++)
		if (!strcmp(young[i].program, program))
			return kbtf_value(f->btf, young[i].value);
	return 0;
}

static bool has_hook(const struct facts *f, const struct bpf_program *p)
{
	_cleanup_free_ char *target = NULL;
	const struct hook_kind *kind;

	target = target_of(p, &kind);
	return target ? kbtf_hook(f->btf, target) : young_type(f, bpf_program__name(p)) >= 0;
}

static void choose(struct deedlog *skel, enum tier t, const struct facts *f,
		   const struct names *refused, struct buf *absent)
{
	struct bpf_program *p;
	const char *name;
	int32_t type;
	bool use;

	bpf_object__for_each_program(p, skel->obj) {
		name = bpf_program__name(p);
		if (!tier_has(t, name)) {
			(void)bpf_program__set_autoload(p, false); /* fails only once loaded */
			continue;
		}
		use = has_hook(f, p) && !names_have(refused, name);
		if (!use)
			buf_addf(absent, "%s ", name);
		(void)bpf_program__set_autoload(p, use); /* as above */
		type = young_type(f, name);
		if (use && type > 0)
			(void)bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)type);
	}
}

static void configure(struct deedlog *skel, const struct load_request *q, const struct facts *f)
{
	struct deedlog__rodata *c = skel->rodata;

	c->cfg_cg_storage = tiers[q->tier].by_cgroup && load_probe_cgroup_storage();
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		*(bool *)((char *)c + layouts[i].offset) =
			kbtf_params(f->btf, layouts[i].function) == layouts[i].params;
}

/* ---- loading ---- */

static void destroyp(struct deedlog **skel)
{
	deedlog__destroy(*skel);
}
#define _cleanup_skel_ _cleanup_(destroyp)

static int open_and_load(const struct load_request *q, const struct facts *f,
			 const struct names *refused, struct buf *absent, struct deedlog **ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = f->path);
	_cleanup_skel_ struct deedlog *skel = NULL;
	int r;

	r = register_handlers();
	if (r < 0)
		return r;
	skel = deedlog__open_opts(&opts);
	if (!skel)
		return -errno;
	if (q->ring_bytes)
		(void)bpf_map__set_max_entries(skel->maps.ring, (uint32_t)q->ring_bytes);
	buf_reset(absent);
	choose(skel, q->tier, f, refused, absent);
	configure(skel, q, f);
	loading = f;
	r = deedlog__load(skel);
	loading = NULL;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(skel);
	return 0;
}

/* Again without the programs that the kernel refused, as long as they may miss. */
static int load_chosen(const struct load_request *q, const struct facts *f, struct diag *d,
		       struct buf *absent, struct deedlog **ret)
{
	_cleanup_(names_done) struct names refused = { 0 };
	_cleanup_buf_ struct buf log = BUF_INIT;
	char *name[MAX_RETRIES] = { NULL };
	int r, n;

	words_to(&log);
	for (n = 0;; n++) {
		r = open_and_load(q, f, &refused, absent, ret);
		if (r >= 0 || n == MAX_RETRIES)
			break;
		name[n] = words_refused(&log);
		if (!name[n] || !tier_can_miss(name[n]))
			break;
		names_add(&refused, name[n]);
		names_sort(&refused);
		buf_reset(&log);
	}
	if (r < 0)
		(void)words_explain(d, r, "cannot load", n < MAX_RETRIES ? name[n] : NULL, &log);
	words_to(NULL);
	for (int i = 0; i < MAX_RETRIES; i++)
		free(name[i]);
	return r;
}

static int fill_calls(const struct deedlog *skel)
{
	int fd, calls_fd = bpf_map__fd(skel->maps.calls);
	struct bpf_program *p;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		p = bpf_object__find_program_by_name(skel->obj, calls[i].program);
		fd = p ? bpf_program__fd(p) : -ENOENT;
		if (fd < 0)
			return -ENOENT; /* a row of calls.def without its program */
		if (bpf_map_update_elem(calls_fd, &calls[i].number, &fd, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

static int take_fd(int fd, int *ret)
{
	*ret = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? -errno : 0;
}

static int take_programs(const struct deedlog *skel, struct load *l)
{
	struct bpf_program *p;
	struct program *to;
	int r;

	bpf_object__for_each_program(p, skel->obj) {
		if (!bpf_program__autoload(p))
			continue;
		if (l->programs_n == MAX_PROGRAMS)
			return -E2BIG;
		to = &l->programs[l->programs_n];
		(void)snprintf(to->name, sizeof(to->name), "%s", bpf_program__name(p)); /* ours, short */
		to->type = bpf_program__expected_attach_type(p);
		r = take_fd(bpf_program__fd(p), &to->fd);
		if (r < 0)
			return r;
		l->programs_n++;
	}
	return 0;
}

static int take_maps(const struct deedlog *skel, struct load *l)
{
	const struct bpf_map *const maps[MAP_COUNT] = {
#define X(name) [MAP_##name] = skel->maps.name,
		LOAD_MAPS(X)
#undef X
	};
	int r;

	for (int i = 0; i < MAP_COUNT; i++) {
		r = take_fd(bpf_map__fd(maps[i]), &l->maps[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int load_fresh(const struct load_request *q, const struct facts *f, struct diag *d,
	       struct load *ret)
{
	_cleanup_skel_ struct deedlog *skel = NULL;
	_cleanup_(load_done) struct load l = LOAD_INIT;
	int r;

	r = load_chosen(q, f, d, &l.absent, &skel);
	if (r < 0)
		return r;
	r = tiers[q->tier].by_cgroup ? fill_calls(skel) : 0;
	if (r < 0)
		return diag_set(d, r, "cannot fill the table of system calls: %s", strerror(-r));
	r = take_programs(skel, &l);
	if (r >= 0)
		r = take_maps(skel, &l);
	if (r < 0)
		return diag_set(d, r, "cannot keep the loaded programs: %s", strerror(-r));
	*ret = l;
	l = (struct load)LOAD_INIT;
	return 0;
}

int load_map_words(const struct load_request *q, struct load *l)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (sizeof(struct deedlog__bss) + page - 1) / page * page;
	struct deedlog__bss *w;

	w = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, l->maps[MAP_bss], 0);
	if (w == MAP_FAILED)
		return -errno;
	l->touches_left = w->touch_count;
	l->run = w->run + 1;
	l->run += !l->run; /* 0 is the canary's */
	*w = (struct deedlog__bss){
		.run = l->run,
		.run_cgroup_id = q->cgroup_id,
		.run_cgroup_level = q->cgroup_level,
	};
	l->words = w;
	l->words_bytes = bytes;
	l->word = (struct load_words){
		.asleep = &w->asleep,
		.canary_pid = &w->canary_pid,
		.canary_dev = &w->canary_dev,
		.iter_pid = &w->iter_pid,
		.iter_marked = &w->iter_marked,
		.canary_ino = &w->canary_ino,
		.touch_count = &w->touch_count,
	};
	return 0;
}

struct cur load_object(void)
{
	size_t len;
	const void *bytes = deedlog__elf_bytes(&len);

	return cur_of(bytes, len);
}
