/* Lists of flows: who sends how many bytes to whom, when, and after what. The form in which
 * network simulators can be checked against each other (CSV):
 *
 *      id,start_s,src,dst,bytes,deps        deps: ids joined by ";", in any row of the list
 *      a,0,0,1,48000000,
 *      b,0.001,1,2,48000000,a               starts at 1 ms, or when a has ended
 *
 * Lines that begin with # are remarks. */
#ifndef HW_FLOW_LIST_H
#define HW_FLOW_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

struct flow {
    double start_s;            /* not before; and not before all that it depends on has ended */
    double bytes;              /* 0: ends when it starts */
    uint32_t from, to;         /* ranks, never the same */
    uint32_t id;               /* where it stands in the list's text */
    uint32_t dependency_begin; /* its first; those of the next flow begin at its end */
};

struct flow_list {
    const struct flow *flows; /* and one more that ends the last one's dependencies */
    size_t count;
    const uint32_t *dependencies; /* flows, by their place in the list */
    const uint32_t *order; /* all flows, each after those it depends on; NULL: as they stand */
    const char *name;      /* of the file */
    const char *text;      /* the file's, from the beginning */
};

/* The list lives in the arena and points into the text, which stays as it is. NULL after every
 * fault: a row that is none, a number out of range, a rank that is not one of rank_count, an id
 * twice or never given, flows that wait for each other. */
struct flow_list *flow_list_read(const char *name, const struct text *text, int64_t rank_count,
                                 struct arena *arena, struct error_list *errors);

/* The id as the file has it, not ended by a 0. */
const char *flow_list_id(const struct flow_list *list, size_t flow, size_t *length);

/* "flows.csv:7", for an error. */
const char *flow_list_where(const struct flow_list *list, size_t flow, struct arena *arena);

#endif
