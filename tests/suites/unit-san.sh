# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Unit tests under the address and undefined behaviour sanitizers.
in=check make="O=$OSAN SAN=address,undefined unit" limit=120 jobs=2
programs() {
	local f
	for f in tests/unit/*/*.c; do
		echo "UBSAN_OPTIONS=halt_on_error=1 $OSAN/${f%.c}"
	done
}
