# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Ledgers that are changed, cut, killed and starved: what the verifier must say.
make="all attack-programs" limit=600
programs() {
	local a=$O/tests/attack
	echo "tests/attack/flip.py $a/verify_main $a/mklog"
	echo "tests/attack/crash.py $a/verify_main $a/mklog"
	echo "tests/attack/disk.sh $a/verify_main $a/mklog $a/eio.so"
	echo "tests/attack/audit.sh $a/mklog"
	echo "tests/attack/prove.sh"
	echo "tests/attack/upkeep.sh"
	echo "tests/attack/audit_tools.sh"
	echo "tests/attack/anchors.sh $a/mklog"
	echo "tests/attack/statement.sh $a/mklog"
	echo "tests/attack/table.py $a/verify_main $a/mklog"
	for how in birth crash half EIO ENOSPC; do
		echo "tests/attack/crash_points.py $a/verify_main $a/mklog $a/crash_at.so $how"
	done
}
