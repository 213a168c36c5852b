# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Floods: what was done is what is recorded plus what is counted as lost.
make="all bench-programs" limit=200
programs() {
	echo tests/bench/loss
}
