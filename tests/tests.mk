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
bench: bench-programs bench-ledger
.PHONY: bench-ledger
bench-ledger: all attack-programs
	@O=$(O) tests/bench/ledger
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

# Fuzz targets: tests/fuzz/NAME.c, inputs in tests/fuzz/corpus/NAME. The corpus is replayed as an
# ordinary test; `make fuzz FUZZ_TIME=600` searches on with libFuzzer, seconds for each target.
FUZZ_NAMES  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_REPLAY := $(FUZZ_NAMES:%=$(O)/tests/fuzz/%)
FUZZ_TIME   ?= 60
FUZZ_SRC    := $(foreach r,base event ident net policy ledger agg vcs report,$(call room_src,$(r))) \
	user/trace/tier.c
.PHONY: fuzz-replay
fuzz-replay: $(FUZZ_REPLAY)
$(O)/tests/fuzz/%.o: tests/fuzz/%.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(FUZZ_REPLAY): %: %.o $(O)/tests/fuzz/lib/replay.o $(call libs_for,report)
	$(call say,TEST,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(LIBS)

$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_SRC)
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(O)/fuzz/found/$*
	$(Q)$(CLANG) $(CPPFLAGS) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $< $(FUZZ_SRC) -o $@ $(LIBS)
.PHONY: fuzz-nightly
fuzz-nightly: ## the same, ten minutes for each parser
	@$(MAKE) --no-print-directory fuzz FUZZ_TIME=600
fuzz: $(FUZZ_NAMES:%=$(O)/fuzz/%) ## search for inputs that break a parser
	@for n in $(FUZZ_NAMES); do mkdir -p tests/fuzz/corpus/$$n; \
		$(O)/fuzz/$$n -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(O)/fuzz/ \
			$(O)/fuzz/found/$$n tests/fuzz/corpus/$$n || exit 1; done

# What attacks a ledger: a writer without tracing, the verifier alone, a disk that fails to sync.
ATTACK := $(O)/tests/attack/mklog $(O)/tests/attack/verify_main
.PHONY: attack-programs
attack-programs: $(ATTACK) $(O)/tests/attack/eio.so $(O)/tests/attack/crash_at.so $(O)/tests/bench/ledger_bench
$(ATTACK) $(O)/tests/bench/ledger_bench: $(O)/%: %.c $(call libs_for,ledger)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(call libs_for,ledger) $(LIBS)
$(O)/tests/attack/%.so: tests/attack/%.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -Wall -Wextra -shared -fPIC -o $@ $< -ldl
