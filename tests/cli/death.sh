#!/bin/bash
# SPDX-License-Identifier: MIT
# Either half of a recording may be killed at any time: the command goes on, and
# what was recorded is kept or its end is told.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

# The cgroup of a run must be gone after it.
left_cgroup() { # run
	local dir
	dir=$(zcat ledger/current/runs/"$1"/*.gz 2>/dev/null | jq -r 'select(.t=="begin").cgroup')
	[ -n "$dir" ] || echo "the record names no cgroup"
	ls -d "$dir" 2>/dev/null
}
newest() {
	"$BIN" list --ndjson | jq -r .id | tail -n 1
}

children() { # of a pid
	ps -o pid=,args= --ppid "$1"
}
# pid of the collector: the child of the front that leads its own session
collector_of() {
	ps -o pid=,sid= --ppid "$1" | awk '$1 == $2 { print $1 }'
}
wait_file() {
	local _
	for _ in $(seq 400); do
		[ -s "$1" ] && return 0
		sleep 0.05
	done
	return 1
}
wait_gone() {
	local _
	for _ in $(seq 400); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

"$BIN" run -- sh -c 'echo $$ >started; sleep 2; echo went on; exit 6' >out 2>err &
front=$!
wait_file started
sleep 0.5
kill -KILL "$(collector_of $front)"
wait $front
is "the collector is killed: the command's status" 6 $?
is "... and its output" "went on" "$(cat out)"
like "... is told, with the remedy" "recorder of run [0-9a-f]{8} died: the rest of this command is NOT recorded.*deedlog verify" "$(cat err)"
is "the cgroup is gone" "" "$(left_cgroup "$(newest)")"
is "verify: not tampered, not complete" 3 "$("$BIN" verify >verify.txt 2>&1; echo $?)"
unlike "..." TAMPERED "$(cat verify.txt)"
is "a new run works" 0 "$("$BIN" run -q -- true; echo $?)"
is "still so after recovery" 3 "$("$BIN" verify >verify.txt 2>&1; echo $?)"
like "... which is said" "crashed; [0-9]+ records recovered" "$(cat verify.txt)"
like "what was sealed can be read" '^exec' "$("$BIN" show --events "$("$BIN" list --ndjson | jq -r .id | head -n 1)" --ndjson 2>/dev/null | jq -r .t)"

rm -f started
"$BIN" run --fail-on lost -q -- sh -c 'echo $$ >started; sleep 1' 2>/dev/null &
front=$!
wait_file started
kill -KILL "$(collector_of $front)"
wait $front
is "--fail-on lost sees it" 3 $?

rm -f started
"$BIN" run -q -- sh -c 'echo $$ >started; sleep 1; touch late; exit 7' &
front=$!
wait_file started
sleep 0.3
collector=$(collector_of $front)
kill -KILL $front
wait $front 2>/dev/null
wait_gone "$collector"
is "the front is killed: the collector goes on to the end" 0 $?
run=$(newest)
like "... records what came after" "create|open" \
	"$(zcat ledger/current/runs/"$run"/*.gz | jq -r --arg p "$T/late" 'select(.path==$p).t')"
is "... and how it ended" 7 "$(zcat ledger/current/runs/"$run"/*.gz | jq 'select(.t=="end").code')"
is "... sealed and complete" 0 "$("$BIN" verify "$run" >verify.txt 2>&1; echo $?)"
is "no cgroup is left" "" "$(left_cgroup "$run")"

rm -f started
"$BIN" run -q -- sh -c 'echo $$ >started; sleep 20' &
front=$!
wait_file started
kill -TERM "$(collector_of $front)"
sleep 1
is "SIGTERM does not stop a collector whose command runs" 0 "$(kill -0 "$(cat started)"; echo $?)"
kill -TERM $front
wait $front
is "... and the run ends in order" "143 0" "$? $("$BIN" verify "$(newest)" >/dev/null 2>&1; echo $?)"

is "a front killed before the start leaves no command" "" "$(
	"$BIN" run -q -- sh -c 'touch ran' & f=$!
	kill -KILL $f
	wait $f 2>/dev/null
	sleep 1
	ls ran 2>/dev/null)"
tap_done
