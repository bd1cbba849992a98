/* Do several GPUs together do what one core does, and does nobody wait for one that has failed? The
 * GPUs are check_gpu.h's, each driven by its thread. */
#include "validate/training_gpus.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/json.h"
#include "validate/check_gpu.h"
#include "validate/training_check.h"
#include "validate/training_measure.h"

Suite *training_gpus_suite(void);

/* Sequences, heads and experts that two and four ranks can share; small, as a block's threads take
 * turns. */
static const struct training_shape SMALL = {
    .layers = 2,
    .hidden = 24,
    .vocab = 40,
    .query_heads = 4,
    .kv_heads = 2,
    .head_dim = 6,
    .experts = 4,
    .experts_per_token = 2,
    .expert_ffn = 20,
    .sequence_tokens = 6,
    .microbatch_sequences = 1,
    .global_batch_sequences = 4,
    .data = 1,
    .tensor = 1,
    .pipeline = 1,
    .expert = 1,
    .newton_schulz_steps = 5,
};

static struct arena *arena;
static struct gpu gpus[CHECK_GPU_RANKS];
static struct gpu *const every[] = {&gpus[0], &gpus[1], &gpus[2], &gpus[3]};

static void
open_gpus(enum gpu_vendor vendor)
{
    arena = check_arena_new();
    gpus[0] = check_gpu_open(vendor);
    for (int i = 1; i < CHECK_GPU_RANKS; i++)
        gpus[i] = gpus[0];
}

static void
close_gpus(void)
{
    for (int i = 1; i < CHECK_GPU_RANKS; i++)
        if (gpus[i].workspace)
            (void)check_gpu_memory_free(gpus[i].workspace);
    check_gpu_close(&gpus[0]);
    ck_assert_int_eq(check_gpu_live, 0);
    arena_free(arena);
}

static const struct training_gpus_call GRADIENTS = {0, false};

/* A step, whose gradients are those of a core that has the whole. */
static void
check_plan(const struct training_shape *shape)
{
    struct error_list errors = {0};
    open_gpus(GPU_CUDA);
    struct training_gpus *all = training_gpus_new(every, shape, 1, arena, &errors);
    ck_assert_ptr_nonnull(all);
    ck_assert(training_gpus_run(all, (struct training_gpus_call){0, true}, &errors));
    struct training_difference difference = training_check_gpus(all, 1, arena);
    ck_assert_double_lt(difference.gradient_fraction, 1e-5);
    ck_assert_double_lt(difference.loss_fraction, 1e-6);
    training_gpus_free(all);
    close_gpus();
}

START_TEST(data_ranks)
{
    struct training_shape shape = SMALL;
    shape.data = 2;
    check_plan(&shape);
}
END_TEST

START_TEST(expert_ranks)
{
    struct training_shape shape = SMALL;
    shape.data = shape.expert = _i;
    shape.experts = shape.global_batch_sequences = 2 * _i;
    check_plan(&shape);
}
END_TEST

/* Each of two sets of experts is there twice: their gradients add up over other ranks. */
START_TEST(expert_ranks_with_copies)
{
    struct training_shape shape = SMALL;
    shape.data = 4;
    shape.expert = 2;
    check_plan(&shape);
}
END_TEST

/* An expert a rank: what is received lies in order already. */
START_TEST(an_expert_a_rank)
{
    struct training_shape shape = SMALL;
    shape.data = shape.expert = shape.experts = 4;
    check_plan(&shape);
}
END_TEST

START_TEST(tensor_ranks)
{
    struct training_shape shape = SMALL;
    shape.tensor = 2;
    shape.pipeline = _i;
    check_plan(&shape);
}
END_TEST

START_TEST(tensor_and_expert_ranks)
{
    struct training_shape shape = SMALL;
    shape.tensor = 2;
    shape.data = 2;
    shape.expert = 4;
    check_plan(&shape);
}
END_TEST

START_TEST(stages)
{
    struct training_shape shape = SMALL;
    shape.pipeline = 2;
    shape.data = _i;
    shape.expert = _i;
    check_plan(&shape);
}
END_TEST

START_TEST(muon_moves_all_copies_alike)
{
    struct error_list errors = {0};
    struct training_shape shape = SMALL;
    shape.is_muon = true;
    shape.data = 2;
    open_gpus(GPU_HIP);
    struct training_gpus *all = training_gpus_new(every, &shape, 1, arena, &errors);
    for (int64_t number = 0; number < 2; number++)
        ck_assert(training_gpus_run(all, (struct training_gpus_call){number, true}, &errors));
    const struct training *first = training_gpus_step(all, 0);
    ck_assert_int_eq(memcmp(training_gpus_step(all, 1)->weights.all, first->weights.all,
                            (size_t)first->model.elements * sizeof(float)),
                     0);
    training_gpus_free(all);
    close_gpus();
}
END_TEST

/* ---- Faults: one GPU fails, the others leave the exchange that they wait in */

static void
check_fault(const struct training_shape *shape, int *fault, int number, const char *wanted)
{
    struct error_list errors = {0};
    struct training_gpus *all = training_gpus_new(every, shape, 1, arena, &errors);
    ck_assert_ptr_nonnull(all);
    *fault = number;
    ck_assert(!training_gpus_run(all, GRADIENTS, &errors));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(strchr(errors.items[0].what, ':'), wanted);
    int launches = check_gpu_launches;
    ck_assert(!training_gpus_run(all, GRADIENTS, &errors));
    ck_assert_int_eq(check_gpu_launches, launches);
    training_gpus_free(all);
}

START_TEST(nobody_waits_for_a_gpu_that_failed)
{
    struct training_shape shape = SMALL;
    shape.global_batch_sequences = 4;
    shape.data = shape.expert = 2;
    open_gpus(GPU_CUDA);
    check_fault(&shape, &check_gpu_faults.launch, 30,
                ": a launch: an illegal memory access (700)");
    check_fault(&shape, &check_gpu_faults.copy, 9, ": copying: an illegal memory access (700)");
    check_fault(&shape, &check_gpu_faults.exchange, 3, ": NCCL: unhandled system error");
    shape.pipeline = 2;
    check_fault(&shape, &check_gpu_faults.exchange, 5, ": NCCL: unhandled system error");
    close_gpus();
}
END_TEST

/* No call fails: one does not come back, or a link is down and the library alone knows. */
START_TEST(an_exchange_that_hangs_is_aborted)
{
    struct training_shape shape = SMALL;
    const double patience_s = 0.3;
    shape.global_batch_sequences = 4;
    shape.data = shape.expert = _i;
    open_gpus(GPU_CUDA);
    gpus[0].options.timeout_s = patience_s;
    check_fault(&shape, &check_gpu_faults.stuck, 1,
                ": NCCL: an exchange did not end in 0.3 s and was aborted");
    gpus[0].options.timeout_s = 60;
    check_gpu_faults.stuck = 0;
    check_fault(&shape, &check_gpu_faults.link, 5, ": NCCL: unhandled system error");
    close_gpus();
}
END_TEST

START_TEST(more_ranks_than_gpus_are_refused)
{
    struct error_list errors = {0};
    struct training_shape shape = SMALL;
    open_gpus(GPU_CUDA);
    shape.data = 32;
    ck_assert_ptr_null(training_gpus_new(every, &shape, 1, arena, &errors));
    ck_assert_str_eq(errors.items[0].what, "found 32 ranks, wanted at most 16 GPUs");
    close_gpus();
}
END_TEST

/* Out of memory while opening: told by the first step, and all is given back. */
START_TEST(a_gpu_without_memory_is_told)
{
    struct training_shape shape = SMALL;
    struct error_list errors = {0};
    shape.data = 2;
    open_gpus(GPU_HIP);
    check_gpu_faults.memory = 20;
    struct training_gpus *all = training_gpus_new(every, &shape, 1, arena, &errors);
    ck_assert_ptr_nonnull(all);
    ck_assert(!training_gpus_run(all, GRADIENTS, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "GPU 0: memory of a training step: out of device memory");
    training_gpus_free(all);
    close_gpus();
}
END_TEST

Suite *
training_gpus_suite(void)
{
    Suite *suite = suite_create("training_gpus");
    TCase *plans = tcase_create("plans"), *faults = tcase_create("faults");
    tcase_set_timeout(plans, 60);
    tcase_set_timeout(faults, 60);
    tcase_add_test(plans, data_ranks);
    tcase_add_loop_test(plans, expert_ranks, 2, 4);
    tcase_add_test(plans, expert_ranks_with_copies);
    tcase_add_test(plans, an_expert_a_rank);
    tcase_add_loop_test(plans, tensor_ranks, 1, 3);
    tcase_add_test(plans, tensor_and_expert_ranks);
    tcase_add_loop_test(plans, stages, 1, 3);
    tcase_add_test(plans, muon_moves_all_copies_alike);
    tcase_add_test(faults, nobody_waits_for_a_gpu_that_failed);
    tcase_add_loop_test(faults, an_exchange_that_hangs_is_aborted, 2, 5);
    tcase_add_test(faults, more_ranks_than_gpus_are_refused);
    tcase_add_test(faults, a_gpu_without_memory_is_told);
    suite_add_tcase(suite, plans);
    suite_add_tcase(suite, faults);
    return suite;
}
