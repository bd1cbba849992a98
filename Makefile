# stepcast: builds, checks and shows itself. `make help` lists what can be made.
#
# Rooms and what each may include: README.md, "The map". A source beside its header is part of the
# library; *_test.c, *_bench.c and *_fuzz.c stand beside what they check and are programs of their own.

CC      ?= gcc
BUILD   ?= build
OPT     ?= -O2 -g
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wcast-qual \
           -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla \
           -Wformat=2 -Wundef -Werror
prefix  ?= /usr/local

ROOMS     := sim/base sim/engine hw models plots validate sim/cli
SOURCES   := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
TESTS     := $(filter %_test.c,$(SOURCES))
BENCHES   := $(filter %_bench.c,$(SOURCES))
FUZZES    := $(filter %_fuzz.c,$(SOURCES))
MAINS     := sim/cli/main.c validate/measure_main.c
LIBRARY   := $(filter-out $(TESTS) $(BENCHES) $(FUZZES) $(MAINS),$(SOURCES))
HEADERS   := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.h)))

# Asked for once, and only when something is compiled: a bare machine has no pkg-config yet.
once           = $(eval $1 := $2)$($1)
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,$(shell pkg-config --cflags jansson gsl pangocairo))
PACKAGE_LIBS   = $(call once,PACKAGE_LIBS,$(shell pkg-config --libs jansson gsl pangocairo))
CHECK_LIBS     = $(call once,CHECK_LIBS,$(shell pkg-config --libs check))

# -ffp-contract=off: gcc and clang must give the same bytes.
COMPILE = $(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off $(OPT) $(WARN) $(SANITIZE) \
          -I. $(PACKAGE_CFLAGS) $(CFLAGS) $(CPPFLAGS)
LINK    = $(CC) $(OPT) $(SANITIZE) $(LDFLAGS)

.PHONY: all
all: $(BUILD)/stepcast

$(BUILD)/obj/%.o: %.c | packages
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c $< -o $@

LIBRARY_OBJECTS := $(LIBRARY:%.c=$(BUILD)/obj/%.o)
$(BUILD)/libstepcast.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	ar rcsD $@ $^

$(BUILD)/stepcast: $(BUILD)/obj/sim/cli/main.o $(BUILD)/libstepcast.a
	$(LINK) $^ $(PACKAGE_LIBS) -lm -o $@

# One program of all tests. x_test.c defines `Suite *x_suite(void)`; the list is made here.
$(BUILD)/unit_main.c: $(TESTS) Makefile
	@mkdir -p $(@D)
	@{ echo '#include <check.h>'; \
	   for s in $(basename $(notdir $(TESTS:%_test.c=%.c))); do echo "Suite *$${s}_suite(void);"; done; \
	   echo 'int main(void) { SRunner *runner = srunner_create(NULL);'; \
	   for s in $(basename $(notdir $(TESTS:%_test.c=%.c))); do echo "srunner_add_suite(runner, $${s}_suite());"; done; \
	   echo 'srunner_run_all(runner, CK_ENV); return srunner_ntests_failed(runner) != 0; }'; } > $@
$(BUILD)/obj/unit_main.o: $(BUILD)/unit_main.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -c $< -o $@
$(BUILD)/unit: $(BUILD)/obj/unit_main.o $(TESTS:%.c=$(BUILD)/obj/%.o) $(BUILD)/libstepcast.a
	$(LINK) $^ $(CHECK_LIBS) $(PACKAGE_LIBS) -lm -o $@

.PHONY: unit
unit: $(BUILD)/unit
	$(BUILD)/unit

.PHONY: packages
packages:

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(LIBRARY_OBJECTS:.o=.d) $(TESTS:%.c=$(BUILD)/obj/%.d) $(BUILD)/obj/sim/cli/main.d
