/* SPDX-License-Identifier: MIT */
/* deedlog doctor: will it work here? One row per check, tried and not believed. */
#include "cli.h"

#include "base/alloc.h"
#include "base/esc.h"
#include "base/fdio.h"
#include "base/json_out.h"
#include "ledger/ledger.h"
#include "trace/cgroup.h"
#include "trace/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#define MAX_TEXT_FILE 65536
#define MIN_SPACE     (64ull << 20) /* one segment */

struct doctor_args {
	struct common common;
	bool json;
};

static struct doctor_args args = { .common = COMMON_DEFAULTS };

static const struct opt options[] = {
	{ "json", 0, OPT_FLAG, offsetof(struct doctor_args, json), NULL, "one JSON object", NULL },
	OPT_COMMON,
	OPT_END,
};

enum health { GOOD, NOTE, BAD };
static const char *const health_words[] = { [GOOD] = "ok", [NOTE] = "note", [BAD] = "FAIL" };

/* What a check found, and for BAD the command that fixes it. */
struct result {
	enum health health;
	struct buf text;
	const char *fix;
};

struct check {
	const char *name;
	void (*look)(const struct doctor_args *a, struct result *r);
};

static void bad(struct result *r, const char *fix, const char *text)
{
	r->health = BAD;
	r->fix = fix;
	buf_addstr(&r->text, text);
}

/* ---- checks ------------------------------------------------------------ */

static void look_kernel(const struct doctor_args *a, struct result *r)
{
	struct utsname u = { .release = "unknown", .machine = "unknown" };

	(void)a;
	(void)uname(&u); /* cannot fail with a good pointer */
	buf_addf(&r->text, "%s %s", u.release, u.machine);
}

static void look_btf(const struct doctor_args *a, struct result *r)
{
	(void)a;
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		buf_addstr(&r->text, "/sys/kernel/btf/vmlinux");
	else
		bad(r, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, e.g. apt install linux-image-amd64",
		    "this kernel describes no types (no /sys/kernel/btf/vmlinux)");
}

static void look_lsm(const struct doctor_args *a, struct result *r)
{
	_cleanup_buf_ struct buf list = BUF_INIT;

	(void)a;
	if (file_read_at(AT_FDCWD, "/sys/kernel/security/lsm", MAX_TEXT_FILE, &list) < 0) {
		r->health = NOTE;
		buf_addstr(&r->text, "not readable; mount -t securityfs none /sys/kernel/security "
				     "shows it (not needed to record)");
		return;
	}
	buf_addstr(&r->text, buf_str(&list));
	if (!strstr(buf_str(&list), "bpf")) {
		r->health = NOTE;
		buf_addstr(&r->text, " (no bpf: tier lsm needs lsm=...,bpf on the kernel command line)");
	}
}

static void look_cgroup(const struct doctor_args *a, struct result *r)
{
	_cleanup_free_ char *mount = NULL;
	struct diag d;

	(void)a;
	if (!cgroup_mount(&d, &mount))
		buf_addstr(&r->text, mount);
	else
		bad(r, "mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none "
		       "/sys/fs/cgroup/unified", d.msg);
}

/* Capabilities that `run` needs; CAP_SYS_ADMIN stands in for the new ones. */
static const struct {
	int bit;
	const char *name;
} caps[] = {
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
};

static void look_caps(const struct doctor_args *a, struct result *r)
{
	_cleanup_buf_ struct buf status = BUF_INIT, missing = BUF_INIT;
	unsigned long long have = 0;
	const char *at;

	(void)a;
	if (!file_read_at(AT_FDCWD, "/proc/self/status", MAX_TEXT_FILE, &status)) {
		at = strstr(buf_str(&status), "\nCapEff:");
		have = at ? strtoull(at + 8, NULL, 16) : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (!(have >> caps[i].bit & 1))
			buf_addf(&missing, " %s", caps[i].name);
	if (!missing.len) {
		buf_addstr(&r->text, "all that is needed");
		return;
	}
	bad(r, "sudo deedlog doctor", "missing:");
	buf_addstr(&r->text, buf_str(&missing));
}

/* Tried in a cgroup of its own, which is gone afterwards. */
static void look_tier(const struct doctor_args *a, struct result *r)
{
	_cleanup_cgroup_ struct cgroup c = CGROUP_INIT;
	struct tracer_options o = { .best = TIER_LSM, .worst = TIER_TRACE, .owned = true };
	struct tracer *t = NULL;
	char name[32];
	struct diag d;

	(void)a;
	(void)snprintf(name, sizeof(name), "doctor-%d", getpid());
	if (cgroup_make(name, &d, &c) < 0) {
		bad(r, "sudo deedlog doctor", d.msg);
		return;
	}
	o.cgroup_fd = c.fd;
	if (tracer_new(&o, &d, &t) < 0) {
		bad(r, "sudo deedlog doctor, on Linux 6.1 or later", d.msg);
		return;
	}
	buf_addf(&r->text, "%s, proven by a canary", tier_name(tracer_tier(t)));
	if (*tier_limits(tracer_tier(t)))
		buf_addf(&r->text, "; %s", tier_limits(tracer_tier(t)));
	if (*tracer_skipped(t))
		buf_addf(&r->text, "; better ones: %s", tracer_skipped(t));
	if (*tracer_absent(t))
		buf_addf(&r->text, "; no hook in this kernel for: %s", tracer_absent(t));
	tracer_free(t);
}

static void look_space(const char *dir, struct result *r)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) < 0)
		return;
	buf_addf(&r->text, ", %llu MiB free", (unsigned long long)fs.f_bavail * fs.f_frsize >> 20);
	if ((unsigned long long)fs.f_bavail * fs.f_frsize < MIN_SPACE) {
		r->health = BAD;
		r->fix = "free space there, or give another folder: --dir DIR";
	}
}

static void look_ledger(const struct doctor_args *a, struct result *r)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	const char *dir = a->common.dir;
	struct stat st;
	struct diag d;
	int e;

	if (stat(dir, &st) < 0 && errno == ENOENT) {
		r->health = NOTE;
		buf_addf(&r->text, "%s is not there yet; the first run makes it", dir);
		return;
	}
	e = ledger_open(dir, false, &d, &l);
	if (e < 0 && e != -ENOENT) {
		bad(r, e == -EACCES ? "sudo deedlog doctor" : "sudo deedlog init", d.msg);
		return;
	}
	buf_addf(&r->text, "%s, owner %u%s", dir, st.st_uid, l ? "" : ", empty");
	look_space(dir, r);
}

static const struct check checks[] = {
	{ "kernel", look_kernel }, { "btf", look_btf },	      { "lsm list", look_lsm },
	{ "cgroup v2", look_cgroup }, { "capabilities", look_caps }, { "tier", look_tier },
	{ "ledger", look_ledger },
};

/* ---- output ------------------------------------------------------------ */

static void to_text(const struct check *c, const struct result *r, bool color, struct buf *to)
{
	const char *on = !color ? "" : r->health == BAD ? "\033[31m" : r->health == GOOD ? "\033[32m" : "";

	buf_addf(to, "%s%-4s%s  %-12s  ", on, health_words[r->health], *on ? "\033[0m" : "", c->name);
	esc_tty(to, r->text.data, r->text.len);
	if (r->fix)
		buf_addf(to, ": %s", r->fix);
	buf_addch(to, '\n');
}

static void to_json(const struct check *c, const struct result *r, struct buf *to)
{
	json_out_open(to, NULL, '{');
	json_out_cstr(to, "check", c->name);
	json_out_cstr(to, "health", health_words[r->health]);
	json_out_cstr(to, "text", buf_str(&r->text));
	if (r->fix)
		json_out_cstr(to, "fix", r->fix);
	json_out_close(to, '}');
}

static enum health look_at_all(const struct doctor_args *a, struct buf *out)
{
	bool color = colored(&a->common, STDOUT_FILENO);
	enum health worst = GOOD;

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct result r = { GOOD, BUF_INIT, NULL };

		checks[i].look(a, &r);
		while (r.text.len && r.text.data[r.text.len - 1] == '\n')
			buf_cut(&r.text, r.text.len - 1);
		worst = MAX(worst, r.health);
		if (a->json)
			to_json(&checks[i], &r, out);
		else if (!a->common.quiet || r.health == BAD)
			to_text(&checks[i], &r, color, out);
		buf_done(&r.text);
	}
	return worst;
}

static int run(void *arg, int argc, char **argv)
{
	const struct doctor_args *a = arg;
	_cleanup_buf_ struct buf out = BUF_INIT;
	enum health worst;

	(void)argv;
	if (argc) {
		say("doctor takes no operand");
		return EXIT_TROUBLE;
	}
	if (a->json) {
		json_out_open(&out, NULL, '{');
		json_out_cstr(&out, "schema", "deedlog/doctor/1");
		json_out_open(&out, "checks", '[');
	}
	worst = look_at_all(a, &out);
	if (a->json) {
		json_out_close(&out, ']');
		json_out_close(&out, '}');
		buf_addch(&out, '\n');
	}
	if (put(STDOUT_FILENO, &out) < 0)
		return EXIT_TROUBLE;
	return worst == BAD ? EXIT_DIFFERS : EXIT_OK;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.operands = "",
	.help = "say whether recording will work here, and what to do if not",
	.options = options,
	.args = &args,
	.trouble = EXIT_TROUBLE,
	.run = run,
};
