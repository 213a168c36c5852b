#!/bin/bash
# SPDX-License-Identifier: MIT
# What is missing or broken is said in one sentence with the remedy, before the
# command starts; `doctor` says the same.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export BIN T

# One line, status 125, and the command did not run.
refuses() { # name regex shell-text
	local out st
	rm -f ran
	out=$(unshare -m bash -c "$3; \"\$BIN\" run --dir \"\$D\" -- touch ran" 2>&1)
	st=$?
	is "$1: status, lines, not run" "125 1 " "$st $(wc -l <<<"$out") $(ls ran 2>/dev/null)"
	like "$1: says so" "$2" "$out"
}
refuses "no cgroup v2" "^deedlog: no cgroup v2 is mounted; .*mount -t cgroup2" \
	'D=$T/l; for m in $(findmnt -nt cgroup2 -o TARGET); do umount -l $m; done'
refuses "no BTF" "^deedlog: .*built with CONFIG_DEBUG_INFO_BTF$" 'D=$T/l; mount -t tmpfs none /sys/kernel/btf'
refuses "ledger that others may write" "^deedlog: .*may be written by others; run .chmod go-w" 'D=$T/open; mkdir -m 777 -p $D/x; chmod 777 $D; ln -s x $D/current'
refuses "ledger of somebody else" "^deedlog: .*belongs to another user .*--dir" 'D=$T/other; "$BIN" init --dir $D; chown -R 65534 $D/*'
refuses "ledger is a file" "^deedlog: cannot open .*/file: Not a directory$" 'D=$T/file; echo x >$D'
refuses "disk full" "^deedlog: .*No space left on device; make room there or .*--dir$" 'D=$T/full; mkdir -p $D; mount -t tmpfs -o size=64k,mode=755 none $D; head -c 1M /dev/zero >$D/fill 2>/dev/null'
refuses "read-only" "^deedlog: .*Read-only file system; .*--dir$" 'D=$T/ro; mkdir -p $D; mount -t tmpfs -o ro,mode=755 none $D'

# A disk that fills up while the command runs.
unshare -m bash -c '
	mkdir "$T/small"
	mount -t tmpfs -o size=400k,mode=755 none "$T/small"
	"$BIN" run --no-summary --dir "$T/small" -- python3 -c "
import os, sys
for i in range(20000):
    os.close(os.open(\"/dev/null\", os.O_RDONLY)); os.path.isdir(\"x\")
    if i % 4 == 0: os.close(os.open(\"$T/w_%d\" % (i % 97 * 7919 + i), os.O_CREAT | os.O_WRONLY))
sys.exit(11)
"
	echo "status $?"
	"$BIN" verify --dir "$T/small" | tail -n 1
	echo "verify ${PIPESTATUS[0]}"' >out 2>&1
like "a full disk does not stop the command" "^status 11$" "$(cat out)"
like "... it is said" "^deedlog: the record of run [0-9a-f]{8} could not be written in full" "$(cat out)"
like "... what is there verifies, as incomplete" "^verify 3$" "$(cat out)"
unlike "... and untouched" "^TAMPERED" "$(cat out)"
rm -f "$T"/w_*

"$BIN" run --dir "$T/new/below" -q -- true
is "a ledger that is not there is made" 0 $?
is "... for root alone" 750 "$(stat -Lc %a new/below/current)"
is "min-tier above what there is, or reached" yes "$("$BIN" run --dir "$T/l" -q --min-tier lsm -- true 2>err; case $? in 0) echo yes ;; 125) grep -q lsm err && echo yes ;; esac)"

like "doctor: one line per check" "^(ok|note|FAIL) +tier " "$("$BIN" doctor --dir "$T/new/below")"
is "doctor: status" 0 "$("$BIN" doctor --dir "$T/new/below" >/dev/null; echo $?)"
is "doctor --json" deedlog/doctor/1 "$("$BIN" doctor --json --dir "$T/new/below" | jq -r .schema)"
is "doctor as somebody else" 1 "$(setpriv --reuid 65534 --clear-groups "$BIN" doctor --dir "$T/l" >out; echo $?)"
like "... ends in the command that helps" "^FAIL +capabilities .*: sudo deedlog doctor$" "$(cat out)"
is "doctor leaves no cgroup of its own behind" "" \
	"$(sh -c 'echo $$ >pid; exec "$BIN" doctor' >/dev/null; ls -d "$(findmnt -nt cgroup2 -o TARGET | head -n 1)/deedlog/doctor-$(cat pid)" 2>/dev/null)"
is "doctor without cgroup v2" 1 "$(unshare -m bash -c 'for m in $(findmnt -nt cgroup2 -o TARGET); do umount -l $m; done; "$BIN" doctor --dir $T/l' >out; echo $?)"
like "..." "^FAIL +cgroup v2 .*mount -t cgroup2" "$(cat out)"
like "doctor without securityfs" "lsm list .*mount -t securityfs" \
	"$(unshare -m bash -c 'mount -t tmpfs none /sys/kernel/security 2>/dev/null; "$BIN" doctor --dir $T/l')"

is "verify of no ledger" 2 "$("$BIN" verify --dir "$T/none" >/dev/null 2>err; echo $?)"
is "... says so in one line" 1 "$(wc -l <err)"
"$BIN" run -q --dir "$T/v" -- true
f=$(find v -path '*/runs/*' -name '*.gz')
is "verify of a good one" 0 "$("$BIN" verify --dir v >/dev/null; echo $?)"
is "verify --json" "INTACT COMPLETE 0" "$("$BIN" verify --dir v --json | jq -r '"\(.integrity) \(.completeness) \(.status)"')"
cp "$f" keep
printf '\x55' | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") / 2)) conv=notrunc status=none
cmp -s "$f" keep && printf '\xaa' | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") / 2)) conv=notrunc status=none
is "verify of a changed byte" 1 "$("$BIN" verify --dir v >out; echo $?)"
like "..." "^TAMPERED, " "$(tail -n 1 out)"
is "summary of it" 2 "$("$BIN" summary --dir v >/dev/null 2>&1; echo $?)"
cp keep "$f"
is "verify with a wrong key" 1 "$("$BIN" verify --dir v --key "$(sed -n 's/^genesis //p; s/^vkey //p' v/current/origin | head -n 1 | sed 's/.$//; s/.$/A=/')" >/dev/null 2>&1; st=$?; [ $st = 1 ] || [ $st = 2 ] && echo 1)"
# A power cut left half a block behind the index: the next start cuts it off and goes on.
"$BIN" run -q --dir "$T/torn" -- true
printf junkjunk >>"$T/torn/current/index/000000.gz"
is "a torn index does not stop a run" 0 "$("$BIN" run -q --dir "$T/torn" -- true >&2; echo $?)"
is "... and is told" 3 "$("$BIN" verify --dir "$T/torn" >"$T/torn.txt"; echo $?)"
like "... by its length" 'torn tail of 8 bytes' "$(cat "$T/torn.txt")"
tap_done
