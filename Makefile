# Thin: what each target does is in scripts/ and CMake. `make help` lists them.
#
#   MPI=openmpi|mpich|none    the MPI to test with (the library serves any); openmpi builds into build/, the others into
#                             build-$(MPI)/
#   UNITY=OFF                 compile each file alone, which suits who edits (when the build folder is made)
#   INPUT=my.npy              the volume for `make demo`
#   CUDA=AUTO|ON|OFF          kernels for GPUs: AUTO where nvcc is; the demo and the tests, where a GPU is, too
#   PARTITA_SETUP=skip        install nothing

MPI ?= openmpi
BUILD ?= $(if $(filter openmpi,$(MPI)),build,build-$(MPI))
JOBS ?= $(shell nproc)
# Ranks wait for each other and for deadlines: the tests of several ranks take two thirds of a core.
TEST_JOBS ?= $(shell expr $(JOBS) \* 3 / 2)
PREFIX ?= /usr/local
UNITY ?= ON
INPUT ?=
TEST_FLAGS ?=
# What stays on this machine has no kernels if it has no GPU.
CUDA = AUTO
demo docs test: CUDA := PRESENT
export MPI BUILD JOBS

.DEFAULT_GOAL := all
.PHONY: all help setup setup-lint configure test test-openmpi test-mpich test-threads test-cuda measure-cuda bundle-cuda wheel demo check format \
        check-format lint docs install clean

all: configure  ## build into build/ (the command is build/bin/partita); the default
	@cmake --build $(BUILD) -j $(JOBS)

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup:  ## install what is missing (Debian, Ubuntu), and Python's packages into the build folder
	@scripts/setup
	@scripts/setup-python $(BUILD)

setup-lint:
	@scripts/setup lint

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release -B $(BUILD) -DPARTITA_MPI=$(MPI) -DPARTITA_UNITY=$(UNITY) -DPARTITA_CUDA=$(CUDA)
	@[ $(CUDA) = PRESENT ] || ! grep -q '^PARTITA_CUDA:STRING=PRESENT' $(BUILD)/CMakeCache.txt || cmake -B $(BUILD) -DPARTITA_CUDA=$(CUDA)

test: all  ## build and test
	@ctest --test-dir $(BUILD) --output-on-failure -j $(TEST_JOBS) $(if $(PARTITA_FULL),-C full) \
	  --timeout $(if $(PARTITA_FULL)$(PARTITA_STRESS_SECONDS),7200,240) $(TEST_FLAGS)

test-openmpi test-mpich: test-%:  ## build and test with the named MPI
	@$(MAKE) --no-print-directory test MPI=$* BUILD=$(if $(filter openmpi,$*),build,build-$*)

test-threads:  ## build and test without MPI: the ranks are threads
	@$(MAKE) --no-print-directory test MPI=none BUILD=build-none

test-cuda: all  ## the tests of GPUs, where there are any; names what is skipped elsewhere
	@scripts/test-cuda $(BUILD)/bin

measure-cuda: all  ## the measures of GPUs, on all there are; JSON lines into $OUT, else here
	@scripts/measure-cuda $(BUILD)/bin

bundle-cuda: all  ## pack tests, benches and command with their libraries into build-bundle/, for a machine with GPUs
	@scripts/bundle-cuda $(BUILD) build-bundle

demo: configure  ## the main job on 4 processes; INPUT=my.npy takes your own volume
	@cmake --build $(BUILD) -j $(JOBS) --target partita_command
	@$(if $(INPUT),true,scripts/fetch-volume || echo "demo: no brain volume; going on with a generated one")
	@PARTITA=$(BUILD)/bin/partita scripts/demo $(INPUT)

check:  ## everything: lint, the full rank tests, sanitizers, MPICH; no time limit
	@scripts/check

format: setup-lint  ## format all sources
	@scripts/format

check-format: setup-lint
	@scripts/format --check

lint: check-format setup  ## clang-format and clang-tidy over all sources
	@scripts/lint --all

docs: configure  ## the documentation site, into build/docs/site, with the reference of the headers (build/docs/html)
	@scripts/setup docs
	@scripts/docs $(BUILD)/docs
	@cmake --build $(BUILD) -j $(JOBS) --target partita_command partita_python
	@test -x $(BUILD)/docs-venv/bin/sphinx-build || { python3 -m venv $(BUILD)/docs-venv && \
	  $(BUILD)/docs-venv/bin/pip install -q --disable-pip-version-check sphinx myst-parser pydata-sphinx-theme matplotlib numpy; }
	@$(BUILD)/docs-venv/bin/python scripts/site $(BUILD)

wheel:  ## wheels of the Python package for other machines, into build/wheel/
	@scripts/setup && MPI=mpich scripts/setup
	@scripts/wheel $(BUILD)/wheel

install: configure  ## install library, command and Python package into PREFIX (/usr/local)
	@cmake --build $(BUILD) -j $(JOBS) --target partita_installed
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:  ## remove all build folders; data/ and output/ stay
	@rm -rf build build-*
