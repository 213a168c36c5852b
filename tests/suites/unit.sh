# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Unit tests, as shipped.
in=check make="unit" limit=60 jobs=2
programs() {
	local f
	for f in tests/unit/*/*.c; do
		echo "$O/${f%.c}"
	done
}
