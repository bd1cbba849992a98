/* Does the training step on a GPU do what the one on the CPU does, and say so when it cannot? The
 * GPU is check_gpu.h's: its kernels are the GPU's own source, compiled for the host. */
#include "validate/training_gpu.h"

#include <math.h>
#include <stdio.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/json.h"
#include "validate/check_gpu.h"
#include "validate/training_check.h"
#include "validate/training_measure.h"
#include "validate/training_optimizer.h"

Suite *training_gpu_suite(void);

/* Nothing is a multiple of a tile: sequences longer than one, heads narrower than one. */
static const struct training_shape SMALL = {
    .layers = 2,
    .hidden = 24,
    .vocab = 40,
    .query_heads = 4,
    .kv_heads = 2,
    .head_dim = 18,
    .experts = 4,
    .experts_per_token = 2,
    .expert_ffn = 20,
    .sequence_tokens = 37,
    .microbatch_sequences = 2,
    .global_batch_sequences = 4,
    .data = 1,
    .tensor = 1,
    .pipeline = 1,
    .expert = 1,
    .newton_schulz_steps = 5,
};

/* What faults are looked for in. */
static struct training_shape
tiny(void)
{
    struct training_shape shape = SMALL;
    shape.layers = 1;
    shape.sequence_tokens = 5;
    shape.microbatch_sequences = shape.global_batch_sequences = 1;
    return shape;
}

static const struct process_group ALONE = {.rank = 0, .size = 1};

static struct arena *arena;
static struct gpu gpu;
static struct training_gpu *machine;

static void
open_gpu_for(enum gpu_vendor vendor, const struct training_shape *shape)
{
    struct error_list errors = {0};
    arena = check_arena_new();
    gpu = check_gpu_open(vendor);
    machine = training_gpu_new(&gpu, shape, arena, &errors);
    ck_assert_ptr_nonnull(machine);
}

static void
open_gpu(enum gpu_vendor vendor)
{
    open_gpu_for(vendor, &SMALL);
}

static void
close_gpu(void)
{
    training_gpu_free(machine);
    check_gpu_close(&gpu);
    ck_assert_int_eq(check_gpu_live, 0);
    arena_free(arena);
}

/* norm(there - here) / norm(here), of reals that lie on the GPU. */
static double
difference(const float *there, const float *here, int64_t count)
{
    double square = 0, whole = 0;
    for (int64_t i = 0; i < count; i++) {
        square += pow((double)there[i] - (double)here[i], 2);
        whole += pow((double)here[i], 2);
    }
    return sqrt(square / whole);
}

/* Sums in other orders, other exponentials: fp32's seven digits less what sums lose. */
static void
check_gradients(const struct training_shape *shape)
{
    struct training *there =
        training_new(shape, &ALONE, training_gpu_device(machine), 1, arena);
    struct training *here = training_new(shape, &ALONE, training_device_cpu(arena), 1, arena);
    training_run_passes(there);
    training_run_passes(here);
    ck_assert_msg(!training_device_failed(there->device), "%s",
                  there->device->errors->items[0].what);
    CHECK_NEAR(training_loss(there), training_loss(here), 1e-6);
    for (int64_t i = 0; i < here->model.tensor_count; i++) {
        const struct training_tensor *tensor = &here->model.tensors[i];
        double off =
            difference(there->gradients.all + tensor->at, here->gradients.all + tensor->at,
                       training_tensor_elements(tensor));
        ck_assert_msg(off < 1e-5, "%s of layer %lld: off by %g", tensor->name,
                      (long long)tensor->layer, off);
    }
}

START_TEST(gradients_are_the_cpus)
{
    open_gpu((enum gpu_vendor)_i);
    check_gradients(&SMALL);
    close_gpu();
}
END_TEST

/* Heads past 128 have kernels of their own: 192 as multi-head latent attention's, the widest, and
 * one that is no multiple of a block. */
START_TEST(gradients_of_wide_heads_are_the_cpus)
{
    static const int64_t widths[] = {130, 192, 256};
    struct training_shape shape = tiny();
    shape.head_dim = widths[_i];
    shape.sequence_tokens = 19;
    open_gpu_for(GPU_CUDA, &shape);
    check_gradients(&shape);
    close_gpu();
}
END_TEST

/* AdamW's first step is the gradient's sign: of a gradient of nearly nothing it may be either. */
START_TEST(steps_move_the_weights_as_the_cpus)
{
    struct training_shape shape = SMALL;
    open_gpu(GPU_CUDA);
    shape.is_muon = _i == 1;
    struct training *there =
        training_new(&shape, &ALONE, training_gpu_device(machine), 1, arena);
    struct training *here = training_new(&shape, &ALONE, training_device_cpu(arena), 1, arena);
    struct training_optimizer of_there = training_optimizer_new(there);
    struct training_optimizer of_here = training_optimizer_new(here);
    for (int i = 0; i < 2; i++) {
        there->number = here->number = i;
        training_run_passes(there);
        training_run_passes(here);
        CHECK_NEAR(training_loss(there), training_loss(here), 1e-5);
        training_optimizer_run(&of_there, there);
        training_optimizer_run(&of_here, here);
    }
    ck_assert_double_lt(difference(there->weights.all, here->weights.all, here->model.elements),
                        1e-4);
    close_gpu();
}
END_TEST

/* check_gpu's clock counts launches, a millisecond each: add is one, the norm's backward three. */
START_TEST(marks_time_each_kernel)
{
    int64_t runs;
    open_gpu(GPU_CUDA);
    struct training *step =
        training_new(&SMALL, &ALONE, training_gpu_device(machine), 1, arena);
    training_run_passes(step);
    training_times_end_step(&step->times);
    CHECK_NEAR(training_times_name_s(&step->times, "residual_add", &runs), 8e-3, 1e-6);
    ck_assert_int_eq(runs, 8); /* two a layer and microbatch */
    CHECK_NEAR(training_times_name_s(&step->times, "final_norm.backward", &runs), 6e-3, 1e-6);
    CHECK_NEAR(training_times_name_s(&step->times, "attention.backward", &runs), 12e-3, 1e-6);
    CHECK_NEAR(training_times_last_s(&step->times), check_gpu_launches * 1e-3, 1e-6);
    close_gpu();
}
END_TEST

/* One fault, told once; nothing is launched any more, and all is given back. */
static void
check_fault(int *fault, int number, const char *wanted)
{
    const struct training_shape shape = tiny();
    open_gpu(GPU_CUDA);
    *fault = number;
    struct training *step =
        training_new(&shape, &ALONE, training_gpu_device(machine), 1, arena);
    struct training_optimizer optimizer = training_optimizer_new(step);
    training_run_passes(step);
    training_optimizer_run(&optimizer, step);
    step->device->wait(step->device->machine);
    training_times_end_step(&step->times);
    ck_assert(training_device_failed(step->device));
    ck_assert_int_eq(step->device->errors->count, 1);
    ck_assert_str_eq(step->device->errors->items[0].what, wanted);
    int launches = check_gpu_launches;
    training_run_passes(step);
    ck_assert_int_eq(check_gpu_launches, launches);
    close_gpu();
}

START_TEST(faults_are_told_once)
{
    const char *const illegal = "an illegal memory access (700)";
    char launch[80], copy[80], event[80];
    (void)snprintf(launch, sizeof launch, "a launch: %s", illegal);
    (void)snprintf(copy, sizeof copy, "copying: %s", illegal);
    (void)snprintf(event, sizeof event, "an event: %s", illegal);
    for (int number = 0; number < 30; number += 14) {
        check_fault(&check_gpu_faults.memory, number,
                    "memory of a training step: out of device memory");
        check_fault(&check_gpu_faults.launch, number, launch);
        check_fault(&check_gpu_faults.event, number + 1, event);
    }
    for (int number = 0; number < 5; number += 2)
        check_fault(&check_gpu_faults.copy, number, copy);
    check_fault(&check_gpu_faults.choice, 5, "cuBLASLt has no algorithm for this product");
}
END_TEST

START_TEST(a_missing_kernel_is_named)
{
    open_gpu(GPU_HIP);
    check_gpu_faults.missing = "place_routes";
    struct training *step =
        training_new(&SMALL, &ALONE, training_gpu_device(machine), 1, arena);
    training_run_passes(step);
    ck_assert_str_eq(step->device->errors->items[0].what,
                     "there is no own kernel place_routes for fp32");
    close_gpu();
}
END_TEST

START_TEST(what_has_no_code_is_refused)
{
    struct error_list errors = {0};
    struct training_shape shape = SMALL;
    open_gpu(GPU_CUDA);
    shape.is_muon = shape.is_newton_schulz_symmetric = true;
    ck_assert_ptr_null(training_gpu_new(&gpu, &shape, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "a step on GPUs wants is_newton_schulz_symmetric false");
    shape.is_muon = false;
    shape.head_dim = 264;
    ck_assert_ptr_null(training_gpu_new(&gpu, &shape, arena, &errors));
    ck_assert_str_eq(errors.items[1].what, "a step on GPUs wants a head_dim to 256, found 264");
    close_gpu();
}
END_TEST

/* A step that measure --step runs, through its whole way: checked, timed, told. */
static bool
measure(struct text *out, struct error_list *errors)
{
    static const char *const settings[] = {"model.layers=1",
                                           "model.hidden=32",
                                           "model.vocab=64",
                                           "model.expert_ffn=32",
                                           "model.head_dim=8",
                                           "plan.sequence_tokens=16",
                                           "plan.microbatch_sequences=2"};
    const struct training_question question = {"configs/runs/host-moe.json", settings,
                                               sizeof settings / sizeof *settings};
    struct training_effort effort = training_effort_new();
    effort.warmups = 1;
    effort.steps_min = effort.steps_max = 3;
    return training_measure(&question, &effort, &ALONE, &gpu, out, errors);
}

START_TEST(the_answer_is_checked_and_adds_up)
{
    struct error_list errors = {0};
    open_gpu(GPU_CUDA);
    struct text out = text_new(arena);
    ck_assert_msg(measure(&out, &errors), "%s", errors.items[0].what);
    const struct json *row = json_read_text(arena, "row", 1, out.bytes, out.length, &errors);
    const struct json *kernels = json_member(row, "measured_kernels");
    double sum_s = 0;
    for (size_t i = 0; i < json_count(kernels); i++)
        sum_s += json_as_real(json_member(json_value_at(kernels, i), "seconds_s"));
    CHECK_NEAR(sum_s, json_as_real(json_member(row, "measured_quiet_s")), 1e-9);
    ck_assert_uint_eq(json_count(json_member(row, "measured_losses")), 4);
    ck_assert_double_lt(json_as_real(json_member(row, "measured_error_fraction")), 1e-5);
    ck_assert_str_eq(json_as_string(json_member(row, "measured_device")), "a test's GPU");
    ck_assert_str_eq(json_as_string(json_member(row, "measured_library")),
                     "this process, cuBLASLt 130200, NCCL 22809");
    close_gpu();
}
END_TEST

START_TEST(wrong_results_are_not_timed)
{
    struct error_list errors = {0}, later = {0};
    open_gpu(GPU_CUDA);
    struct text out = text_new(arena);
    check_gpu_faults.is_wrong = true;
    ck_assert(!measure(&out, &errors));
    ck_assert_uint_eq(out.length, 0);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "from a core's"));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "not timed"));
    check_gpu_faults.is_wrong = false;
    check_gpu_faults.launch = 50;
    ck_assert(!measure(&out, &later));
    ck_assert_str_eq(later.items[0].what, "a launch: an illegal memory access (700)");
    close_gpu();
}
END_TEST

Suite *
training_gpu_suite(void)
{
    Suite *suite = suite_create("training_gpu");
    TCase *tests = tcase_create("gpu");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, gradients_are_the_cpus, 0, GPU_VENDOR_COUNT);
    tcase_add_loop_test(tests, gradients_of_wide_heads_are_the_cpus, 0, 3);
    tcase_add_loop_test(tests, steps_move_the_weights_as_the_cpus, 0, 2); /* AdamW, Muon */
    tcase_add_test(tests, marks_time_each_kernel);
    tcase_add_test(tests, faults_are_told_once);
    tcase_add_test(tests, a_missing_kernel_is_named);
    tcase_add_test(tests, what_has_no_code_is_refused);
    tcase_add_test(tests, the_answer_is_checked_and_adds_up);
    tcase_add_test(tests, wrong_results_are_not_timed);
    suite_add_tcase(suite, tests);
    return suite;
}
