/* Which kernels the CPU runs, and their operands. */
#include "validate/cpu_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "validate/cpu_bf16.h"
#include "validate/cpu_check.h"
#include "validate/cpu_run.h"

static const double LINE_BYTES = 64;  /* of a cache line */
static const double DOUBLE_REALS = 2; /* elements of four bytes that a double takes */

static void
add_operand(struct cpu_kernel *cpu, double count, enum cpu_fill fill)
{
    cpu->operands[cpu->operand_count++] = (struct cpu_operand){count, fill, 0};
}

static void
add_index(struct cpu_kernel *cpu, double count, int64_t index_end)
{
    cpu->operands[cpu->operand_count++] =
        (struct cpu_operand){count, CPU_FILL_INDEX, index_end};
}

static bool
find_gemm(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct gemm *gemm = &cpu->kernel.gemm;
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k,
           batch = (double)gemm->batch;
    bool is_bf16 = cpu->kernel.dtype == DTYPE_BF16;
    enum cpu_fill fill = is_bf16 ? CPU_FILL_BF16 : CPU_FILL_SIGNED;
    if (is_bf16 && !cpu_bf16_is_there(errors))
        return false;
    add_operand(cpu, is_bf16 ? ceil(batch * m * k / 2) : batch * m * k, fill);
    add_operand(cpu, is_bf16 ? ceil(batch * k * n / 2) : batch * k * n, fill);
    add_operand(cpu, batch * m * n, CPU_FILL_ZERO);
    cpu->run = is_bf16 ? cpu_run_gemm_bf16 : cpu_run_gemm;
    cpu->check = cpu_check_gemm;
    return true;
}

static bool
find_grouped_gemm(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct grouped_gemm *gemm = &cpu->kernel.grouped_gemm;
    double n = (double)gemm->n, k = (double)gemm->k, rows = 0;
    for (int64_t expert = 0; expert < gemm->experts; expert++)
        rows += (double)gemm->rows[expert];
    if (rows == 0)
        return error_add(errors, ERROR_INPUT, "", "no expert has a row: nothing to run");
    add_operand(cpu, rows * k, CPU_FILL_SIGNED);
    add_operand(cpu, (double)gemm->experts * k * n, CPU_FILL_SIGNED);
    add_operand(cpu, rows * n, CPU_FILL_ZERO);
    cpu->run = cpu_run_grouped_gemm;
    cpu->check = cpu_check_grouped_gemm;
    return true;
}

/* The elementwise operations that have code, and their traffic in fp32. */
struct cpu_op {
    const char *name;
    int64_t launches;
    int inputs;   /* arrays of `elements` */
    double reads; /* the same, over all launches */
    int writes;   /* likewise */
    void (*run)(const struct kernel *kernel, const union cpu_array *operands);
};

/* Backward of swiglu makes the gradients of gates and ups, from both and from half as many of what
 * they made. */
static const struct cpu_op ops[] = {
    {"copy", 1, 1, 1, 1, cpu_run_copy_elements},
    {"add", 1, 2, 2, 1, cpu_run_add},
    {"gelu", 1, 1, 1, 1, cpu_run_gelu},
    {"silu_mul", 1, 2, 2, 1, cpu_run_silu_mul},
    {"silu_mul", 2, 2, 3, 2, cpu_run_silu_mul},
    {"swiglu", 1, 2, 2, 1, cpu_run_silu_mul},
    {"swiglu", 1, 2, 1.5, 1, cpu_run_swiglu_backward},
};

static bool
op_is(const struct cpu_op *op, const struct elementwise *elementwise)
{
    double array_bytes = (double)elementwise->elements * sizeof(float);
    return strcmp(op->name, elementwise->op) == 0 && op->launches == elementwise->launches &&
           op->reads * array_bytes == elementwise->read_bytes &&
           op->writes * array_bytes == elementwise->write_bytes;
}

static bool
find_elementwise(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct elementwise *elementwise = &cpu->kernel.elementwise;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (!op_is(&ops[i], elementwise))
            continue;
        for (int input = 0; input < ops[i].inputs; input++)
            add_operand(cpu, (double)elementwise->elements, CPU_FILL_SIGNED);
        for (int output = 0; output < ops[i].writes; output++)
            add_operand(cpu, (double)elementwise->elements, CPU_FILL_ZERO);
        cpu->run = ops[i].run;
        cpu->check = cpu_check_elementwise;
        return true;
    }
    return error_add(errors, ERROR_INPUT, "",
                     "the CPU has no elementwise op \"%s\" of these bytes and launches",
                     elementwise->op);
}

static bool
find_rms_norm(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double width = (double)cpu->kernel.rows_by_width.width;
    double elements = (double)cpu->kernel.rows_by_width.rows * width;
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, width, CPU_FILL_SIGNED);
    add_operand(cpu, elements, is_forward ? CPU_FILL_ZERO : CPU_FILL_SIGNED);
    if (!is_forward) {
        add_operand(cpu, elements, CPU_FILL_ZERO);
        add_operand(cpu, width, CPU_FILL_ZERO);
    }
    cpu->run = is_forward ? cpu_run_rms_norm : cpu_run_rms_norm_backward;
    cpu->check = cpu_check_rms_norm;
    return true;
}

static bool
find_softmax(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double elements =
        (double)cpu->kernel.rows_by_width.rows * (double)cpu->kernel.rows_by_width.width;
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    add_operand(cpu, elements, is_forward ? CPU_FILL_SIGNED : CPU_FILL_POSITIVE);
    if (!is_forward)
        add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, elements, CPU_FILL_ZERO);
    cpu->run = is_forward ? cpu_run_softmax : cpu_run_softmax_backward;
    cpu->check = cpu_check_softmax;
    return true;
}

/* gather and scatter_add: as many rows on one side as on the other, in random order */
static bool
find_moved_rows(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double rows = (double)cpu->kernel.rows_by_width.rows;
    double elements = rows * (double)cpu->kernel.rows_by_width.width;
    bool is_gather = cpu->kernel.kind == KERNEL_GATHER;
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, rows, CPU_FILL_PERMUTATION);
    add_operand(cpu, elements, is_gather ? CPU_FILL_ZERO : CPU_FILL_SIGNED);
    cpu->run = is_gather ? cpu_run_gather : cpu_run_scatter_add;
    cpu->check = is_gather ? cpu_check_gather : cpu_check_scatter_add;
    return true;
}

static bool
find_transpose(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double elements =
        (double)cpu->kernel.rows_by_width.rows * (double)cpu->kernel.rows_by_width.width;
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, elements, CPU_FILL_ZERO);
    cpu->run = cpu_run_transpose;
    cpu->check = cpu_check_transpose;
    return true;
}

static bool
find_top_k(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double rows = (double)cpu->kernel.top_k.rows;
    add_operand(cpu, rows * (double)cpu->kernel.top_k.experts, CPU_FILL_SIGNED);
    add_operand(cpu, rows * (double)cpu->kernel.top_k.k, CPU_FILL_ZERO);
    add_operand(cpu, rows * (double)cpu->kernel.top_k.k, CPU_FILL_ZERO);
    cpu->run = cpu_run_top_k;
    cpu->check = cpu_check_top_k;
    return true;
}

static bool
find_cross_entropy(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double rows = (double)cpu->kernel.cross_entropy.rows;
    double elements = rows * (double)cpu->kernel.cross_entropy.vocab;
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_index(cpu, rows, cpu->kernel.cross_entropy.vocab);
    add_operand(cpu, is_forward ? rows : elements, CPU_FILL_ZERO);
    cpu->run = is_forward ? cpu_run_cross_entropy : cpu_run_cross_entropy_backward;
    cpu->check = cpu_check_cross_entropy;
    return true;
}

static bool
find_adamw(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    double parameters = (double)cpu->kernel.adamw.parameters;
    add_operand(cpu, parameters, CPU_FILL_SIGNED);
    add_operand(cpu, parameters, CPU_FILL_SIGNED);
    add_operand(cpu, parameters, CPU_FILL_SIGNED);
    add_operand(cpu, parameters, CPU_FILL_POSITIVE);
    cpu->run = cpu_run_adamw;
    cpu->check = cpu_check_adamw;
    return true;
}

static bool
find_copy(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct copy *copy = &cpu->kernel.copy;
    if (copy->from != COPY_HBM || copy->to != COPY_HBM)
        return error_add(errors, ERROR_INPUT, "",
                         "the CPU's own memory is all it has: wanted a copy from hbm to hbm");
    double elements = copy->bytes / sizeof(float);
    if (elements != floor(elements))
        return error_add(errors, ERROR_INPUT, "", "wanted a copy of a multiple of four bytes");
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, elements, CPU_FILL_ZERO);
    cpu->run = cpu_run_copy;
    cpu->check = cpu_check_copy;
    return true;
}

/* Backward makes the weights again from q and k, as a fused kernel does. */
static bool
find_attention(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct attention *shape = &cpu->kernel.attention;
    double tokens = (double)shape->batch * (double)shape->head_dim;
    double queries = tokens * (double)shape->q_len * (double)shape->q_heads;
    double keys = tokens * (double)shape->kv_len * (double)shape->kv_heads;
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    if (shape->is_causal && shape->kv_len < shape->q_len)
        return error_add(errors, ERROR_INPUT, "",
                         "the CPU wants a key for every query, at least the first");
    add_operand(cpu, queries, CPU_FILL_SIGNED);
    add_operand(cpu, keys, CPU_FILL_SIGNED);
    add_operand(cpu, keys, CPU_FILL_SIGNED);
    add_operand(cpu, queries, is_forward ? CPU_FILL_ZERO : CPU_FILL_SIGNED);
    for (int i = 0; !is_forward && i < 3; i++)
        add_operand(cpu, i == 0 ? queries : keys, CPU_FILL_ZERO);
    for (int i = 0; i < (is_forward ? 1 : 2); i++)
        add_operand(cpu, CPU_ATTENTION_BLOCK * (double)shape->kv_len, CPU_FILL_ZERO);
    cpu->run = is_forward ? cpu_run_attention : cpu_run_attention_backward;
    cpu->check = cpu_check_attention;
    return true;
}

static bool
find_convolution(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    const struct convolution *shape = &cpu->kernel.convolution;
    double channels = (double)shape->channels, elements = (double)shape->tokens * channels;
    double weights = (double)shape->taps * channels * (channels / (double)shape->groups);
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, weights, CPU_FILL_SIGNED);
    add_operand(cpu, elements, is_forward ? CPU_FILL_ZERO : CPU_FILL_SIGNED);
    if (!is_forward) {
        add_operand(cpu, elements, CPU_FILL_ZERO);
        add_operand(cpu, weights, CPU_FILL_ZERO);
    }
    cpu->run = is_forward ? cpu_run_convolution : cpu_run_convolution_backward;
    cpu->check = cpu_check_convolution;
    return true;
}

static bool
find_newton_schulz(struct cpu_kernel *cpu, struct error_list *errors)
{
    (void)errors;
    const struct newton_schulz *shape = &cpu->kernel.newton_schulz;
    double elements = (double)shape->m * (double)shape->n;
    double s = fmin((double)shape->m, (double)shape->n);
    add_operand(cpu, elements, CPU_FILL_SIGNED);
    add_operand(cpu, elements, CPU_FILL_ZERO);
    add_operand(cpu, s * s, CPU_FILL_ZERO);
    add_operand(cpu, s * s, CPU_FILL_ZERO);
    add_operand(cpu, elements, CPU_FILL_ZERO);
    add_operand(cpu, DOUBLE_REALS * 2 * (elements + s * s), CPU_FILL_ROOM);
    cpu->run = cpu_run_newton_schulz;
    cpu->check = cpu_check_newton_schulz;
    return true;
}

static bool
find_fused_moe(struct cpu_kernel *cpu, struct error_list *errors)
{
    const struct fused_moe *moe = &cpu->kernel.fused_moe;
    double tokens = (double)moe->tokens, width = (double)moe->width,
           copies = tokens * (double)moe->top_k, ffn = (double)moe->expert_ffn,
           experts = (double)moe->experts;
    if (copies > INT32_MAX)
        return error_add(errors, ERROR_INPUT, "", "more copies of tokens than 2^31");
    add_operand(cpu, tokens * width, CPU_FILL_SIGNED);
    add_index(cpu, copies, moe->experts);
    add_operand(cpu, copies, CPU_FILL_POSITIVE);
    add_operand(cpu, experts * width * 2 * ffn, CPU_FILL_SIGNED);
    add_operand(cpu, experts * ffn * width, CPU_FILL_SIGNED);
    add_operand(cpu, tokens * width, CPU_FILL_ZERO);
    add_operand(cpu, copies * width, CPU_FILL_ZERO);
    add_operand(cpu, copies * width, CPU_FILL_ZERO);
    add_operand(cpu, copies * 2 * ffn, CPU_FILL_ZERO);
    add_operand(cpu, copies * ffn, CPU_FILL_ZERO);
    add_operand(cpu, copies, CPU_FILL_ZERO);
    add_operand(cpu, DOUBLE_REALS * experts, CPU_FILL_ZERO);
    add_operand(cpu, DOUBLE_REALS * width, CPU_FILL_ROOM);
    cpu->run = cpu_run_fused_moe;
    cpu->check = cpu_check_fused_moe;
    return true;
}

typedef bool finder(struct cpu_kernel *cpu, struct error_list *errors);

static finder *const finders[KERNEL_KIND_COUNT] = {
    [KERNEL_GEMM] = find_gemm,
    [KERNEL_GROUPED_GEMM] = find_grouped_gemm,
    [KERNEL_FUSED_MOE] = find_fused_moe,
    [KERNEL_ATTENTION] = find_attention,
    [KERNEL_ELEMENTWISE] = find_elementwise,
    [KERNEL_RMS_NORM] = find_rms_norm,
    [KERNEL_SOFTMAX] = find_softmax,
    [KERNEL_GATHER] = find_moved_rows,
    [KERNEL_SCATTER_ADD] = find_moved_rows,
    [KERNEL_TRANSPOSE] = find_transpose,
    [KERNEL_TOP_K] = find_top_k,
    [KERNEL_CROSS_ENTROPY] = find_cross_entropy,
    [KERNEL_CONVOLUTION] = find_convolution,
    [KERNEL_ADAMW] = find_adamw,
    [KERNEL_NEWTON_SCHULZ] = find_newton_schulz,
    [KERNEL_COPY] = find_copy,
};

bool
cpu_kernel_find(struct cpu_kernel *cpu, const struct kernel *kernel, struct error_list *errors)
{
    *cpu = (struct cpu_kernel){.kernel = *kernel};
    assert(finders[kernel->kind] != NULL && "every kind has code");
    bool may_be_bf16 = kernel->kind == KERNEL_GEMM && kernel->dtype == DTYPE_BF16;
    if (kernel->kind != KERNEL_COPY && kernel->dtype != DTYPE_FP32 && !may_be_bf16)
        return error_add(errors, ERROR_INPUT, "", "the CPU's %s runs fp32, not %s",
                         kernel_kind_name(kernel->kind), dtype_name(kernel->dtype));
    return finders[kernel->kind](cpu, errors);
}

static double
bytes_of(const struct cpu_kernel *cpu, bool is_room)
{
    double bytes = 0;
    for (int i = 0; i < cpu->operand_count; i++)
        if ((cpu->operands[i].fill == CPU_FILL_ROOM) == is_room)
            bytes += ceil(cpu->operands[i].count * sizeof(float) / LINE_BYTES) * LINE_BYTES;
    return bytes;
}

double
cpu_kernel_bytes(const struct cpu_kernel *cpu)
{
    return bytes_of(cpu, false);
}

double
cpu_kernel_room_bytes(const struct cpu_kernel *cpu)
{
    return bytes_of(cpu, true);
}

double
cpu_error_fraction(const struct cpu_error *error)
{
    if (error->reference_squared == 0)
        return error->difference_squared == 0 ? 0 : (double)INFINITY;
    return sqrt(error->difference_squared / error->reference_squared);
}
