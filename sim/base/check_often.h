/* For tests only: what is tried many times. */
#ifndef SIM_BASE_CHECK_OFTEN_H
#define SIM_BASE_CHECK_OFTEN_H

#include <check.h>

/* Check's own assertions note their place in a file each time, 2 us; this one says nothing until it
 * fails. */
#define CHECK_OFTEN(holds)                                                                     \
    do {                                                                                       \
        if (!(holds))                                                                          \
            ck_abort_msg("%s", #holds);                                                        \
    } while (0)

/* How many of so many tries: sanitizers make each several times as slow, and a few show what they
 * look for. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CHECK_TRIES(count) ((count) / 4)
#endif
#endif
#ifndef CHECK_TRIES
#define CHECK_TRIES(count) (count)
#endif

#endif
