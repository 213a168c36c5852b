/* SPDX-License-Identifier: MIT */
/*
 * From loaded programs to a running tier, whether they were loaded just now or
 * lay in the pool. In a slot of the pool a program is pinned as "TYPE-NAME"
 * (its attach type as a number), a map as "map-NAME", an absent program is the
 * note "absent-NAME".
 */
#include "load.h"

#include "base/alloc.h"
#include "base/num.h"
#include "schemas/state.h"
#include "tier.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#define MAX_WALKS 16 /* over all tasks, until no new one is found */
#define PIN_BYTES (PROGRAM_NAME_BYTES + 16)
#define SWEEP 1024 /* entries of a map removed at once */

const char *const load_map_names[MAP_COUNT] = {
#define X(name) "map-" #name,
	LOAD_MAPS(X)
#undef X
};

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* ---- the pool ---- */

static int put_into(struct slot *s, const struct load *l)
{
	char pin[PIN_BYTES];
	int r = 0;

	for (size_t i = 0; !r && i < l->programs_n; i++) {
		(void)snprintf(pin, sizeof(pin), "%d-%s", l->programs[i].type, l->programs[i].name); /* fits */
		r = slot_pin(s, pin, l->programs[i].fd);
	}
	for (int i = 0; !r && i < MAP_COUNT; i++)
		r = slot_pin(s, load_map_names[i], l->maps[i]);
	return r;
}

static int note_absent(struct slot *s, const struct load *l)
{
	struct cur names = cur_of(buf_str(&l->absent), l->absent.len), name;
	char note[PIN_BYTES];
	int r = 0;

	while (!r && !cur_until(&names, ' ', &name)) {
		(void)snprintf(note, sizeof(note), "absent-%.*s", (int)cur_left(&name),
			       (const char *)name.at); /* fits */
		r = slot_note(s, note);
	}
	return r;
}

static int get_program(const char *pin, struct load *l)
{
	struct program *to = &l->programs[l->programs_n];
	size_t digits = strcspn(pin, "-");
	uint64_t type;
	int r;

	r = num_u64(pin, digits, UINT16_MAX, &type);
	if (r < 0 || !pin[digits] || l->programs_n == MAX_PROGRAMS)
		return -EBADMSG;
	(void)snprintf(to->name, sizeof(to->name), "%s", pin + digits + 1); /* was cut when it was made */
	to->type = (enum bpf_attach_type)type;
	to->fd = slot_get(&l->slot, pin);
	if (to->fd < 0)
		return to->fd;
	l->programs_n++;
	return 0;
}

static int get_name(const char *pin, void *arg)
{
	struct load *l = arg;

	if (starts(pin, "absent-"))
		buf_addf(&l->absent, "%s ", pin + strlen("absent-"));
	else if (*pin >= '0' && *pin <= '9')
		return get_program(pin, l);
	return 0;
}

static int get_out(struct load *l)
{
	int r;

	for (int i = 0; i < MAP_COUNT; i++) {
		l->maps[i] = slot_get(&l->slot, load_map_names[i]);
		if (l->maps[i] < 0)
			return l->maps[i];
	}
	r = slot_each(&l->slot, get_name, l);
	return r < 0 ? r : 0;
}

static void find_slot(const struct load_request *q, const struct facts *f, struct slot *ret)
{
	_cleanup_free_ char *root = NULL;
	char set[64];

	if (!q->keep || q->ring_bytes || pool_open(&root) < 0)
		return;
	(void)snprintf(set, sizeof(set), "%016llx-%s", (unsigned long long)f->key,
		       tier_name(q->tier)); /* fits */
	(void)pool_take(root, set, ret); /* without one it is loaded for this run alone */
}

static int from_pool(struct slot *slot, struct load *ret)
{
	_cleanup_(load_done) struct load l = LOAD_INIT;
	int r;

	if (!slot->whole)
		return -ENOENT;
	l.slot = *slot;
	*slot = (struct slot)SLOT_INIT;
	r = get_out(&l);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct load)LOAD_INIT;
	return 0;
}

static int load_any(const struct load_request *q, const struct facts *f, struct diag *d,
		    struct load *ret)
{
	_cleanup_(slot_done) struct slot slot = SLOT_INIT;
	int r;

	find_slot(q, f, &slot);
	if (!from_pool(&slot, ret))
		return 0;
	r = load_fresh(q, f, d, ret);
	if (r < 0)
		return r;
	if (slot.fd < 0 || put_into(&slot, ret) < 0 || note_absent(&slot, ret) < 0 ||
	    slot_finish(&slot) < 0)
		return 0; /* an unfinished slot is emptied by the next run */
	ret->slot = slot;
	slot = (struct slot)SLOT_INIT;
	return 0;
}

/* ---- a fresh start ---- */

static int read_sizes(struct load *l)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(l->maps[MAP_ring], &info, &len) < 0)
		return -errno;
	l->ring_bytes = info.max_entries;
	info = (struct bpf_map_info){ 0 };
	if (bpf_obj_get_info_by_fd(l->maps[MAP_subjects], &info, &len) < 0)
		return -errno;
	l->subject_bytes = info.value_size;
	return 0;
}

/* All values of an array with one value for each CPU. */
static int zero_array(int map_fd, uint32_t entries)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *zeros = NULL;
	_cleanup_free_ uint32_t *keys = NULL;

	if (cpus < 0)
		return cpus;
	zeros = xcalloc((size_t)cpus * entries, sizeof(*zeros));
	keys = xcalloc(entries, sizeof(*keys));
	for (uint32_t i = 0; i < entries; i++)
		keys[i] = i;
	return bpf_map_update_batch(map_fd, keys, zeros, &entries, NULL);
}

static int empty_touches(const struct load *l)
{
	struct {
		struct touch_key key[SWEEP];
		struct touch touch[SWEEP];
	} *part = xcalloc(1, sizeof(*part));
	uint32_t at = 0, n;
	bool first = true;
	int r = 0;

	while (!r) {
		n = SWEEP;
		r = bpf_map_lookup_and_delete_batch(l->maps[MAP_touches], first ? NULL : &at, &at,
						    part->key, part->touch, &n, NULL);
		first = false;
	}
	free(part);
	return r == -ENOENT ? 0 : r; /* that one says: this was the last part */
}

/* What an earlier run left behind must not show in this one. Nothing is attached yet. */
static int reset(struct load *l)
{
	int r;

	load_skips(l, l->skipped);
	r = zero_array(l->maps[MAP_losses], EV_LOSS_COUNT * EV_CLASS_COUNT);
	if (r >= 0)
		r = zero_array(l->maps[MAP_numbers], 1);
	if (r >= 0 && l->touches_left)
		r = empty_touches(l);
	ring_forget(&l->ring);
	return r;
}

static int prepare(const struct load_request *q, struct load *l)
{
	int r;

	r = load_map_words(q, l);
	if (r >= 0)
		r = read_sizes(l);
	if (r >= 0)
		r = ring_map(l->maps[MAP_ring], l->ring_bytes, &l->ring);
	return r < 0 ? r : reset(l);
}

/* ---- attaching ---- */

/* Reached by a tail call, or run once when it is asked for. */
static bool is_passive(const struct program *p)
{
	return starts(p->name, "call_") || starts(p->name, "iter_");
}

static int attach_all(const struct load_request *q, struct diag *d, struct load *l)
{
	const struct program *p;
	int fd;

	for (p = l->programs; p < l->programs + l->programs_n; p++) {
		if (is_passive(p))
			continue;
		fd = bpf_link_create(p->fd, starts(p->name, "cg_") ? q->cgroup_fd : 0, p->type, NULL);
		if (fd < 0)
			return diag_set(d, -errno, "cannot attach %s: %s", p->name, strerror(errno));
		l->links[l->links_n++] = fd;
	}
	return 0;
}

/* An attach that answered well and is not there is no attach. */
static int check_links(const struct load *l, struct diag *d)
{
	struct bpf_link_info info;
	uint32_t len, lost = 0;

	for (size_t i = 0; i < l->links_n; i++) {
		info = (struct bpf_link_info){ 0 };
		len = sizeof(info);
		lost += bpf_obj_get_info_by_fd(l->links[i], &info, &len) < 0 || !info.prog_id;
	}
	return lost ? diag_set(d, -EIO, "%u of %zu programs are not attached", lost, l->links_n) : 0;
}

int load_tier(const struct load_request *q, const struct facts *f, struct diag *d,
	      struct load *ret)
{
	_cleanup_(load_done) struct load l = LOAD_INIT;
	int r;

	r = load_any(q, f, d, &l);
	if (r < 0)
		return r;
	r = prepare(q, &l);
	if (r < 0)
		return diag_set(d, r, "cannot prepare the loaded programs: %s", strerror(-r));
	r = attach_all(q, d, &l);
	if (r < 0)
		return r;
	r = check_links(&l, d);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct load)LOAD_INIT;
	return 0;
}

/* Links first: the kernel detaches on close. */
void load_done(struct load *l)
{
	while (l->links_n)
		closep(&l->links[--l->links_n]);
	ring_done(&l->ring);
	if (l->words)
		(void)munmap(l->words, l->words_bytes); /* nothing is read through it any more */
	while (l->programs_n)
		closep(&l->programs[--l->programs_n].fd);
	for (int i = 0; i < MAP_COUNT; i++)
		closep(&l->maps[i]);
	buf_done(&l->absent);
	slot_done(&l->slot);
	*l = (struct load)LOAD_INIT;
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

static const struct program *find(const struct load *l, const char *name)
{
	for (size_t i = 0; i < l->programs_n; i++)
		if (!strcmp(l->programs[i].name, name))
			return &l->programs[i];
	return NULL;
}

int load_mark_tasks(const struct load *l, pid_t pid)
{
	const struct program *p = find(l, "iter_tasks");
	volatile __u32 *marked = l->word.iter_marked;
	_cleanup_fd_ int link = -1;
	int r = 0;

	link = p ? bpf_link_create(p->fd, 0, p->type, NULL) : -1;
	if (link < 0)
		return p ? -errno : -ENOENT;
	*l->word.iter_pid = (__u32)pid;
	*marked = 1;
	for (int i = 0; !r && *marked; i++) {
		*marked = 0;
		r = i < MAX_WALKS ? walk_tasks(link) : -EAGAIN;
	}
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
	uint32_t len;

	for (size_t i = 0; i < l->programs_n; i++) {
		info = (struct bpf_prog_info){ 0 };
		len = sizeof(info);
		if (!bpf_obj_get_info_by_fd(l->programs[i].fd, &info, &len))
			to[class_of(l->programs[i].name)] += info.recursion_misses;
	}
}
