#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual pages name exactly the options and commands that the program has.
. "$(dirname "$0")/../lib/tap.sh"

page() {
	echo "$TOP/docs/man/deedlog${1:+-$1}.1.scd"
}
options_of_page() {
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$(page "$1")" | sed -n 's/^\*.*\*--\([a-z-]*\)\*.*/\1/p; s/^\*--\([a-z-]*\)\*.*/\1/p' | sort -u
}
options_of_help() {
	"$BIN" "$1" --help | sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' | sort -u
}
commands=$("$BIN" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
ok "there are commands" test -n "$commands"
for c in $commands; do
	is "options of $c" "$(options_of_help "$c")" "$(options_of_page "$c")"
	like "$c stands in deedlog(1)" "deedlog-$c" "$(cat "$(page '')")"
done
is "no page without a command" "" "$(cd "$TOP/docs/man" && for f in deedlog-*.1.scd; do
	f=${f#deedlog-}
	grep -qx "${f%.1.scd}" <<<"$commands" || echo "$f"
done)"
tap_done
