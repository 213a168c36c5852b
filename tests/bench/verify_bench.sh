#!/bin/bash
# SPDX-License-Identifier: MIT
# verify_bench.sh VERIFY MKLOG [RECORDS]: what verifying costs against reading and hashing the same lines with zcat and
# sha256sum (CPU seconds, best of 5, turn by turn), the memory it takes for one long run and for many short ones, and
# what a second process brings. Works in memory, so that the disk does not count.
set -eu
verify=$1 mklog=$2 records=${3:-600000}
dir=$(mktemp -d /dev/shm/deedlog-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

cpu() { # CMD...: user and system seconds of it and its children
	{ TIMEFORMAT='%U %S'; time "$@" >/dev/null; } 2>&1 | tail -1 | awk '{ print $1 + $2 }'
}
less() { # A B: the smaller one
	awk -v a="$1" -v b="$2" 'BEGIN { print (a < b ? a : b) }'
}
usage() { # COLUMN ARGUMENTS...: 1 = seconds, 2 = KiB of the largest of its processes
	local column=$1
	shift
	"$verify" "$@" --usage | tail -1 | cut -d ' ' -f "$column"
}
plain() {
	zcat "$dir"/one/current/runs/*/0*.gz | sha256sum
}

"$mklog" "$dir/one" -n "$records" -b 450 >/dev/null
"$mklog" "$dir/many" -r 2000 -n 20 -b 20 >/dev/null
ours=999 theirs=999
for _ in 1 2 3 4 5; do
	ours=$(less "$ours" "$(usage 1 "$dir/one")")
	theirs=$(less "$theirs" "$(cpu plain)")
done
awk -v n="$records" -v a="$ours" -v b="$theirs" 'BEGIN {
	printf "%d records: verify %.2f s (%d records/s), zcat and sha256sum %.2f s: %.0f %% of their speed\n",
		n, a, n / a, b, 100 * b / a }'
echo "largest resident size: one run $(usage 2 "$dir/one") KiB, 2000 runs $(usage 2 "$dir/many") KiB"
for jobs in 1 2; do
	TIMEFORMAT="2000 runs, $jobs processes: %R s"
	time "$verify" "$dir/many" --jobs $jobs >/dev/null
done
