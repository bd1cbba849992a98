/* For tests of charts: an empty drawing for each, and all that is asked of what comes on it. */
#ifndef PLOTS_CHECK_CANVAS_H
#define PLOTS_CHECK_CANVAS_H

#include <check.h>

#include "plots/canvas.h"
#include "plots/check_random.h"
#include "plots/check_texts.h"
#include "sim/base/check_suite.h"

static struct canvas *canvas;

static inline void
check_canvas_set_up(void)
{
    check_suite_set_up();
    canvas = canvas_new(arena, "DejaVu Sans");
}

static inline void
check_canvas_tear_down(void)
{
    canvas_free(canvas);
    check_suite_tear_down();
}

/* A suite of one case, whose tests begin with an empty drawing. */
static inline Suite *
check_canvas_suite(const char *name, TCase **tests)
{
    Suite *suite = suite_create(name);
    *tests = tcase_create(name);
    tcase_add_checked_fixture(*tests, check_canvas_set_up, check_canvas_tear_down);
    suite_add_tcase(suite, *tests);
    return suite;
}

/* The drawing is this list, a shape a line. */
static inline void
check_canvas_is(const char *wanted)
{
    struct text dump = text_new(arena);
    canvas_dump(canvas, &dump);
    ck_assert_str_eq(dump.bytes, wanted);
}

#endif
