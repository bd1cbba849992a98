/* Do casts to fp8 move the bytes that each recipe says, and do products, exchanges, weights and
 * memory follow? */
#include "models/fp8.h"

#include <string.h>

#include <check.h>

#include "models/memory.h"
#include "models/operators.h"
#include "models/program.h"
#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *fp8_suite(void);

static struct arena *arena;

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

/* As torchao under torch.compile, and as Transformer Engine on Hopper. */
static const struct software_fp8 COMPILED = {
    .fuses_casts = true, .transposes_operands = true, .shares_casts = true};
static const struct software_fp8 ENGINE = {
    .transposes_operands = true, .keeps_inputs = true, .casts_weights_once = true};

static struct fp8_setting
setting_of(enum fp8_recipe recipe, const struct software_fp8 *stack)
{
    const struct software software = {.fp8 = stack};
    const struct plan plan = {.compute_dtype = DTYPE_BF16, .fp8_recipe = recipe};
    return fp8_setting_of(&plan, &software);
}

static void
check_cast(struct fp8_cast cast, double read, double write, int64_t launches)
{
    CHECK_NEAR(cast.read, read, 1e-12);
    CHECK_NEAR(cast.write, write, 1e-12);
    ck_assert_int_eq(cast.launches, launches);
}

/* Of bf16: 2 bytes read for the largest value, which the kernel before finds; 2 read and 1 written
 * by the cast. Backward again from bf16: 2 and 1, its scale being known. Gradients are written both
 * ways round at once: 2 and 2. torchao's roofline counts the same, kernel by kernel. */
START_TEST(one_scale_a_tensor_is_cast_as_torchao_does)
{
    struct fp8_setting fp8 = setting_of(FP8_TENSORWISE, &COMPILED);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 2, 1, 1);
    check_cast(fp8_cast_input(&fp8, FP8_BROUGHT), 4, 1, 2);
    check_cast(fp8_cast_input_again(&fp8, FP8_MADE), 2, 1, 1);
    check_cast(fp8_cast_gradient(&fp8, FP8_MADE), 2, 2, 1);
    check_cast(fp8_cast_weight(&fp8), 4, 1, 2);
    check_cast(fp8_cast_weight_again(&fp8), 2, 1, 1);
    check_cast(fp8_cast_weight_once(&fp8), 0, 0, 0);
    check_cast(fp8_cast_master(&fp8), 0, 0, 0);
    CHECK_NEAR(fp8_kept_bytes(&fp8), 2, 0);
}
END_TEST

/* A row is scaled by the kernel that makes it: a byte more to write. Backward, along columns: 2
 * bytes for the largest values, 2 and 1 for the cast. A gradient takes both. */
START_TEST(a_scale_a_row_is_another_the_other_way_round)
{
    struct fp8_setting fp8 = setting_of(FP8_ROWWISE, &COMPILED);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 0, 1, 0);
    check_cast(fp8_cast_input(&fp8, FP8_BROUGHT), 2, 1, 1);
    check_cast(fp8_cast_input_again(&fp8, FP8_MADE), 4, 1, 2);
    check_cast(fp8_cast_gradient(&fp8, FP8_BROUGHT), 6, 2, 3);
    check_cast(fp8_cast_weight(&fp8), 2, 1, 1);
    check_cast(fp8_cast_weight_again(&fp8), 4, 1, 2);
}
END_TEST

/* The weight gradient reads bf16: nothing is cast for it, and a weight goes by one scale then. */
START_TEST(weight_gradients_in_bf16_spare_the_columns)
{
    struct fp8_setting fp8 = setting_of(FP8_ROWWISE_WITH_GW_HP, &COMPILED);
    check_cast(fp8_cast_input_again(&fp8, FP8_MADE), 0, 0, 0);
    check_cast(fp8_cast_gradient(&fp8, FP8_BROUGHT), 2, 1, 1);
    check_cast(fp8_cast_weight_again(&fp8), 2, 1, 1);
    ck_assert(fp8_has_wide_weight_gradient(FP8_ROWWISE_WITH_GW_HP));
    fp8 = setting_of(FP8_ROWWISE_WITH_GW_HP, &ENGINE);
    CHECK_NEAR(fp8_kept_bytes(&fp8), 2, 0);
}
END_TEST

/* 4 bytes of scale for 128 elements: 33/32 of a byte each way; both ways at once, and one of them
 * kept. Weights once a step: their largest values, then both copies; or delayed, without. */
START_TEST(transformer_engine_casts_both_ways_and_keeps_one)
{
    struct fp8_setting fp8 = setting_of(FP8_BLOCKWISE, &ENGINE);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 2, 33.0 / 16, 1);
    check_cast(fp8_cast_input_again(&fp8, FP8_MADE), 0, 0, 0);
    check_cast(fp8_cast_gradient(&fp8, FP8_MADE), 2, 33.0 / 16, 1);
    check_cast(fp8_cast_weight(&fp8), 0, 0, 0);
    check_cast(fp8_cast_weight_again(&fp8), 0, 0, 0);
    check_cast(fp8_cast_weight_once(&fp8), 2, 2, 1);
    CHECK_NEAR(fp8_kept_bytes(&fp8), 33.0 / 32, 1e-12);
    fp8 = setting_of(FP8_TENSORWISE, &ENGINE);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 4, 2, 2);
    check_cast(fp8_cast_weight_once(&fp8), 4, 2, 2);
    fp8 = setting_of(FP8_DELAYED, &ENGINE);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 2, 2, 1);
    check_cast(fp8_cast_weight_once(&fp8), 2, 2, 1);
    fp8 = setting_of(FP8_ROWWISE, &ENGINE);
    check_cast(fp8_cast_weight_once(&fp8), 6, 2, 3);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 6, 2, 3);
}
END_TEST

/* Products that take operands either way round want no second copy of one scale. */
START_TEST(without_turning_there_is_one_copy)
{
    const struct software_fp8 either = {.keeps_inputs = true};
    struct fp8_setting fp8 = setting_of(FP8_DELAYED, &either);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 2, 1, 1);
    check_cast(fp8_cast_gradient(&fp8, FP8_MADE), 2, 1, 1);
    fp8.has_narrow_weights = true;
    check_cast(fp8_cast_weight_again(&fp8), 0, 0, 0);
}
END_TEST

/* Gathered in fp8, a weight is there, and turned: 1 and 1. Its share of the fp32 master is read
 * for the largest value and for the cast. ZeRO-3 lets go of what it cast: again in each pass. */
START_TEST(weights_gathered_in_fp8_are_turned_only)
{
    const struct software software = {.fp8 = &ENGINE};
    struct plan plan = {.compute_dtype = DTYPE_BF16,
                        .fp8_recipe = FP8_TENSORWISE,
                        .gathers_weights_in_fp8 = true};
    struct fp8_setting fp8 = fp8_setting_of(&plan, &software);
    check_cast(fp8_cast_weight_once(&fp8), 1, 1, 1);
    check_cast(fp8_cast_master(&fp8), 8, 1, 2);
    plan.zero_stage = 3;
    fp8 = fp8_setting_of(&plan, &software);
    check_cast(fp8_cast_weight_once(&fp8), 0, 0, 0);
    check_cast(fp8_cast_weight(&fp8), 0, 0, 0);
    check_cast(fp8_cast_weight_again(&fp8), 1, 1, 1);
}
END_TEST

/* What comes in fp8 is not cast before its product; for the weight gradient tiles are made anew of
 * 33/32 bytes, one scale a tensor turned. */
START_TEST(what_was_dispatched_in_fp8_is_there)
{
    struct fp8_setting fp8 = setting_of(FP8_BLOCKWISE, &ENGINE);
    check_cast(fp8_cast_input(&fp8, FP8_RECEIVED), 0, 0, 0);
    check_cast(fp8_cast_input_again(&fp8, FP8_RECEIVED), 33.0 / 32, 33.0 / 32, 1);
    check_cast(fp8_cast_gradient(&fp8, FP8_RECEIVED), 33.0 / 32, 33.0 / 32, 1);
    check_cast(fp8_cast_dispatched(&fp8), 2, 33.0 / 32, 1);
    fp8 = setting_of(FP8_DELAYED, &ENGINE);
    check_cast(fp8_cast_input_again(&fp8, FP8_RECEIVED), 1, 1, 1);
}
END_TEST

START_TEST(without_a_recipe_nothing_is_cast)
{
    struct fp8_setting fp8 = setting_of(FP8_NONE, &ENGINE);
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 0, 0, 0);
    check_cast(fp8_cast_gradient(&fp8, FP8_MADE), 0, 0, 0);
    check_cast(fp8_cast_weight_once(&fp8), 0, 0, 0);
    CHECK_NEAR(fp8_kept_bytes(&fp8), 2, 0);
}
END_TEST

/* Nothing is cast for weight gradients that there are none of: one copy of inputs and gradients. */
START_TEST(frozen_weights_want_one_copy)
{
    struct fp8_setting fp8 = setting_of(FP8_BLOCKWISE, &ENGINE);
    fp8.is_frozen = true;
    check_cast(fp8_cast_input(&fp8, FP8_MADE), 2, 33.0 / 32, 1);
    check_cast(fp8_cast_input_again(&fp8, FP8_MADE), 0, 0, 0);
    check_cast(fp8_cast_gradient(&fp8, FP8_MADE), 2, 33.0 / 32, 1);
    check_cast(fp8_cast_input_again(&fp8, FP8_RECEIVED), 0, 0, 0);
}
END_TEST

static const struct run *
run_with(const char *file, const char *const *settings, size_t count)
{
    struct error_list errors = {0};
    struct run_request request = {.file = file, .settings = settings, .setting_count = count};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

static const char *const LLAMA = "configs/runs/mi300x-llama-3-8b-fsdp2.json";
static const char *const DEEPSEEK = "configs/runs/deepseek-v3-pp16.json";

static const struct operation *
find(const struct operator_list *list, const char *name, bool is_forward)
{
    for (int64_t i = 0; i < list->count; i++) {
        const struct model_operator *item = &list->items[i];
        int count = is_forward ? item->forward_count : item->backward_count;
        for (int j = 0; j < count; j++) {
            const struct operation *operation =
                is_forward ? &item->forward[j] : &item->backward[j];
            if (strcmp(operation->name, name) == 0)
                return operation;
        }
    }
    return NULL;
}

static double
moved_bytes(const struct operation *operation)
{
    ck_assert_ptr_nonnull(operation);
    ck_assert_int_eq(operation->kernel.kind, KERNEL_ELEMENTWISE);
    return operation->kernel.elementwise.read_bytes + operation->kernel.elementwise.write_bytes;
}

/* Llama-3-8B, 8,192 tokens: queries are 8,192 x 4,096 x 4,096 forward and both backward products,
 * all along the depth. The input is cast once for queries, keys and values: 3 bytes of each of
 * 8,192 x 4,096. */
START_TEST(projections_are_in_fp8_and_the_head_is_not)
{
    const char *const settings[] = {"plan.fp8_recipe=tensorwise"};
    const struct run *run = run_with(LLAMA, settings, 1);
    struct operator_list list = operators_of(&run->inputs.workload, BLOCK_ATTENTION, arena);
    struct operator_list head = operators_of(&run->inputs.workload, BLOCK_HEAD, arena);
    const char *const names[] = {"query", "query.input_gradient", "query.weight_gradient"};
    for (int i = 0; i < 3; i++) {
        const struct kernel *kernel = &find(&list, names[i], i == 0)->kernel;
        ck_assert_int_eq(kernel->dtype, DTYPE_FP8);
        ck_assert_int_eq(kernel->scales, SCALES_OF_RESULT);
        ck_assert_int_eq(kernel->gemm.layout, GEMM_NT);
    }
    CHECK_NEAR(moved_bytes(find(&list, "query.quantize_input", true)), 3.0 * 8192 * 4096, 0);
    ck_assert_ptr_null(find(&list, "key.quantize_input", true));
    CHECK_NEAR(moved_bytes(find(&list, "key.quantize_gradient", false)), 4.0 * 8192 * 1024, 0);
    CHECK_NEAR(moved_bytes(find(&list, "key.quantize_weight", true)), 5.0 * 1024 * 4096, 0);
    CHECK_NEAR(moved_bytes(find(&list, "attention_output.quantize_input", true)),
               5.0 * 8192 * 4096, 0);
    ck_assert_int_eq(find(&list, "attention", true)->kernel.dtype, DTYPE_BF16);
    ck_assert_int_eq(find(&head, "logits", true)->kernel.dtype, DTYPE_BF16);
}
END_TEST

/* Gradients are written both ways round, for the kernel that the stack names; inputs are not. */
START_TEST(what_turns_a_copy_may_be_a_kernel_of_its_own)
{
    const char *const settings[] = {"plan.fp8_recipe=tensorwise",
                                    "software.fp8.turning_op=\"cast_transpose\""};
    const struct run *run = run_with(LLAMA, settings, 2);
    struct operator_list list = operators_of(&run->inputs.workload, BLOCK_ATTENTION, arena);
    const struct kernel *both = &find(&list, "query.quantize_gradient", false)->kernel;
    const struct kernel *one = &find(&list, "query.quantize_input", true)->kernel;
    ck_assert_str_eq(both->elementwise.op, "cast_transpose");
    ck_assert_str_eq(one->elementwise.op, "quantize");
}
END_TEST

/* Casts are as before, products as in bf16. */
START_TEST(products_of_a_library_without_kernels_for_fp8_take_what_wide_ones_do)
{
    const char *const settings[] = {"plan.fp8_recipe=tensorwise",
                                    "software.fp8.multiplies_wide=true"};
    const struct run *run = run_with(LLAMA, settings, 2);
    struct operator_list list = operators_of(&run->inputs.workload, BLOCK_ATTENTION, arena);
    ck_assert_int_eq(find(&list, "query", true)->kernel.dtype, DTYPE_BF16);
    ck_assert_int_eq(find(&list, "query.weight_gradient", false)->kernel.dtype, DTYPE_BF16);
    CHECK_NEAR(moved_bytes(find(&list, "query.quantize_input", true)), 3.0 * 8192 * 4096, 0);
}
END_TEST

START_TEST(weight_gradients_stay_in_bf16_where_the_recipe_says_so)
{
    const char *const settings[] = {"plan.fp8_recipe=rowwise_with_gw_hp"};
    const struct run *run = run_with(LLAMA, settings, 1);
    struct operator_list list = operators_of(&run->inputs.workload, BLOCK_FEED_FORWARD, arena);
    ck_assert_int_eq(find(&list, "down", true)->kernel.dtype, DTYPE_FP8);
    ck_assert_int_eq(find(&list, "down.input_gradient", false)->kernel.dtype, DTYPE_FP8);
    const struct kernel *last = &find(&list, "down.weight_gradient", false)->kernel;
    ck_assert_int_eq(last->dtype, DTYPE_BF16);
    ck_assert_int_eq(last->gemm.layout, GEMM_TN);
}
END_TEST

/* DeepSeek-V3: 4,096 tokens of 7,168 channels to 8 experts. Cast once a token before they are sent,
 * then neither before the product nor with weights in each pass. The router stays in bf16. */
START_TEST(experts_take_what_was_sent_in_fp8)
{
    const char *const settings[] = {"plan.fp8_recipe=blockwise", "plan.dispatches_in_fp8=true"};
    const struct run *run = run_with(DEEPSEEK, settings, 2);
    struct operator_list list = operators_of(&run->inputs.workload, BLOCK_FEED_FORWARD, arena);
    double tile = 33.0 / 32;
    const struct kernel *experts = &find(&list, "gate_up", true)->kernel;
    ck_assert_int_eq(experts->dtype, DTYPE_FP8);
    ck_assert_int_eq(experts->scales, SCALES_AS_MEASURED);
    ck_assert_int_eq(find(&list, "router", true)->kernel.dtype, DTYPE_BF16);
    CHECK_NEAR(moved_bytes(find(&list, "permute.quantize_tokens", true)),
               (2 + tile) * 4096 * 7168, 1e-12);
    ck_assert_ptr_null(find(&list, "gate_up.quantize_input", true));
    ck_assert_ptr_null(find(&list, "gate_up.quantize_weight", true));
    CHECK_NEAR(moved_bytes(find(&list, "gate_up.quantize_input.weight_gradient", false)),
               2 * tile * 8 * 4096 * 7168, 1e-12);
    CHECK_NEAR(moved_bytes(find(&list, "down.quantize_gradient", false)),
               2 * tile * 8 * 4096 * 7168, 1e-12);
    CHECK_NEAR(moved_bytes(find(&list, "permute", true)), tile * (1 + 8) * 4096 * 7168, 1e-12);
}
END_TEST

static const struct shard_exchange *
find_exchange(const struct shard_list *list, const char *name)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->steps[i].exchange && strcmp(list->steps[i].exchange->name, name) == 0)
            return list->steps[i].exchange;
    return NULL;
}

/* 33/64 of the bytes to the experts, forward and backward; back as before. */
START_TEST(dispatch_halves_and_combine_does_not)
{
    const char *const settings[] = {"plan.fp8_recipe=blockwise", "plan.dispatches_in_fp8=true"};
    const struct run *narrow = run_with(DEEPSEEK, settings, 2),
                     *wide = run_with(DEEPSEEK, NULL, 0);
    struct shard shards[] = {step_inputs_shard(&wide->inputs),
                             step_inputs_shard(&narrow->inputs)};
    struct shard_block blocks[2];
    for (int i = 0; i < 2; i++)
        blocks[i] = shard_block(&shards[i], BLOCK_FEED_FORWARD, 0, arena);
    const char *const names[] = {"dispatch_tokens", "combine_tokens"};
    for (int i = 0; i < 2; i++) {
        double ratio = i == 0 ? 33.0 / 64 : 1;
        CHECK_NEAR(find_exchange(&blocks[1].forward, names[i])->bytes,
                   ratio * find_exchange(&blocks[0].forward, names[i])->bytes, 1e-12);
        CHECK_NEAR(find_exchange(&blocks[1].backward, names[i])->bytes,
                   ratio * find_exchange(&blocks[0].backward, names[i])->bytes, 1e-12);
    }
}
END_TEST

static double
gathered_bytes(const struct program *program)
{
    double bytes = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program->kinds[0].items[i].work;
        if (work && work->collective && strcmp(work->name, "gather_parameters") == 0)
            bytes += work->collective->bytes;
    }
    return bytes;
}

/* Llama-3-8B has 32 x (2 x 4,096 x 4,096 + 2 x 4,096 x 1,024 + 3 x 4,096 x 14,336) weights of
 * products in its layers, 6,979,321,856: a byte less of each, every time that layers are gathered:
 * forward and backward, but for the last one, which is still there. */
START_TEST(weights_gathered_in_fp8_are_half_the_bytes)
{
    const char *const settings[] = {"plan.fp8_recipe=tensorwise",
                                    "plan.gathers_weights_in_fp8=true"};
    struct error_list errors = {0};
    const struct run *narrow = run_with(LLAMA, settings, 2), *wide = run_with(LLAMA, NULL, 0);
    double saved = gathered_bytes(program_of(&wide->inputs, RANKS_ALL, arena, &errors)) -
                   gathered_bytes(program_of(&narrow->inputs, RANKS_ALL, arena, &errors));
    double layer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;
    ck_assert_int_eq(errors.count, 0);
    CHECK_NEAR(saved, 2 * 32 * layer, 1e-12);
}
END_TEST

static int64_t
count_items(const struct program *program, const char *name)
{
    int64_t count = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program->kinds[0].items[i].work;
        count += work && strcmp(work->name, name) == 0;
    }
    return count;
}

/* The first of 16 stages holds 4 layers, each cast with the first of 64 microbatches. */
START_TEST(weights_are_cast_once_a_step)
{
    const char *const settings[] = {"plan.fp8_recipe=blockwise"};
    struct error_list errors = {0};
    struct step_inputs inputs = run_with(DEEPSEEK, settings, 1)->inputs;
    inputs.detail = DETAIL_KERNELS;
    ck_assert_int_eq(
        count_items(program_of(&inputs, RANKS_ALL, arena, &errors), "quantize_weights"), 4);
    ck_assert_int_eq(errors.count, 0);
}
END_TEST

/* An element of a product's weight is 2 bytes in bf16, and 2 more of both copies in fp8; gathered
 * in fp8 a byte, and one turned. Of a stage's 4 layers 187,105,280 are latent attention's: 7,168 x
 * 1,536 + 1,536 x 128 x 192 + 7,168 x 576 + 512 x 128 x 256 + 16,384 x 7,168; 4 experts and a
 * shared one are 3 x 7,168 x 2,048 each. Products of a layer keep a byte in place of bf16. */
START_TEST(memory_holds_what_was_cast)
{
    const char *const settings[] = {"plan.recompute=none", "plan.fp8_recipe=delayed",
                                    "plan.gathers_weights_in_fp8=true"};
    struct memory memories[3];
    for (size_t i = 0; i < 3; i++)
        memories[i] = memory_of_stages(&run_with(DEEPSEEK, settings, i + 1)->inputs, arena)[1];
    double layer = 187105280 + 4.0 * 3 * 7168 * 2048 + 3.0 * 7168 * 2048;
    CHECK_NEAR(memories[1].weights - memories[0].weights, 2 * 4 * layer, 1e-12);
    CHECK_NEAR(memories[2].weights, memories[0].weights, 1e-12);
    ck_assert(memories[1].activations < memories[0].activations);
}
END_TEST

static void
check_refused(const char *file, const char *const *settings, size_t count, const char *where,
              const char *what)
{
    struct error_list errors = {0};
    struct run_request request = {.file = file, .settings = settings, .setting_count = count};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
    ck_assert_msg(strstr(errors.items[0].where, where) && strstr(errors.items[0].what, what),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
}

#define REFUSED(file, where, what, ...)                                                        \
    check_refused(file, (const char *const[]){__VA_ARGS__},                                    \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), where,    \
                  what)

START_TEST(what_fp8_cannot_be_with_is_named)
{
    REFUSED("configs/runs/a100-megatron.json", "$.fp8_recipe",
            "a100-80gb multiplies no fp8, wanted none", "plan.fp8_recipe=delayed",
            "plan.global_batch_sequences=32");
    REFUSED(LLAMA, "$.gathers_weights_in_fp8", "wanted tensorwise, delayed or blockwise",
            "plan.fp8_recipe=rowwise", "plan.gathers_weights_in_fp8=true");
    REFUSED(LLAMA, "$.gathers_weights_in_fp8", "fp8_recipe is none",
            "plan.gathers_weights_in_fp8=true");
    REFUSED(DEEPSEEK, "$.dispatches_in_fp8", "fp8_recipe is none",
            "plan.dispatches_in_fp8=true");
    REFUSED(LLAMA, "$.compute_dtype", "is fp32, beside an fp8_recipe wanted bf16 or fp16",
            "plan.fp8_recipe=delayed", "plan.compute_dtype=fp32");
    REFUSED(LLAMA, "$.fp8_recipe",
            "found 8200 tokens of a microbatch of a rank, the nearest is 8208",
            "plan.fp8_recipe=delayed", "plan.sequence_tokens=8200");
    REFUSED(LLAMA, "$.fp8_recipe",
            "found 14340 channels of the feed-forward of a rank, the nearest is 14352",
            "plan.fp8_recipe=delayed", "model.intermediate_size=14340");
    REFUSED("configs/runs/zaya1-base-4k-1024.json", "$.fp8_recipe",
            "the software stack zyphra-rocm says nothing of \"fp8\"",
            "plan.fp8_recipe=tensorwise");
}
END_TEST

Suite *
fp8_suite(void)
{
    Suite *suite = suite_create("fp8");
    TCase *tcase = tcase_create("fp8");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_scale_a_tensor_is_cast_as_torchao_does);
    tcase_add_test(tcase, a_scale_a_row_is_another_the_other_way_round);
    tcase_add_test(tcase, weight_gradients_in_bf16_spare_the_columns);
    tcase_add_test(tcase, transformer_engine_casts_both_ways_and_keeps_one);
    tcase_add_test(tcase, without_turning_there_is_one_copy);
    tcase_add_test(tcase, weights_gathered_in_fp8_are_turned_only);
    tcase_add_test(tcase, what_was_dispatched_in_fp8_is_there);
    tcase_add_test(tcase, without_a_recipe_nothing_is_cast);
    tcase_add_test(tcase, frozen_weights_want_one_copy);
    tcase_add_test(tcase, projections_are_in_fp8_and_the_head_is_not);
    tcase_add_test(tcase, what_turns_a_copy_may_be_a_kernel_of_its_own);
    tcase_add_test(tcase, products_of_a_library_without_kernels_for_fp8_take_what_wide_ones_do);
    tcase_add_test(tcase, weight_gradients_stay_in_bf16_where_the_recipe_says_so);
    tcase_add_test(tcase, experts_take_what_was_sent_in_fp8);
    tcase_add_test(tcase, dispatch_halves_and_combine_does_not);
    tcase_add_test(tcase, weights_gathered_in_fp8_are_half_the_bytes);
    tcase_add_test(tcase, weights_are_cast_once_a_step);
    tcase_add_test(tcase, memory_holds_what_was_cast);
    tcase_add_test(tcase, what_fp8_cannot_be_with_is_named);
    suite_add_tcase(suite, tcase);
    return suite;
}
