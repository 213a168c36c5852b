#!/bin/bash
# SPDX-License-Identifier: MIT
# What a command leaves running: it is waited for, or named and let go.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

newest() {
	# shellcheck disable=SC2012
	ls -td "$T"/ledger/current/runs/*/ | head -n 1
}
now() {
	date +%s
}

t0=$(now)
"$BIN" run -- sh -c '(sleep 2; echo late >late) & exit 4' >/dev/null 2>err
st=$?
is "waits for what is left" "4 yes" "$st $([ $(($(now) - t0)) -ge 2 ] && echo yes)"
is "... and records it" 1 "$(zcat "$(newest)"*.gz | jq -r --arg p "$T/late" 'select(.t=="write" and .path==$p).t' | wc -l)"
like "... and says so meanwhile" "still recording what it left running: .*[(][0-9]+[)].*Ctrl-C" "$(cat err)"

"$BIN" run -- sh -c 'setsid -f sh -c "exec >/dev/null 2>&1; sleep 1; echo daemon >daemon"' 2>/dev/null
is "a daemon that left the session too" 1 \
	"$(zcat "$(newest)"*.gz | jq -r --arg p "$T/daemon" 'select(.t=="write" and .path==$p).t' | wc -l)"

t0=$(now)
"$BIN" run --detach-after 1 --json -o sum.json -- sh -c 'sleep 30 >/dev/null 2>&1 & echo $! >pid; exit 0' 2>/dev/null
is "--detach-after waits so long" "0 yes" "$? $([ $(($(now) - t0)) -lt 15 ] && echo yes)"
is "... lets it live" 0 "$(kill -0 "$(cat pid)"; echo $?)"
is "... names it" "$(cat pid) sleep" "$(zcat "$(newest)"*.gz | jq -r 'select(.t=="left") | "\(.pid) \(.name)"')"
is "... in the summary too" "$(cat pid)" "$(jq -r '.. | objects | select(.pid? and (.name? == "sleep")).pid' sum.json | head -n 1)"
is "... out of our cgroup, which is gone" "" \
	"$(ls -d "$(zcat "$(newest)"*.gz | jq -r 'select(.t=="begin").cgroup')" 2>/dev/null)"
kill "$(cat pid)"

t0=$(now)
"$BIN" run --detach-after 0 -- sh -c 'sleep 30 >/dev/null 2>&1 & echo $! >pid' 2>/dev/null
is "--detach-after 0 does not wait" "0 yes" "$? $([ $(($(now) - t0)) -lt 10 ] && echo yes)"
kill "$(cat pid)"

rm -f pid
"$BIN" run -- sh -c 'sleep 30 >/dev/null 2>&1 & echo $! >pid; exit 2' 2>err &
front=$!
for _ in $(seq 200); do
	grep -q "still recording" err && break
	sleep 0.05
done
kill -INT $front 2>/dev/null
wait $front
is "Ctrl-C stops waiting, the status stays the command's" 2 $?
kill "$(cat pid)"
is "all of them verify" 0 "$("$BIN" verify >/dev/null 2>&1; echo $?)"
tap_done
