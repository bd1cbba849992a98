/* The collectives that a library offers, by the names that lists and files use. */
#ifndef HW_COLLECTIVE_KIND_H
#define HW_COLLECTIVE_KIND_H

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_ALL_TO_ALL_V,
    COLLECTIVE_KIND_COUNT
};

/* All names in the order of the kinds, ended by NULL. */
extern const char *const collective_kind_names[];

const char *collective_kind_name(enum collective_kind kind); /* "all_reduce" */

#endif
