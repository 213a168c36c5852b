#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording what runs already: a cgroup, or a process.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger
mount=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
[ -n "$mount" ] || skip_all "no cgroup v2 is mounted"
cg=$mount/deedlog-test-$$
mkdir "$cg" || skip_all "no cgroup can be made"
trap 'cd /; rmdir "$cg" 2>/dev/null; rm -rf "$T"' EXIT

lines() {
	# shellcheck disable=SC2012
	zcat "$(ls -td "$T"/ledger/current/runs/*/ | head -n 1)"*.gz
}
wait_for() { # text file
	local _
	for _ in $(seq 400); do
		grep -q "$1" "$2" 2>/dev/null && return 0
		sleep 0.05
	done
	return 1
}
# A target that works when told and ends when told.
cat >target.sh <<'S'
echo $$ >"$1.pid"
until [ -e "$1.go" ]; do sleep 0.05; done
echo seen >"$1.out"
until [ -e "$1.end" ]; do sleep 0.05; done
S

sh -c 'echo $$ >"$1/cgroup.procs"; exec sh target.sh a' sh "$cg" &
target=$!
wait_for . a.pid
"$BIN" attach --cgroup "$cg" --json 2>err &
front=$!
wait_for "recording as run" err
is "attach to a cgroup starts" 0 $?
touch a.go
wait_for seen a.out
sleep 0.2
touch a.end
wait $target
wait $front
is "it ends when the cgroup is empty" 0 $?
is "what was done since is there" 1 "$(lines | jq -r --arg p "$T/a.out" 'select(.t=="write" and .path==$p).t' | wc -l)"
is "what was before is not known, and that is said" before-attach "$(lines | jq -r 'select(.t=="gap").why')"
is "it is told from a run" 1 "$(lines | jq 'select(.t=="begin").attached')"
is "the foreign cgroup stays" 0 "$([ -d "$cg" ]; echo $?)"

# The process is in a cgroup with others: they are none of our business, nor
# are those that come into it.
sh target.sh b &
target=$!
wait_for . b.pid
"$BIN" attach --pid "$target" 2>err &
front=$!
wait_for "recording as run" err
mkdir "$cg/other"
home=$mount$(sed -n 's/^0:://p' /proc/self/cgroup)
sh -c 'echo $$ >"$1/other/cgroup.procs"; echo $$ >"$2/cgroup.procs"; exec cat /dev/null' sh "$cg" "$home"
rmdir "$cg/other"
touch b.go
wait_for seen b.out
sleep 0.2
kill -INT $front
wait $front
is "attach to a process, ended by Ctrl-C" 0 $?
is "what it did is there" 1 "$(lines | jq -r --arg p "$T/b.out" 'select(.t=="write" and .path==$p).t' | wc -l)"
is "where the record stops is said" "before-attach detached" "$(lines | jq -r 'select(.t=="gap").why' | tr '\n' ' ' | sed 's/ $//')"
is "the process lives" 0 "$(kill -0 $target; echo $?)"
touch b.end
wait $target
is "nobody else is in it" "" "$(comm -23 <(lines | jq -r 'select(.pid).pid' | sort -u) \
	<({ echo $target; lines | jq -r 'select(.t=="fork").child'; } | sort -u))"

is "no such process" 125 "$("$BIN" attach --pid 4194303 >/dev/null 2>err; echo $?)"
like "... is said" "no such process" "$(cat err)"
is "no such cgroup" 125 "$("$BIN" attach --cgroup "$T" >/dev/null 2>err; echo $?)"
like "... is said" "is no cgroup v2 folder" "$(cat err)"
is "neither" 125 "$("$BIN" attach >/dev/null 2>&1; echo $?)"
is "both" 125 "$("$BIN" attach --pid 1 --cgroup "$cg" >/dev/null 2>&1; echo $?)"
is "the ledger is not tampered, gaps are incomplete or not judged" yes \
	"$("$BIN" verify >/dev/null 2>&1; case $? in 0 | 3) echo yes ;; esac)"
tap_done
