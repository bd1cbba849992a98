# stepcast: builds, checks and shows itself. `make help` lists what can be made.
#
# Rooms and what each may include: README.md, "The map". A source beside its header is part of the
# library; *_test.c, *_bench.c and *_fuzz.c stand beside what they check and are programs of their own.

ifeq ($(origin CC),default)
CC      := gcc
endif
BUILD   ?= build
OPT     ?= -O2 -g
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual \
           -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla \
           -Wformat=2 -Wundef -Werror
ifeq ($(findstring clang,$(CC)),)
WARN    += -Wdouble-promotion # clang finds one in every INFINITY
endif
prefix  ?= /usr/local
SECONDS ?= 60
JOBS    ?= $(shell nproc)

ROOMS     := sim/base sim/engine hw models plots validate sim/cli
SOURCES   := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
HEADERS   := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.h)))
TESTS     := $(filter %_test.c,$(SOURCES))
BENCHES   := $(filter %_bench.c,$(SOURCES))
FUZZES    := $(filter %_fuzz.c,$(SOURCES))
MEASURE   := validate/measure_main.c validate/measure_lines.c validate/measure_launch.c \
             validate/measure_round_lines.c validate/measure_step.c
MAINS     := sim/cli/main.c sim/cli/main_mpi.c $(MEASURE)
# The processes of build/measure-mpi; those of all else are one (validate/process_group.h).
PROCESSES := validate/process_group_mpi.c
# Those of build/stepcast-mpi (sim/cli/ranks.h).
RANKS     := sim/cli/ranks_mpi.c
LIBRARY   := $(filter-out $(TESTS) $(BENCHES) $(FUZZES) $(MAINS) $(PROCESSES) $(RANKS),$(SOURCES))
DEMO      := configs/runs/zaya1-base-4k-1024.json

# Asked for once, and only when something is compiled: a bare machine has no pkg-config yet.
once           = $(eval $1 := $2)$($1)
# Open MPI where it is installed; without it there is no build/measure-mpi.
MPI           := $(shell pkg-config --exists ompi-c 2>/dev/null && echo ompi-c)
MPI_LIBS       = $(call once,MPI_LIBS,$(shell pkg-config --libs $(MPI)))
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,$(patsubst -I%,-isystem%,$(shell \
                 pkg-config --cflags jansson gsl pangocairo libpng hwloc sqlite3 $(MPI))))
PACKAGE_LIBS   = $(call once,PACKAGE_LIBS,$(shell pkg-config --libs jansson gsl pangocairo libpng hwloc sqlite3))
JANSSON_LIBS   = $(call once,JANSSON_LIBS,$(shell pkg-config --libs jansson))
CHECK_LIBS     = $(call once,CHECK_LIBS,$(shell pkg-config --libs check))
# Before GSL's own BLAS, which would answer to the same names.
MEASURE_LIBS   := -lopenblas -fopenmp
# What measures goes to machines that have nothing else of this: the reader of JSON inside it, where
# there is an archive of it.
MEASURE_JSON    = $(call once,MEASURE_JSON,$(or $(wildcard \
                  $(shell pkg-config --variable=libdir jansson)/libjansson.a),$(JANSSON_LIBS)))

# -ffp-contract=off: gcc and clang must give the same bytes.
LANGUAGE = -std=c11 -D_XOPEN_SOURCE=700 -I. $(PACKAGE_CFLAGS)
COMPILE  = $(CC) $(LANGUAGE) -ffp-contract=off $(OPT) $(WARN) $(SANITIZE) $(CFLAGS) $(CPPFLAGS)
LINK     = $(CC) $(OPT) $(SANITIZE) $(LDFLAGS)
# One short line a file; `make V=1` shows whole commands.
say      = $(if $(V),,@echo '  $1'; )

.DELETE_ON_ERROR:
.SECONDARY:
PROGRAMS := $(BUILD)/stepcast $(BUILD)/measure $(if $(MPI),$(BUILD)/measure-mpi $(BUILD)/stepcast-mpi)
.PHONY: all
all: $(PROGRAMS) ## the programs (what plain `make` does)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F @ '{ printf "%-22s %s\n", $$1, $$2 }'

# One job a core, unless the caller has said otherwise.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# ---- Building

.PHONY: packages ready FORCE
packages: ## installs what a build needs from Debian
	@.ci/packages build
ready:
	@.ci/packages missing

# Each changes when what it holds does: a compiler or a flag, and everything is compiled anew; a
# source that came or went, and the library and the list of tests are made anew.
quoted = '$(subst ','\'',$1)'
hold   = mkdir -p $(@D); echo $(call quoted,$1) | cmp -s - $@ || echo $(call quoted,$1) >$@
$(BUILD)/flags: FORCE | ready
	@$(call hold,$(COMPILE) / $(TIMED_OPT) / $(QUICK_OPT) / $(LINK))
$(BUILD)/sources: FORCE
	@$(call hold,$(SOURCES))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(COMPILE) -MMD -MP -c $< -o $@

# What build/measure times is compiled for the machine that it measures.
TIMED_OBJECTS := $(BUILD)/obj/validate/cpu_rows.o $(BUILD)/obj/validate/cpu_stream.o \
                 $(BUILD)/obj/validate/cpu_attention.o $(BUILD)/obj/validate/cpu_convolution.o \
                 $(BUILD)/obj/validate/cpu_experts.o
TIMED_OPT     := -O3 -march=native -fno-math-errno -fno-trapping-math
$(TIMED_OBJECTS): private OPT := $(OPT) $(TIMED_OPT)

# What a search runs through thousands of times: 1.03 to 1.2 times as fast for 2 s more of compiling.
# Nobody reads the flags of floating-point exceptions, which keep gcc from taking two tiles at once.
QUICK_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter sim/engine/% hw/% models/%,$(LIBRARY)))
QUICK_OPT     := -O3 -fno-trapping-math
$(QUICK_OBJECTS): private OPT := $(OPT) $(QUICK_OPT)

$(BUILD)/obj/validate/cpu_threads.o: private OPT := $(OPT) -fopenmp

# The source of the GPU kernels, that a GPU's own compiler gets at run time: its lines as text.
# gpu_heads.cu is there twice: for narrow heads, then for wide ones.
GPU_KERNELS := $(patsubst %,validate/gpu_%.cu,kernels rows moves attention training heads heads)
$(BUILD)/gpu_kernels.c: $(sort $(GPU_KERNELS)) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "validate/gpu_kernels.h"'; echo 'const char *const gpu_kernel_lines[] = {'; \
	   cat $(GPU_KERNELS) | sed 's/[\\"]/\\&/g; s/.*/"&",/'; echo '0};'; } >$@
$(BUILD)/obj/gpu_kernels.o: $(BUILD)/gpu_kernels.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(COMPILE) -MMD -MP -c $< -o $@

# The same kernels as C in fp32, for tests without a GPU (validate/check_gpu.h).
$(BUILD)/gpu_kernels_host.c: $(sort $(GPU_KERNELS)) .ci/gpu-host Makefile
	@mkdir -p $(@D)
	@.ci/gpu-host $(GPU_KERNELS) >$@
$(BUILD)/obj/gpu_kernels_host.o: $(BUILD)/gpu_kernels_host.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(CC) $(LANGUAGE) $(OPT) $(SANITIZE) $(CFLAGS) -w -MMD -MP -c $< -o $@

# Which sources the program was built from, by which stored results know whether they are its own.
$(BUILD)/program_version.c: $(LIBRARY) $(HEADERS) $(BUILD)/sources Makefile
	@mkdir -p $(@D)
	@{ echo '#include "sim/cli/version.h"'; \
	   echo 'const char program_version[] = STEPCAST_VERSION "+'$$(cat $(LIBRARY) $(HEADERS) | \
	   sha256sum | cut -c 1-16)'";'; } >$@
$(BUILD)/obj/program_version.o: $(BUILD)/program_version.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(COMPILE) -MMD -MP -c $< -o $@

LIBRARY_OBJECTS := $(LIBRARY:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gpu_kernels.o $(BUILD)/obj/program_version.o
$(BUILD)/libstepcast.a: $(LIBRARY_OBJECTS) $(BUILD)/sources
	@rm -f $@
	$(call say,ar $@)ar rcsD $@ $(LIBRARY_OBJECTS)

$(BUILD)/stepcast: $(BUILD)/obj/sim/cli/main.o $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(PACKAGE_LIBS) -lm -o $@

MEASURE_OBJECTS := $(MEASURE:%.c=$(BUILD)/obj/%.o)
$(BUILD)/measure: $(MEASURE_OBJECTS) $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(MEASURE_JSON) $(MEASURE_LIBS) -lm -o $@

# Its processes come before the library's.
PROCESSES_OBJECT := $(PROCESSES:%.c=$(BUILD)/obj/%.o)
$(BUILD)/measure-mpi: $(MEASURE_OBJECTS) $(PROCESSES_OBJECT) $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(MEASURE_JSON) $(MEASURE_LIBS) $(MPI_LIBS) -lm -o $@

$(BUILD)/stepcast-mpi: $(BUILD)/obj/sim/cli/main_mpi.o $(RANKS:%.c=$(BUILD)/obj/%.o) $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(PACKAGE_LIBS) $(MPI_LIBS) -lm -o $@

.PHONY: install uninstall
install: all ## the program, its man page and configs, to $(DESTDIR)$(prefix)
	install -D -t '$(DESTDIR)$(prefix)/bin' $(PROGRAMS)
	install -D -m 644 -t '$(DESTDIR)$(prefix)/share/man/man1' sim/cli/stepcast.1
	find configs -type f -exec install -D -m 644 '{}' '$(DESTDIR)$(prefix)/share/stepcast/{}' ';'
uninstall: ## takes that away again
	rm -f $(PROGRAMS:$(BUILD)/%='$(DESTDIR)$(prefix)/bin/%') '$(DESTDIR)$(prefix)/share/man/man1/stepcast.1'
	rm -rf '$(DESTDIR)$(prefix)/share/stepcast'

.PHONY: clean
clean: ## forgets everything built
	rm -rf $(BUILD)

# ---- Showing

.PHONY: demo
demo: packages ## predicts and draws ZAYA1-base on 1,024 MI300X
	@$(MAKE) --no-print-directory $(PARALLEL) all
	$(BUILD)/stepcast run $(DEMO)
	$(BUILD)/stepcast timeline $(DEMO) -o $(BUILD)/zaya1-step.png
	$(BUILD)/stepcast timeline $(DEMO) -o $(BUILD)/zaya1-step.svg
	$(BUILD)/stepcast timeline $(DEMO) -o $(BUILD)/zaya1-step.json

.PHONY: validate validate-host
validate: all ## error tables against measured times and this machine's, and whether they keep their limits
	@status=0; $(BUILD)/stepcast validate --suite validate/tolerances.json || status=$$?; \
	    $(MAKE) --no-print-directory validate-host && exit $$status
HOST_SECONDS := 270
HOST_LIMITS := gemm=15% grouped_gemm=20% attention=20% attention_backward=20% memory_bound=15%
validate-host: all ## the latter alone: measures its cores, fits one, holds it to the rest
	@.ci/host $(BUILD) $(HOST_SECONDS) $(HOST_LIMITS)

.PHONY: bench
bench: $(BUILD)/stepcast $(BENCHES:%.c=$(BUILD)/bench/%) $(BUILD)/bench/whole_process ## speed and memory, to build/bench.json
	@.ci/bench $(BUILD) $(DEMO) $(BENCHES:%.c=$(BUILD)/bench/%)
# Of processor time; 0.3 s is what a reader waits for without noticing.
CHART_LIMIT_S ?= 0.3
.PHONY: chart-times
chart-times: $(BUILD)/bench/plots/chart_bench ## that no chart takes over 0.3 s, be it of a million points
	@$< >$(BUILD)/chart_times
	@awk '$$2 > $(CHART_LIMIT_S) { print $$1 " is " $$2 ", the limit $(CHART_LIMIT_S)"; late = 1 } \
	    END { exit late }' $(BUILD)/chart_times
	@echo 'chart-times: no chart takes over $(CHART_LIMIT_S) s'
$(BUILD)/bench/%: $(BUILD)/obj/%.o $(BUILD)/libstepcast.a
	@mkdir -p $(@D)
	$(call say,link $@)$(LINK) $^ $(PACKAGE_LIBS) -lm -o $@
$(BUILD)/bench/whole_process: .ci/whole_process.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(COMPILE) -D_DEFAULT_SOURCE $< -o $@

# ---- Checking

# The last word is the caller's.
export LSAN_OPTIONS := suppressions="$(CURDIR)/.ci/leaks.txt":print_suppressions=0:$(LSAN_OPTIONS)

# One program of all tests. x_test.c defines `Suite *x_suite(void)`; the list is made here.
suites = $(basename $(notdir $(1:%_test.c=%.c)))
test_main = { echo '\#include <check.h>'; \
	   for s in $(call suites,$1); do echo "Suite *$${s}_suite(void);"; done; \
	   echo 'int main(void) { SRunner *runner = srunner_create(NULL);'; \
	   for s in $(call suites,$1); do echo "srunner_add_suite(runner, $${s}_suite());"; done; \
	   echo 'srunner_run_all(runner, CK_ENV); int failed = srunner_ntests_failed(runner);'; \
	   echo 'srunner_free(runner); return failed != 0; }'; }
$(BUILD)/unit_main.c: $(BUILD)/sources Makefile
	@mkdir -p $(@D)
	@$(call test_main,$(TESTS)) >$@
MPI_TESTS := validate/process_group_test.c validate/process_collective_test.c \
             validate/training_processes_test.c
$(BUILD)/unit-mpi_main.c: Makefile
	@mkdir -p $(@D)
	@$(call test_main,$(MPI_TESTS)) >$@
$(BUILD)/obj/unit%main.o: $(BUILD)/unit%main.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$(CC) $<)$(CC) -std=c11 $(SANITIZE) -c $< -o $@
$(BUILD)/unit: $(BUILD)/obj/unit_main.o $(TESTS:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gpu_kernels_host.o \
               $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(CHECK_LIBS) $(MEASURE_LIBS) $(PACKAGE_LIBS) -lm -o $@
$(BUILD)/unit-mpi: $(BUILD)/obj/unit-mpi_main.o $(MPI_TESTS:%.c=$(BUILD)/obj/%.o) $(PROCESSES_OBJECT) \
                   $(BUILD)/libstepcast.a
	$(call say,link $@)$(LINK) $^ $(CHECK_LIBS) $(MEASURE_LIBS) $(JANSSON_LIBS) $(MPI_LIBS) -lm -o $@

.PHONY: unit
unit: $(BUILD)/unit ## the unit tests
	CK_DEFAULT_TIMEOUT=60 $(BUILD)/unit

# More processes than cores are welcome, and the root of a container is no root to fear. MPI starts
# once in a process: a suite at a time.
MPIRUN := OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe \
          --bind-to none --mca mpi_yield_when_idle 1
.PHONY: unit-mpi
unit-mpi: $(if $(MPI),$(BUILD)/unit-mpi) ## those of groups of processes, on three, where Open MPI is installed
	@$(if $(MPI),for s in $(call suites,$(MPI_TESTS)); do CK_RUN_SUITE=$$s CK_FORK=no $(MPIRUN) -n 3 \
	    $(BUILD)/unit-mpi || exit; done,echo 'unit-mpi: Open MPI is not installed')

.PHONY: check
check: ## builds everything and runs every check below (CI runs exactly this)
	@.ci/packages check
	@$(MAKE) --no-print-directory --keep-going --output-sync=target CC=gcc \
	    $(PARALLEL) check-all
	@echo 'check: everything passed'

# Beside the rest of the check on a shared machine; `make validate` holds to the limits above.
.PHONY: check-all
check-all: CHART_LIMIT_S := 0.6
check-all: HOST_SECONDS := 900
check-all: HOST_LIMITS := gemm=20% grouped_gemm=40% attention=30% attention_backward=30% memory_bound=25%
check-all: unit unit-mpi errors-kept validate-host unit-sanitized tidy fuzz-smoke cppcheck program-tests-sanitized program-tests same-bytes readme \
           ranks simgrid report headers layers pure text format-check man-lint scripts chart-times $(BENCHES:%.c=$(BUILD)/bench/%)

# The same sources a second and a third time; each folder is built by one make, never by two.
SANITIZERS  := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_PROGRAMS = $(FUZZES:%.c=$(BUILD)/fuzz/%)
.PHONY: build-clang build-sanitized everything
build-clang:
	@$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/clang all
build-sanitized:
	@$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/sanitized OPT='-O1 -g' \
	    SANITIZE='$(SANITIZERS)' everything fuzz-programs
everything: all $(BUILD)/unit

.PHONY: unit-sanitized
# All in one process: looking for leaks takes a third of a second, and each process would. Without
# those that simulate hundreds of plans.
unit-sanitized: build-sanitized ## the unit tests by clang, under address and undefined behaviour sanitizers
	CK_FORK=no CK_EXCLUDE_TAGS=many_runs $(BUILD)/sanitized/unit

.PHONY: fuzz fuzz-smoke fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS)
$(BUILD)/fuzz/%: $(BUILD)/obj/%.o $(BUILD)/libstepcast.a
	@mkdir -p $(@D)
	$(call say,link $@)$(LINK) -fsanitize=fuzzer $^ $(PACKAGE_LIBS) -lm -o $@
fuzz: build-sanitized ## feeds every reader broken input for SECONDS=60 each
	@.ci/fuzz $(BUILD)/fuzz $(SECONDS) $(FUZZES:%.c=$(BUILD)/sanitized/fuzz/%)
fuzz-smoke: build-sanitized ## the same inputs each time, 20,000 or 5 s of them
	@rm -rf $(BUILD)/fuzz/smoke && mkdir -p $(BUILD)/fuzz/smoke
	@.ci/fuzz $(BUILD)/fuzz/smoke 5/20000 $(FUZZES:%.c=$(BUILD)/sanitized/fuzz/%)

.PHONY: errors-kept
errors-kept: $(BUILD)/stepcast # the same tables, of which only a broken limit is shown
	@$(BUILD)/stepcast validate --suite validate/tolerances.json >$(BUILD)/errors.txt || \
	    { grep 'past its limit' $(BUILD)/errors.txt; exit 1; }
	@echo 'errors: every table within validate/tolerances.json'

# Under sanitizers all but those that simulate hundreds of plans, which the unit tests of the same do.
CASES     := $(sort $(wildcard sim/cli/cases/*.case))
MANY_RUNS := sim/cli/cases/search.case sim/cli/cases/merge.case
.PHONY: program-tests program-tests-sanitized same-bytes readme
program-tests: all ## commands with their exact output, sim/cli/cases
	@sim/cli/cli_test.sh $(BUILD) $(CASES)
program-tests-sanitized: build-sanitized ## the same under sanitizers
	@sim/cli/cli_test.sh $(BUILD)/sanitized $(filter-out $(MANY_RUNS),$(CASES))
same-bytes: $(BUILD)/stepcast build-clang ## the same output twice, and from both compilers
	@.ci/same-bytes $(BUILD) $(DEMO)
readme: all ## the README's commands show what it says they show
	@.ci/readme README.md

.PHONY: ranks
ranks: all ## the same from any number of processes, where Open MPI is installed
	@$(if $(MPI),.ci/ranks $(BUILD) env $(MPIRUN),echo 'ranks: Open MPI is not installed')

.PHONY: simgrid
simgrid: $(BUILD)/stepcast ## flow lists against SimGrid, where libsimgrid-dev is installed
	@if pkg-config --exists simgrid; then \
	    $(COMPILE) .ci/simgrid_flows.c $(BUILD)/libstepcast.a $(LDFLAGS) \
	        $$(pkg-config --cflags --libs simgrid) $(PACKAGE_LIBS) -lm \
	        -o $(BUILD)/simgrid_flows && \
	    .ci/simgrid $(BUILD)/stepcast $(BUILD)/simgrid_flows; \
	else echo 'simgrid: libsimgrid-dev is not installed, skipped'; fi

.PHONY: report
report: $(BUILD)/stepcast ## pages of `stepcast report` in a browser, where chromium is installed
	@.ci/report $(BUILD)/stepcast $(BUILD)/report

.PHONY: headers layers pure
headers: ## each header compiles alone and twice
	@for cc in gcc clang; do for header in $(HEADERS); do \
	    printf '#include "%s"\n#include "%s"\nint alone;\n' $$header $$header | \
	    $$cc $(LANGUAGE) $(WARN) -fsyntax-only -x c - || { echo "$$header: alone"; exit 1; }; \
	    done; done
	@echo 'headers: $(words $(HEADERS)), each compiles alone'
layers: ## rooms include only what their layer allows
	@.ci/layers
pure: $(LIBRARY_OBJECTS) ## the library neither exits, prints, reads a clock nor keeps state
	@.ci/pure $(filter-out $(BUILD)/obj/sim/cli/%,$(LIBRARY_OBJECTS))

# A file is looked at again when it, a header it includes, or the wishes changed.
# Check's macros nest and widen by themselves; .ci/functions counts the lines of tests too.
TIDIED := $(SOURCES:%.c=$(BUILD)/tidy/%)
# How far the analyzer follows a function: with the 225,000 of its own it takes four times as long.
ANALYZER_NODES ?= 25000
ANALYZER := -Xclang -analyzer-config -Xclang max-nodes=$(ANALYZER_NODES)
TIDY_TESTS := --checks=-readability-function-size,-bugprone-implicit-widening-of-multiplication-result
.PHONY: tidy cppcheck
tidy: $(TIDIED) ## clang-tidy, file by file
	@echo 'tidy: $(words $(TIDIED)) files without a finding'
$(BUILD)/tidy/%: %.c $(BUILD)/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	@clang-tidy-14 --quiet $(if $(filter $<,$(TESTS)),$(TIDY_TESTS)) $< -- $(LANGUAGE) $(ANALYZER) \
	    2>$@.talk || { cat $@.talk; exit 1; }
	@touch $@
cppcheck: ## cppcheck over the whole program
	@mkdir -p $(BUILD)/cppcheck
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	    --error-exitcode=1 --cppcheck-build-dir=$(BUILD)/cppcheck -j$(JOBS) -I. $(SOURCES)
	@echo 'cppcheck: no finding'

.PHONY: text format format-check man-lint scripts
text: ## purposes, lengths, words, units, the README's map
	@.ci/functions $(SOURCES)
	@.ci/text
format: ## lays out every source by .clang-format
	clang-format-14 -i $(SOURCES) $(HEADERS) .ci/*.c
format-check:
	@clang-format-14 --dry-run -Werror $(SOURCES) $(HEADERS) .ci/*.c
	@echo 'format: as .clang-format wants it'
man-lint: $(BUILD)/stepcast
	@.ci/man $(BUILD)/stepcast
scripts:
	@shellcheck .ci/packages .ci/run .ci/host .ci/layers .ci/pure .ci/functions .ci/text .ci/match .ci/readme \
	    .ci/same-bytes .ci/fuzz .ci/bench .ci/man .ci/simgrid .ci/report .ci/ranks sim/cli/cli_test.sh
	@echo 'scripts: no finding'

-include $(SOURCES:%.c=$(BUILD)/obj/%.d)
