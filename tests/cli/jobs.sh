#!/bin/bash
# SPDX-License-Identifier: MIT
# Job control of an interactive shell: stop, background, foreground.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger BIN

cat >jobs.py <<'P'
import os, pty, re, select, sys, time
BIN = os.environ["BIN"]
pid, fd = pty.fork()
if not pid:
    os.environ["PS1"] = "READY> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = ""
n = 0
def expect(pattern, what, limit=20):
    global seen, n
    end = time.time() + limit
    while True:
        m = re.search(pattern, seen, re.S)
        if m:
            seen = seen[m.end():]
            print("ok %d - %s" % (n + 1, what)); n += 1
            return True
        left = end - time.time()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            print("not ok %d - %s" % (n + 1, what)); n += 1
            print("# wanted %r in %r" % (pattern, seen[-600:]))
            return False
        try:
            seen += os.read(fd, 4096).decode(errors="replace")
        except OSError:
            left = 0
def send(text):
    os.write(fd, text.encode())
def line(text):
    send(text + "\n")
expect("READY> ", "a shell")
line("bind 'set enable-bracketed-paste off'; stty -echo")
expect("READY> ", "... that is quiet")
line(BIN + " run -q -- sh -c 'echo started; sleep 3; echo woke; exit 6'")
expect("started", "in the foreground")
time.sleep(1)  # sh must not be in the middle of a vfork(): no shell survives a stop there
send("\x1a")
expect(r"Stopped.*READY> ", "Ctrl-Z stops it")
line("fg >/dev/null")
expect("woke", "fg continues it")
line("echo status $?")
expect("status 6", "its status is the job's")
line(BIN + " run -q -- sh -c 'sleep 0.5; echo bg done' & wait $!; echo status $?")
expect("bg done", "in the background")
expect("status 0", "wait gives its status")
line(BIN + " run -q -- cat &")
expect("READY> ", "a background command that reads the terminal")
time.sleep(1.5)
line("jobs")
expect(r"Stopped.*cat", "is stopped by the terminal")
line("fg >/dev/null")
time.sleep(0.5)
line("hello cat")
expect("hello cat", "fg gives it the terminal")
send("\x04")
expect("READY> ", "end of file ends it")
line(BIN + " run -q -- sh -c 'sleep 20'")
time.sleep(1.5)
send("\x03")
expect("READY> ", "Ctrl-C ends it")
line("echo status $?")
expect("status 130", "with the shell's status for SIGINT")
line(BIN + " run -q -- bash --norc --noprofile -i -c 'echo inner; exit 4'; echo status $?")
expect("status 4", "an interactive shell inside")
line(BIN + " run -q -- bash --norc --noprofile -i")
time.sleep(1.5)
line("echo in$((1+1))ner; suspend -f")
expect("in2ner", "a shell that suspends itself")
expect(r"Stopped", "stops us too")
line("fg >/dev/null")
time.sleep(0.5)
line("exit 8")
time.sleep(1.0)
line("echo status $?")
expect("status 8", "and comes back")
line("exit")
os.waitpid(pid, 0)
print("1..%d" % n)
P
timeout 100 python3 jobs.py
