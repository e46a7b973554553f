# What a fresh clone needs: Python 3.11 or newer, Rust 1.90 or newer, a C compiler. The rest goes into .venv and target.
#
#   make demo     compare five qdiscs on a 10 Mbit/s access link: a table here, a report in demo-report/
#   make package  the package, compiled so that it simulates fast; all targets but demo have it
#   make test     Rust, Python except what is marked long, lint, types
#   make long-test   the tests that make test leaves out: each takes five seconds or more
#   make docs     the documentation site, in site/: all pages with search; a dead link stops it
#   make debug-test   Python tests on a debug build of the extension, which checks alignment and overflow
#   make optimised   the package, compiled with a profile of its own runs: faster by an eighth or more, in some minutes
#   make claims   run all studies whole, keep all claims and values in experiments/claims, and write docs/results/claims.md
#   make raw      run the studies of raw data whole, keep them in experiments/raw, write docs/results/raw.md and the glance
#   make bench    packets per CPU second, nanoseconds per qdisc operation, of that package
#   make web      the page for the browser, into the Python package; needs Node 20 and Rust for WebAssembly
#   make web-test the page's tests, in a real browser; needs Chromium (some of them: WEB_TESTS="truth layout")
#   make bare     the crates units, qdisc and tcp for a target that has no std
#   make debug-link-test   the link's tests on the same build, the long ones, too
#   make fuzz     the fuzz targets, a minute each (SECONDS=60, TARGETS="qdisc path"); needs cargo-fuzz
#   make properties   what the properties of readers and of interfaces try, SECONDS=60 each, with seeds that it prints
#   make mutants  wrong changes that no test notices, of a share of all (SHARD=0/100); needs cargo-mutants
#   make fuzz-check   whether the fuzz targets compile; they are no part of the workspace
#   make fuzz-standalone   the fuzz targets without cargo-fuzz: compiled, and run on random inputs (INPUTS=20000)
#   make sanitize   the same, tests of the crates with unsafe code, and C programs, under AddressSanitizer
#   make miri     tests under Miri, which finds undefined behaviour; needs a nightly Rust
#   make audit    advisories, licences and sources of what we depend on; needs cargo-deny and Node
#   make semver   what the published crates no longer offer that the last release did (BASELINE=v0.1.0); needs
#                 cargo-semver-checks
#   make bench-instructions   instructions a packet, of the simulator and of each qdisc, counted by valgrind
#   make install-c   the C library, its headers and its file for pkg-config, to $(DESTDIR)$(PREFIX) (/usr/local)
#   make man      manual pages of the command, of what --help shows; make dist puts them into the wheel
#   make dist     wheels for Linux, macOS and Windows (the last two: simulator only) and sdist, with all data, in dist/
#   make try-wheel   install such a wheel for PYTHONS="python3.12 python3.13", use it as a stranger would, remove it
#   make try-debian   the same in a new Debian without a compiler, with man and bash (SUITE=bookworm); needs root
#   make msrv     whether the oldest Rust that is promised compiles the code; needs rustup
#   make transports   goodqueue-transports, the package with real QUIC stacks, into .venv (docs/guides/transports.md)
#   make transports-test   its tests, and its lints
#   make lint     format, clippy, ruff, mypy, and whether the core's stub is true (fix the format: make format)
#   make rust-docs   the documentation of the crates, in target/doc; a dead link stops it
#   make pins     write the newest versions of Python packages, and the hashes of their files, into requirements/

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export VIRTUAL_ENV := $(CURDIR)/.venv
BIN := .venv/bin
GOODQUEUE := $(BIN)/goodqueue
# The files of requirements/ have the known good versions, because a warning of a newer one would be a failed test. They
# also have the hashes of the files: pip refuses any other file.
PIP := $(BIN)/pip install --quiet --require-hashes --requirement

rust_sources := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help demo package claims raw optimised web web-test test debug-test debug-link-test bench bench-instructions fuzz properties fuzz-seeds fuzz-check fuzz-standalone sanitize miri audit semver mutants lint lint-rust lint-python rust-docs format rust rust-test python-test long-test bare msrv install-c man dist try-wheel try-debian docs pins clean
help:
	@sed -n '3,/^$$/s/^# *//p' Makefile

# --- the environment; one stamp per step, so that only changed steps run again --------------------------------------

# Checks the version, because a Rust that is too old reports errors about editions and resolvers instead.
#
# Panic messages name source files. The flags remove this machine's folders from these names: the folder of the
# registry's crates, and the one of Rust's own source. A file has the flags, so that a cargo that is started by hand
# uses them, too, and compiles nothing again.
rust:
	@command -v cargo >/dev/null || { echo "make: no cargo; accepted: Rust's cargo on PATH (https://rustup.rs)" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "make: no C compiler, which Rust links with; accepted: cc on PATH (Debian: gcc libc6-dev)" >&2; exit 1; }
	@needed=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); found=$$(cargo --version | cut -d' ' -f2); \
	  [ "$$(printf '%s\n' "$$needed" "$$found" | sort -V | head -n 1)" = "$$needed" ] \
	  || { echo "make: found Rust $$found; accepted: $$needed or newer (https://rustup.rs)" >&2; exit 1; }
	@flags=$$(printf '# Written by make.\n[build]\nrustflags = [\n'; \
	    printf '    "--remap-path-prefix=%s=",\n' "$${CARGO_HOME:-$$HOME/.cargo}/registry/src" "$$(rustc --print sysroot)/lib/rustlib/src/rust"; echo ']'); \
	  [ "$$(cat .cargo/config.toml 2>/dev/null)" = "$$flags" ] \
	  || { mkdir -p .cargo && echo "$$flags" >.cargo/config.$$$$ && mv .cargo/config.$$$$ .cargo/config.toml; }

# Skips a shim without a Python behind it (pyenv).
.venv/.made: | rust
	@found=; for python in python3.11 python3.12 python3.13 python3.14 python3; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	[ -n "$$found" ] || { echo "make: no Python 3.11 or newer; accepted: python3.11 or python3 on PATH" >&2; exit 1; }; \
	"$$found" -m venv --clear .venv >/dev/null \
	  || { echo "make: $$found cannot make a virtual environment; Debian has it in python3-venv" >&2; exit 1; }
	@touch $@

# With what the package needs, so that pip downloads nothing more for the next step.
.venv/.maturin: .venv/.made requirements/package.txt
	@$(PIP) requirements/package.txt \
	  || { echo "make: maturin (the build tool) and the packages beside it cannot be installed; is the package index (PyPI) reachable?" >&2; exit 1; }
	@touch $@

# The install is editable: the package stays in place, and a change of Python code needs no build.
# `.ci/run` sets another of cargo's profiles.
GOODQUEUE_PROFILE ?= release
DEVELOP := PIP_NO_INDEX=1 $(BIN)/maturin develop --profile
BUILT := >.venv/build.log 2>&1 || { cat .venv/build.log >&2; echo "make: the build failed; the lines above say where" >&2; exit 1; }
package: .venv/.package
.venv/.package: .venv/.maturin pyproject.toml $(rust_sources)
	@echo "building goodqueue ($(GOODQUEUE_PROFILE); the first time it takes 210 CPU seconds, two minutes on two cores)"
	@$(DEVELOP) $(GOODQUEUE_PROFILE) $(BUILT)
	@rm -f .venv/.optimised .venv/.demo
	@touch $@

# The package for the demo, if there is none that is up to date: compiled in half the time, with the same results. Bulk
# flows are as fast there, and households take twice as long. So every other target has `.venv/.package`.
.venv/.demo: .venv/.maturin pyproject.toml $(rust_sources)
	@echo "building goodqueue for the demo (100 CPU seconds, one minute on two cores)"
	@$(DEVELOP) demo $(BUILT)
	@rm -f .venv/.package .venv/.optimised
	@touch $@

# The same package, compiled with a profile of its own runs (profile-guided optimisation): the compiler then knows which
# branches are taken, and which code is hot. A build that counts makes the profile. It never enters .venv. Symbols name
# the target and Cargo's profile, so both builds have the same: otherwise the compiler finds no counts. With the last
# flag it warns of that.
TARGET = $(shell rustc -vV | sed -n 's/host: //p')
COUNTS := $(CURDIR)/target/profile
WITH_PROFILE := --config 'build.rustflags=["-Cprofile-use=$(COUNTS)/merged.profdata", "--cfg=has_profile", "-Cllvm-args=-pgo-warn-missing-function"]'
optimised: .venv/.optimised
.venv/.optimised: .venv/.maturin pyproject.toml $(rust_sources) $(COUNTS)/merged.profdata
	@echo "building goodqueue with the profile"
	@$(DEVELOP) release --target $(TARGET) $(WITH_PROFILE) $(BUILT)
	@rm -f .venv/.demo
	@touch .venv/.package $@

$(COUNTS)/merged.profdata: benches/training.py | .venv/.maturin
	@tool=$$(rustc --print target-libdir)/../bin/llvm-profdata; \
	[ -x "$$tool" ] || { command -v rustup >/dev/null && rustup component add llvm-tools; } \
	  || { echo "make: no llvm-profdata of this Rust; accepted: rustup component add llvm-tools" >&2; exit 1; }; \
	echo "building goodqueue so that it counts what is hot (some minutes)"; \
	rm -rf $(COUNTS) && mkdir -p $(COUNTS); \
	PYO3_BUILD_EXTENSION_MODULE=1 cargo build --release --quiet --package goodqueue-python --target $(TARGET) \
	  --config 'build.rustflags=["-Cprofile-generate=$(COUNTS)"]'; \
	rm -f $(COUNTS)/*.profraw; \
	PYTHONPATH=python $(BIN)/python benches/training.py target/$(TARGET)/release/lib_goodqueue.so; \
	"$$tool" merge --output=$@ $(COUNTS)/*.profraw; \
	rm $(COUNTS)/*.profraw

.venv/.dev: .venv/.maturin requirements/dev.txt
	@$(PIP) requirements/dev.txt
	@touch $@

pins: .venv/.made
	@$(PIP) requirements/pins.txt
	@$(BIN)/python requirements/pins.py

# --- real QUIC stacks: a package and a workspace of their own ---------------------------------------------------------

transports_sources := $(shell find transports/src transports/certificate -type f) transports/Cargo.toml transports/Cargo.lock transports/pyproject.toml

# What the C and C++ of quiche and s2n-quic need. Without them the build fails after minutes, in words of its own. The
# folders are those of the compiler's headers that libclang brings, in Debian and in Fedora.
.PHONY: transports-tools
transports-tools:
	@lacks() { echo "make transports: no $$1; accepted: $$2" >&2; exit 1; }; \
	  command -v cmake >/dev/null || lacks CMake "CMake on PATH (Debian: cmake)"; \
	  command -v c++ >/dev/null || lacks "C++ compiler" "c++ on PATH (Debian: g++)"; \
	  [ -n "$${LIBCLANG_PATH:-}$${BINDGEN_EXTRA_CLANG_ARGS:-}" ] || command -v clang >/dev/null \
	    || compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null || compgen -G '/usr/lib*/clang/*/include/stddef.h' >/dev/null \
	    || lacks "libclang with its headers" "clang on PATH, libclang's headers (Debian: libclang-dev), or LIBCLANG_PATH"

# The editable install: the Python files stay in place.
.venv/.transports: .venv/.package .venv/.dev $(transports_sources)
	@echo "building goodqueue-transports (release; some minutes the first time)"
	@cd transports && PIP_NO_INDEX=1 PIP_NO_DEPS=1 CARGO_TARGET_DIR=$(CURDIR)/target/transports ../$(BIN)/maturin develop --release --locked >../.venv/transports.log 2>&1 \
	  || { cat ../.venv/transports.log >&2; echo "make: the build failed; the lines above say where" >&2; exit 1; }
	@touch $@

.PHONY: transports transports-test
transports: transports-tools .venv/.transports

transports-test: transports .venv/.dev
	cd transports && cargo fmt --check && CARGO_TARGET_DIR=$(CURDIR)/target/transports PYO3_BUILD_EXTENSION_MODULE=1 cargo clippy --release --locked --quiet --all-targets -- $(DENIED)
	cd transports && CARGO_TARGET_DIR=$(CURDIR)/target/transports PYO3_BUILD_EXTENSION_MODULE=1 cargo test --release --locked --quiet --test without_python
	$(BIN)/python -m pytest --quiet --numprocesses logical transports/tests

# --- the page -------------------------------------------------------------------------------------------------------

WASM := wasm32-unknown-unknown
page_sources := $(shell find web/src web/lessons web/public -type f) web/index.html web/tsconfig.json web/vite.config.ts

# Rust brings the standard library for WebAssembly, or its source. The source is built with the linker of Debian's
# lld.
.PHONY: web-tools
web-tools: | rust
	@command -v npm >/dev/null || { echo "make web: no npm; accepted: Node 20.19 or newer with npm (https://nodejs.org)" >&2; exit 1; }
	@found=$$(node --version | tr -d v); [ "$$(printf '%s\n' 20.19 "$$found" | sort -V | head -n 1)" = 20.19 ] \
	  || { echo "make web: found Node $$found; accepted: 20.19 or newer (https://nodejs.org)" >&2; exit 1; }
	@[ -d "$$(rustc --print target-libdir --target $(WASM))" ] || [ -d "$$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] \
	  || { command -v rustup >/dev/null && rustup target add $(WASM); } \
	  || { echo "make web: no Rust for $(WASM); accepted: rustup target add $(WASM), or Rust's source and wasm-ld (Debian: rustc-web, cargo-web, rust-web-src, lld)" >&2; exit 1; }

# Binaryen's passes that make the compressed modules smaller, by 1.4 %. Its levels of optimisation (-Os, -Oz) inline,
# which makes a module smaller and its compressed form larger, by 4 %. They run three times, the first time before
# arguments are removed that are not needed. The other two rounds take another 0.2 %.
WASM_OPT := --duplicate-function-elimination --optimize-instructions --coalesce-locals --reorder-locals --vacuum \
  --remove-unused-brs --merge-blocks --remove-unused-brs --rse --vacuum --optimize-instructions \
  --remove-unused-module-elements --strip-producers --strip-debug --enable-bulk-memory --enable-sign-ext \
  --enable-nontrapping-float-to-int --enable-mutable-globals --enable-reference-types --enable-multivalue

# Two modules: the page starts with the small one, and fetches the complete simulator when a scenario needs it. Both
# have the same JavaScript. Without the places of panics a module is smaller, and equal on all machines. Rust has no
# stable option for that.
target/web.module: $(rust_sources) crates/web/bindgen/Cargo.lock crates/web/bindgen/src/main.rs web/node_modules/.made | web-tools
	@echo "building the simulator for the browser (two minutes the first time)"
	@flags=; export RUSTC_BOOTSTRAP=1; \
	  [ -d "$$(rustc --print target-libdir --target $(WASM))" ] || { flags='-Zbuild-std=std,panic_abort'; \
	    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$$(command -v wasm-ld || echo rust-lld)"; }; \
	  for features in "" complete; do \
	    cargo build --config 'build.rustflags=["--remap-path-prefix=crates=", "-Zlocation-detail=none"]' --quiet --locked --profile web --package goodqueue-web --features "$$features" --target $(WASM) $$flags && \
	    cargo run --quiet --locked --manifest-path crates/web/bindgen/Cargo.toml --target-dir target/bindgen -- \
	      target/$(WASM)/web/goodqueue_web.wasm "web/wasm/$$features" || exit; \
	  done
	@cmp web/wasm/goodqueue_web.js web/wasm/complete/goodqueue_web.js
	@mv web/wasm/complete/goodqueue_web_bg.wasm web/wasm/complete.wasm
	@for module in goodqueue_web_bg complete; do \
	  web/node_modules/.bin/wasm-opt $(WASM_OPT) --dae-optimizing $(WASM_OPT) $(WASM_OPT) web/wasm/$$module.wasm -o web/wasm/$$module.wasm || exit; \
	done
	@touch $@

web/node_modules/.made: web/package.json web/package-lock.json | web-tools
	@cd web && npm ci --silent || { echo "make web: npm cannot install what web/package-lock.json names; is its registry reachable?" >&2; exit 1; }
	@touch $@

python/goodqueue/page/index.html: target/web.module web/node_modules/.made $(page_sources)
	@cd web && npm run --silent build -- --logLevel warn
	@touch $@

web: python/goodqueue/page/index.html
	@echo "goodqueue serve opens it; python/goodqueue/page is all that a static host needs."

web-test: web
	@command -v chromium >/dev/null || { echo "make web-test: no chromium; accepted: Chromium on PATH (Debian: chromium)" >&2; exit 1; }
	cd web && npm test --silent -- $(WEB_TESTS)

# --- demo and tests -------------------------------------------------------------------------------------------------

demo: .venv/.maturin
	@[ -e .venv/.package ] && [ -z "$$(find pyproject.toml $(rust_sources) -newer .venv/.package -print -quit)" ] || $(MAKE) .venv/.demo
	@$(GOODQUEUE) compare pfifo ared pie codel fq_codel --rate 10mbit --rtt 50ms --out demo-report --force
	@echo "Open $(CURDIR)/demo-report/report.html in a browser."
	@[ ! -e .venv/.demo ] || echo "This build was made for a demo. 'make package' makes one that simulates faster, in 210 CPU seconds."

# The store keeps each run by the code that made it: if make is killed, it goes on, and a changed simulator runs anew.
PAPERS = hoiland2015 hoiland2017 khademi2013 le2003 nichols2012 schwardmann2014
RAW = sarpkaya2025 taht2016 l4steam2020 srivastava2024
claims: .venv/.package .venv/.dev
	@$(GOODQUEUE) claims $(PAPERS) --out experiments/claims --store target/claims
	@$(BIN)/python tools/docs/generate.py

raw: .venv/.package .venv/.dev
	@$(GOODQUEUE) claims $(RAW) --out experiments/raw --store target/claims
	@$(BIN)/python tools/docs/generate.py
	@$(BIN)/python tools/docs/glance.py

test: lint rust-test python-test

rust-test: | rust
	cargo test --workspace --quiet

# A microcontroller of Arm's has no std, so code that needs std does not compile for it. Where rustup does not bring the
# target, Rust's source does, as for the page.
BARE := thumbv7em-none-eabihf
bare: | rust
	@[ -d "$$(rustc --print target-libdir --target $(BARE))" ] || [ -d "$$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] \
	  || { command -v rustup >/dev/null && rustup target add $(BARE); } \
	  || { echo "make bare: no Rust for $(BARE); accepted: rustup target add $(BARE), or Rust's source (Debian: rust-web-src)" >&2; exit 1; }
	@flags=; [ -d "$$(rustc --print target-libdir --target $(BARE))" ] || { flags='-Zbuild-std=core,alloc'; export RUSTC_BOOTSTRAP=1; }; \
	  cargo check --quiet --locked --target $(BARE) $$flags --package goodqueue-units --package goodqueue-qdisc --package goodqueue-tcp

# Clippy (`incompatible_msrv`) finds most of what is too new. Only the old compiler itself finds all.
msrv: | rust
	@oldest=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml).0; \
	  rustup run $$oldest rustc --version >/dev/null 2>&1 || rustup toolchain install --profile minimal $$oldest \
	    || { echo "make msrv: no Rust $$oldest; accepted: rustup toolchain install $$oldest" >&2; exit 1; }; \
	  PYO3_BUILD_EXTENSION_MODULE=1 rustup run $$oldest cargo check --quiet --locked --workspace --target-dir target/msrv

python-test: .venv/.package .venv/.dev
	$(BIN)/python -m pytest --quiet --numprocesses logical --dist worksteal

long-test: .venv/.package .venv/.dev
	$(BIN)/python -m pytest --quiet --numprocesses logical --dist worksteal -m long

# A debug build checks what the extension does inside Python's objects, which a release build does not. It builds the
# whole workspace: for the extension alone, cargo would choose other features than for `rust-test`, and build the
# simulator and its dependencies again.
debug-test: .venv/.package .venv/.dev | rust
	PYO3_BUILD_EXTENSION_MODULE=1 cargo build --quiet --profile test --workspace --lib
	@rm -rf target/debug-python && mkdir -p target/debug-python && cp -RL python/goodqueue target/debug-python/
	@cp target/debug/lib_goodqueue.so target/debug-python/goodqueue/_goodqueue.abi3.so
	PYTHONPATH=$(CURDIR)/target/debug-python $(BIN)/python -m pytest --quiet --numprocesses logical --dist worksteal $(DEBUG_TESTS)

DEBUG_TESTS := tests/api/test_python_discipline.py tests/api/test_qdisc_api.py tests/store/test_trace.py tests/store/test_record.py

debug-link-test:
	@$(MAKE) debug-test DEBUG_TESTS="$(wildcard tests/engines/test_link*.py) tests/engines/test_live_engine.py -m ''"

# The code must pass the lints of this Rust. Lints of a newer Rust are reported, but are no error.
DENIED = $(shell printf '%s\n' "$$(cargo --version | cut -d' ' -f2)" 1.95.99 | sort -V -C && echo -D warnings)

# mypy has one thread, and clippy waits for single crates.
lint: .venv/.package .venv/.dev | rust
	@$(MAKE) lint-rust & rust=$$!; $(MAKE) lint-python; python=$$?; wait $$rust && exit $$python

lint-rust: | rust
	@cargo fmt --version >/dev/null 2>&1 || { echo "make: no rustfmt; accepted: rustup component add rustfmt" >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || { echo "make: no clippy; accepted: rustup component add clippy" >&2; exit 1; }
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- $(DENIED)

lint-python: .venv/.package .venv/.dev
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/mypy benches/*.py
	$(BIN)/stubtest goodqueue._goodqueue --concise --mypy-config-file pyproject.toml --allowlist crates/python/stubtest.allow

# The links of the crates' documentation. No other step needs what it builds.
rust-docs: | rust
	RUSTDOCFLAGS="$(DENIED)" cargo doc --workspace --no-deps --quiet

format: .venv/.dev
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# Advisories: of RustSec, of the Python index and of npm.
audit: .venv/.dev
	@command -v cargo-deny >/dev/null || { echo "make audit: no cargo-deny; accepted: cargo install --locked cargo-deny" >&2; exit 1; }
	@$(PIP) requirements/audit.txt
	@for manifest in Cargo.toml fuzz/Cargo.toml transports/Cargo.toml crates/web/bindgen/Cargo.toml; do \
	  echo "$$manifest"; cargo deny --manifest-path $$manifest --locked --config deny.toml check; done
	$(BIN)/pip-audit --strict --disable-pip --require-hashes $(foreach file,$(wildcard requirements/*.txt),--requirement $(file))
	cd web && npm audit

# What a crate's next version may change (docs/reference/stability.md). It reads the crates' interfaces, and compiles no tests.
BASELINE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
semver: | rust
	@[ -n "$(BASELINE)" ] || { echo "make semver: no tag v*, so no release to compare with; accepted: BASELINE=COMMIT" >&2; exit 1; }
	@command -v cargo-semver-checks >/dev/null \
	  || { echo "make semver: no cargo-semver-checks; accepted: cargo install --locked cargo-semver-checks" >&2; exit 1; }
	cargo semver-checks --workspace --baseline-rev $(BASELINE)

bench: .venv/.optimised
	@$(GOODQUEUE) bench

bench-instructions: .venv/.made
	@$(BIN)/python benches/instructions.py

TARGETS := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))

# What is found goes into fuzz/corpus, which git ignores. fuzz/seeds has a small part of it.
fuzz: SECONDS ?= 60
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo "make: no cargo-fuzz; accepted: cargo install cargo-fuzz" >&2; exit 1; }
	@for target in $(TARGETS); do mkdir -p fuzz/corpus/$$target fuzz/seeds/$$target; \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
	    -max_total_time=$(SECONDS) -max_len=4096 -len_control=0 -timeout=20 -print_final_stats=1; \
	done

# Tests that use tests/tries.py. Each change runs the first few of their seeds.
properties: export GOODQUEUE_SECONDS = $(SECONDS)
properties: SECONDS ?= 60
properties: .venv/.package .venv/.dev
	$(BIN)/python -m pytest --quiet -rP $$(grep -l 'from tries import' -r tests --include='test_*.py') -k 'whatever or however or sold or threads_that_share or forks'

# Of the inputs that reach what no smaller one reaches, the smallest: 4 kB per target.
fuzz-seeds:
	@for target in $(TARGETS); do seeds=fuzz/seeds/$$target; \
	  rm -rf target/seeds && mkdir -p target/seeds fuzz/corpus/$$target $$seeds; \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run $$target target/seeds fuzz/corpus/$$target $$seeds -- -merge=1 -max_len=1024; \
	  rm -f $$seeds/*; left=4096; \
	  for file in $$(ls -Sr target/seeds); do left=$$((left - $$(wc -c <target/seeds/$$file))); \
	    [ $$left -lt 0 ] || cp target/seeds/$$file $$seeds; done; \
	done

# AddressSanitizer is a part of Rust whose switch is not stable. cc compiles C's part of the programs, with the sanitizer
# of undefined behaviour, too. A target of its own keeps the sanitizer out of build scripts.
sanitize: export RUSTC_BOOTSTRAP := 1
sanitize: export RUSTFLAGS := -Zsanitizer=address
sanitize: export CARGO_TARGET_DIR := $(CURDIR)/target/sanitize
sanitize: export CARGO_BUILD_TARGET = $(shell rustc --print host-tuple)
sanitize: export GOODQUEUE_CFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all
sanitize: | rust
	cargo test --quiet --locked --lib --tests --package goodqueue-units --package goodqueue-qdisc --package goodqueue-capi
	cargo test --quiet --locked --lib --package goodqueue-sockets options
	@built=$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/debug/deps; cc $(GOODQUEUE_CFLAGS) -Icrates/capi/include \
	    crates/capi/tests/ack_filter.c $$built/libgoodqueue_capi.a -lpthread -ldl -lm -o $$built/ack_filter; \
	  for size in 40 39 0; do $$built/ack_filter $$size; done
	@$(MAKE) fuzz-standalone INPUTS=2000

# Miri calls no C, so it checks the C library by the calls of its Rust tests. Of `qdisc`, which has no unsafe code, it
# runs the tests of what its queues are made of. Miri is a hundred times slower than the program.
miri: export MIRIFLAGS ?= -Zmiri-disable-isolation
miri: export PROPTEST_CASES ?= 8
miri: | rust
	@cargo +nightly miri --version >/dev/null 2>&1 \
	  || { echo "make miri: no Miri; accepted: rustup toolchain install nightly --component miri --component rust-src" >&2; exit 1; }
	cargo +nightly miri test --quiet --locked --target-dir target/miri --package goodqueue-capi --test ffi
	cargo +nightly miri test --quiet --locked --target-dir target/miri --package goodqueue-units --lib
	cargo +nightly miri test --quiet --locked --target-dir target/miri --package goodqueue-qdisc --lib -- slab fattest heap

mutants: SHARD ?= 0/100
mutants:
	@command -v cargo-mutants >/dev/null || { echo "make: no cargo-mutants; accepted: cargo install cargo-mutants" >&2; exit 1; }
	CARGO_PROFILE_TEST_DEBUG=0 cargo mutants --output target --sharding round-robin --shard $(SHARD)

# Nothing is linked, so libFuzzer, which is C++, need not be compiled: any other path in its place will do.
fuzz-check: export CUSTOM_LIBFUZZER_PATH := ./libnone.a
fuzz-check: export CUSTOM_LIBFUZZER_STD_CXX := none
fuzz-check: export CARGO_TARGET_DIR ?= $(CURDIR)/target
fuzz-check: | rust
	cargo check --quiet --locked --manifest-path fuzz/Cargo.toml

# Links fuzz/standalone.c in place of libFuzzer, so that a stable Rust without a C++ compiler is enough.
fuzz-standalone: export CUSTOM_LIBFUZZER_PATH := $(CURDIR)/target/fuzz-standalone/libstandalone.a
fuzz-standalone: export CUSTOM_LIBFUZZER_STD_CXX := none
fuzz-standalone: export CARGO_TARGET_DIR ?= $(CURDIR)/target
fuzz-standalone: INPUTS ?= 20000
fuzz-standalone: | rust
	@mkdir -p $(dir $(CUSTOM_LIBFUZZER_PATH))
	@cc -O1 -Wall -Wextra -Werror -c fuzz/standalone.c -o $(CUSTOM_LIBFUZZER_PATH:.a=.o)
	@ar rcs $(CUSTOM_LIBFUZZER_PATH) $(CUSTOM_LIBFUZZER_PATH:.a=.o)
	cargo build --quiet --locked --manifest-path fuzz/Cargo.toml
	@for target in $(TARGETS); do \
	  [ $$target = path ] && inputs=$$(( ($(INPUTS) + 3) / 4 )) || inputs=$(INPUTS); `# a scenario that resolves is run twice` \
	  "$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/debug/$$target" $$inputs fuzz/seeds/$$target/*; \
	done

# --- packaging -----------------------------------------------------------------------------------------------------

PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
lib := $(DESTDIR)$(PREFIX)/lib

# crates/capi/build.rs sets the name that programs are linked to (SONAME).
install-c: | rust
	@command -v readelf >/dev/null || { echo "make: no readelf; accepted: binutils, on Linux" >&2; exit 1; }
	cargo build --quiet --locked --release --package goodqueue-capi
	@install -d '$(DESTDIR)$(PREFIX)/include' '$(lib)/pkgconfig'
	@install -m 644 crates/capi/include/*.h '$(DESTDIR)$(PREFIX)/include'
	@install -m 644 target/release/libgoodqueue_capi.a '$(lib)/libgoodqueue_qdisc.a'
	@install -m 755 target/release/libgoodqueue_capi.so '$(lib)/libgoodqueue_qdisc.so.$(VERSION)'
	@soname=$$(readelf -d target/release/libgoodqueue_capi.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'); \
	  ln -sf 'libgoodqueue_qdisc.so.$(VERSION)' "$(lib)/$$soname"; ln -sf "$$soname" '$(lib)/libgoodqueue_qdisc.so'
	@sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' crates/capi/goodqueue-qdisc.pc.in >'$(lib)/pkgconfig/goodqueue-qdisc.pc'

# maturin takes the files to install beside the package from a folder of this name. `man` finds share/man below the
# prefix.
beside := goodqueue._goodqueue.data

man: .venv/.package
	@rm -rf $(beside)
	@$(BIN)/python tools/docs/man.py $(beside)/data/share/man/man1
	@echo "man -l $(beside)/data/share/man/man1/goodqueue.1 shows the first."

# Zig links for other systems than this one, and for an old glibc. 2.17 is the glibc of the oldest Linux on which Rust
# runs. One wheel serves every Python from 3.11 on (abi3). maturin's audit refuses a library that needs more than the
# wheel's name says. On macOS and Windows there is the simulator alone. For Windows, maturin makes zig export a name that
# no module has, so MinGW links there.
#
# Linux's wheel for this machine's architecture has the profile, which is made by running the build that counts. If zig
# links for this target, maturin sets Cargo's target-applies-to-host to false. Then each crate that depends on a build
# script or a procedural macro has other symbols than in the build that counts, so it is set back.
PROFILED = $(filter %-linux-gnu,$(filter $(TARGET),$(WHEELS)))
WHEELS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-gnu
dist: web man
	@rm -rf dist
	@$(PIP) requirements/dist.txt || { echo "make: ziglang (a linker) cannot be installed; is the package index (PyPI) reachable?" >&2; exit 1; }
	@for target in $(WHEELS); do [ -d "$$(rustc --print target-libdir --target $$target)" ] \
	  || { command -v rustup >/dev/null && rustup target add $$target; } \
	  || { echo "make dist: no Rust for $$target; accepted: rustup target add $$target" >&2; exit 1; }; done
	@[[ "$(WHEELS)" != *windows* ]] || command -v x86_64-w64-mingw32-gcc >/dev/null \
	  || { echo "make dist: no linker for Windows; accepted: MinGW (Debian: gcc-mingw-w64-x86-64), or WHEELS without it" >&2; exit 1; }
	@$(if $(PROFILED),$(MAKE) $(COUNTS)/merged.profdata)
	$(BIN)/maturin sdist --out dist
	@for target in $(WHEELS); do \
	  case $$target in *-linux-*) how=(--zig --compatibility manylinux_2_17);; *-windows-*) how=();; *) how=(--zig);; esac; \
	  [ $$target != "$(PROFILED)" ] || how+=($(WITH_PROFILE) --config target-applies-to-host=true); \
	  PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked "$${how[@]}" --target $$target --out dist; \
	done
	@cd dist && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS && cat SHA256SUMS

PYTHONS ?= python3
try-wheel:
	@for python in $(PYTHONS); do $$python tests/wheel.py dist; done

export SUITE ?= bookworm
try-debian:
	@sh tests/debian.sh dist

# Without the variable, mkdocs prints an advertisement of its next version.
docs: .venv/.package .venv/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python tools/docs/site.py site
	@echo "Open $(CURDIR)/site/index.html in a browser; for the search: python3 -m http.server --bind 127.0.0.1 --directory site"

clean:
	rm -rf $(beside) dist site .venv target demo-report python/goodqueue/_goodqueue*.so python/goodqueue/page web/node_modules web/wasm
