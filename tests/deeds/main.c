/* SPDX-License-Identifier: MIT */
/*
 * deeds - does every kind of deed once and prints what the kernel answered. It
 * knows nothing of any tracer: check.py compares its lines with a log.
 *
 *   # place: work=FOLDER outsider=PID hello=FILE sh=FILE loader=FILE module=FILE top=FOLDER topid=N
 *   # did: N NAME pid=P from=NS until=NS a=DEV:INO b=DEV:INO ret=R was=W is=I -> ANSWER
 *   # skip: N NAME: reason
 *   # end: how many
 *
 * from and until (CLOCK_BOOTTIME) enclose the act and nothing of its set-up.
 * Exit status: 0 all acts were tried, whatever the answer; 1 no sandbox; 2 usage.
 */
#include "deed.h"

#include <getopt.h>
#include <stdlib.h>

static const char usage[] =
	"usage: deeds [-a] [-t CGROUP] [-k MODULE] [-H HELLO] DIR [WORD...]\n"
	"       deeds -l\n"
	"  DIR        existing, empty folder; a tmpfs is mounted over it\n"
	"  WORD       only deeds whose name or group is WORD\n"
	"  -a         also deeds that act on the whole machine (VM only)\n"
	"  -t CGROUP  folder of a cgroup outside of the target (deeds that escape)\n"
	"  -k MODULE  a kernel module without dependencies\n"
	"  -H HELLO   a dynamic program that does nothing (default /usr/bin/true)\n"
	"  -l         list group, name and needs\n";

static bool wanted(const struct deed *deed, const char *group, char **words)
{
	if (!*words)
		return true;
	for (; *words; words++)
		if (!strcmp(*words, deed->name) || !strcmp(*words, group))
			return true;
	return false;
}

static void list(void)
{
	const struct deed *deed = NULL;
	const char *group;

	while ((deed = deed_next(deed, &group)))
		printf("%s\t%s\t%s%s%s\n", group, deed->name,
		       deed->needs & NEEDS_HOST ? "host " : "",
		       deed->needs & NEEDS_CGROUP ? "cgroup " : "",
		       deed->needs & NEEDS_MODULE ? "module " : "");
}

static struct { int ok, refused, other, skipped; } count;

static void tally(const struct outcome *o)
{
	if (o->ran && o->ret >= 0)
		count.ok++;
	else if (o->err == EPERM || o->err == EACCES)
		count.refused++;
	else
		count.other++;
}

static void print_outcome(int n, const char *name, const struct outcome *o)
{
	printf("# did: %d %s pid=%d from=%llu until=%llu a=%u:%lu b=%u:%lu "
	       "ret=%ld was=%ld is=%ld -> %s\n", n, name, o->pid, o->from_ns, o->until_ns,
	       o->a.dev, o->a.ino, o->b.dev, o->b.ino, o->ret, o->was, o->is, answer_of(o));
}

/* Returns -1 when the sandbox of the deed could not be built. */
static int one(int n, const struct deed *deed, bool host_allowed)
{
	const char *why = why_skipped(deed, host_allowed);
	struct outcome o;

	if (why) {
		printf("# skip: %d %s: %s\n", n, deed->name, why);
		count.skipped++;
		return 0;
	}
	if (run_deed(deed, &o)) {
		printf("# end: no sandbox for %s\n", deed->name);
		return -1;
	}
	print_outcome(n, deed->name, &o);
	tally(&o);
	return 0;
}

/* Files are named as a kernel names them: without symbolic links. */
static void print_place(void)
{
	char *sh = realpath("/bin/sh", NULL), *loader = realpath(LOADER, NULL);
	struct stat top = { 0 };

	if (t.cgroup_top)
		(void)stat(t.cgroup_top, &top); /* its inode is the id of the cgroup */

	printf("# place: work=%s outsider=%d hello=%s sh=%s loader=%s module=%s top=%s topid=%lu\n",
	       t.work, t.outsider, t.hello, sh ? sh : "-", loader ? loader : "-",
	       t.module ? t.module : "-", t.cgroup_top ? t.cgroup_top : "-",
	       (unsigned long)top.st_ino);
	free(sh);
	free(loader);
}

static int all(char **words, bool host_allowed)
{
	const struct deed *deed = NULL;
	const char *group;
	int n = 0, r = 0;

	fixture_init();
	print_place();
	while (!r && (deed = deed_next(deed, &group)))
		if (wanted(deed, group, words))
			r = one(++n, deed, host_allowed);
	fixture_done();
	if (!r)
		printf("# end: %d ok, %d refused, %d other, %d skipped\n", count.ok,
		       count.refused, count.other, count.skipped);
	return r ? 1 : 0;
}

int main(int argc, char **argv)
{
	bool host_allowed = false;
	int c;

	t.hello = "/usr/bin/true";
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt(argc, argv, "at:k:H:l")) != -1) {
		switch (c) {
		case 'a': host_allowed = true; break;
		case 't': t.cgroup_top = realpath(optarg, NULL); break;
		case 'k': t.module = realpath(optarg, NULL); break;
		case 'H': t.hello = realpath(optarg, NULL); break;
		case 'l': list(); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return 2;
	}
	t.work = realpath(argv[optind], NULL);
	if (!t.work) {
		perror(argv[optind]);
		return 1;
	}
	return all(argv + optind + 1, host_allowed);
}
