# SPDX-License-Identifier: MIT
# One makefile, no recursion. `make help` lists what it can do.

O       ?= build
PREFIX  ?= /usr/local
CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
# SAN=address,undefined builds the user side and its unit tests with sanitizers
SAN     ?=

VERSION := $(shell sed -n '1s/^deedlog //p' CHANGES.md)
ARCH    := x86

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wformat=2 -Wvla -Wwrite-strings -Wimplicit-fallthrough=5 \
	$(if $(CI),-Werror)
CFLAGS   ?= -O2 -g
CFLAGS   += -std=gnu11 $(WARN) -fPIE -fstack-protector-strong -ffile-prefix-map=$(CURDIR)=.
CPPFLAGS += -D_GNU_SOURCE -DDEEDLOG_VERSION='"$(VERSION)"' -I. -Iuser -I$(O)/gen \
	-include user/base/banned.h
LDFLAGS  += -pie -Wl,-z,relro,-z,now
LIBS     := -lbpf -lelf -lz -lsodium -ljson-c -lsmartcols
ifneq ($(SAN),)
# gcc sees formats that cannot be behind the checks that the sanitizer adds
CFLAGS  += -fsanitize=$(SAN) -fno-omit-frame-pointer -Wno-format-truncation
LDFLAGS += -fsanitize=$(SAN)
endif
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -I. -Ivmlinux -Ibpf \
	-Wall -Wextra -Wno-unused-parameter -ffile-prefix-map=$(CURDIR)=. $(if $(CI),-Werror)

# Rooms in the order of design: each one may look only at those before it.
# A unit test links its own room and the ones before, so the order is proven.
ROOMS := base event ident net policy ledger trace agg index diff vcs report export daemon cli

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help check test demo bench lint check-core fuzz man install clean bootstrap regen

all: $(O)/deedlog ## build deedlog into build/

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | column -t -s '|'

# ---- flags: a change of flags rebuilds ---------------------------------------
FLAGS_NOW := $(CC) $(CLANG) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(BPF_CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(O)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
FORCE:

# ---- kernel side: one linked CO-RE object and its skeleton -------------------
BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:%.bpf.c=$(O)/%.bpf.o)
SKEL    := $(O)/gen/deedlog.skel.h

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(O)/bpf/deedlog.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@.tmp $^ && mv $@.tmp $@

$(SKEL): $(O)/bpf/deedlog.o
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name deedlog > $@.tmp && mv $@.tmp $@

# ---- user side: one archive a room -------------------------------------------
room_src = $(sort $(wildcard user/$(1)/*.c))
room_obj = $(patsubst user/%.c,$(O)/user/%.o,$(call room_src,$(1)))
upto     = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
libs_for = $(foreach r,$(call reverse,$(call upto,$(1),$(ROOMS))),$(if $(call room_src,$(r)),$(O)/lib$(r).a))
reverse  = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))

USER_OBJ := $(foreach r,$(ROOMS),$(call room_obj,$(r)))

$(O)/user/%.o: user/%.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/user/trace/load.o: $(SKEL)
$(O)/user/cli/main.o: CPPFLAGS += -DDEEDLOG_CLANG='"$(shell $(CLANG) --version | head -n 1)"'

define room_rule
$(O)/lib$(1).a: $(call room_obj,$(1))
	$$(Q)rm -f $$@ && $$(AR) rcsD $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rule,$(r))))

$(O)/deedlog: $(call libs_for,cli)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(O)/user/cli/main.o -o $@ -Wl,--start-group $^ -Wl,--end-group $(LIBS)

# ---- unit tests: tests/unit/ROOM/NAME.c --------------------------------------
UNIT := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/*/*.c))

$(O)/tests/unit/%.o: tests/unit/%.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MMD -MP -c $< -o $@

.SECONDEXPANSION:
$(UNIT): $(O)/tests/unit/%: $(O)/tests/unit/%.o $$(call libs_for,$$(firstword $$(subst /, ,$$*)))
	$(call say,TEST,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
-include tests/tests.mk

# ---- doing things ------------------------------------------------------------
bootstrap: ## install what is missing on a fresh Debian 12
	@tools/bootstrap

check: ## fast tests, under two minutes
	@tools/bootstrap build
	@tests/run check

test: ## every test, virtual machines included
	@tools/bootstrap test
	@tests/run all

demo: ## build, trace a real command, show summary and verification
	@tools/bootstrap build
	@$(MAKE) --no-print-directory all
	@tools/demo

bench: all ## cost against no tracing and against peers, as ratios
	@tests/bench/run

lint: ## style, layers, sizes, shell and manual pages
	@tools/lint

check-core: $(O)/bpf/deedlog.o ## field offsets against the BTF of each listed kernel
	@tools/check-core $(O)/bpf/deedlog.o

MAN := $(patsubst docs/man/%.scd,$(O)/man/%,$(wildcard docs/man/*.scd))
$(O)/man/%: docs/man/%.scd
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

man: $(MAN) ## manual pages, needs scdoc

install: all man ## install into DESTDIR and PREFIX
	install -D -m 755 $(O)/deedlog $(DESTDIR)$(PREFIX)/bin/deedlog
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/deedlog LICENSE CHANGES.md \
		docs/ledger-format.md docs/audit.md
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/share/doc/deedlog/audit tools/audit/audit_event.sh \
		tools/audit/audit_trailer.sh tests/attack/audit_run.py

clean: ## remove what was built
	rm -rf $(O)
