#!/bin/bash
# SPDX-License-Identifier: MIT
# What was done stands in the record, whatever bytes it is made of; and what is
# told at the end can be told again from the record.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

# Lines of the newest run log that was made here.
lines() {
	# shellcheck disable=SC2012
	zcat "$(ls -td "$T"/ledger/current/runs/*/ | head -n 1)"*.gz
}
jqr() {
	lines | jq -r "$@"
}

"$BIN" run -q -- sh -c 'cat /etc/hostname >/dev/null; echo x >new; mv new newer; rm newer; mkdir d; rmdir d'
is "every line is JSON" "" "$(lines | jq -c . 2>&1 >/dev/null)"
is "first lines" "segment begin exec" "$(jqr .t | head -n 3 | tr '\n' ' ' | sed 's/ $//')"
is "last lines" "end seal" "$(jqr .t | tail -n 2 | tr '\n' ' ' | sed 's/ $//')"
is "a read" 1 "$(jqr 'select(.t=="read" and .path=="/etc/hostname").t' | wc -l)"
is "create, rename, unlink" "create rename unlink" \
	"$(jqr --arg t "$T" 'select((.path // "") == "\($t)/new" or (.path // "") == "\($t)/newer") | .t' |
		grep -E '^(create|rename|unlink)$' | tr '\n' ' ' | sed 's/ $//')"
is "mkdir, rmdir" "mkdir rmdir" "$(jqr --arg t "$T/d" 'select(.path==$t).t' | tr '\n' ' ' | sed 's/ $//')"
is "two processes and their ends" "fork exit exit" \
	"$("$BIN" run -q -- sh -c '/bin/true; :'; jqr 'select(.t=="fork" or .t=="exit").t' | tr '\n' ' ' | sed 's/ $//')"
is "nothing lost" '{}' "$(lines | jq -c 'select(.t=="end").lost')"

# Prints the second argument of the last exec, its `more` lines joined.
cat >joined.py <<'P'
import glob, gzip, json, os
run = max(glob.glob("ledger/current/runs/*/"), key=os.path.getmtime)
recs = [json.loads(l) for f in sorted(glob.glob(run + "*.gz")) for l in gzip.open(f)]
leaf, rec = [(i, r) for i, r in enumerate(recs) if r["t"] == "exec"][-1]
argv = rec["argv"]
for m in recs:
    if m["t"] == "more" and m["r"] == leaf and m["k"] == "argv":
        if "c" in m:
            argv[-1] += m["v"].pop(0)
        argv += m["v"]
print(argv[1], end="")
P
big=$(head -c 100000 /dev/urandom | base64 -w0 | head -c 100000)
"$BIN" run -q -- true "$big" '' "tab	new
line"
is "an argument of 100 kB, byte for byte" "$(printf %s "$big" | sha256sum)" \
	"$(python3 joined.py | sha256sum)"

mkdir odd
cat >odd.py <<'P'
import os
os.chdir(b"odd")
for name in [b"new\nline", b"esc\x1b[31m", b"tab\t", b"broken\xff\xfe", b"quote\"'\\", "rtl‮zero​".encode(), b"-", b"a" * 255]:
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))
    os.unlink(name)
P
"$BIN" run -q -- python3 odd.py
is "paths of any bytes" "$(python3 -c '
import base64
for name in [b"new\nline", b"esc\x1b[31m", b"tab\t", b"broken\xff\xfe", b"quote\"\x27\\", "rtl\u202ezero\u200b".encode(), b"-", b"a" * 255]:
    print(base64.b64encode(name).decode())')" \
	"$(lines | python3 -c '
import base64, json, sys
for line in sys.stdin:
    r = json.loads(line)
    if r["t"] != "create":
        continue
    p = r["path"].encode() if "path" in r else base64.b64decode(r["path_b64"])
    if b"/odd/" in p:
        print(base64.b64encode(p[p.index(b"/odd/") + 5:]).decode())')"
is "no control character in the record" 0 "$(lines | LC_ALL=C grep -c "$(printf '[\001-\010\013-\037\177]')")"
is "nor on the terminal" 0 "$({ "$BIN" summary; "$BIN" show --files; "$BIN" show --events; } 2>&1 | LC_ALL=C grep -c "$(printf '[\001-\010\013-\037\177]')")"

"$BIN" run -o live.txt -- sh -c 'cat /etc/hostname; ls /; echo x >w; mv w v' >/dev/null
"$BIN" summary >again.txt
is "summary, live and recomputed" "$(cat live.txt)" "$(cat again.txt)"
"$BIN" run --json -o live.json -- sh -c 'cat /etc/hostname; ls /; echo x >w; mv w v' >/dev/null
"$BIN" summary --json >again.json
is "as JSON" "$(cat live.json)" "$(cat again.json)"
"$BIN" run --label $'agent\e 7' --json -o label.json -- true
is "--label" $'agent\e 7' "$(jq -r .label label.json)"
is "... is in the record" "$(cat label.json)" "$("$BIN" summary --json)"
is "the run is named in it" "$("$BIN" list --ndjson | jq -r .id | tail -n 2 | head -n 1)" "$(jq -r .run live.json)"
run=$(jq -r .run live.json)
is "by a prefix of its name" "$(cat again.json)" "$("$BIN" summary --json "${run:0:8}")"
is "unknown run" 2 "$("$BIN" summary ffffffff >/dev/null 2>&1; echo $?)"

"$BIN" run -q -- sh -c 'sleep 1; echo one' >one.txt &
"$BIN" run -q -- sh -c 'sleep 1; echo two' >two.txt
wait
is "two runs at once" "one two" "$(cat one.txt two.txt | tr '\n' ' ' | sed 's/ $//')"
"$BIN" run -q -- "$BIN" run -q --dir "$T/inner" -- sh -c 'echo nested >nested'
is "a run inside a run is in both" "1 1" "$(lines | jq -r --arg p "$T/nested" 'select(.t=="write" and .path==$p).t' | wc -l) $(
	"$BIN" show --dir "$T/inner" --events --ndjson | jq -r --arg p "$T/nested" 'select(.t=="write" and .path==$p).t' | wc -l)"
is "verify" 0 "$("$BIN" verify >verify.txt 2>&1; echo $?)"
like "... says so" "^INTACT, COMPLETE, UNANCHORED +10 runs, 10 valid, 0 not" "$(cat verify.txt)"
tap_done
