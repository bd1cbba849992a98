/* For tests only: doubles compared relatively, which Check's own macros do not do. */
#ifndef SIM_BASE_CHECK_NEAR_H
#define SIM_BASE_CHECK_NEAR_H

#include <check.h>
#include <math.h>

/* actual is within `relative` of wanted; a wanted 0 must be met exactly. */
#define CHECK_NEAR(actual, wanted, relative)                                                   \
    do {                                                                                       \
        double near_actual = (actual), near_wanted = (wanted);                                 \
        if (!(fabs(near_actual - near_wanted) <= (relative)*fabs(near_wanted)))                \
            ck_abort_msg("%s is %.17g, wanted %.17g", #actual, near_actual, near_wanted);      \
    } while (0)

#endif
