/* A simulated step and what can be read off it: the answer that run, timeline and explain share. */
#ifndef MODELS_STEP_H
#define MODELS_STEP_H

#include "models/arch_flop.h"
#include "models/lower.h"
#include "models/memory.h"
#include "models/run.h"
#include "sim/engine/trace.h"

/* Kinds of kernels, of collectives, and the host: each with an error of its own. */
enum { SIGMA_GROUPS = KERNEL_KIND_COUNT + COLLECTIVE_KIND_COUNT + 1 };

enum { STEP_WARNINGS_MAX = 4 };

/* Parts of a step in time, each from the end of the one before: how long forward and backward
 * run; what of the reduction is behind them (gradients widened for the optimizer with it); the
 * optimizer; what gathers or narrows weights behind that. */
enum step_part {
    STEP_FORWARD_BACKWARD,
    STEP_GRADIENT_REDUCTION,
    STEP_OPTIMIZER,
    STEP_PARAMETER_GATHER,
    STEP_PART_COUNT
};
const char *step_part_key(enum step_part part); /* "forward_backward", without its _s */

/* How often the interval should hold the true step time. */
extern const double STEP_INTERVAL_COVERAGE_FRACTION;

struct step {
    const struct run *run;
    struct lowered lowered;
    const struct trace *trace;
    struct memory memory;
    struct token_flop flop; /* of one token */
    struct parameter_counts parameters;
    int64_t adapter_parameters; /* that alone are trained, beside them; 0: no adapters */

    int64_t step_ps;
    int64_t class_ps[STEP_CLASS_COUNT];  /* of the representative rank; add up to step_ps */
    double class_flop[STEP_CLASS_COUNT]; /* what its kernels compute, and move of HBM */
    double class_bytes[STEP_CLASS_COUNT];
    int64_t part_ps[STEP_PART_COUNT]; /* until the last rank is through; they add up too */
    int64_t communication_ps;         /* its collectives in all, hidden or not */
    double sigma_s;                   /* standard deviation of step time */

    double step_s;
    double low_s, high_s; /* 90 % interval */
    double tokens_per_s;
    double tokens_per_s_per_gpu;
    double model_flop_per_s_per_gpu; /* by the convention of models/arch_flop.h */
    double mfu;                      /* that over the device's dense peak */
    double six_n_flop_per_s_per_gpu; /* by 6 x active parameters */
    double six_n_mfu;

    const char *heading; /* the run's name, and what was changed beside its file */
    const char *warnings[STEP_WARNINGS_MAX]; /* what the prediction does not cover well */
    int warning_count;
};

/* Lowers, runs and analyses. NULL after adding why not: no price, or it does not fit
 * (ERROR_INFEASIBLE). */
const struct step *step_simulate(const struct run *run, enum program_ranks ranks,
                                 struct arena *arena, struct error_list *errors);
/* The same of a run whose memory_of is known already. */
const struct step *step_simulate_within(const struct run *run, const struct memory *memory,
                                        enum program_ranks ranks, struct arena *arena,
                                        struct error_list *errors);

/* Of the representative rank's time, picoseconds of a group of classes. */
int64_t step_group_ps(const struct step *step, enum step_group group);

/* The item of the program that a task came from, and its work on its rank. */
const struct step_item *step_item_of(const struct step *step, uint32_t task);
const struct step_work *step_work_of(const struct step *step, uint32_t task);

#endif
