/* SPDX-License-Identifier: MIT */
/*
 * The few parts of the kernel's BTF that our object needs, as BTF of its own:
 * the types that it names (with all that they embed), and the facts about
 * hooks, written as enumerators so that one file holds everything.
 *
 * The kernel's own has 5 MB and libbpf reads and searches it anew for every
 * load: 60 to 150 ms. The extract is read in one tenth of a millisecond and
 * CO-RE finds in it what it would find in the whole.
 */
#ifndef TRACE_KBTF_H
#define TRACE_KBTF_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names {
	const char **v; /* borrowed strings */
	size_t n;
};

void names_add(struct names *l, const char *name);
void names_sort(struct names *l); /* and drop duplicates */
bool names_have(const struct names *l, const char *name); /* l is sorted */
void names_done(struct names *l);

struct kbtf_wish {
	struct names types;  /* sorted; without flavour (___x) */
	struct names hooks;  /* sorted; functions, and typedefs btf_trace_* */
	struct names values; /* sorted; enumerators of the kernel */
	uint64_t key;	     /* says for which object the extract is */
};

/* The caller frees with btf__free(). */
int kbtf_extract(const struct btf *kernel, const struct kbtf_wish *w, struct btf **ret);

bool kbtf_is_for(const struct btf *b, uint64_t key);
int32_t kbtf_hook(const struct btf *b, const char *name);   /* BTF id in the kernel; 0 = absent */
int32_t kbtf_params(const struct btf *b, const char *name); /* -1 = absent; a tracepoint's without its first */
int32_t kbtf_value(const struct btf *b, const char *name);  /* -1 = absent */

#endif
