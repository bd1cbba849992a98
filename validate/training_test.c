/* Are the gradients of the real training step those of its loss, and does it learn? */
#include "validate/training.h"

#include <math.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "validate/training_check.h"
#include "validate/training_optimizer.h"

Suite *training_suite(void);

/* Two microbatches of two sequences, two query heads a key head, two of four experts a token. */
static const struct training_shape SMALL = {
    .layers = 2,
    .hidden = 24,
    .vocab = 40,
    .query_heads = 4,
    .kv_heads = 2,
    .head_dim = 8,
    .experts = 4,
    .experts_per_token = 2,
    .expert_ffn = 20,
    .sequence_tokens = 12,
    .microbatch_sequences = 2,
    .global_batch_sequences = 4,
    .data = 1,
    .tensor = 1,
    .pipeline = 1,
    .expert = 1,
    .newton_schulz_steps = 5,
};

static const struct process_group ALONE = {.rank = 0, .size = 1};

START_TEST(loss_is_the_references)
{
    struct arena *arena = check_arena_new();
    struct training *step = training_new(&SMALL, &ALONE, training_device_cpu(arena), 1, arena);
    double *weights = arena_alloc(arena, (size_t)step->model.elements, sizeof *weights);
    for (int64_t i = 0; i < step->model.elements; i++)
        weights[i] = (double)step->weights.all[i];
    training_run_passes(step);
    CHECK_NEAR(training_loss(step), training_check_loss(step, weights, arena), 1e-6);
    arena_free(arena);
}
END_TEST

/* fp32 against differences in fp64: seven digits less what sums lose. */
START_TEST(gradient_is_the_slope_of_the_loss)
{
    struct arena *arena = check_arena_new();
    struct training *step = training_new(&SMALL, &ALONE, training_device_cpu(arena), 1, arena);
    for (uint64_t seed = 0; seed < 4; seed++) {
        double error =
            training_check_gradient(step, (enum training_tensor_kind)_i, seed, arena);
        ck_assert_msg(error < 1e-5, "tensor kind %d: off by %g", _i, error);
    }
    arena_free(arena);
}
END_TEST

/* The mean over the step does not ask how it was cut: sums in another order. */
START_TEST(microbatches_do_not_change_gradients)
{
    struct arena *arena = check_arena_new();
    struct training_shape halves = SMALL;
    halves.microbatch_sequences = 1;
    struct training *whole = training_new(&SMALL, &ALONE, training_device_cpu(arena), 1, arena);
    struct training *cut = training_new(&halves, &ALONE, training_device_cpu(arena), 1, arena);
    training_run_passes(whole);
    training_run_passes(cut);
    double difference = 0, square = 0;
    for (int64_t i = 0; i < whole->model.elements; i++) {
        double wanted = (double)whole->gradients.all[i];
        difference += pow((double)cut->gradients.all[i] - wanted, 2);
        square += wanted * wanted;
    }
    ck_assert_double_lt(sqrt(difference / square), 1e-6);
    arena_free(arena);
}
END_TEST

/* From the entropy of 40 words, ln 40 = 3.7, towards that of words of which seven of eight follow
 * from the one before: 0.8 nat. Every step has other words. */
START_TEST(loss_falls)
{
    struct arena *arena = check_arena_new();
    struct training_shape shape = SMALL;
    shape.is_muon = _i == 1;
    struct training *step = training_new(&shape, &ALONE, training_device_cpu(arena), 1, arena);
    struct training_optimizer optimizer = training_optimizer_new(step);
    double first = 0, last = 0;
    for (step->number = 0; step->number < 60; step->number++) {
        training_run_passes(step);
        training_optimizer_run(&optimizer, step);
        first += step->number < 10 ? training_loss(step) / 10 : 0;
        last += step->number >= 50 ? training_loss(step) / 10 : 0;
    }
    ck_assert_double_gt(first, 3);
    ck_assert_double_lt(last, 2.2);
    arena_free(arena);
}
END_TEST

Suite *
training_suite(void)
{
    Suite *suite = suite_create("training");
    TCase *tests = tcase_create("gradients");
    tcase_add_test(tests, loss_is_the_references);
    tcase_add_loop_test(tests, gradient_is_the_slope_of_the_loss, 0,
                        TRAINING_TENSOR_KIND_COUNT);
    tcase_add_test(tests, microbatches_do_not_change_gradients);
    tcase_add_loop_test(tests, loss_falls, 0, 2); /* AdamW, Muon */
    suite_add_tcase(suite, tests);
    return suite;
}
