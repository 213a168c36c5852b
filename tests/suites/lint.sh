# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The rules of the house, and the proof that each of them can fail.
in=check limit=300
programs() {
	echo tools/lint
	echo tests/lint/run
}
