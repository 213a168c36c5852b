#!/bin/bash
# SPDX-License-Identifier: MIT
# The command sees what it would see without us: streams, terminal, folder,
# environment, descriptors, signal dispositions.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

run() {
	"$BIN" run -q -- "$@"
}

is "stdin and stdout" "abc" "$(printf abc | run cat)"
is "stderr is its own" "err" "$(run sh -c 'echo err >&2' 2>&1 >/dev/null)"
is "a pipe ends when the command ends" "x" "$(run echo x | timeout 20 cat)"
is "the summary does not go to stdout" "out" "$("$BIN" run -- echo out 2>/dev/null)"
like "it goes to stderr" "^deedlog +(session|run) " "$("$BIN" run -- true 2>&1 >/dev/null)"
"$BIN" run -o summary.txt -- true 2>err.txt
like "or to a file" "^deedlog +(session|run) " "$(cat summary.txt)"
is "... and not to stderr" "" "$(cat err.txt)"
is "--no-summary" "" "$("$BIN" run --no-summary -- true 2>&1)"
is "-q, nothing to tell" "" "$("$BIN" run -q -- true 2>&1)"
is "--json" "deedlog/summary/1" "$("$BIN" run --json -- true 2>&1 | jq -r .schema)"
is "closed stdin" "$(sh -c 'cat' <&- 2>&1)" "$(run sh -c 'cat' <&- 2>&1)"
is "a reader that goes away kills the command, not the status" "141 0" \
	"$(run sh -c 'kill -PIPE $$' | head -c0; echo "${PIPESTATUS[*]}")"

mkdir -p 'a folder'
cd 'a folder' || exit 2
is "working folder" "$PWD" "$(run pwd)"
cd ..
is "umask" "$(umask 027; umask)" "$(umask 027; run sh -c umask)"
is "environment" "$(env -i A=1 'B=x y' sh -c env | grep -v ^_=)" \
	"$(env -i A=1 'B=x y' DEEDLOG_DIR="$T/ledger" "$BIN" run -q -- sh -c env | grep -v -e ^_= -e ^DEEDLOG_DIR=)"
is "open descriptors" "$(sh -c 'ls /proc/self/fd' 7</dev/null)" "$(run sh -c 'ls /proc/self/fd' 7</dev/null)"
is "resource limits" "$(ulimit -n 77; ulimit -n)" "$(ulimit -n 77; run sh -c 'ulimit -n')"
show_masks='grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status'
is "signal mask and dispositions" "$(sh -c "trap '' HUP USR1; exec $show_masks")" \
	"$(sh -c "trap '' HUP USR1; exec '$BIN' run -q -- $show_masks")"
is "nice value" "$(nice -n 3 nice)" "$(nice -n 3 "$BIN" run -q -- nice)"
is "the process group is ours" "same" "$(setsid sh -c '
	exec "$0" run -q -- sh -c "[ \$(ps -o pgid= -p \$\$) = \$(ps -o pgid= -p \$PPID) ] && echo same"' "$BIN")"

big=$(head -c 100000 /dev/zero | tr '\0' 'x')
is "an argument of 100 kB" 100000 "$(run sh -c 'printf %s "$1" | wc -c' sh "$big")"
is "an empty argument" "[][a b]" "$(run printf '[%s]' '' 'a b')"
is "terminal: stdin, stdout, stderr" "yes yes yes" "$(script -qec "'$BIN' run -q -- sh -c '
	for i in 0 1 2; do [ -t \$i ] && printf yes; [ \$i = 2 ] || printf \" \"; done'" /dev/null </dev/null | tr -d '\r')"
tap_done
