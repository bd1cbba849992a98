/* Does pytorch-eager launch what an eager PyTorch program launches?
 *
 * The oracle is torch.profiler's count of kernels in one step of such a program on 8 H200 (PyTorch
 * 2.11, rank 0): grouped-query attention by scaled_dot_product_attention, torch.rms_norm, SwiGLU,
 * a linear router, torch._grouped_mm, routing that is given, AdamW(fused=True) on one flat tensor
 * of the dense and one of the experts' weights. Taken off are what a single GPU's blocks do not
 * have: two zeroed flat gradients and four casts around the optimizer; and, of the mixture, which
 * ran on 8 expert ranks of two experts each, the two gathers a layer that put received rows by
 * expert, whose backward is two zeroed tensors and two index_add. */
#include <string.h>

#include <check.h>

#include "models/operators.h"
#include "models/optimizer.h"
#include "sim/base/check_arena.h"

Suite *eager_suite(void);

static const struct routing GIVEN = {.kind = ROUTING_UNIFORM, .is_given = true};

static const struct plan PLAN = {.sequence_tokens = 4096,
                                 .microbatch_sequences = 2,
                                 .compute_dtype = DTYPE_BF16,
                                 .gradient_dtype = DTYPE_BF16,
                                 .routing = &GIVEN};

struct wanted {
    const char *what; /* as the profiler names it */
    enum kernel_kind kind;
    const char *op[3]; /* elementwise: the same kernel under up to three names */
    enum { FORWARD = 1, BACKWARD = 2, BOTH = 3 } directions;
    int64_t mixture; /* launches of a step of two microbatches */
    int64_t dense;   /* of a step of one */
};

static const struct wanted WANTED[] = {
    {"aten::mm", KERNEL_GEMM, {NULL}, BOTH, 150, 51},
    {"aten::_grouped_mm", KERNEL_GROUPED_GEMM, {NULL}, BOTH, 96, 0},
    {"aten::_cudnn_attention_forward", KERNEL_ATTENTION, {NULL}, FORWARD, 16, 4},
    {"aten::_cudnn_attention_backward", KERNEL_ATTENTION, {NULL}, BACKWARD, 16, 4},
    {"aten::_fused_rms_norm_backward", KERNEL_RMS_NORM, {NULL}, BACKWARD, 34, 9},
    {"aten::mul", KERNEL_ELEMENTWISE, {"mul", "mul_strided", "mul_broadcast"}, BOTH, 128, 12},
    {"aten::silu", KERNEL_ELEMENTWISE, {"silu_strided"}, FORWARD, 16, 4},
    {"aten::silu_backward", KERNEL_ELEMENTWISE, {"silu_backward_strided"}, BACKWARD, 16, 4},
    {"CUDAFunctor_add", KERNEL_ELEMENTWISE, {"add", "accumulate"}, BOTH, 198, 43},
    {"aten::cat", KERNEL_ELEMENTWISE, {"cat"}, BACKWARD, 32, 8},
    {"aten::copy_", KERNEL_ELEMENTWISE, {"copy", "cast", "narrow"}, BOTH, 88 - 4, 4 - 2},
    {"aten::fill_", KERNEL_ELEMENTWISE, {"fill"}, BOTH, 104 - 2 - 32, 4 - 1},
    /* 64 - 32, and the embedding's backward, which has a kernel of its own */
    {"indexFuncLargeIndex", KERNEL_SCATTER_ADD, {NULL}, BOTH, 64 - 32 + 2, 1},
};
enum { WANTED_COUNT = sizeof WANTED / sizeof *WANTED };

static bool
is_it(const struct wanted *wanted, const struct kernel *kernel)
{
    if (kernel->kind != wanted->kind)
        return false;
    if (kernel->kind != KERNEL_ELEMENTWISE)
        return true;
    for (int i = 0; i < 3; i++)
        if (wanted->op[i] && strcmp(kernel->elementwise.op, wanted->op[i]) == 0)
            return true;
    return false;
}

static int64_t
count_in(const struct workload *workload, enum block block, const struct wanted *wanted,
         struct arena *arena)
{
    struct operator_list list = operators_of(workload, block, arena);
    int64_t count = 0;
    for (int64_t i = 0; i < list.count; i++) {
        const struct model_operator *item = &list.items[i];
        for (int j = 0; (wanted->directions & FORWARD) && j < item->forward_count; j++)
            count += is_it(wanted, &item->forward[j].kernel);
        for (int j = 0; (wanted->directions & BACKWARD) && j < item->backward_count; j++)
            count += is_it(wanted, &item->backward[j].kernel);
    }
    return count;
}

static int64_t
count_of(const struct workload *workload, const struct wanted *wanted, struct arena *arena)
{
    return count_in(workload, BLOCK_EMBEDDING, wanted, arena) +
           workload->arch->layers * (count_in(workload, BLOCK_ATTENTION, wanted, arena) +
                                     count_in(workload, BLOCK_FEED_FORWARD, wanted, arena)) +
           count_in(workload, BLOCK_HEAD, wanted, arena);
}

static const struct arch *
read_model(const char *path, struct arena *arena)
{
    struct error_list errors = {0};
    const struct arch *arch = arch_read(json_read_file(arena, path, &errors), arena, &errors);
    ck_assert_msg(arch != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return arch;
}

START_TEST(launches_are_those_of_the_profile)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct wanted *wanted = &WANTED[_i];
    const struct software *software = software_read(
        json_read_file(arena, "configs/software/pytorch-eager.json", &errors), arena, &errors);
    struct workload mixture = {read_model("configs/models/eager-moe-top1.json", arena), &PLAN,
                               software};
    struct workload dense = {read_model("configs/models/eager-dense.json", arena), &PLAN,
                             software};
    ck_assert_ptr_nonnull(software);
    ck_assert_msg(2 * count_of(&mixture, wanted, arena) == wanted->mixture,
                  "%s: %lld launches, the profile has %lld", wanted->what,
                  (long long)(2 * count_of(&mixture, wanted, arena)),
                  (long long)wanted->mixture);
    ck_assert_msg(count_of(&dense, wanted, arena) == wanted->dense,
                  "%s: %lld launches, the profile has %lld", wanted->what,
                  (long long)count_of(&dense, wanted, arena), (long long)wanted->dense);
    arena_free(arena);
}
END_TEST

/* Two flat tensors of the mixture: an eighth of the dense weights, 8 x (3072 x 2048 + 2048 x 2048 +
 * 16 x 2048 + 2 x 2048) + 2 x 32000 x 2048 + 2048, and the rank's two experts of each layer,
 * 8 x 2 x 3 x 4096 x 2048: 22 launches in all. One of the dense model: 7. */
START_TEST(fused_adamw_launches_once_for_320_chunks)
{
    int64_t dense =
        8LL * (3072 * 2048 + 2048 * 2048 + 16 * 2048 + 2 * 2048) + 2 * 32000 * 2048 + 2048;
    int64_t experts = 8LL * 2 * 3 * 4096 * 2048;
    ck_assert_int_eq(optimizer_multi_tensor_launches(dense / 8) +
                         optimizer_multi_tensor_launches(experts),
                     22);
    int64_t flat = 4LL * (6144 * 4096 + 4096 * 4096 + 3 * 14336 * 4096 + 2 * 4096) +
                   2 * 32000 * 4096 + 4096;
    ck_assert_int_eq(optimizer_multi_tensor_launches(flat / 8), 7);
    ck_assert_int_eq(optimizer_multi_tensor_launches(0), 0);
}
END_TEST

Suite *
eager_suite(void)
{
    Suite *suite = suite_create("eager");
    TCase *tests = tcase_create("profile");
    tcase_add_loop_test(tests, launches_are_those_of_the_profile, 0, WANTED_COUNT);
    tcase_add_test(tests, fused_adamw_launches_once_for_320_chunks);
    suite_add_tcase(suite, tests);
    return suite;
}
