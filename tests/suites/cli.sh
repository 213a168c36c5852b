# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The contract of the command line, one shell test per topic.
in=check make="all" limit=240 jobs=3
programs() {
	ls tests/cli/*.sh
}
