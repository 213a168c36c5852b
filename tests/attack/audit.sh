#!/bin/sh
# SPDX-License-Identifier: MIT
# audit.sh MKLOG: our logs pass an auditor that has none of our code, and a changed one does not.
set -eu
mklog=$1
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$mklog" "$dir/ledger" -n 500 -b 100 -l 90 >/dev/null
run=$(ls "$dir/ledger/current/runs")
log=$dir/ledger/current/runs/$run/000000.gz
gzip -t "$log" && echo "ok gzip reads it"
vkey=$(zcat "$dir/ledger/current/index/000000.gz" | sed -n 's/^{"t":"run-start".*"vkey":"\([^"]*\)".*/\1/p')
python3 "$here/audit_run.py" "$vkey" "$log" | sed 's/^OK/ok/'
cp "$log" "$dir/changed"
printf 'X' | dd of="$dir/changed" bs=1 seek=20 conv=notrunc 2>/dev/null
if python3 "$here/audit_run.py" "$vkey" "$dir/changed" 2>/dev/null; then
	echo "not ok the auditor took a changed salt"
	exit 1
fi
echo "ok a changed log is refused"
