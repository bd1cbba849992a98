/* Kernels and collectives with the time that somebody measured: what predictions are held to.
 */
#ifndef VALIDATE_MEASURED_LIST_H
#define VALIDATE_MEASURED_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "hw/collective.h"
#include "hw/kernel_cost.h"
#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "validate/split.h"

struct measured {
    bool is_collective;
    union {
        struct kernel kernel;
        struct collective collective;
    };
    double measured_s;    /* above 0 */
    bool is_enqueued;     /* "measured_enqueued": kernels were enqueued ahead, no host's time */
    bool has_part;        /* the line says by "measured_part" which part it was in ... */
    enum split_part part; /* ... and that stands; without it the split by shape decides */
    const char *library;  /* NULL when the line does not say */
    const char *source;
    const char *list; /* the name of the list and the line in it, from 1 */
    int line;
};

/* Zero-initialised by its owner; several lists may be read into one. Lives in the arena. */
struct measured_list {
    struct measured *items;
    size_t count, capacity;
};

/* Adds a JSONL file, or a log of rccl-tests or nccl-tests (collective_log.h), told by its
 * content ("-": standard input), of at most 64 MiB; empty lines are left out. False after
 * adding every fault (up to the kept twenty), lines that are right are added all the same; a
 * list without any line is a fault. */
bool measured_list_read(struct measured_list *list, const char *path, struct arena *arena,
                        struct error_list *errors);

/* The same of several, up to the first that cannot be read. */
bool measured_list_read_all(struct measured_list *list, const char *const *paths, size_t count,
                            struct arena *arena, struct error_list *errors);

/* The same from memory; `name` stands in messages. */
bool measured_list_parse(struct measured_list *list, const char *name, const struct text *text,
                         struct arena *arena, struct error_list *errors);

/* Keeps the products alone that were timed on machines whose clock the device file knows (struct
 * device_machine), as if it did not: users seldom do. */
void measured_list_forget_clocks(struct measured_list *list, const struct device *device);

/* What the row's clock should have shown: the host's part of a lone call only where it was
 * in. */
double measured_predicted_s(const struct measured *measured, const struct kernel_cost *cost);

/* The canonical shape (split.h), in the arena. */
const char *measured_shape(const struct measured *measured, struct arena *arena);

#endif
