#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs are left loaded for the next run, attached to nothing, and can be
# removed; --no-keep leaves none.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

# Other runs on this machine may keep sets of their own: only ours are counted,
# in a mount namespace where no BPF file system is seen at first.
cat >inside.sh <<'S'
for m in $(findmnt -nt bpf -o TARGET); do umount -l "$m"; done
pins() {
	for m in $(findmnt -nt bpf -o TARGET); do find "$m" -type f; done | wc -l
}
"$BIN" run -q --no-keep -- true
echo "after --no-keep: $? $(pins)"
"$BIN" run -q -- true
echo "after a run: $? $([ "$(pins)" -gt 5 ] && echo some)"
n=$(pins)
"$BIN" run -q -- true
echo "after the next: $? $([ "$(pins)" = "$n" ] && echo the same)"
"$BIN" run -q -- sleep 2 &
sleep 1.5
"$BIN" unload -q
echo "unload while one runs: $?"
wait
"$BIN" unload
echo "unload: $? $(pins)"
"$BIN" run -q -- sh -c 'exit 3'
echo "a run after it: $?"
"$BIN" unload
S
export BIN
out=$(unshare -m bash inside.sh 2>&1)
for want in "after --no-keep: 0 0" "after a run: 0 some" "after the next: 0 the same" \
	"unload while one runs: 1" "unload: 0 0" "a run after it: 3"; do
	like "$want" "^$want$" "$out"
done
is "every run is whole" 0 "$("$BIN" verify >/dev/null 2>&1; echo $?)"
is "not for everybody" 2 "$(setpriv --reuid 65534 --clear-groups "$BIN" unload >/dev/null 2>&1; echo $?)"
tap_done
