# `make help` says what there is. The build itself is Meson's (meson.build); this file only
# makes sure the tools are there, and gives the usual commands their usual names.

PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_EACH ?= 60
ifeq ($(origin CC),default)
CC := gcc
endif

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all
.NOTPARALLEL: # Ninja is; two installers at a time would not do
.PHONY: all demo check test interop endurance bench dist fuzz format hooks install clean \
	help need-build need-test need-interop need-bench need-dist builds fuzz-build

# Meson prints a lot: show its output only when it fails.
quietly = said=$$($(1) 2>&1) || { echo "$$said"; exit 1; }
# The C++ compiler of the same family: the sanitizers of two do not mix.
cxx = $(patsubst clang%,clang++%,$(patsubst gcc%,g++%,$(1)))
# $(1): directory, $(2): compiler, $(3): settings
setup = echo "configuring $(1) for $(2)"; $(call quietly,CC=$(2) CXX=$(call cxx,$(2)) meson setup $(1) $(3))
# $(1): directory, $(2): target, all if empty. Says how much there is to do; on a terminal Ninja
# shows its progress, elsewhere its output appears only when it fails.
compile = steps=$$(ninja -C $(1) -n $(2) | grep -c '^\['); \
	[ $$steps = 0 ] || echo "compiling $(1): $$steps steps"; \
	if [ -t 1 ] && [ $$steps != 0 ]; then ninja -C $(1) $(2); \
	else $(call quietly,ninja --quiet -C $(1) $(2)); fi

all: build/build.ninja ## build build/mcpreel, optimised and hardened
	@$(call compile,build,shipped)
	@echo "built build/mcpreel $$(build/mcpreel version 2>/dev/null | sed 's/^mcpreel //;q'):" \
		"try 'make demo', or 'build/mcpreel help'"

demo: all ## record, replay and verify a real session, and show what to look at
	@echo "recording, replaying and verifying a session of the demo server in build/demo"
	@mkdir -p build/demo
	@build/mcpreel demo --force -o build/demo/session.jsonl

check: builds ## the quick tests: unit, golden, house rules, sanitizers (4 minutes)
	@tools/run-tests check

test: builds ## check, integration tests and the main real peers (20 minutes)
	@tools/run-tests test

interop: need-interop builds ## all other real peers
	@tools/run-tests interop

endurance: SECONDS_EACH = 3600
endurance: need-interop need-dist builds fuzz-build ## hours: fuzzing, soak, kills, every pair of peers
	@tools/run-tests endurance --seconds $(SECONDS_EACH)

bench: need-bench all ## measure speed and size against baselines in the same run
	@bench/run

dist: need-dist ## build static programs, wheels and npm packages for Linux in build/dist (10 minutes)
	@tools/dist

fuzz: fuzz-build ## each fuzz target for SECONDS_EACH=60 seconds
	@tools/run-tests fuzz --seconds $(SECONDS_EACH)

format: need-test ## put all C files into the house format
	@tools/check-format --fix

hooks: ## let git look at the subjects of your commits (tools/hooks)
	@hooks=$$(git rev-parse --git-path hooks) && install -D -m 755 tools/hooks/commit-msg "$$hooks/commit-msg"
	@echo "installed the commit-msg hook"

install: all ## install below PREFIX=/usr/local (and DESTDIR=)
	@$(call setup,build,$(CC),--reconfigure -Dprefix='$(abspath $(PREFIX))')
	@DESTDIR='$(DESTDIR)' meson install --no-rebuild --quiet -C build
	@echo "installed $(DESTDIR)$(abspath $(PREFIX))/bin/mcpreel"

clean: ## remove what was built, but not the downloaded peers
	@rm -rf build-asan build-bench build-clang build-fuzz
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name peers -exec rm -rf {} +

help: ## this text
	@echo "mcpreel - record, replay and look at MCP traffic"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@echo
	@echo "What is missing gets installed on Debian and Ubuntu; MCPREEL_NO_INSTALL=1 only names it."
	@echo "Another compiler: make clean, then make CC=clang."

# Three builds, so that both compilers compile everything with warnings as errors, optimised as
# users get it, and so that the tests run under the sanitizers. Clang compiles the unit tests
# with the sanitizers only; its other build has the programs of `make bench` instead.
builds: build/.tests build-asan/build.ninja build-clang/.bench
	@$(call compile,build)
	@$(call compile,build-asan)
	@$(call compile,build-clang)

fuzz-build: build-fuzz/build.ninja
	@$(call compile,build-fuzz)

need-build need-test need-interop need-bench need-dist: need-%:
	@tools/bootstrap $*

build/build.ninja: | need-build
	@$(call setup,build,$(CC),-Dprefix='$(abspath $(PREFIX))')

# `make` alone does not ask for the test library.
build/.tests: | build/build.ninja need-test
	@$(call setup,build,$(CC),--reconfigure -Dtests=enabled)
	@touch $@

sanitize := -Dtests=enabled -Db_lundef=false -Db_sanitize=address,undefined -Doptimization=2

build-asan/build.ninja: | need-test
	@$(call setup,build-asan,clang,$(sanitize))

build-fuzz/build.ninja: | need-test
	@$(call setup,build-fuzz,clang,$(sanitize) -Dfuzz=true)

build-clang/build.ninja: | need-test
	@$(call setup,build-clang,clang,-Dtests=disabled)

build-clang/.bench: | build-clang/build.ninja need-bench
	@$(call setup,build-clang,clang,--reconfigure -Dbench=true)
	@touch $@
