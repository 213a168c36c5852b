# SPDX-License-Identifier: MIT
# Runs in a guest (busybox sh, /t): every deed without a tracer, then recorded in each tier that /t/tiers names.
status=0
try() { # seconds what command...
	seconds=$1 what=$2
	shift 2
	timeout "$seconds" "$@"
	r=$?
	[ $r = 0 ] || { echo "$what: exit $r"; status=1; }
}

deedlog doctor >/out/doctor 2>&1
mkdir -p /tmp/place /sys/fs/cgroup/top
for tier in $(cat tiers); do
	set -- -a -t /sys/fs/cgroup/top -k /modules/dummy.ko /tmp/place
	[ -e /out/plain ] || try 200 'deeds alone' deeds "$@" >/out/plain
	try 400 "deeds in tier $tier" deedlog run --tier "$tier" --dir "/out/ledger-$tier" \
		--output "/out/summary-$tier" -- deeds "$@" >"/out/did-$tier" 2>"/out/errors-$tier"
	try 60 "verify in tier $tier" deedlog verify --dir "/out/ledger-$tier" >"/out/verify-$tier" 2>&1
	cat "/out/errors-$tier"
done
exit $status
