/* Does a price come from just the numbers that it is said to come from? */
#include "models/provenance.h"

#include <string.h>

#include <check.h>

#include "models/step.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *provenance_suite(void);

static struct arena *arena;
static struct error_list errors;
static const struct run *run;
static struct provenance found;

static void
set_up(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    run = run_read(&(struct run_request){.file = "configs/runs/zaya1-base-4k-1024.json"}, arena,
                   &errors);
    ck_assert_ptr_nonnull(run);
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct provenance_number *
find(const char *path)
{
    for (int64_t i = 0; i < found.count; i++)
        if (strcmp(found.numbers[i].path, path) == 0)
            return &found.numbers[i];
    return NULL;
}

static void
trace_kernel(const struct run *of, const struct kernel *kernel)
{
    struct step_work work = {.name = "k", .kernel = kernel};
    ck_assert_msg(provenance_of(of, &work, &found, arena, &errors), "%s", errors.items[0].what);
}

/* 4 GiB read and as much written: all but the launch is bytes over bandwidth, so the reading rate
 * and the writing rate share an elasticity of nearly -1, as 1/4.199 and 1/4.801 do: the time is
 * proportional to r + w, r = 1/4.199e12, w = 1/4.801e12, and r / (r + w) = 0.5334. */
START_TEST(a_stream_comes_from_two_bandwidths)
{
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_BF16,
                            .elementwise = {"add", 1LL << 31, 4294967296.0, 4294967296.0, 1}};
    trace_kernel(run, &kernel);
    ck_assert_str_eq(found.formula, "hw/memory_cost.c");
    /* one part in a hundred more of the rate is 1/1.01 of the time: -0.99 times that part */
    CHECK_NEAR(find("memory.hbm_read_bytes_per_s")->elasticity, -0.5334 / 1.01, 2e-3);
    CHECK_NEAR(find("memory.hbm_write_bytes_per_s")->elasticity, -0.4666 / 1.01, 2e-3);
    CHECK_NEAR(find("streams.elementwise.bandwidth_fraction")->elasticity, -1 / 1.01, 2e-3);
    ck_assert_ptr_nonnull(strstr(find("memory.hbm_read_bytes_per_s")->source, "gpu-stream"));
    ck_assert_ptr_null(find("gemm.launch_s"));
    ck_assert_ptr_null(find("streams.copy.fixed_s"));
}
END_TEST

/* A product in bf16 has nothing of fp8, and names the place in the file. */
START_TEST(a_product_comes_from_its_own_data_type)
{
    struct kernel kernel = {
        .kind = KERNEL_GEMM, .dtype = DTYPE_BF16, .gemm = {8192, 8192, 8192, 1, GEMM_NN}};
    trace_kernel(run, &kernel);
    const struct provenance_number *rate = find("gemm.sustained_flop_per_s.bf16");
    ck_assert_ptr_nonnull(rate);
    ck_assert_ptr_eq(rate, &found.numbers[0]);
    ck_assert(rate->elasticity < -0.5 && rate->elasticity > -1);
    ck_assert_ptr_nonnull(strstr(rate->where, "configs/devices/mi300x.json:"));
    ck_assert_ptr_null(find("gemm.sustained_flop_per_s.fp8"));
    ck_assert_ptr_null(find("hbm_bytes"));
}
END_TEST

START_TEST(a_collective_comes_from_the_fabric)
{
    struct collective collective = {.kind = COLLECTIVE_ALL_GATHER,
                                    .dtype = DTYPE_BF16,
                                    .ranks = 1024,
                                    .nodes = 128,
                                    .bytes = 1e9};
    struct step_work work = {.name = "gather", .collective = &collective};
    ck_assert(provenance_of(run, &work, &found, arena, &errors));
    ck_assert_str_eq(found.formula, "hw/collective_cost.c");
    ck_assert_ptr_nonnull(strstr(found.words, "steps x hops"));
    ck_assert_ptr_nonnull(find("node.link_bytes_per_s"));
    ck_assert_ptr_nonnull(strstr(find("node.link_bytes_per_s")->where, "mi300x-pollara.json:"));
    ck_assert_int_gt((int64_t)strlen(find("node.link_bytes_per_s")->source), 10);
}
END_TEST

/* What the user has put in a number's place is where it comes from. */
START_TEST(a_setting_is_its_own_place)
{
    const char *setting = "device.streams.elementwise.fixed_s=1e-3";
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = &setting,
                                  .setting_count = 1};
    const struct run *changed = run_read(&request, arena, &errors);
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_BF16,
                            .elementwise = {"add", 1024, 2048, 2048, 1}};
    trace_kernel(changed, &kernel);
    ck_assert_str_eq(found.numbers[0].path, "streams.elementwise.fixed_s");
    CHECK_NEAR(found.numbers[0].value, 1e-3, 1e-12);
    CHECK_NEAR(found.numbers[0].elasticity, 1, 1e-3);
    ck_assert_ptr_nonnull(strstr(found.numbers[0].where, "--set"));
    ck_assert_ptr_null(found.numbers[0].source);
}
END_TEST

START_TEST(work_without_a_price_of_hw_is_refused)
{
    struct step_work work = {.name = "launches"};
    ck_assert(!provenance_of(run, &work, &found, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "launches is no single kernel or collective: it has no one price");
}
END_TEST

Suite *
provenance_suite(void)
{
    Suite *suite = suite_create("provenance");
    TCase *numbers = tcase_create("numbers of a price");
    tcase_add_checked_fixture(numbers, set_up, tear_down);
    tcase_add_test(numbers, a_stream_comes_from_two_bandwidths);
    tcase_add_test(numbers, a_product_comes_from_its_own_data_type);
    tcase_add_test(numbers, a_collective_comes_from_the_fabric);
    tcase_add_test(numbers, a_setting_is_its_own_place);
    tcase_add_test(numbers, work_without_a_price_of_hw_is_refused);
    suite_add_tcase(suite, numbers);
    return suite;
}
