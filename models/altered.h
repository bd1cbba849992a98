/* A run whose parts may be altered in place, beside the run that it was made of. */
#ifndef MODELS_ALTERED_H
#define MODELS_ALTERED_H

#include "models/run.h"

struct altered {
    struct run run; /* its inputs point at what follows */
    struct cluster cluster;
    struct device device;
    struct software software;
    struct plan plan;
    struct routing routing; /* of the plan, where it is altered */
};

/* A copy; the original must last as long. */
struct altered *altered_new(const struct run *run, struct arena *arena);

/* So much of the original rate, of all that stands for it. */
void altered_scale_matrix(struct altered *altered, double ratio);
void altered_scale_hbm(struct altered *altered, double ratio);
/* Links in a node: their bytes come from and go to HBM. */
void altered_scale_links(struct altered *altered, double ratio);
void altered_scale_nics(struct altered *altered, double ratio);

/* Memory enough for anything: a step that does not fit can be simulated. */
void altered_lift_memory(struct altered *altered);

/* So much of the original time. */
void altered_scale_host_launches(struct altered *altered, double ratio);
/* What every kernel takes on the device before it has moved or computed anything. */
void altered_scale_kernel_starts(struct altered *altered, double ratio);
/* Launches and hops of collectives. */
void altered_scale_network_latency(struct altered *altered, double ratio);
/* What collectives take of compute and HBM. */
void altered_scale_interference(struct altered *altered, double ratio);

#endif
