/* SPDX-License-Identifier: MIT */
/*
 * load TIER OBJECT [CONSTANT=FUNCTION/N...] - does the running kernel take
 * every program of a tier? Each one is loaded and attached alone, in a fresh
 * copy of the object, so that one refusal hides no other. Promises one line
 * per program:
 *
 *   ok       lsm_file_open
 *   absent   lsm_uring_allowed: the kernel has no such hook
 *   refused  mod_file_open: the verifier's last words
 *
 * and exit status 0 if none was refused. CONSTANT=FUNCTION/N sets a byte of
 * the object's constants to 1 where the kernel's FUNCTION has N parameters,
 * else to 0. Relies on: root, kernel BTF, cgroup2 at /sys/fs/cgroup.
 */
#include "base/macros.h"
#include "trace/tier.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#define LOG_BYTES (1 << 20)
#define MAX_SHOWN 6 /* lines of the verifier that are printed */
#define CGROUP	  "/sys/fs/cgroup/deedlog-load"

/* Younger than the section names of libbpf 1.1. */
static const struct {
	const char *program;
	int attach_type;
} by_number[] = {
	{ "cg_connect_unix", 49 },
	{ "cg_sendmsg_unix", 50 },
};

static struct {
	const char *object;
	char **constants;
	struct btf *kernel;
	int cgroup_fd;
	char log[LOG_BYTES];
} on;

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level; /* the verifier's log is read from our buffer instead */
	(void)fmt;
	(void)args;
	return 0;
}

static bool kernel_has(const char *section)
{
	const char *hook;
	const struct hook_kind *kind = hook_kind_of(section, &hook);
	char name[128];
	bool typedefs;

	if (!kind)
		return true;
	typedefs = !strcmp(kind->target, "btf_trace_");
	(void)snprintf(name, sizeof(name), "%s%s", kind->target, hook); /* longer ones are absent */
	return btf__find_by_name_kind(on.kernel, name,
				      typedefs ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC) > 0;
}

static int params_of(const char *function)
{
	int id = btf__find_by_name_kind(on.kernel, function, BTF_KIND_FUNC);

	if (id < 0)
		return -1;
	return btf_vlen(btf__type_by_id(on.kernel, btf__type_by_id(on.kernel, (__u32)id)->type));
}

/* Where in .rodata a variable lies; -ENOENT if the object has none of that name. */
static int offset_of(struct bpf_object *obj, const char *name)
{
	const struct btf *b = bpf_object__btf(obj);
	int id = btf__find_by_name_kind(b, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *sec = id < 0 ? NULL : btf__type_by_id(b, (__u32)id);
	const struct btf_var_secinfo *v = sec ? btf_var_secinfos(sec) : NULL;

	for (int i = 0; sec && i < btf_vlen(sec); i++)
		if (!strcmp(btf__name_by_offset(b, btf__type_by_id(b, v[i].type)->name_off), name))
			return (int)v[i].offset;
	return -ENOENT;
}

static struct bpf_map *constants_of(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
		if (strstr(bpf_map__name(map), ".rodata"))
			return map;
	return NULL;
}

static int set_constant(struct bpf_object *obj, const char *text)
{
	struct bpf_map *map = constants_of(obj);
	_cleanup_free_ char *copy = NULL;
	char name[64], function[128];
	size_t size = 0;
	int want, at;

	if (sscanf(text, "%63[^=]=%127[^/]/%d", name, function, &want) != 3)
		return -EINVAL;
	at = offset_of(obj, name);
	if (at < 0 || !map)
		return -ENOENT;
	(void)bpf_map__initial_value(map, &size); /* for its size */
	copy = malloc(size);
	if (!copy || (size_t)at >= size)
		return -ENOENT;
	memcpy(copy, bpf_map__initial_value(map, &size), size);
	copy[at] = params_of(function) == want;
	return bpf_map__set_initial_value(map, copy, size);
}

static struct bpf_object *open_object(void)
{
	struct bpf_object *obj = bpf_object__open(on.object);

	if (!obj) {
		printf("refused  %s: cannot be opened: %s\n", on.object, strerror(errno));
		exit(1);
	}
	for (char **c = on.constants; *c; c++) {
		if (set_constant(obj, *c)) {
			printf("refused  %s: no such constant, or not NAME=FUNCTION/N\n", *c);
			exit(1);
		}
	}
	return obj;
}

static void print_log(void)
{
	const char *at = on.log + strlen(on.log);
	int lines = 0;

	while (at > on.log && lines <= MAX_SHOWN)
		if (*--at == '\n')
			lines++;
	printf("%s\n", at);
}

static struct bpf_link *attach(struct bpf_program *p)
{
	if (!strncmp(bpf_program__name(p), "cg_", 3))
		return bpf_program__attach_cgroup(p, on.cgroup_fd);
	return bpf_program__attach(p);
}

static bool is_reached_by_tail_call(const char *name)
{
	return !strncmp(name, "call_", 5);
}

static void fix_attach_type(struct bpf_program *p)
{
	enum bpf_attach_type type;

	for (size_t i = 0; i < ARRAY_SIZE(by_number); i++) {
		type = (enum bpf_attach_type)by_number[i].attach_type;
		if (!strcmp(bpf_program__name(p), by_number[i].program))
			(void)bpf_program__set_expected_attach_type(p, type); /* not loaded yet */
	}
}

/* Returns whether the kernel took it. */
static bool try_program(const char *name)
{
	struct bpf_object *obj = open_object();
	struct bpf_program *p, *ours = bpf_object__find_program_by_name(obj, name);
	struct bpf_link *link = NULL;
	bool ok;

	bpf_object__for_each_program(p, obj)
		(void)bpf_program__set_autoload(p, p == ours); /* not loaded yet */
	on.log[0] = '\0';
	fix_attach_type(ours);
	(void)bpf_program__set_log_buf(ours, on.log, sizeof(on.log)); /* as above */
	ok = !bpf_object__load(obj);
	if (!ok) {
		printf("refused  %s: load: %s\n", name, strerror(errno));
		print_log();
	} else if (!is_reached_by_tail_call(name)) {
		link = attach(ours);
		ok = link;
		if (!ok)
			printf("refused  %s: attach: %s\n", name, strerror(errno));
	}
	if (ok)
		printf("ok       %s\n", name);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return ok;
}

static int try_tier(enum tier tier)
{
	struct bpf_object *list = open_object();
	struct bpf_program *p;
	int refused = 0, tried = 0;

	bpf_object__for_each_program(p, list) {
		const char *name = bpf_program__name(p);

		if (!tier_has(tier, name))
			continue;
		tried++;
		if (!kernel_has(bpf_program__section_name(p)))
			printf("absent   %s: the kernel has no such hook\n", name);
		else if (!try_program(name) && !tier_can_miss(name))
			refused++;
	}
	bpf_object__close(list);
	printf("%d programs of tier %s, %d refused\n", tried, tier_name(tier), refused);
	return refused || !tried;
}

int main(int argc, char **argv)
{
	enum tier tier;
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3 || tier_from_name(argv[1], &tier)) {
		fputs("usage: load lsm|fmod|trace OBJECT [CONSTANT=FUNCTION/N...]\n", stderr);
		return 2;
	}
	on.object = argv[2];
	on.constants = argv + 3;
	libbpf_set_print(quiet);
	on.kernel = btf__load_vmlinux_btf();
	(void)mkdir(CGROUP, 0755); /* may be left from a run that was killed */
	on.cgroup_fd = open(CGROUP, O_RDONLY | O_CLOEXEC);
	if (!on.kernel || on.cgroup_fd < 0) {
		printf("refused  no kernel BTF or no cgroup2: %s\n", strerror(errno));
		return 1;
	}
	r = try_tier(tier);
	close(on.cgroup_fd);
	(void)rmdir(CGROUP); /* empty by now */
	return r;
}
