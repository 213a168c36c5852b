#!/bin/sh
# SPDX-License-Identifier: MIT
# disk.sh VERIFY MKLOG EIO.so: a full disk and a failing one. Wanted: the writer
# goes on, tells the hole by a gap record, counts exactly what it refused, and the
# verdict is INCOMPLETE (3), never TAMPERED.
set -eu
verify=$1 mklog=$2 eio=$3
dir=$(mktemp -d)
trap 'umount "$dir/small" 2>/dev/null || true; rm -rf "$dir"' EXIT

fail() {
	echo "not ok: $1"
	exit 1
}

verdict() { # WANTED DIR
	code=0
	"$verify" "$2" >"$dir/said" || code=$?
	[ "$code" = "$1" ] || { cat "$dir/said"; fail "$2: exit $code, wanted $1"; }
}

lines() { # DIR: the plain lines of its runs
	cat "$1"/current/runs/*/0*.gz | zcat
}

mkdir "$dir/small"
mount -t tmpfs -o size=1m,mode=700 tmpfs "$dir/small"
head -c 600000 /dev/zero >"$dir/small/ballast"
"$mklog" "$dir/small/ledger" -n 60000 -b 200 -x "$dir/small/ballast" >/dev/null || fail "the writer gave up"
verdict 3 "$dir/small/ledger"
grep -q 'gaps while storage failed' "$dir/said" || fail "no gap in the verdict"
lines "$dir/small/ledger" >"$dir/lines"
events=$(grep -c '^{"t":"open"' "$dir/lines")
lost=$(sed -n 's/^{"t":"seal".*"lost":{"disk":{"file":\([0-9]*\)}}.*/\1/p' "$dir/lines" | tail -1)
[ $((events + lost)) = 60000 ] || fail "$events events and $lost lost are not 60000"
[ "$lost" -gt 0 ] || fail "nothing was lost: the disk was not full"
grep -q '^{"t":"gap".*"why":"ENOSPC"' "$dir/lines" || fail "no gap record"
[ "$(find "$dir/small/ledger" -name reserve | wc -l)" = 1 ] || fail "the reserve was not made again"
echo "ok full disk: $events events recorded, $lost counted as lost"

EIO_AT=2 LD_PRELOAD=$eio "$mklog" "$dir/ledger" -n 3000 -b 100 >/dev/null || fail "the writer gave up after EIO"
verdict 3 "$dir/ledger"
[ "$(find "$dir/ledger/" -path '*/runs/*/000001.gz' | wc -l)" = 1 ] || fail "no new segment after EIO"
lines "$dir/ledger" >"$dir/lines"
[ "$(grep -c '^{"t":"open"' "$dir/lines")" = 3000 ] || fail "events are missing after EIO"
leaves=$(sed -n 's/^{"t":"gap".*"why":"EIO".*"leaves":\[\([0-9]*,[0-9]*\)\]}$/\1/p' "$dir/lines")
[ -n "$leaves" ] || fail "no gap record names the leaves in doubt"
echo "ok EIO: leaves $leaves in doubt, all there"

# the disk really lost them: the hole is exactly the one that the gap names
python3 - "$dir"/ledger/current/runs/*/000000.gz "${leaves%,*}" <<'PY'
import struct, sys
path, synced = sys.argv[1], int(sys.argv[2])
data = open(path, "rb").read()
at = data.find(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x34\x00TL")
while struct.unpack_from("<Q", data, at + 48)[0] < synced:
    at = data.find(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x34\x00TL", at + 1)
open(path, "r+b").truncate(at)
PY
verdict 3 "$dir/ledger"
grep -q 'a signed gap names them' "$dir/said" || fail "the hole is not told"
echo "ok hole: bridged by the signed gap"

# one block more is a hole that nobody signed
truncate -s 100 "$(echo "$dir"/ledger/current/runs/*/000000.gz)"
verdict 1 "$dir/ledger"
echo "ok larger hole: TAMPERED"
