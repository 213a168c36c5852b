# SPDX-License-Identifier: MIT
# Targets that only tests need.
.PHONY: unit
unit: $(UNIT) ## build the unit tests (run them with tests/run unit)

# Does a kernel take every BPF program? See docs/testing.md.
$(O)/tests/vm/load: tests/vm/load.c $(O)/user/trace/tier.o $(O)/flags
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(O)/user/trace/tier.o -lbpf -lelf -lz
