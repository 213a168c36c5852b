/* SPDX-License-Identifier: MIT */
/*
 * The name of a cached file is a hash of what tells kernels apart (build notes,
 * version text, size of the BTF) and one of the object. The hashes keep nobody
 * out: the mode of the folder does.
 */
#include "facts.h"

#include "base/alloc.h"
#include "base/fdio.h"
#include "kbtf.h"
#include "tier.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define MAX_NOTES 65536
#define MAX_CACHED 16 /* files; kernels and versions of ours that take turns */

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir); /* only read */
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	const uint8_t *at = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ at[i]) * 0x100000001b3; /* FNV-1a */
	return h;
}

#define HASH_START 0xcbf29ce484222325

static uint64_t kernel_key(void)
{
	_cleanup_buf_ struct buf notes = BUF_INIT;
	struct stat st = { 0 };
	struct utsname u;
	uint64_t h = HASH_START;
	_cleanup_fd_ int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !fd_read_all(fd, MAX_NOTES, &notes))
		h = hash(h, notes.data, notes.len); /* some kernels have none */
	(void)uname(&u); /* cannot fail with a valid pointer */
	h = hash(h, &u.release, strlen(u.release));
	h = hash(h, &u.version, strlen(u.version));
	(void)stat(KERNEL_BTF, &st); /* absent: found out when it is read */
	return hash(h, &st.st_size, sizeof(st.st_size));
}

/* Changes with the object and with what is asked for. */
static uint64_t object_key(struct cur object, const char *const *hooks, const char *const *values)
{
	uint64_t h = hash(HASH_START, object.at, cur_left(&object));

	for (; *hooks; hooks++)
		h = hash(h, *hooks, strlen(*hooks) + 1);
	for (; *values; values++)
		h = hash(h, *values, strlen(*values) + 1);
	return h;
}

static bool is_private(int fd, mode_t kind, mode_t forbidden)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       !(st.st_mode & forbidden);
}

/* The folder's descriptor, or -errno where it cannot be had or trusted. */
static int open_cache(const char *dir)
{
	_cleanup_fd_ int fd = -1;

	if (!dir)
		return -ENOENT;
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return is_private(fd, S_IFDIR, 077) ? TAKE_FD(fd) : -EPERM;
}

static void set_path(struct facts *f)
{
	(void)snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd); /* fits */
}

static int read_cache(int dir_fd, const char *name, uint64_t key, struct facts *f)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_fd_ int fd = -1;
	struct btf *btf;
	int r;

	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_private(fd, S_IFREG, 022))
		return -EPERM;
	r = fd_read_all(fd, MAX_FACTS, &bytes);
	if (r < 0)
		return r;
	btf = btf__new(bytes.data, (uint32_t)bytes.len);
	if (!btf)
		return -errno;
	if (!kbtf_is_for(btf, key)) {
		btf__free(btf);
		return -ESTALE;
	}
	f->btf = btf;
	f->fd = TAKE_FD(fd);
	f->cached = true;
	set_path(f);
	return 0;
}

/* Failing is no error: the next start is slow, too. */
static void write_cache(int dir_fd, const char *name, const void *bytes, size_t len)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(dup(dir_fd));
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && ++n >= MAX_CACHED)
			(void)unlinkat(dir_fd, entry->d_name, 0); /* as above */
	(void)file_replace_at(dir_fd, name, 0600, bytes, len); /* as above */
}

/* A copy in memory, for libbpf wants a path. */
static int put_in_memory(const void *bytes, size_t len, struct facts *f)
{
	_cleanup_fd_ int fd = memfd_create("deedlog-btf", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, bytes, len);
	if (r < 0)
		return r;
	f->fd = TAKE_FD(fd);
	set_path(f);
	return 0;
}

/* Names in the object point into it or into *store. */
struct wish {
	struct kbtf_wish w;
	struct bpf_object *obj;
	char **store;
	size_t stored;
};

static void wish_done(struct wish *w)
{
	for (size_t i = 0; i < w->stored; i++)
		free(w->store[i]);
	free(w->store);
	names_done(&w->w.types);
	names_done(&w->w.hooks);
	names_done(&w->w.values);
	bpf_object__close(w->obj);
}

static const char *keep(struct wish *w, char *text)
{
	w->store = xrealloc(w->store, w->stored + 1, sizeof(*w->store));
	w->store[w->stored++] = text;
	return text;
}

static void wish_types(struct wish *w)
{
	const struct btf *b = bpf_object__btf(w->obj);
	const char *name, *flavour;
	uint32_t count = b ? btf__type_cnt(b) : 1;

	for (uint32_t id = 1; id < count; id++) {
		name = btf__name_by_offset(b, btf__type_by_id(b, id)->name_off);
		flavour = strstr(name, "___");
		if (flavour && flavour != name)
			name = keep(w, xasprintf("%.*s", (int)(flavour - name), name));
		if (*name)
			names_add(&w->w.types, name);
	}
	names_sort(&w->w.types);
}

static void wish_hooks(struct wish *w, const char *const *more)
{
	const struct hook_kind *kind;
	struct bpf_program *p;
	const char *hook;

	bpf_object__for_each_program(p, w->obj) {
		kind = hook_kind_of(bpf_program__section_name(p), &hook);
		if (kind)
			names_add(&w->w.hooks, keep(w, xasprintf("%s%s", kind->target, hook)));
	}
	for (; *more; more++)
		names_add(&w->w.hooks, *more);
	names_sort(&w->w.hooks);
}

static int wish_of(struct cur object, const char *const *hooks, const char *const *values,
		   struct wish *w)
{
	w->obj = bpf_object__open_mem(object.at, cur_left(&object), NULL);
	if (!w->obj)
		return -errno;
	wish_types(w);
	wish_hooks(w, hooks);
	for (; *values; values++)
		names_add(&w->w.values, *values);
	names_sort(&w->w.values);
	return 0;
}

static int read_kernel(const struct wish *w, struct diag *d, struct btf **ret)
{
	struct btf *kernel = btf__parse_raw(KERNEL_BTF);
	int r;

	if (!kernel)
		return diag_set(d, -errno, "cannot read " KERNEL_BTF ": %s; deedlog needs Linux 6.1 "
				"or later, built with CONFIG_DEBUG_INFO_BTF", strerror(errno));
	r = kbtf_extract(kernel, &w->w, ret);
	btf__free(kernel);
	return r < 0 ? diag_set(d, r, "cannot use " KERNEL_BTF ": %s", strerror(-r)) : 0;
}

static int build(struct wish *w, struct cur object, const char *const *hooks,
		 const char *const *values, struct diag *d, struct facts *f)
{
	int r;

	r = wish_of(object, hooks, values, w);
	if (r < 0)
		return diag_set(d, r, "our own BPF object does not open: %s", strerror(-r));
	return read_kernel(w, d, &f->btf);
}

int facts_get(struct cur object, const char *const *hooks, const char *const *values,
	      const char *cache_dir, struct diag *d, struct facts *ret)
{
	_cleanup_(wish_done) struct wish w = { 0 };
	_cleanup_(facts_done) struct facts f = FACTS_INIT;
	_cleanup_fd_ int dir_fd = open_cache(cache_dir);
	const void *bytes;
	char name[64];
	uint32_t len;
	int r;

	w.w.key = object_key(object, hooks, values);
	(void)snprintf(name, sizeof(name), "%016llx-%016llx.btf",
		       (unsigned long long)kernel_key(), (unsigned long long)w.w.key); /* fits */
	if (dir_fd < 0 || read_cache(dir_fd, name, w.w.key, &f) < 0) {
		r = build(&w, object, hooks, values, d, &f);
		if (r < 0)
			return r;
		bytes = btf__raw_data(f.btf, &len);
		r = put_in_memory(bytes, len, &f);
		if (r < 0)
			return diag_set(d, r, "cannot make a file in memory: %s", strerror(-r));
		if (dir_fd >= 0)
			write_cache(dir_fd, name, bytes, len);
	}
	f.key = w.w.key;
	*ret = f;
	f = (struct facts)FACTS_INIT;
	return 0;
}

void facts_done(struct facts *f)
{
	btf__free(f->btf);
	closep(&f->fd);
	*f = (struct facts)FACTS_INIT;
}
