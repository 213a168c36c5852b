# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The test runner's own tests.
in=check limit=60
programs() {
	ls tests/self/*.sh
}
