#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/run counts what it runs: every way a program can end, seen from outside.
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p tests/suites
cp "$TOP/tests/run" tests/run
cat >tests/suites/s.sh <<'S'
in=check limit=2
programs() {
	cat programs
}
S
count() { # program
	printf '%s\n' "$1" >programs
	O=$T/o tests/run s | tail -n 1
}

is "exit 0 without TAP" "1 passed, 0 failed, 0 skipped" "$(count true)"
is "exit 1 without TAP" "0 passed, 1 failed, 0 skipped" "$(count false)"
is "exit 77 without TAP" "0 passed, 0 failed, 1 skipped" "$(count 'exit 77')"
is "points" "1 passed, 1 failed, 1 skipped" \
	"$(count 'printf "ok 1\nnot ok 2\nok 3 # SKIP why\n1..3\n"; exit 1')"
is "points absent" "1 passed, 2 failed, 0 skipped" "$(count 'printf "1..3\nok 1\n"')"
is "crash after its points" "1 passed, 1 failed, 0 skipped" "$(count 'echo ok 1; kill -SEGV $$')"
is "all skipped" "0 passed, 0 failed, 1 skipped" "$(count 'echo "1..0 # SKIP none"; exit 77')"
is "too slow" "0 passed, 1 failed, 0 skipped" "$(count 'sleep 20')"
is "two programs" "1 passed, 1 failed, 0 skipped" "$(count $'true\nfalse')"
printf 'in=check jobs=3\nprograms() {\n\tcat programs\n}\n' >tests/suites/s.sh
is "three at a time, none is lost" "8 passed, 1 failed, 0 skipped" \
	"$(count "$(printf 'sleep 0.%d\n' 3 1 2 1 2 3 1 2; echo 'sleep 0.1; false')")"
printf 'in=check limit=2\nprograms() {\n\tcat programs\n}\n' >tests/suites/s.sh
is "no such suite" "0 passed, 1 failed, 0 skipped" "$(O=$T/o tests/run none | tail -n 1)"
echo true >programs
ok "status of a good run" env O="$T/o" tests/run check
echo false >programs
ok "status of a bad run" bash -c '! O=$T/o tests/run check'
tap_done
