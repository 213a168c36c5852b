# SPDX-License-Identifier: MIT
# Runs in a guest (busybox sh, /t): every deed without a tracer, then recorded in each tier that /t/tiers names.
status=0
try() { # expected exit statuses, seconds, output file, command...
	want=$1 seconds=$2 to=$3
	shift 3
	timeout "$seconds" "$@" >"/out/$to" 2>"/out/errors-$to"
	r=$?
	case " $want " in *" $r "*) return ;; esac
	echo "$1 for $to: exit $r instead of $want"
	cat "/out/errors-$to"
	status=1
}

deedlog doctor >/out/doctor 2>&1
mkdir -p /tmp/place /sys/fs/cgroup/top
set -- deeds -a -t /sys/fs/cgroup/top -k /modules/dummy.ko /tmp/place
for tier in $(cat tiers); do
	[ -e /out/plain ] || try 0 300 plain "$@"
	try 0 500 "did-$tier" deedlog run --tier "$tier" --dir "/out/ledger-$tier" \
		--output "/out/summary-$tier" -- "$@"
	case $tier in
	lsm) complete=0 ;;
	fmod) complete='0 3' ;; # 3: a program was skipped, see check.py
	trace) complete=3 ;; # acts by io_uring are counted as lost
	esac
	try "$complete" 100 "verify-$tier" deedlog verify --dir "/out/ledger-$tier"
done
exit $status
