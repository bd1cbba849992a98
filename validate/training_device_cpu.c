/* A training step on the core of this process: the timed code of cpu_run.h and cpu_experts.h,
 * and exchanges over process_group.h. */
#include "validate/training_device.h"

#include <string.h>

static void *
new_memory(void *machine, size_t bytes)
{
    return arena_alloc(machine, bytes, 1);
}

static void
copy(void *machine, void *to, const void *from, size_t bytes)
{
    (void)machine;
    memcpy(to, from, bytes);
}

static void
zero(void *machine, float *reals, int64_t count)
{
    (void)machine;
    memset(reals, 0, (size_t)count * sizeof *reals);
}

static void
wait_for(void *machine)
{
    (void)machine;
}

/* ---- Products */

static void
gemm(void *machine, const struct gemm *shape, const float *a, const float *b, float *c,
     bool is_added)
{
    (void)machine;
    cpu_gemm(shape, a, b, c, is_added);
}

static void
grouped_gemm(void *machine, const struct grouped_gemm *shape, enum gemm_layout layout,
             const float *a, const float *b, float *c)
{
    (void)machine;
    cpu_grouped_gemm(shape, layout, a, b, c);
}

static void
grouped_weight_gradient(void *machine, const struct grouped_gemm *shape, const float *x,
                        const float *y_gradient, float *gradient)
{
    (void)machine;
    cpu_grouped_weight_gradient(shape, x, y_gradient, gradient);
}

static void
attention(void *machine, const struct attention *shape,
          const struct cpu_attention_strides *strides, const union cpu_array *operands)
{
    (void)machine;
    cpu_attention(shape, strides, operands);
}

static void
attention_backward(void *machine, const struct attention *shape,
                   const struct cpu_attention_strides *strides, const union cpu_array *operands)
{
    (void)machine;
    cpu_attention_backward(shape, strides, operands);
}

static void
newton_schulz(void *machine, const struct newton_schulz *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_newton_schulz(
        &(struct kernel){.kind = KERNEL_NEWTON_SCHULZ, .newton_schulz = *shape}, operands);
}

/* ---- By rows */

static void
rms_norm(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_rms_norm(&(struct kernel){.kind = KERNEL_RMS_NORM, .rows_by_width = *shape},
                     operands);
}

static void
rms_norm_backward(void *machine, const struct rows_by_width *shape,
                  const union cpu_array *operands, bool is_added)
{
    (void)machine;
    cpu_rms_norm_backward(shape, operands, is_added);
}

static void
softmax(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_softmax(&(struct kernel){.kind = KERNEL_SOFTMAX, .rows_by_width = *shape},
                    operands);
}

static void
softmax_backward(void *machine, const struct rows_by_width *shape,
                 const union cpu_array *operands)
{
    (void)machine;
    cpu_run_softmax_backward(&(struct kernel){.kind = KERNEL_SOFTMAX, .rows_by_width = *shape},
                             operands);
}

static void
top_k(void *machine, const struct top_k *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_top_k(&(struct kernel){.kind = KERNEL_TOP_K, .top_k = *shape}, operands);
}

static void
cross_entropy(void *machine, const struct cross_entropy *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_cross_entropy(
        &(struct kernel){.kind = KERNEL_CROSS_ENTROPY, .cross_entropy = *shape}, operands);
}

static void
cross_entropy_backward(void *machine, const struct cross_entropy *shape,
                       const union cpu_array *operands, float scale)
{
    (void)machine;
    cpu_cross_entropy_backward(shape, operands, scale);
}

static void
gather(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_gather(&(struct kernel){.kind = KERNEL_GATHER, .rows_by_width = *shape}, operands);
}

static void
scatter_add(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_scatter_add(&(struct kernel){.kind = KERNEL_SCATTER_ADD, .rows_by_width = *shape},
                        operands);
}

/* ---- Element by element */

static void
add(void *machine, int64_t count, const union cpu_array *operands)
{
    (void)machine;
    cpu_run_add(
        &(struct kernel){.kind = KERNEL_ELEMENTWISE, .elementwise = {.elements = count}},
        operands);
}

static void
adamw(void *machine, const struct cpu_adamw *step, const union cpu_array *operands,
      int64_t parameters)
{
    (void)machine;
    cpu_adamw(step, operands, parameters);
}

/* Sums in fp64, as a loss of many tokens wants them. */
static double
total(void *machine, const float *reals, int64_t count)
{
    double sum = 0;
    (void)machine;
    for (int64_t i = 0; i < count; i++)
        sum += (double)reals[i];
    return sum;
}

/* operands: gradient, first, ahead */
static void
momentum(void *machine, int64_t count, float ratio, const union cpu_array *operands)
{
    const float *restrict gradient = operands[0].reals;
    float *restrict first = operands[1].reals;
    float *restrict ahead = operands[2].reals;
    (void)machine;
    for (int64_t i = 0; i < count; i++) {
        first[i] = ratio * first[i] + gradient[i];
        ahead[i] = gradient[i] + ratio * first[i];
    }
}

/* operands: update, weights */
static void
muon_update(void *machine, int64_t count, float rate, float decay,
            const union cpu_array *operands)
{
    const float *restrict update = operands[0].reals;
    float *restrict weights = operands[1].reals;
    (void)machine;
    for (int64_t i = 0; i < count; i++)
        weights[i] -= rate * update[i] + decay * weights[i];
}

/* ---- Experts */

static void
swiglu(void *machine, int64_t rows, int64_t width, const float *gate_up, float *y)
{
    (void)machine;
    cpu_swiglu(rows, width, gate_up, y);
}

static void
swiglu_backward(void *machine, int64_t rows, int64_t width, const float *gate_up,
                const float *y_gradient, float *gate_up_gradient)
{
    (void)machine;
    cpu_swiglu_backward(rows, width, gate_up, y_gradient, gate_up_gradient);
}

static void
permute(void *machine, const struct cpu_routes *routes, const float *x, float *rows)
{
    (void)machine;
    cpu_permute(routes, x, rows);
}

static void
permute_backward(void *machine, const struct cpu_routes *routes, const float *rows_gradient,
                 float *x_gradient)
{
    (void)machine;
    cpu_permute_backward(routes, rows_gradient, x_gradient);
}

static void
combine(void *machine, const struct cpu_routes *routes, const float *weights, const float *rows,
        float *y)
{
    (void)machine;
    cpu_combine(routes, weights, rows, y);
}

static void
combine_backward(void *machine, const struct cpu_routes *routes,
                 const struct cpu_combine_backward *operands)
{
    (void)machine;
    cpu_combine_backward(routes, operands);
}

static void
sort_routes(void *machine, const int32_t *experts, int64_t count, int64_t expert_count,
            int64_t *counts, int32_t *place)
{
    (void)machine;
    cpu_sort_routes(experts, count, expert_count, counts, place);
}

static void
place_weights(void *machine, const struct top_k *shape, const int32_t *chosen,
              const float *weights, float *scores)
{
    zero(machine, scores, shape->rows * shape->experts);
    for (int64_t i = 0; i < shape->rows * shape->k; i++)
        scores[i / shape->k * shape->experts + chosen[i]] = weights[i];
}

/* ---- Exchanges: between processes */

static void
all_reduce(void *machine, const struct process_group *group, float *reals, int64_t count)
{
    (void)machine;
    process_all_reduce(group, reals, reals, (size_t)count);
}

static void
all_gather(void *machine, const struct process_group *group, const float *in, float *out,
           int64_t count)
{
    (void)machine;
    process_all_gather(group, in, out, (size_t)count * sizeof *in);
}

static void
reduce_scatter(void *machine, const struct process_group *group, const float *in, float *out,
               int64_t count)
{
    (void)machine;
    process_reduce_scatter(group, in, out, (size_t)count);
}

static void
all_to_all_v(void *machine, const struct process_group *group, const void *in,
             const int64_t *in_bytes, void *out, const int64_t *out_bytes)
{
    (void)machine;
    process_all_to_all_v(group, in, in_bytes, out, out_bytes);
}

static void
exchange(void *machine, const struct process_group *group, struct process_message to,
         const void *in, struct process_message from, void *out)
{
    (void)machine;
    process_exchange(group, to, in, from, out);
}

static void
exchange_counts(void *machine, const struct process_group *group, const int64_t *in,
                int64_t *out, int64_t count)
{
    (void)machine;
    process_all_to_all(group, in, out, (size_t)count * sizeof *in);
}

const struct training_device *
training_device_cpu(struct arena *arena)
{
    const struct training_device device = {
        .machine = arena,
        .new_memory = new_memory,
        .copy_in = copy,
        .copy_out = copy,
        .zero = zero,
        .wait = wait_for,
        .gemm = gemm,
        .grouped_gemm = grouped_gemm,
        .grouped_weight_gradient = grouped_weight_gradient,
        .attention = attention,
        .attention_backward = attention_backward,
        .rms_norm = rms_norm,
        .rms_norm_backward = rms_norm_backward,
        .softmax = softmax,
        .softmax_backward = softmax_backward,
        .top_k = top_k,
        .cross_entropy = cross_entropy,
        .cross_entropy_backward = cross_entropy_backward,
        .gather = gather,
        .scatter_add = scatter_add,
        .add = add,
        .adamw = adamw,
        .newton_schulz = newton_schulz,
        .swiglu = swiglu,
        .swiglu_backward = swiglu_backward,
        .permute = permute,
        .permute_backward = permute_backward,
        .combine = combine,
        .combine_backward = combine_backward,
        .sort_routes = sort_routes,
        .place_weights = place_weights,
        .total = total,
        .momentum = momentum,
        .muon_update = muon_update,
        .all_reduce = all_reduce,
        .all_gather = all_gather,
        .reduce_scatter = reduce_scatter,
        .all_to_all_v = all_to_all_v,
        .exchange = exchange,
        .exchange_counts = exchange_counts,
    };
    return arena_copy(arena, &device, sizeof device);
}

bool
training_device_failed(const struct training_device *device)
{
    return device->errors && device->errors->count > 0;
}
