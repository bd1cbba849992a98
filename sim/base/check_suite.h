/* For tests: a suite of one case, each of whose tests has an arena of its own. */
#ifndef SIM_BASE_CHECK_SUITE_H
#define SIM_BASE_CHECK_SUITE_H

#include <check.h>

#include "sim/base/check_arena.h"

static struct arena *arena;

static inline void
check_suite_set_up(void)
{
    arena = check_arena_new();
}

static inline void
check_suite_tear_down(void)
{
    arena_free(arena);
}

static inline Suite *
check_suite_new(const char *name, TCase **tests)
{
    Suite *suite = suite_create(name);
    *tests = tcase_create(name);
    tcase_add_checked_fixture(*tests, check_suite_set_up, check_suite_tear_down);
    suite_add_tcase(suite, *tests);
    return suite;
}

#endif
