/* SPDX-License-Identifier: MIT */
/*
 * New processes and new programs. A program given to an interpreter or to the
 * dynamic loader as an argument is no exec of that program for the kernel.
 */
#include "deed.h"
#include <sched.h>

ACT(fork)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return reap(pid);
}

ACT(vfork)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return reap(pid);
}

static char stack[65536];

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

ACT(clone_thread)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		    CLONE_THREAD | CLONE_SYSVSEM;
	int tid = clone(nothing, stack + sizeof(stack) - 16, flags, NULL);

	usleep(20000);
	return tid < 0 ? -1 : 0;
}

ACT(fork_exit_code)
{
	pid_t pid = fork();

	if (!pid)
		_exit(7);
	if (pid < 0)
		return -1;
	return waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

ACT(execve_bin) { return run("/bin/true", "true", NULL); }

SETUP(exec_symlink) { symlink("/bin/true", "ln"); }
ACT(exec_symlink) { return run("./ln", "true", NULL); }

SETUP(execveat_fd_empty) { t.fd = open("/bin/true", O_RDONLY); }
ACT(execveat_fd_empty) { return run_fd(t.fd); }

SETUP(execveat_o_path) { t.fd = open("/bin/true", O_PATH); }
ACT(execveat_o_path) { return run_fd(t.fd); }

SETUP(exec_memfd)
{
	t.fd = memfd_create("evil", 0);
	copy_file("/bin/true", t.fd);
}
ACT(exec_memfd) { return run_fd(t.fd); }

SETUP(exec_script) { make_file("s.sh", "#!/bin/true arg\n"); }
ACT(exec_script) { return run("./s.sh", "s.sh", NULL); }

SETUP(exec_script_chain)
{
	make_file("s1", "#!/bin/true\n");
	snprintf(t.buf, sizeof(t.buf), "#!%s/d/s1\n", t.work);
	make_file("s2", t.buf);
}
ACT(exec_script_chain) { return run("./s2", "s2", NULL); }

ACT(exec_via_loader) { return run(LOADER, "ld", t.hello); }

ACT(exec_dynamic) { return run(t.hello, "hello", NULL); }

SETUP(exec_interpreter_arg) { make_file("s.sh", "exit 0\n"); }
ACT(exec_interpreter_arg) { return run("/bin/sh", "sh", "s.sh"); }

ACT(exec_enoent)
{
	long r = run("./nope", "x", NULL);

	return r < 0 && errno == ENOENT ? 0 : r;
}

SETUP(exec_setuid)
{
	t.fd = open("su", O_CREAT | O_WRONLY, 0755);
	copy_file("/bin/true", t.fd);
	close(t.fd);
	(void)!chown("su", 1000, 1000);
	chmod("su", 04755);
}
ACT(exec_setuid) { return run("./su", "true", NULL); }

SETUP(mmap_library_exec) { t.fd = open(t.hello, O_RDONLY); }
ACT(mmap_library_exec)
{
	return map_of(t.fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

/* clang-format off */
const struct deed exec_deeds[] = {
	A(fork),
	A(vfork),
	A(clone_thread),
	A(fork_exit_code),
	A(execve_bin),
	SA(exec_symlink),
	SA(execveat_fd_empty),
	SA(execveat_o_path),
	SA(exec_memfd),
	SA(exec_script),
	SA(exec_script_chain),
	A(exec_via_loader),
	A(exec_dynamic),
	SA(exec_interpreter_arg),
	A(exec_enoent),
	SA(exec_setuid),
	SA(mmap_library_exec),
	{ NULL },
};
