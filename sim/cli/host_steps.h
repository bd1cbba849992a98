/* Training steps that are run on this machine now, beside what stepcast says of the same runs. */
#ifndef SIM_CLI_HOST_STEPS_H
#define SIM_CLI_HOST_STEPS_H

#include "models/step.h"
#include "sim/base/json_writer.h"
#include "validate/comparison.h"
#include "validate/training_question.h"

struct host_steps_question {
    const char *list_path;       /* of runs and settings: validate/training_question.h */
    const char *cluster_path;    /* of this machine; "": one core, as device_path has it */
    const char *device_path;     /* fitted by calibrate --host; "" with a cluster */
    const char *measure_program; /* "": the measure that lies beside stepcast */
    const char *backend;         /* "cuda", "hip": on a GPU; "" or "cpu": on cores */
    const char *library_path;    /* where GPU libraries lie besides the usual places, or "" */
    double budget_s;             /* for the steps of one line, about */
    double order_least;          /* Kendall's tau that the order must have */
};

struct host_step {
    const char *name; /* the run's, and what was changed of it */
    struct training_question asked;
    int64_t ranks;
    const struct step *predicted;
    const struct json *measured; /* as build/measure gave it */
    double
        quiet_s; /* that the prediction is held to: on a GPU, that nobody shares, the wall's */
    double core_s, wall_s;
};

struct host_steps {
    struct host_step *items;
    size_t count;
    double median_fraction; /* of the absolute errors */
    double
        tau; /* Kendall's, of predicted and measured: 1 in the same order, -1 in the opposite */
    bool keeps_order;
};

/* Simulates every line, then runs them, all of one number of processes together. What was measured
 * stays beside device or cluster, "build/host.steps.jsonl". False after adding every fault, a step
 * that could not be measured among them. */
bool host_steps_take(const struct host_steps_question *question, struct host_steps *steps,
                     struct arena *arena, struct error_list *errors);

/* Groups "step" and its parts as of measured_steps.h, by quiet times; and "step_kernel": each kind
 * of work within each step. All held out: nothing is fitted to a step. */
void host_steps_compare(const struct host_steps *steps, struct comparison *comparison,
                        struct arena *arena);

void host_steps_print(const struct host_steps *steps, struct text *out);
void host_steps_write(const struct host_steps *steps, struct json_writer *writer);

#endif
