# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Two verifiers that know nothing of each other must give one verdict on attacked ledgers.
in=nightly make="all attack-programs" limit=1200
programs() {
	local a=$O/tests/attack
	echo "tests/attack/agree.sh $BIN $a/mklog $a/eio.so --flips 8 --most 8"
}
