# SPDX-License-Identifier: MIT
# Targets that only tests need.
.PHONY: unit
unit: $(UNIT) ## build the unit tests (run them with tests/run unit)
