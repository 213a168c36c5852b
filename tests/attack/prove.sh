#!/bin/bash
# SPDX-License-Identifier: MIT
# prove.sh AUDIT_FOLDER: a record that was handed out is believed by bash and openssl, who know the
# identity's key only, and by `deedlog prove --check`; with any part changed neither believes it.
. "$(dirname "$0")/../lib/tap.sh"
audit=$TOP/tools/audit
mklog=$(dirname "$BIN")/tests/attack/mklog

"$mklog" L -r 2 -n 40 -b 20 -l 25 >runs
run=$(sed -n '1s/run //p' runs)
id=$(sed -n 's/^identity //p' L/current/origin)

ok "one record is handed out" "$BIN" prove --dir L -o p "$run" 7
is "what it is" '{"t":"open","pid":4006,"path":"/src/module-6/file-6.js"}' \
	"$(sed 's/"s":"[^"]*",//; s/"b":[0-9]*,//' p/event.json)"
like "bash and openssl believe it" "^OK record 7 of [0-9]* in deedlog.invalid/.*/run/$run; index head of 8 records" \
	"$("$audit/audit_event.sh" "$id" p)"
ok "so does deedlog" "$BIN" prove --check --key "$id" p
vkey=$(sed 's/.*"vkey":"\([^"]*\)".*/\1/' p/run-start.json)
like "the record alone, by the run's key" '^OK record 7 of ' \
	"$("$audit/audit_event.sh" "$vkey" p/event.json p/event.tlog-proof)"

refused() { # NAME FILE SED-SCRIPT: both refuse the folder with that change
	rm -rf q
	cp -r p q
	sed -i "$3" "q/$2"
	if cmp -s "p/$2" "q/$2"; then
		is "$1: changes something" yes no
		return
	fi
	is "$1: refused by bash" 1 "$("$audit/audit_event.sh" "$id" q >said; echo $?)"
	like "$1: and why" '^BAD ' "$(cat said)"
	is "$1: refused by deedlog" 1 "$("$BIN" prove --check --key "$id" q >said 2>&1; echo $?)"
}
refused "another path" event.json 's/file-6/file-7/'
refused "another salt" event.json 's/"s":"./"s":"_/'
refused "another index" event.tlog-proof 's/^index 7/index 6/'
refused "a hash less" event.tlog-proof 3d
refused "a hash twice" event.tlog-proof '3p'
refused "another size" event.tlog-proof 's/^\([0-9][0-9]\)$/1\1/'
refused "another vkey" run-start.json 's/"vkey":"\([^+]*\)+[0-9a-f]*/"vkey":"\1+00000000/'
refused "another root" run-end.json 's/"root":"./"root":"_/'
refused "no signature of the identity" run-start.tlog-proof '/\/id\//d'

other=$("$mklog" M -n 5 -b 5 >/dev/null; sed -n 's/^identity //p' M/current/origin)
is "another identity" 1 "$("$audit/audit_event.sh" "$other" p >said; echo $?)"
is "another identity, deedlog" 1 "$("$BIN" prove --check --key "$other" p >/dev/null 2>&1; echo $?)"
"$BIN" prove --dir L -o r "$(sed -n '2s/run //p' runs)" 7 >/dev/null
cp r/event.* p/
is "a record of another run" 1 "$("$audit/audit_event.sh" "$id" p >said; echo $?)"
is "a record of another run, deedlog" 1 "$("$BIN" prove --check --key "$id" p >/dev/null 2>&1; echo $?)"
like "beyond the end" 'has [0-9]* sealed records' "$("$BIN" prove --dir L "$run" 999 2>&1)"

"$mklog" O -n 30 -b 10 -o >runs
ok "a run without an end" "$BIN" prove --dir O -o o "$(sed -n '1s/run //p' runs)" 3
is "has no run-end" no "$([ -e o/run-end.json ] && echo yes || echo no)"
is "and no head of the identity yet" 1 \
	"$("$audit/audit_event.sh" "$(sed -n 's/^identity //p' O/current/origin)" o >/dev/null; echo $?)"

head=$({ sed -n 1,3p L/current/checkpoint; sed -n '5,6s/.* //p' L/current/checkpoint; } | paste -sd ' ')
like "a trailer" "^OK deedlog.invalid/.* had 8 records at 20" "$("$audit/audit_trailer.sh" "$id" "$head")"
is "a trailer with another size" 1 "$("$audit/audit_trailer.sh" "$id" "${head/ 8 / 9 }" >/dev/null; echo $?)"
is "a trailer without the identity" 1 "$("$audit/audit_trailer.sh" "$id" "${head% *}" >/dev/null; echo $?)"
tap_done
