# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What deedlog records against what strace sees, on everyday tools.
make="all" limit=300
programs() {
	echo tests/oracle/selftest
	local w
	for w in git make npm prettier eslint python tar; do
		echo "tests/oracle/run $w"
	done
}
