/* Each number scaled up, then down. */
#include "models/sensitivity.h"

#include <stdlib.h>
#include <string.h>

#include "models/altered.h"

const double SENSITIVITY_FRACTION = 0.1;

struct knob {
    const char *key, *label;
    bool is_rate;
    void (*scale)(struct altered *altered, double ratio);
};

static const struct knob KNOBS[SENSITIVITY_COUNT] = {
    {"matrix_rate", "matrix rate", true, altered_scale_matrix},
    {"hbm_bandwidth", "bandwidth of HBM", true, altered_scale_hbm},
    {"link_bandwidth", "bandwidth of links in a node", true, altered_scale_links},
    {"nic_bandwidth", "bandwidth of NICs", true, altered_scale_nics},
    {"host_launch", "host's time for a launch", false, altered_scale_host_launches},
    {"kernel_start", "device's time to start a kernel", false, altered_scale_kernel_starts},
    {"collective_latency", "launch and hops of collectives", false,
     altered_scale_network_latency},
    {"collective_interference", "what collectives take of compute and HBM", false,
     altered_scale_interference},
};

/* The step's time with the knob's number so much of what it is; below 0 after adding why not. */
static int64_t
simulate(const struct step *step, const struct knob *knob, double ratio,
         struct error_list *errors, struct arena *arena)
{
    struct arena *scratch = arena_new_beside(arena);
    struct altered *altered = altered_new(step->run, scratch);
    knob->scale(altered, ratio);
    const struct step *other = step_simulate(
        &altered->run, step->lowered.is_all ? RANKS_ALL : RANKS_FOLDED, scratch, errors);
    int64_t step_ps = other ? other->step_ps : -1;
    arena_free(scratch);
    return step_ps;
}

static int64_t
reach_ps(const struct sensitivity *item)
{
    return llabs(item->worse_ps - item->better_ps);
}

/* Of equal reach the key decides. */
static int
compare_items(const void *a, const void *b)
{
    const struct sensitivity *one = a, *two = b;
    if (reach_ps(one) != reach_ps(two))
        return reach_ps(one) > reach_ps(two) ? -1 : 1;
    return strcmp(one->key, two->key);
}

bool
sensitivity_all(const struct step *step, struct sensitivity items[SENSITIVITY_COUNT],
                struct arena *arena, struct error_list *errors)
{
    for (int i = 0; i < SENSITIVITY_COUNT; i++) {
        const struct knob *knob = &KNOBS[i];
        double up = 1 + SENSITIVITY_FRACTION, down = 1 - SENSITIVITY_FRACTION;
        items[i] = (struct sensitivity){
            .key = knob->key,
            .label = knob->label,
            .is_rate = knob->is_rate,
            .better_ps = simulate(step, knob, knob->is_rate ? up : down, errors, arena),
            .worse_ps = simulate(step, knob, knob->is_rate ? down : up, errors, arena)};
        if (items[i].better_ps < 0 || items[i].worse_ps < 0)
            return false;
    }
    qsort(items, SENSITIVITY_COUNT, sizeof *items, compare_items);
    return true;
}
