#!/bin/bash
# SPDX-License-Identifier: MIT
# agree.sh DEEDLOG MKLOG EIO.so [ARGUMENT...]: makes ledgers of every state a ledger can be in and lets agree.py attack
# copies of them; `deedlog verify` and the verifier written from docs/ledger-format.md must give one verdict on each.
set -eu
deedlog=$1 mklog=$2 eio=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$dir"' EXIT

make_log() { # NAME MKLOG-ARGUMENT...
	local name=$1
	shift
	"$mklog" "$dir/$name" "$@" >/dev/null
	logs+=("$dir/$name")
}

copy_log() { # FROM NAME
	cp -a "$dir/$1" "$dir/$2"
	logs+=("$dir/$2")
}

junk() { # FILE: the tail of a write that did not end
	head -c 100 "$1" >"$dir/junk"
	cat "$dir/junk" >>"$1"
}

# A writer that is stopped in the middle.
writing() {
	"$mklog" "$dir/$1" -f -b 500 >/dev/null &
	pid=$!
	for _ in $(seq 100); do
		[ -s "$(echo "$dir/$1"/current/runs/*/000000.gz)" ] && break
		sleep 0.05
	done
	kill -STOP "$pid"
	logs+=("$dir/$1")
}

logs=()
make_log fresh -r 1 -n 10 -b 4
make_log runs -r 3 -n 60 -b 20 -l 30
make_log lost -r 1 -n 30 -b 10 -s
make_log open -r 2 -n 60 -b 20 -o
copy_log open recovered
"$mklog" "$dir/recovered" -n 10 >/dev/null
copy_log runs torn
junk "$dir/torn/current/index/000000.gz"
copy_log torn mended
"$mklog" "$dir/mended" -n 10 >/dev/null || "$mklog" "$dir/mended" -n 10 >/dev/null
copy_log open crashed
for file in "$dir"/crashed/current/runs/*/000000.gz; do
	run=$(basename "$(dirname "$file")")
	zcat "$dir"/crashed/current/index/0*.gz | grep -q "run-end.*$run" || junk "$file"
done
copy_log crashed restarted
"$mklog" "$dir/restarted" -n 10 >/dev/null
EIO_AT=2 LD_PRELOAD=$eio "$mklog" "$dir/eio" -n 2000 -b 500 >/dev/null
logs+=("$dir/eio")
copy_log eio hole
truncate -s -100 "$(echo "$dir"/hole/current/runs/*/000000.gz)"
writing written
python3 "$here/agree.py" "$deedlog" "${logs[@]}" "$@"
