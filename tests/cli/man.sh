#!/bin/bash
# SPDX-License-Identifier: MIT
# Each command has a manual page, and page and --help name the same options.
. "$(dirname "$0")/../lib/tap.sh"
man=$TOP/docs/man

commands() {
	"$BIN" help | sed -n 's/^  \([a-z]\+\) .*/\1/p'
}

# "-o, --output FILE" and the like, one option a line
in_help() {
	"$BIN" help "$1" | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort
}

in_page() {
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$1" | grep -E '^\*-' | grep -oE -- '--[a-z-]+' | sort
}

is "there are commands" yes "$([ "$(commands | wc -l)" -ge 5 ] && echo yes)"
is "the pages are of commands" "$(commands | sort)" \
	"$(basename -as .1.scd "$man"/deedlog-*.1.scd | cut -d- -f2 | sort)"
for c in $(commands); do
	is "options of $c" "$(in_help "$c")" "$(in_page "$man/deedlog-$c.1.scd")"
	ok "deedlog(1) names $c" grep -qF "*deedlog-$c*(1)" "$man/deedlog.1.scd"
done
tap_done
