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
#include <errno.h>
#include <stddef.h>

#define MAX_RETRIES 4
#define MAX_WALKS 16 /* over all tasks, until no new one is found */

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

struct handlers {
	int id[8];
	size_t n;
};

static void handlers_done(struct handlers *h)
{
	while (h->n)
		(void)libbpf_unregister_prog_handler(h->id[--h->n]); /* was registered */
}

static char *target_of(const struct bpf_program *p, const struct hook_kind **ret_kind)
{
	const char *hook;

	*ret_kind = hook_kind_of(bpf_program__section_name(p), &hook);
	return *ret_kind ? xasprintf("%s%s", (*ret_kind)->target, hook) : NULL;
}

static int set_target(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct facts *f = (const struct facts *)cookie;
	_cleanup_free_ char *target = NULL;
	const struct hook_kind *kind;

	target = target_of(p, &kind);
	opts->attach_btf_id = (uint32_t)kbtf_hook(f->btf, target);
	return bpf_program__set_type(p, kind->type);
}

/*
 * Registered as raw tracepoints: of programs that say LSM or TRACING from the
 * start libbpf thinks that it must read the kernel's BTF itself.
 */
static int handlers_register(const struct facts *f, struct handlers *ret)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)f,
		    .prog_prepare_load_fn = set_target);
	int r;

	for (size_t i = 0; i < hook_kinds_count; i++) {
		r = libbpf_register_prog_handler(hook_kinds[i].section, BPF_PROG_TYPE_RAW_TRACEPOINT,
						 hook_kinds[i].attach, &opts);
		if (r < 0)
			return r;
		ret->id[ret->n++] = r;
	}
	return 0;
}

/* ---- choosing ---- */

/* The attach type, if it is too young for libbpf to know; 0: libbpf knows; -1: the kernel does not. */
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

static void choose(struct load *l, enum tier t, const struct facts *f, const struct names *refused)
{
	struct bpf_program *p;
	const char *name;
	int32_t type;
	bool use;

	bpf_object__for_each_program(p, l->skel->obj) {
		name = bpf_program__name(p);
		if (!tier_has(t, name)) {
			(void)bpf_program__set_autoload(p, false); /* fails only once loaded */
			continue;
		}
		use = has_hook(f, p) && !names_have(refused, name);
		if (!use)
			buf_addf(&l->absent, "%s ", name);
		(void)bpf_program__set_autoload(p, use); /* as above */
		type = young_type(f, name);
		if (use && type > 0)
			(void)bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)type);
	}
}

static void configure(struct load *l, const struct load_request *q, const struct facts *f)
{
	struct deedlog__rodata *c = l->skel->rodata;

	c->cfg_cg_storage = tiers[q->tier].by_cgroup && load_probe_cgroup_storage();
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		*(bool *)((char *)c + layouts[i].offset) =
			kbtf_params(f->btf, layouts[i].function) == layouts[i].params;
}

/* ---- loading ---- */

static int open_and_load(const struct load_request *q, const struct facts *f,
			 const struct names *refused, struct load *l)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = f->path);
	_cleanup_(handlers_done) struct handlers handlers = { 0 };
	int r;

	r = handlers_register(f, &handlers);
	if (r < 0)
		return r;
	l->skel = deedlog__open_opts(&opts);
	if (!l->skel)
		return -errno;
	if (q->ring_bytes)
		(void)bpf_map__set_max_entries(l->skel->maps.ring, (uint32_t)q->ring_bytes);
	buf_reset(&l->absent);
	choose(l, q->tier, f, refused);
	configure(l, q, f);
	return deedlog__load(l->skel);
}

/* Again without the programs that the kernel refused, as long as they may miss. */
static int load_chosen(const struct load_request *q, const struct facts *f, struct diag *d,
		       struct load *l)
{
	_cleanup_(names_done) struct names refused = { 0 };
	_cleanup_buf_ struct buf log = BUF_INIT;
	char *name[MAX_RETRIES] = { NULL };
	bool again;
	int r, n;

	words_to(&log);
	for (n = 0;; n++) {
		r = open_and_load(q, f, &refused, l);
		if (r >= 0 || n == MAX_RETRIES)
			break;
		name[n] = words_refused(&log);
		again = name[n] && tier_can_miss(name[n]);
		if (!again)
			break;
		names_add(&refused, name[n]);
		names_sort(&refused);
		buf_reset(&log);
		deedlog__destroy(l->skel);
		l->skel = NULL;
	}
	if (r < 0)
		(void)words_explain(d, r, "cannot load", n < MAX_RETRIES ? name[n] : NULL, &log);
	words_to(NULL);
	for (int i = 0; i < MAX_RETRIES; i++)
		free(name[i]);
	return r;
}

static int fill_calls(const struct load *l)
{
	int fd, calls_fd = bpf_map__fd(l->skel->maps.calls);
	struct bpf_program *p;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		p = bpf_object__find_program_by_name(l->skel->obj, calls[i].program);
		fd = p ? bpf_program__fd(p) : -ENOENT;
		if (fd < 0)
			return -ENOENT; /* a row of calls.def without its program */
		if (bpf_map_update_elem(calls_fd, &calls[i].number, &fd, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static struct bpf_link *attach(const struct bpf_program *p, int cgroup_fd)
{
	const char *section = bpf_program__section_name(p);

	if (starts(section, "cgroup/"))
		return bpf_program__attach_cgroup(p, cgroup_fd);
	if (starts(section, "lsm/"))
		return bpf_program__attach_lsm(p);
	return bpf_program__attach_trace(p);
}

/* Reached by a tail call, or run once when it is asked for. */
static bool is_passive(const char *name)
{
	return starts(name, "call_") || starts(name, "iter_");
}

static int attach_all(const struct load_request *q, struct diag *d, struct load *l)
{
	_cleanup_buf_ struct buf log = BUF_INIT;
	struct bpf_program *p;
	int r = 0;

	words_to(&log);
	bpf_object__for_each_program(p, l->skel->obj) {
		if (!bpf_program__autoload(p) || is_passive(bpf_program__name(p)))
			continue;
		l->links[l->links_n] = l->links_n < MAX_PROGRAMS ? attach(p, q->cgroup_fd) : NULL;
		if (!l->links[l->links_n]) {
			r = words_explain(d, -errno, "cannot attach", bpf_program__name(p), &log);
			break;
		}
		l->links_n++;
	}
	words_to(NULL);
	return r;
}

/* An attach that answered well and is not there is no attach. */
static int check_links(const struct load *l, struct diag *d)
{
	struct bpf_link_info info;
	uint32_t len, lost = 0;

	for (size_t i = 0; i < l->links_n; i++) {
		info = (struct bpf_link_info){ 0 };
		len = sizeof(info);
		lost += bpf_obj_get_info_by_fd(bpf_link__fd(l->links[i]), &info, &len) < 0 ||
			!info.prog_id;
	}
	return lost ? diag_set(d, -EIO, "%u of %zu programs are not attached", lost, l->links_n) : 0;
}

static void take_handles(const struct load_request *q, struct load *l)
{
	struct deedlog *s = l->skel;

	s->bss->run = l->run = q->run;
	s->bss->run_cgroup_id = q->cgroup_id;
	s->bss->run_cgroup_level = q->cgroup_level;
	l->ring_fd = bpf_map__fd(s->maps.ring);
	l->subjects_fd = bpf_map__fd(s->maps.subjects);
	l->touches_fd = bpf_map__fd(s->maps.touches);
	l->losses_fd = bpf_map__fd(s->maps.losses);
	l->ring_bytes = bpf_map__max_entries(s->maps.ring);
	l->subject_bytes = bpf_map__value_size(s->maps.subjects);
	l->word = (struct load_words){
		.asleep = &s->bss->asleep,
		.canary_pid = &s->bss->canary_pid,
		.canary_dev = &s->bss->canary_dev,
		.iter_pid = &s->bss->iter_pid,
		.iter_marked = &s->bss->iter_marked,
		.canary_ino = &s->bss->canary_ino,
		.touch_count = &s->bss->touch_count,
	};
}

int load_tier(const struct load_request *q, const struct facts *f, struct diag *d,
	      struct load *ret)
{
	_cleanup_(load_done) struct load l = { 0 };
	int r;

	r = load_chosen(q, f, d, &l);
	if (r < 0)
		return r;
	take_handles(q, &l);
	r = tiers[q->tier].by_cgroup ? fill_calls(&l) : 0;
	if (r < 0)
		return diag_set(d, r, "cannot fill the table of system calls: %s", strerror(-r));
	r = attach_all(q, d, &l);
	if (r < 0)
		return r;
	r = check_links(&l, d);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct load){ 0 };
	return 0;
}

void load_done(struct load *l)
{
	while (l->links_n)
		(void)bpf_link__destroy(l->links[--l->links_n]); /* the kernel detaches on close */
	deedlog__destroy(l->skel);
	buf_done(&l->absent);
	*l = (struct load){ 0 };
}

/* ---- while it runs ---- */

/* The walk happens while it is read; it writes nothing. */
static int walk_tasks(int link_fd)
{
	_cleanup_fd_ int fd = bpf_iter_create(link_fd);
	char byte;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, &byte, 1);
	while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : 0;
}

int load_mark_tasks(const struct load *l, pid_t pid)
{
	struct bpf_link *link;
	int r = 0;

	link = bpf_program__attach_iter(l->skel->progs.iter_tasks, NULL);
	if (!link)
		return -errno;
	*l->word.iter_pid = (uint32_t)pid;
	*l->word.iter_marked = 1;
	for (int i = 0; !r && *(volatile __u32 *)l->word.iter_marked; i++) {
		*l->word.iter_marked = 0;
		r = i < MAX_WALKS ? walk_tasks(bpf_link__fd(link)) : -EAGAIN;
	}
	(void)bpf_link__destroy(link); /* the kernel detaches on close */
	return r;
}

static enum ev_class class_of(const char *program)
{
	static const struct {
		const char *part;
		enum ev_class class;
	} parts[] = {
		{ "_socket_", EV_CLASS_NET }, { "cg_", EV_CLASS_NET },
		{ "_inode_", EV_CLASS_NAME }, { "_path_", EV_CLASS_NAME },
		{ "_file_", EV_CLASS_FILE },  { "_mmap_", EV_CLASS_FILE },
		{ "_sys_exit", EV_CLASS_FILE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(program, parts[i].part))
			return parts[i].class;
	return EV_CLASS_TASK;
}

void load_skips(const struct load *l, uint64_t to[EV_CLASS_COUNT])
{
	struct bpf_prog_info info;
	struct bpf_program *p;
	uint32_t len;

	bpf_object__for_each_program(p, l->skel->obj) {
		info = (struct bpf_prog_info){ 0 };
		len = sizeof(info);
		if (bpf_program__fd(p) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len) < 0)
			continue;
		to[class_of(bpf_program__name(p))] += info.recursion_misses;
	}
}

struct cur load_object(void)
{
	size_t len;
	const void *bytes = deedlog__elf_bytes(&len);

	return cur_of(bytes, len);
}
