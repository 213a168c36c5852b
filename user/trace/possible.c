/* SPDX-License-Identifier: MIT */
/*
 * What must be there before anything is loaded, each with a sentence of its
 * own about what is missing. Passing proves nothing: the canary does.
 */
#include "base/alloc.h"
#include "base/fdio.h"
#include "kbtf.h"
#include "load.h"
#include "tier.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>

static const struct {
	int number;
	const char *name;
} needed_caps[] = {
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
};

static bool has_cap(const struct __user_cap_data_struct data[2], int cap)
{
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

static int check_caps(struct diag *d)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { 0 };
	_cleanup_buf_ struct buf missing = BUF_INIT;

	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(needed_caps); i++)
		if (!has_cap(data, needed_caps[i].number) && !has_cap(data, CAP_SYS_ADMIN))
			buf_addf(&missing, "%s%s", missing.len ? ", " : "", needed_caps[i].name);
	return missing.len ? diag_set(d, -EPERM, "missing %s; run as root", buf_str(&missing)) : 0;
}

/* Does the file hold the word? A file that cannot be read says nothing. */
static bool file_says(const char *path, const char *word, bool if_unreadable)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, 4096, &text) < 0)
		return if_unreadable;
	return strstr(buf_str(&text), word);
}

int load_possible(const struct facts *f, struct diag *d)
{
	int r = check_caps(d);

	if (r < 0)
		return r;
	if (file_says("/sys/kernel/security/lockdown", "[confidentiality]", false))
		return diag_set(d, -EPERM, "the kernel is locked down for confidentiality and lets no "
				"BPF program read its memory; boot without lockdown=confidentiality");
	if (kbtf_value(f->btf, "BPF_FUNC_loop") < 0)
		return diag_set(d, -ENOTSUP, "this kernel is too old (it has no bpf_loop); deedlog "
				"needs Linux 6.1 or later");
	return 0;
}

int load_probe(enum tier t, const struct facts *f, struct diag *d)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 }, /* return 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	const struct hook_kind *kind;
	_cleanup_free_ char *target = NULL;
	_cleanup_fd_ int fd = -1;
	const char *hook;

	if (!tiers[t].probe)
		return 0;
	if (t == TIER_LSM && !file_says("/sys/kernel/security/lsm", "bpf", true))
		return diag_set(d, -ENOTSUP, "bpf is not in the kernel's list of active LSMs (lsm=)");
	kind = hook_kind_of(tiers[t].probe, &hook);
	target = xasprintf("%s%s", kind->target, hook);
	opts.attach_btf_id = (uint32_t)kbtf_hook(f->btf, target);
	if (!opts.attach_btf_id)
		return diag_set(d, -ENOTSUP, "the kernel has no %s", target);
	opts.expected_attach_type = kind->attach;
	fd = bpf_prog_load(kind->type, "probe", "GPL", insns, ARRAY_SIZE(insns), &opts);
	if (fd < 0)
		return diag_set(d, -errno, "the kernel refuses such programs: %s", strerror(errno));
	return 0;
}

/*
 * The call has no arguments, so it is refused in any case: the words tell
 * whether for the arguments or for the helper. (libbpf 1.1.2 does the same, but
 * does not know what Linux 6.12 says.)
 */
bool load_probe_cgroup_storage(void)
{
	static const char *const words[] = { "cannot use helper", "unknown func", "invalid func" };
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_task_storage_get },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[1024] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_CGROUP_INET4_CONNECT,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 1);
	_cleanup_fd_ int fd = bpf_prog_load(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, "probe", "GPL", insns,
					    ARRAY_SIZE(insns), &opts);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(log, words[i]))
			return false;
	return *log; /* a kernel that says nothing at all is not trusted */
}
