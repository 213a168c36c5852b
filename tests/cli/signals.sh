#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals reach the command once, and what it does with them is what we do.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

# Counts what it gets; ends by itself when told, or after 20 s.
cat >count.py <<'P'
import os, signal, sys, time
got = {}
def on(sig, frame):
    got[sig] = got.get(sig, 0) + 1
for s in sys.argv[2:]:
    signal.signal(getattr(signal, s), on)
open(sys.argv[1], "w").write(str(os.getpid()))
end = time.time() + 20
while not got and time.time() < end:
    time.sleep(0.02)
time.sleep(0.3)
print(" ".join("%s=%d" % (signal.Signals(s).name, n) for s, n in sorted(got.items())))
sys.exit(33)
P
wait_file() {
	for _ in $(seq 400); do
		[ -s "$1" ] && return 0
		sleep 0.05
	done
	return 1
}

for s in TERM HUP USR1 USR2 INT QUIT CONT; do
	rm -f pid
	setsid "$BIN" run -q -- python3 count.py pid "SIG$s" >out 2>err &
	wait_file pid
	kill -"$s" $!
	wait $!
	is "SIG$s sent to deedlog alone is passed on" "33 SIG$s=1" "$? $(cat out)"
done

# From a terminal the group has it already: nothing may come twice.
cat >key.py <<'P'
import os, pty, sys, time
bin, key = sys.argv[1], sys.argv[2].encode()
pid, fd = pty.fork()
if not pid:
    os.execv(bin, [bin, "run", "-q", "--", "python3", "count.py", "pid2", "SIGINT", "SIGQUIT"])
while not (os.path.exists("pid2") and os.path.getsize("pid2")):
    time.sleep(0.02)
time.sleep(0.1)
os.write(fd, key)
out = b""
try:
    while True:
        part = os.read(fd, 1000)
        if not part:
            break
        out += part
except OSError:
    pass
st = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(st, out.decode().replace("^C", "").replace("^\\", "").strip())
P
rm -f pid2
is "Ctrl-C comes once" "33 SIGINT=1" "$(python3 key.py "$BIN" $'\x03')"
rm -f pid2
is "Ctrl-\\ comes once" "33 SIGQUIT=1" "$(python3 key.py "$BIN" $'\x1c')"

rm -f pid
setsid "$BIN" run -q -- python3 count.py pid SIGUSR1 >out 2>&1 &
wait_file pid
kill -TERM $!
wait $!
is "a signal that kills the command kills us" 143 $?

rm -f pid
setsid sh -c 'trap "" HUP; exec "$0" run -q -- python3 count.py pid SIGTERM' "$BIN" >out 2>&1 &
wait_file pid
kill -HUP $!
sleep 0.2
kill -TERM $!
wait $!
is "an ignored SIGHUP stays ignored (nohup)" "33 SIGTERM=1" "$? $(cat out)"

is "a command that signals its own group gets it once" "SIGTERM=1" "$(setsid "$BIN" run -q -- python3 -c '
import os, signal, time
n = []
signal.signal(signal.SIGTERM, lambda s, f: n.append(s))
os.kill(0, signal.SIGTERM)
time.sleep(0.3)
print("SIGTERM=%d" % len(n))')"

is "timeout ends it" 124 "$(timeout 1 "$BIN" run -q -- sleep 20; echo $?)"
is "timeout --foreground ends it" 124 "$(timeout --foreground 1 "$BIN" run -q -- sleep 20; echo $?)"
tap_done
