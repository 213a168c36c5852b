# SPDX-License-Identifier: MIT
# Targets that only tests need.
.PHONY: unit
unit: $(UNIT) ## build the unit tests (run them with tests/run unit)

# Does a kernel take every BPF program? See docs/testing.md.
$(O)/tests/vm/load: tests/vm/load.c $(O)/user/trace/tier.o $(O)/flags
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(O)/user/trace/tier.o -lbpf -lelf -lz

# Programs of tests/bench; static, so that a virtual machine needs nothing else.
BENCH := $(O)/tests/bench/calls $(O)/tests/bench/flood
.PHONY: bench-programs
bench-programs: $(BENCH)
bench: bench-programs
$(BENCH): $(O)/tests/bench/%: tests/bench/%.c $(O)/flags
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -static -o $@ $<

# The driver of tests/deeds: one of every act. A failing set-up shows in the act's answer, so results go unused.
DEEDS := $(patsubst %.c,$(O)/%.o,$(wildcard tests/deeds/*.c))
$(O)/tests/deeds/%.o: tests/deeds/%.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-result -MMD -MP -c $< -o $@
$(O)/tests/deeds/deeds: $(DEEDS)
	$(call say,TEST,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@

# Native recordings of tests/bpf, over the rooms up to trace.
BPF_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/bpf/*.c))
.PHONY: bpf-tests
bpf-tests: $(BPF_TESTS)
$(O)/tests/bpf/%.o: tests/bpf/%.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(BPF_TESTS): %: %.o $(call libs_for,trace)
	$(call say,TEST,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(LIBS)
