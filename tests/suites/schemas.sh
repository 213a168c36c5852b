# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What is published about our formats agrees with the rows and with the golden files.
in=check limit=30
programs() {
	echo tools/gen-events check
	echo tests/golden/validate.py schemas/record.schema.json tests/golden/report/*/run.ndjson
	echo tests/golden/validate.py schemas/summary.schema.json tests/golden/report/*/summary.json
}
