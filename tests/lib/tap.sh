# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# TAP for shell tests. Source it first; end with `tap_done`. Every test gets an
# empty folder $T of its own, removed at the end, and runs from there.
#
#	is    NAME EXPECTED ACTUAL	equal strings
#	like  NAME REGEX ACTUAL		extended regular expression, any line
#	unlike NAME REGEX ACTUAL
#	ok    NAME COMMAND...		the command succeeds
#	skip  NAME REASON
#	skip_all REASON			nothing here can run
tap_n=0 tap_bad=0
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BIN=${BIN:-$TOP/build/deedlog}
T=$(mktemp -d "${TMPDIR:-/tmp}/deedlog-test.XXXXXX")
chmod 755 "$T"
trap 'cd /; rm -rf "$T"' EXIT
cd "$T" || exit 2

tap_point() { # status name
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_bad=$((tap_bad + 1))
	fi
}

tap_show() { # label text
	printf '%s\n' "$2" | head -n 40 | cat -v | sed "s/^/#   $1 | /"
}

is() {
	[ "$2" = "$3" ]
	tap_point $? "$1"
	[ "$2" = "$3" ] || { tap_show expected "$2"; tap_show actual "$3"; }
}

like() {
	grep -qaE -- "$2" <<<"$3"
	local st=$?
	tap_point $st "$1"
	[ $st = 0 ] || { tap_show pattern "$2"; tap_show actual "$3"; }
}

unlike() {
	! grep -qaE -- "$2" <<<"$3"
	local st=$?
	tap_point $st "$1"
	[ $st = 0 ] || { tap_show "not wanted" "$2"; tap_show actual "$3"; }
}

ok() {
	local name=$1 out st
	shift
	out=$("$@" 2>&1)
	st=$?
	tap_point $st "$name"
	[ $st = 0 ] || { tap_show "command" "$*"; tap_show "output" "$out"; }
}

skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $1"
	echo "$1"
	exit 77
}

need_root() {
	[ "$(id -u)" = 0 ] || skip_all "needs root"
}

tap_done() {
	echo "1..$tap_n"
	[ "$tap_bad" = 0 ]
	exit
}
