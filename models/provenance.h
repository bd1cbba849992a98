/* Where the price of a kernel or collective comes from: the file of its formula, and each number of
 * the configuration that it depends on, found by changing that number and pricing again. */
#ifndef MODELS_PROVENANCE_H
#define MODELS_PROVENANCE_H

#include "models/program.h"
#include "models/run.h"

struct provenance_number {
    const char *path;   /* "gemm.launch_s" in its file */
    const char *where;  /* "configs/devices/mi300x.json:54:17: $.gemm.launch_s", or its --set */
    const char *source; /* as the file says; NULL: it says none */
    double value;
    double elasticity; /* the price changes by this times what the number does, both as parts:
                          -1 of a rate that alone decides */
};

struct provenance {
    const char *formula; /* "hw/gemm_cost.c" */
    const char *words;   /* what it computes, in a line */
    double price_s;      /* alone on an idle device, without the host's part */
    const struct provenance_number *numbers; /* that it depends on most first */
    int64_t count;
};

/* Of work with a kernel or a collective. False after adding why it cannot be priced. */
bool provenance_of(const struct run *run, const struct step_work *work, struct provenance *out,
                   struct arena *arena, struct error_list *errors);

#endif
