/* For tests only: an assertion for loops of thousands. Check's own note their place in a file each
 * time, 2 us; this one says nothing until it fails. */
#ifndef SIM_BASE_CHECK_OFTEN_H
#define SIM_BASE_CHECK_OFTEN_H

#include <check.h>

#define CHECK_OFTEN(holds)                                                                     \
    do {                                                                                       \
        if (!(holds))                                                                          \
            ck_abort_msg("%s", #holds);                                                        \
    } while (0)

#endif
