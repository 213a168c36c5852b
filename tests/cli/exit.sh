#!/bin/bash
# SPDX-License-Identifier: MIT
# Exit statuses: the command's own, ours before the start, and those of findings.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

status() {
	"$@" >/dev/null 2>&1
	echo $?
}

is "success" 0 "$(status "$BIN" run -- true)"
is "the command's status" 7 "$(status "$BIN" run -- sh -c 'exit 7')"
is "status 255" 255 "$(status "$BIN" run -- sh -c 'exit 255')"
is "killed by SIGKILL" 137 "$(status bash -c "'$BIN' run -- sh -c 'kill -KILL \$\$'; exit \$?")"
is "killed by SIGTERM" 143 "$(status bash -c "'$BIN' run -- sh -c 'kill -TERM \$\$'; exit \$?")"
is "a signal is raised again, not turned into a status" SIGSEGV "$(python3 - "$BIN" <<'P'
import signal, subprocess, sys
r = subprocess.run([sys.argv[1], "run", "--", "sh", "-c", "kill -SEGV $$"], stderr=subprocess.DEVNULL)
print(signal.Signals(-r.returncode).name if r.returncode < 0 else r.returncode)
P
)"
is "no core of ours" "" "$(ulimit -c unlimited; "$BIN" run -- sh -c 'ulimit -c 0; kill -SEGV $$' >/dev/null 2>&1; ls core* 2>/dev/null)"
is "not found" 127 "$(status "$BIN" run -- no-such-command)"
is "not found, by path" 127 "$(status "$BIN" run -- ./no-such-command)"
touch plain
is "not executable" 126 "$(status "$BIN" run -- ./plain)"
is "a folder" 126 "$(status "$BIN" run -- /)"
like "not found is said" "^deedlog: no-such-command: not found$" "$("$BIN" run -- no-such-command 2>&1)"
is "a script without a first line runs, as in a shell" 5 "$(echo 'exit 5' >plain; chmod +x plain; status "$BIN" run -- ./plain)"
is "no command" 125 "$(status "$BIN" run)"
is "bad option" 125 "$(status "$BIN" run --no-such -- true)"
is "bad value" 125 "$(status "$BIN" run --tier best -- true)"
is "options of the command are its own" "--json" "$("$BIN" run echo --json 2>/dev/null)"
is "two dashes end ours" "-q" "$("$BIN" run -- echo -q 2>/dev/null)"
is "-o cannot be written" 125 "$(status "$BIN" run -o /no/such/folder/x -- touch ran)"
is "... and nothing ran" "" "$(ls ran 2>/dev/null)"

# In a network namespace of its own; the address is one of documentation.
send='import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (sys.argv[1], 9))'
fail_on_net() { # address, what the command does then
	unshare -n sh -c 'ip link set lo up; ip addr add 192.0.2.1/24 dev lo; ip route add 192.0.2.2 dev lo
		"$@" >/dev/null 2>&1; echo $?' sh "$BIN" run --fail-on net,lost -- python3 -c "$send$2" "$1"
}
is "--fail-on net, no network" 0 "$(fail_on_net 127.0.0.1)"
is "--fail-on net, network" 3 "$(fail_on_net 192.0.2.2)"
is "--fail-on does not hide a failure" 9 "$(fail_on_net 192.0.2.2 '; raise SystemExit(9)')"
is "--fail-on lost, nothing lost" 0 "$(status "$BIN" run --fail-on lost -- true)"
like "--fail-on with a wrong word names the right ones" "none of: lost, net" "$("$BIN" run --fail-on x -- true 2>&1)"

is "as somebody else" 125 "$(status setpriv --reuid 65534 --clear-groups "$BIN" run -- true)"
like "... and what to do" "needs root: run \`sudo deedlog run" "$(setpriv --reuid 65534 --clear-groups "$BIN" run -- true 2>&1)"

is "no word" 2 "$(status "$BIN")"
is "unknown word" 2 "$(status "$BIN" rnu)"
is "one suggestion" "deedlog: no command rnu; did you mean run?" "$("$BIN" rnu 2>&1)"
is "no suggestion" "deedlog: no command xyzzy; \`deedlog help\` lists them" "$("$BIN" xyzzy 2>&1)"
is "an unknown word cannot write to the terminal" 'deedlog: no command a\x1b[2J; `deedlog help` lists them' "$("$BIN" $'a\e[2J' 2>&1)"
like "help lists the commands" "^  verify " "$("$BIN" help)"
like "help of one" "--detach-after SECONDS" "$("$BIN" help run)"
is "help of one and --help are the same" "$("$BIN" help verify)" "$("$BIN" verify --help)"
for what in "^deedlog [0-9]" "^kernel $(uname -r)$" "^BPF object compiled by .*clang" "^licence GPL-2.0-only"; do
	like "version: $what" "$what" "$("$BIN" --version)"
done
tap_done
