/* The names of the collectives. */
#include "hw/collective_kind.h"

#include <assert.h>
#include <stddef.h>

const char *const collective_kind_names[] = {
    "all_reduce", "reduce_scatter", "all_gather",   "broadcast",
    "all_to_all", "send_recv",      "all_to_all_v", NULL,
};

static_assert(sizeof collective_kind_names / sizeof *collective_kind_names ==
                  COLLECTIVE_KIND_COUNT + 1,
              "a name for each kind");

const char *
collective_kind_name(enum collective_kind kind)
{
    assert(kind < COLLECTIVE_KIND_COUNT && "not a kind of collective");
    return collective_kind_names[kind];
}
