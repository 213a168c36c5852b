# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# One of every deed on the running kernel, recorded and compared with what the log must hold.
in=check make="all $O/tests/deeds/deeds" limit=300
programs() {
	echo "tests/deeds/run-native $BIN $O/tests/deeds/deeds"
}
