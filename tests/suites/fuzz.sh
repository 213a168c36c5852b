# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The corpora of the fuzz targets, replayed under sanitizers.
in=check make="O=$OSAN SAN=address,undefined fuzz-replay" limit=60
programs() {
	local f n
	for f in tests/fuzz/*.c; do
		n=$(basename "$f" .c)
		[ -d "tests/fuzz/corpus/$n" ] || continue
		echo "UBSAN_OPTIONS=halt_on_error=1 $OSAN/tests/fuzz/$n tests/fuzz/corpus/$n"
	done
}
