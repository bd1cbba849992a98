/* A step with one thing changed: its structs are copied, one of them altered, and the whole
 * simulated again. Changes of the plan go through the plan's own reading and checking. */
#include "models/what_if.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/altered.h"

static void
double_nics(struct altered *altered)
{
    altered_scale_nics(altered, 2);
}

static void
double_links(struct altered *altered)
{
    altered_scale_links(altered, 2);
}

/* The rings of a collective over nodes take both, and are as slow as the slower. */
static void
double_nics_and_links(struct altered *altered)
{
    double_nics(altered);
    double_links(altered);
}

static void
double_hbm(struct altered *altered)
{
    altered_scale_hbm(altered, 2);
}

static void
double_matrix_rate(struct altered *altered)
{
    altered_scale_matrix(altered, 2);
}

static void
drop_host_launches(struct altered *altered)
{
    altered_scale_host_launches(altered, 0);
}

static void
drop_kernel_starts(struct altered *altered)
{
    altered_scale_kernel_starts(altered, 0);
}

static void
drop_network_latency(struct altered *altered)
{
    altered_scale_network_latency(altered, 0);
}

static void
drop_interference(struct altered *altered)
{
    altered_scale_interference(altered, 0);
}

/* Evenly, with the same padding and capacity. */
static void
balance_experts(struct altered *altered)
{
    if (!altered->plan.routing)
        return;
    altered->routing = *altered->plan.routing;
    altered->routing.kind = ROUTING_UNIFORM;
    altered->plan.routing = &altered->routing;
}

struct change {
    const char *key, *label;
    void (*apply)(struct altered *altered);
};

static const struct change HARDWARE[] = {
    {"nic_bandwidth_doubled", "twice the bandwidth of NICs", double_nics},
    {"link_bandwidth_doubled", "twice the bandwidth of links in a node", double_links},
    {"network_bandwidth_doubled", "twice the bandwidth of links and NICs",
     double_nics_and_links},
    {"hbm_bandwidth_doubled", "twice the bandwidth of HBM", double_hbm},
    {"matrix_rate_doubled", "twice the matrix rate", double_matrix_rate},
    {"host_launch_free", "no time of the host for launches", drop_host_launches},
    {"kernel_start_free", "no time of the device to start kernels", drop_kernel_starts},
    {"collective_latency_free", "no launch and hops of collectives", drop_network_latency},
    {"collective_interference_free", "collectives take no compute, no HBM", drop_interference},
};
static const struct change BALANCE = {"experts_balanced", "perfect balance of experts",
                                      balance_experts};

struct what_if_list {
    const struct step *step;
    struct what_if *items;
    int count;
    struct arena *arena; /* of what remains */
};

/* Keeps what came of it; `step` NULL: the first of the errors. */
static void
note(struct what_if_list *list, const struct what_if *named, const struct step *step,
     const struct error_list *errors)
{
    assert(list->count < WHAT_IFS_MAX && "more changes than there is room for");
    struct what_if *what_if = &list->items[list->count++];
    *what_if = *named;
    if (step) {
        what_if->step_ps = step->step_ps;
        what_if->gain_ps = list->step->step_ps - step->step_ps;
    } else {
        what_if->reason = arena_format(list->arena, "%s", errors->items[0].what);
    }
}

static enum program_ranks
ranks_of(const struct step *step)
{
    return step->lowered.is_all ? RANKS_ALL : RANKS_FOLDED;
}

static void
try_change(struct what_if_list *list, const struct change *change)
{
    struct arena *scratch = arena_new_beside(list->arena);
    struct error_list errors = {0};
    struct altered *altered = altered_new(list->step->run, scratch);
    change->apply(altered);
    const struct step *step =
        step_simulate(&altered->run, ranks_of(list->step), scratch, &errors);
    note(list, &(struct what_if){.key = change->key, .label = change->label}, step, &errors);
    arena_free(scratch);
}

static void
try_setting(struct what_if_list *list, const char *key, const char *label, const char *setting)
{
    struct arena *scratch = arena_new_beside(list->arena);
    struct error_list errors = {0};
    struct run_settings settings = {&setting, 1};
    const struct run *run = run_again(list->step->run, &settings, scratch, &errors);
    const struct step *step =
        run ? step_simulate(run, ranks_of(list->step), scratch, &errors) : NULL;
    note(list, &(struct what_if){.key = key, .label = label}, step, &errors);
    arena_free(scratch);
}

static void
try_overlaps(struct what_if_list *list)
{
    const struct plan *plan = list->step->run->inputs.workload.plan;
    const struct {
        bool is_on;
        const char *field, *label;
    } switches[] = {
        {plan->overlaps_gradient_reduction, "overlaps_gradient_reduction",
         "gradient reduction overlapped"},
        {plan->overlaps_parameter_gather, "overlaps_parameter_gather",
         "parameter gather overlapped"},
        {plan->overlaps_tensor_exchange, "overlaps_tensor_exchange",
         "tensor exchange overlapped"},
        {plan->overlaps_expert_exchange, "overlaps_expert_exchange",
         "expert exchange overlapped"},
        {plan->overlaps_pipeline_transfer, "overlaps_pipeline_transfer",
         "pipeline transfer overlapped"},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (!switches[i].is_on)
            try_setting(list, switches[i].field, switches[i].label,
                        arena_format(list->arena, "plan.%s=true", switches[i].field));
}

static void
try_microbatches(struct what_if_list *list)
{
    int64_t sequences = list->step->run->inputs.workload.plan->microbatch_sequences;
    const char *field = "plan.microbatch_sequences";
    try_setting(list, "microbatch_doubled", "microbatches of twice as many sequences",
                arena_format(list->arena, "%s=%lld", field, 2 * (long long)sequences));
    if (sequences % 2 == 0) {
        try_setting(list, "microbatch_halved", "microbatches of half as many sequences",
                    arena_format(list->arena, "%s=%lld", field, (long long)sequences / 2));
        return;
    }
    struct error_list errors = {0};
    error_add(&errors, ERROR_INFEASIBLE, "", "%lld sequence%s cannot be halved",
              (long long)sequences, sequences == 1 ? "" : "s");
    note(list,
         &(struct what_if){.key = "microbatch_halved",
                           .label = "microbatches of half as many sequences"},
         NULL, &errors);
}

/* What can be before what cannot; of equal gains the key decides. */
static int
compare_what_ifs(const void *a, const void *b)
{
    const struct what_if *left = a, *right = b;
    if (!left->reason != !right->reason)
        return left->reason ? 1 : -1;
    if (left->gain_ps != right->gain_ps)
        return left->gain_ps > right->gain_ps ? -1 : 1;
    return strcmp(left->key, right->key);
}

int
what_if_all(const struct step *step, struct what_if what_ifs[WHAT_IFS_MAX], struct arena *arena)
{
    struct what_if_list list = {step, what_ifs, 0, arena};
    const struct routing *routing = step->run->inputs.workload.plan->routing;
    for (size_t i = 0; i < sizeof HARDWARE / sizeof *HARDWARE; i++)
        try_change(&list, &HARDWARE[i]);
    if (routing && routing->kind != ROUTING_UNIFORM)
        try_change(&list, &BALANCE);
    try_overlaps(&list);
    try_microbatches(&list);
    qsort(what_ifs, (size_t)list.count, sizeof *what_ifs, compare_what_ifs);
    return list.count;
}
