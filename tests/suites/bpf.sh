# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Recordings on the running kernel, in its best tier.
in=check make="bpf-tests" limit=60
programs() {
	local f
	for f in tests/bpf/*.c; do
		echo "$O/${f%.c}"
	done
}
