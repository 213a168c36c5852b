# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Every kernel of tools/kernels.txt, with and without bpf in lsm=: kernel fields, then every deed.
in=all make="all $O/tests/deeds/deeds" limit=2400
programs() {
	echo tests/vm/core/run
	echo "tools/check-core $O/bpf/deedlog.o"
	tests/vm/run -l | sed "s|^|O=$O tests/vm/run |"
}
