#!/bin/bash
# SPDX-License-Identifier: MIT
# upkeep.sh: redact, prune and compact do what they say, and die at each of their steps without
# damage: killed before every system call that changes something, the ledger is never TAMPERED, and
# the same command again finishes the work and leaves nothing behind.
. "$(dirname "$0")/../lib/tap.sh"
mklog=$(dirname "$BIN")/tests/attack/mklog

"$mklog" L -r 3 -n 400 -b 60 -l 90 >runs
mapfile -t runs < <(sed 's/run //' runs)
a=${runs[0]} b=${runs[1]}
lines() { zcat "$1/current/runs/$2"/0*.gz; }
status() { "$BIN" verify --dir "$@" >said 2>&1; echo $?; }
plain() { lines "$1" "$2" | sed 's/^{"s":"[^"]*",/{/'; }

# ---- what they do
cp -a L M
head=$(lines M "$a" | grep -n '^{"t":"exec"' | head -n 1 | cut -d: -f1)
more=$(lines M "$a" | sed -n "${head}s/.*\"more\":\([0-9]*\)}\$/\1/p")
secret=$(lines M "$a" | sed -n "$((head + more))s/.*\"v\":\[//p" | cut -c 1-60)
# $head is the number of the line, so the index of its first `more`: the record goes as a whole
ok "redact" "$BIN" redact --dir M --why gdpr-17 "$a" 2-3 "$head"
is "those lines and what continues them are gone" "$((3 + more))" "$(lines M "$a" | grep -c '^{"h":"')"
is "a hash stands where each was" "$(seq 3 4; seq "$head" "$((head + more))")" \
	"$(lines M "$a" | grep -n '^{"h":"' | cut -d: -f1)"
is "their text is nowhere" 0 "$(cat M/current/runs/"$a"/0*.gz | zcat | grep -cF -- "$secret")"
is "the others are as they were" \
	"$(diff <(lines L "$a") <(plain M "$a") | grep -c '^<')" "$((3 + more))"
is "the whole is intact" 0 "$(status M)"
like "and says so" "NOTE run ${a:0:8}: $((3 + more)) records were redacted, as announced" "$(cat said)"
is "that run is not complete" 3 "$(status M "$a")"
like "the index says why" "\"t\":\"redact\".*\"run\":\"$a\",\"ranges\":\[\[2,3\],.*\"why\":\"gdpr-17\"" \
	"$(zcat M/current/index/000000.gz)"
like "the rest can be read" file-9.js "$("$BIN" show --dir M "$a" --events --ndjson 2>&1 || lines M "$a")"
is "records of the ledger itself stay" 2 "$("$BIN" redact --dir M "$a" 0 2>said; echo $?)"
like "and it says why" 'one of the ledger itself' "$(cat said)"
ok "a proof of what is left" "$BIN" prove --dir M -o p "$a" 5
like "none of what is gone" 'was redacted' "$("$BIN" prove --dir M -o p "$a" 2 2>&1)"

cp -r M N
before=$(du -sb N/current/runs | cut -f1)
ok "compact" "$BIN" compact --dir N
is "the lines are the same" "$(lines M "$a" | sha256sum)" "$(lines N "$a" | sha256sum)"
ok "it is smaller" test "$(du -sb N/current/runs | cut -f1)" -lt "$before"
is "and intact" 0 "$(status N)"

ok "prune" "$BIN" prune --dir N "$b"
is "the folder is gone" no "$([ -e "N/current/runs/$b" ] && echo yes || echo no)"
is "the whole is intact" 0 "$(status N)"
is "that run is not complete" 3 "$(status N "$b")"
like "the list knows" "$b.*pruned" "$("$BIN" list --dir N)"
like "so does show" 'was pruned' "$("$BIN" show --dir N "$b" 2>&1)"
is "nothing is younger than an hour" "" "$("$BIN" prune --dir N --older-than 1h)"

# ---- what nobody announced
cp -r L Q
cp M/current/runs/"$a"/000000.gz Q/current/runs/"$a"/
is "a redaction that nobody announced" 3 "$(status Q)"
like "is told" 'WARN run .*: [0-9]* records are redacted, the index does not announce it' "$(cat said)"
cp -r L Q2
rm -rf Q2/current/runs/"$b"
is "a removal that nobody announced" 3 "$(status Q2)"
is "a hash that is not the right one" 1 "$(cp -r M Q4; python3 - Q4/current/runs/"$a"/000000.gz <<'PY'
import struct, sys, zlib
path = sys.argv[1]
data = open(path, "rb").read()
at = data.find(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x14\0TR\x10\0")
first, lines, size = struct.unpack_from("<QII", data, at + 16)
text = zlib.decompressobj(-15).decompress(data[at + 32:at + size - 8])
where = text.index(b'{"h":"') + 10
text = text[:where] + (b"A" if text[where:where + 1] != b"A" else b"B") + text[where + 1:]
deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
stream = deflate.compress(text) + deflate.flush()
head = data[at:at + 28] + struct.pack("<I", 32 + len(stream) + 8)
member = head + stream + struct.pack("<II", zlib.crc32(text), len(text))
open(path, "wb").write(data[:at] + member + data[at + size:])
PY
status Q4)"

# ---- runs that are being written
"$mklog" W -n 30 -b 10 -f >out &
writer=$!
until [ "$(grep -c . out)" -gt 3 ]; do sleep 0.05; done
open=$(sed -n '1s/run //p' out)
for command in "redact --dir W $open 1" "prune --dir W $open" "compact --dir W $open"; do
	# shellcheck disable=SC2086
	like "${command%% *} refuses a run that is being written" 'is being written' "$("$BIN" $command 2>&1)"
done
kill "$writer"
wait "$writer" 2>/dev/null

# ---- death at each step
changes=fsync,renameat,unlinkat,pwrite64
die_at() { # N COMMAND...: killed before its Nth change; 137 if it came that far
	local n=$1
	shift
	# in a shell of its own, which is the one that talks about the death
	(strace -o /dev/null -e trace="$changes" -e inject="$changes":signal=KILL:when="$n" "$BIN" "$@"
	 exit $?) >/dev/null 2>&1
}
each_step() { # NAME COMMAND...: on a copy of L in X
	local name=$1 n=0 st tampered="" unfinished="" left=""
	shift
	while :; do
		n=$((n + 1))
		rm -rf X
		cp -a L X
		die_at "$n" "$@"
		st=$?
		[ "$(status X)" != 1 ] || tampered+=" $n"
		"$BIN" "$@" >/dev/null 2>&1 || unfinished+=" $n"
		[ "$(status X)" = 0 ] || tampered+=" $n"
		left+=$(cd X/current && ls -d rewrite-* pruned-* 2>/dev/null)
		[ "$st" = 137 ] || break
	done
	is "$name: never damaged in $n steps" "" "$tampered"
	is "$name: always finished by the next call" "" "$unfinished"
	is "$name: leaves nothing behind" "" "$left"
}
if command -v strace >/dev/null && [ "$(die_at 1 init --dir probe; echo $?)" = 137 ]; then
	each_step redact redact --dir X "$a" 2-3 "$head"
	is "redact: it is gone in the end" 0 "$(lines X "$a" | grep -cF -- "$secret")"
	each_step compact compact --dir X "$a"
	each_step prune prune --dir X "$a"
	is "prune: it is gone in the end" no "$([ -e "X/current/runs/$a" ] && echo yes || echo no)"
else
	skip "death at each step" "no strace that can inject signals"
fi
tap_done
