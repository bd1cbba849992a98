/* A step in words. */
#include <stdbool.h>
#include <string.h>

#include "sim/base/units.h"
#include "sim/cli/step_report.h"

/* Those that split anything. */
static void
print_degrees(struct text *out, const struct plan *plan)
{
    const struct {
        const char *noun;
        int64_t degree;
    } degrees[] = {{"tensor", plan->tensor},
                   {"context", plan->context},
                   {"pipeline", plan->pipeline},
                   {"expert", plan->expert}};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1)
            text_format(out, ", %s %lld", degrees[i].noun, (long long)degrees[i].degree);
    if (plan->expert_tensor != plan->tensor)
        text_format(out, ", expert tensor %lld", (long long)plan->expert_tensor);
}

static void
print_inputs(struct text *out, const struct step *step)
{
    const struct step_inputs *inputs = &step->run->inputs;
    const struct plan *plan = inputs->workload.plan;
    const struct cluster *cluster = inputs->cluster;
    text_format(out, "%s\n\n", step->heading);
    text_format(out, "  model     %s: %s parameters, %s active without the embedding\n",
                inputs->workload.arch->name,
                units_format_count((double)step->parameters.every).text,
                units_format_count((double)step->parameters.nonembedding_active).text);
    text_format(out, "  cluster   %s: %lld x %lld %s\n", cluster->name,
                (long long)cluster->nodes, (long long)cluster->gpus_per_node,
                cluster->device->name);
    text_format(out, "  plan      %s: data parallel %lld", plan->name,
                (long long)plan_data_degree(plan, cluster));
    print_degrees(out, plan);
    text_format(out, ", ZeRO-%lld, %lld x %lld sequences of %lld tokens a GPU\n",
                (long long)plan->zero_stage, (long long)plan_microbatches(plan, cluster),
                (long long)plan->microbatch_sequences, (long long)plan->sequence_tokens);
    if (plan->adapters)
        text_format(out, "  adapters  %s parameters of rank %lld, trained alone\n",
                    units_format_count((double)step->adapter_parameters).text,
                    (long long)plan->adapters->rank);
    text_format(out, "  software  %s\n\n", inputs->workload.software->name);
}

static void
print_answer(struct text *out, const struct step *step)
{
    const struct device *device = step->run->inputs.cluster->device;
    enum dtype dtype = step->run->inputs.workload.plan->compute_dtype;
    text_format(
        out, "step time    %s  (90 %% interval %s to %s), %s tokens a step\n",
        units_format_s(step->step_s).text, units_format_s(step->low_s).text,
        units_format_s(step->high_s).text,
        units_format_count((double)plan_step_tokens(step->run->inputs.workload.plan)).text);
    text_format(out, "throughput   %s tokens/s, %s tokens/s per GPU\n",
                units_format_count(step->tokens_per_s).text,
                units_format_count(step->tokens_per_s_per_gpu).text);
    text_format(out, "model FLOP   %s a token: %s per GPU, %s of the %s peak of %s (MFU)\n",
                units_format_flop(step->flop.train).text,
                units_format_flop_per_s(step->model_flop_per_s_per_gpu).text,
                units_format_fraction(step->mfu).text, dtype_name(dtype), device->name);
    text_format(out, "             (products and causal attention, head included, x 3%s)\n",
                step->adapter_parameters > 0 ? ", of frozen weights x 2" : "");
    text_format(out,
                "6 N active   %s a token: %s per GPU, %s (leaves out head and attention)\n\n",
                units_format_flop(step->flop.six_n_active).text,
                units_format_flop_per_s(step->six_n_flop_per_s_per_gpu).text,
                units_format_fraction(step->six_n_mfu).text);
}

/* FLOP/s where the class computes, else bytes/s of HBM; "" of what is not kernels. */
static struct units_text
achieved(const struct step *step, int spent_on)
{
    double seconds_s = units_s_from_ps(step->class_ps[spent_on]);
    double flop = step->class_flop[spent_on], bytes = step->class_bytes[spent_on];
    if (flop > bytes) /* more than one a byte: a product */
        return units_format_flop_per_s(flop / seconds_s);
    return bytes > 0 ? units_format_bytes_per_s(bytes / seconds_s) : (struct units_text){""};
}

static void
print_row(struct text *out, const char *indent, const char *label, int64_t ps,
          const struct step *step)
{
    double seconds_s = units_s_from_ps(ps);
    text_format(out, "%s%-*s %9s %8s", indent, 34 - (int)strlen(indent), label,
                units_format_s(seconds_s).text,
                units_format_fraction(seconds_s / step->step_s).text);
}

/* The group's classes, longest first. */
static void
print_classes(struct text *out, const struct step *step, enum step_group group)
{
    bool is_printed[STEP_CLASS_COUNT] = {false};
    for (;;) {
        int next = -1;
        for (int i = 0; i < STEP_CLASS_COUNT; i++)
            if (!is_printed[i] && step->class_ps[i] > 0 &&
                step_class_group((enum step_class)i) == group &&
                (next < 0 || step->class_ps[i] > step->class_ps[next]))
                next = i;
        if (next < 0)
            return;
        is_printed[next] = true;
        print_row(out, "    ", step_class_label((enum step_class)next), step->class_ps[next],
                  step);
        const struct units_text rate = achieved(step, next);
        text_format(out, "%s%s\n", *rate.text ? "   at " : "", rate.text);
    }
}

static int
count_classes(const struct step *step, enum step_group group)
{
    int count = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        count += step_class_group((enum step_class)i) == group && step->class_ps[i] > 0;
    return count;
}

/* Groups that take time, and their classes where there are several. */
static void
print_breakdown(struct text *out, const struct step *step)
{
    text_format(out, "where the step goes (rank %lld, the slowest)\n",
                (long long)step->lowered.representative);
    for (int group = 0; group < STEP_GROUP_COUNT; group++) {
        int64_t ps = step_group_ps(step, (enum step_group)group);
        if (ps == 0)
            continue;
        print_row(out, "  ", step_group_label((enum step_group)group), ps, step);
        text_format(out, "\n");
        if (count_classes(step, (enum step_group)group) > 1)
            print_classes(out, step, (enum step_group)group);
    }
    text_format(out, "  (collectives run for %s in all, hidden or not)\n\n",
                units_format_s(units_s_from_ps(step->communication_ps)).text);
}

static void
print_memory(struct text *out, const struct memory *memory)
{
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    text_format(out, "memory per GPU: %s of %s\n", units_format_bytes(memory->peak).text,
                units_format_bytes(memory->capacity).text);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        text_format(out, "  %-30s %10s %8s\n", classes[i].name,
                    units_format_bytes(classes[i].bytes).text,
                    units_format_fraction(classes[i].bytes / memory->capacity).text);
}

void
step_report_text(const struct step *step, struct text *out)
{
    print_inputs(out, step);
    print_answer(out, step);
    print_breakdown(out, step);
    print_memory(out, &step->memory);
    for (int i = 0; i < step->warning_count; i++)
        text_format(out, "%swarning: %s\n", i == 0 ? "\n" : "", step->warnings[i]);
}
