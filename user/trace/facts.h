/* SPDX-License-Identifier: MIT */
/*
 * What the running kernel's BTF says about our object (see kbtf.h), from a
 * cache on disk where one can be trusted, else from the kernel. The cache is a
 * folder of our own user with mode 0700; one file for each build of a kernel.
 */
#ifndef TRACE_FACTS_H
#define TRACE_FACTS_H

#include "base/cur.h"
#include "base/diag.h"

#include <bpf/btf.h>
#include <stdbool.h>

#define MAX_FACTS (8u << 20) /* bytes; usual: 100 KiB */

struct facts {
	struct btf *btf;
	char path[32]; /* of the same bytes, for libbpf; good as long as fd is open */
	int fd;
	uint64_t key; /* tells objects apart, and what was asked for them */
	bool cached;
};
#define FACTS_INIT { .fd = -1 }

/*
 * `object` is our BPF object, `values` the enumerators of the kernel that are
 * asked for (ends in NULL), `hooks` further functions (ends in NULL). Without
 * `cache_dir`, or where it is not to be trusted, everything works but slower.
 */
int facts_get(struct cur object, const char *const *hooks, const char *const *values,
	      const char *cache_dir, struct diag *d, struct facts *ret);
void facts_done(struct facts *f);

#endif
