/* Do kernels that work row by row cost what their rows and bytes come to by hand? */
#include "hw/row_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *row_cost_suite(void);

/* Four units. Reads and writes 1e9 B/s each, one after the other; 1 us a launch. */
static struct device
slow_device(void)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e9;
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        for (int direction = 0; direction < 2; direction++)
            device.streams[i][direction].fixed_s = 1e-6;
    return device;
}

static struct kernel_cost
price(const struct device *device, const struct kernel *kernel)
{
    struct kernel_cost cost;
    row_cost(device, kernel, &cost);
    return cost;
}

static struct kernel
rows_of(enum kernel_kind kind, enum direction direction, int64_t rows, int64_t width)
{
    return (struct kernel){.kind = kind,
                           .dtype = DTYPE_FP32,
                           .direction = direction,
                           .rows_by_width = {rows, width}};
}

/* 128 rows of 100 fp32, 51.2 us in and out each. A row takes 10 us and 1 us an element: 110
 * us; the units hold 4 * 2,048 / 128 = 64 rows: two rounds, 220 us. The first rows alone, then the
 * root of the squares. */
START_TEST(rounds_of_rows_run_beside_their_bytes)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 128, 100);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 103.4e-6, 1e-12);
    device.streams[KERNEL_RMS_NORM][DIRECTION_FORWARD].row_s = 10e-6;
    device.streams[KERNEL_RMS_NORM][DIRECTION_FORWARD].element_s = 1e-6;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 110e-6 + hypot(220e-6, 102.4e-6),
               1e-12);
    ck_assert_int_eq(price(&device, &kernel).bound, BOUND_LATENCY);
}
END_TEST

/* One row of 1,000 elements takes its 1,000 us though a 64th of the device would do; then a 64th
 * of them beside 8 us of bytes. */
START_TEST(one_row_takes_its_own_time)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 1, 1000);
    device.streams[KERNEL_RMS_NORM][DIRECTION_FORWARD].element_s = 1e-6;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1001e-6 + hypot(1000e-6 / 64, 8e-6), 1e-12);
}
END_TEST

/* 1,024 elements are two loads of four for each of 128 threads, of which one waits: 100 us, which
 * exceed the 8.192 us and the latency of the bytes. */
START_TEST(a_row_waits_for_its_loads)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 1, 1024);
    device.memory.latency_s = 100e-6;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 108.192e-6, 1e-12);
    kernel.dtype = DTYPE_BF16; /* half the bytes, as many loads */
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 104.096e-6, 1e-12);
    kernel.rows_by_width.width = 2048; /* four loads, 8.192 us */
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 200e-6, 1e-12);
}
END_TEST

/* 100 rows of 10 fp32: 4,000 B an array. 64 rows in flight are 2,560 B: kept by L2 up to
 * there, half of a second pass over the 4,000 B missed by an L2 of two thirds. */
START_TEST(a_norm_reads_again_what_l2_lost)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 100, 10);
    device.memory.reread_bytes = 2560;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 8000, 1e-12);
    device.memory.reread_bytes = 2560 / 1.5;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 10000, 1e-12);
}
END_TEST

/* 4,000 B an array: two in, one out; then both in again for the sum over 100 rows, 8 us, or 1
 * us a row. */
START_TEST(backward_of_a_norm_sums_over_rows)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_BACKWARD, 100, 10);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 12e-6 + 8e-6, 1e-12);
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 20000, 1e-12);
    device.streams[KERNEL_RMS_NORM][DIRECTION_BACKWARD].sum_row_s = 1e-6;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 12e-6 + 100e-6, 1e-12);
}
END_TEST

/* A warp a row up to 2,048 wide: of 80 registers a thread, a workgroup of 128 takes 10,240, six of
 * them the 65,536 of a unit: 24 warps, 96 rows on 4 units. Of 48 registers ten workgroups, 160
 * rows; of 32 all 64 warps, 256 rows. Beyond, a workgroup a row, four at once; 7,000 wide at half
 * of the rate. The first rows' 1 us comes before. */
START_TEST(softmax_holds_rows_by_their_width)
{
    struct device device = slow_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e30;
    struct device_stream *stream = &device.streams[KERNEL_SOFTMAX][DIRECTION_FORWARD];
    stream->row_s = 1e-6;
    stream->lone_fraction = 0.5;
    const struct {
        int64_t width;
        double rounds;
    } cases[] = {{2048, 10}, {1025, 10},  {1024, 6},  {512, 3.75},
                 {16, 3.75}, {2049, 240}, {7000, 480}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_FORWARD, 960, cases[i].width);
        CHECK_NEAR(price(&device, &kernel).seconds_s, 2e-6 + cases[i].rounds * 1e-6, 1e-9);
    }
}
END_TEST

/* 1,000 rows of 8 fp32: 32,000 B an array. A product of two in and one out; the sum finds the
 * product and the result in L2 and leaves its own there, three arrays at 1e10 B/s, or two come from
 * HBM and one goes there.
 * Rows of 15,000 are over 48 KiB of shared memory: both are passed over twice. Logits of 40,000 are
 * read, their gradient twice, and one array is written. */
START_TEST(backward_of_softmax_multiplies_first)
{
    struct device device = slow_device();
    device.memory.warm_bytes_per_s = 1e10;
    struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_BACKWARD, 1000, 8);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 96e-6 + 9.6e-6, 1e-12);
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 4 * 32000, 1e-12);
    device.memory.reread_bytes = 1000;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 96e-6 + 96e-6, 1e-12);
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 6 * 32000, 1e-12);
    kernel.rows_by_width.width = 15000;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 8 * 60e6, 1e-12);
    kernel.rows_by_width.width = 40000;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 4 * 160e6, 1e-12);
}
END_TEST

/* 2,000 rows on 128 threads (the power of two nearest to 125): 16 steps of 1 us; 100 rows on a
 * warp: 4 steps; 50,000 on 1,024 threads: 49. */
START_TEST(one_workgroup_picks_all_targets)
{
    struct device device = slow_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e30;
    device.streams[KERNEL_CROSS_ENTROPY][DIRECTION_FORWARD].sum_row_s = 1e-6;
    const int64_t cases[][2] = {{2000, 16}, {100, 4}, {50000, 49}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kernel kernel = {.kind = KERNEL_CROSS_ENTROPY,
                                .dtype = DTYPE_FP32,
                                .cross_entropy = {cases[i][0], 1000}};
        CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + (double)cases[i][1] * 1e-6, 1e-9);
    }
}
END_TEST

/* A norm passes twice over rows that L2 keeps: 3 arrays of 4,000 B at 1e9 B/s of L2 are 12 us,
 * HBM's two at 1e9 B/s 8 us. */
START_TEST(passes_over_rows_take_the_time_of_l2)
{
    struct device device = slow_device();
    device.memory.warm_bytes_per_s = 1e9;
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 100, 10);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 12e-6, 1e-12);
}
END_TEST

/* 8 rows of 15,000 fp32 are 480,000 B, eight in flight. In L2, logits are read once and
 * logarithms written; out of it three times, unless shared memory holds a row, as those of 10,000.
 * Backward writes zeros, reads two, one of them again, writes one. */
START_TEST(a_loss_passes_three_times_over_wide_rows)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {8, 15000}};
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 960e3, 1e-12);
    device.memory.reread_bytes = 1000;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 4 * 480e3, 1e-12);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 1920e-6, 1e-12);
    kernel.direction = DIRECTION_BACKWARD;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 5 * 480e3, 1e-12);
    kernel.direction = DIRECTION_FORWARD;
    kernel.cross_entropy.vocab = 10000;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 640e3, 1e-12);
}
END_TEST

static struct device
quick_device(void)
{
    struct device device = slow_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e30;
    return device;
}

/* 960 rows of 1,025, priced as 2,048: 1,966,080 elements at 1e9 a second, of fp32 at 2e9. Rows of
 * 2,049 have a workgroup each. */
START_TEST(warps_of_a_softmax_take_elements_at_their_rate)
{
    struct device device = quick_device();
    struct device_stream *stream = &device.streams[KERNEL_SOFTMAX][DIRECTION_FORWARD];
    stream->elements_per_s = 1e9;
    stream->wide_elements_per_s = 2e9;
    struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_FORWARD, 960, 1025);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 983.04e-6, 1e-12);
    kernel.dtype = DTYPE_BF16;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 1966.08e-6, 1e-12);
    kernel.rows_by_width.width = 2049;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6, 1e-9);
}
END_TEST

/* 160 rows of 1,000, all at once: 1 us of each row, of bf16 2 us, then all of them again. */
START_TEST(elements_of_two_bytes_are_converted)
{
    struct device device = quick_device();
    struct device_stream *stream = &device.streams[KERNEL_SOFTMAX][DIRECTION_FORWARD];
    stream->element_s = 1e-9;
    struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_FORWARD, 160, 1000);
    kernel.dtype = DTYPE_BF16;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 2e-6, 1e-9);
    stream->narrow_element_s = 2e-9;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 4e-6, 1e-9);
    kernel.dtype = DTYPE_FP32;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 2e-6, 1e-9);
}
END_TEST

/* Of rows of 15,000 fp32 1,024 threads take 16,384 B a step, three times, and 10,848 B one element
 * at a time: 12,288 + 2.5 * 2,712 elements of 1 ns. Two rounds on four units, and the first row. */
START_TEST(what_is_left_of_a_row_is_loaded_one_by_one)
{
    struct device device = quick_device();
    device.streams[KERNEL_CROSS_ENTROPY][DIRECTION_FORWARD].wide_element_s = 1e-9;
    struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {8, 15000}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 3 * 19.068e-6, 1e-9);
    kernel.cross_entropy.vocab = 16384; /* nothing left */
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 3 * 16.384e-6, 1e-9);
}
END_TEST

/* A row of 16,384 fp32 is four loads of 16 B to each thread, in three passes. HBM answers after 1
 * us: 12 us; where L2 holds the row the last two passes wait half as long: 8 us. */
START_TEST(later_passes_wait_for_l2)
{
    struct device device = quick_device();
    device.memory.latency_s = 1e-6;
    struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {1, 16384}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 8e-6, 1e-9);
    device.memory.reread_bytes = 1000;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 12e-6, 1e-9);
}
END_TEST

/* 64 rows of 100 fp32 at once: 10 us each, and 51.2 us of bytes. An exponent of one adds them up,
 * whatever other kinds have. */
START_TEST(a_kind_may_overlap_rows_less)
{
    struct device device = slow_device();
    struct device_stream *stream = &device.streams[KERNEL_RMS_NORM][DIRECTION_FORWARD];
    stream->row_s = 10e-6;
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 64, 100);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 11e-6 + hypot(10e-6, 51.2e-6), 1e-12);
    stream->overlap_exponent = 1;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 11e-6 + 61.2e-6, 1e-12);
}
END_TEST

/* 100 rows of 16 fp32 read; one value and one index a row written. */
START_TEST(top_k_writes_values_and_indices)
{
    struct device device = slow_device();
    struct kernel kernel = {.kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {100, 16, 1}};
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 6400 + 800, 1e-12);
}
END_TEST

/* A warp of 32 even for 16 scores: 100 rows at 3.2e7 a second, 100 us; two of them need
 * sorting: a launch, and 50 us. */
START_TEST(choosing_more_than_one_sorts_them)
{
    struct device device = slow_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e30;
    struct device_stream *stream = &device.streams[KERNEL_TOP_K][DIRECTION_FORWARD];
    stream->wide_elements_per_s = 3.2e7;
    stream->sum_row_s = 0.5e-6;
    struct kernel kernel = {.kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {100, 16, 1}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 101e-6, 1e-9);
    kernel.top_k.k = 2;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 152e-6, 1e-9);
}
END_TEST

/* One core, 4 scores a row, the two largest: the first two enter, the third does with 2 / 3, the
 * fourth with 2 / 4: 3.1667 a row at 1e8 a second, 1,000 rows in 31.67 us, nothing to sort. Of 1 of
 * 4 it is 1 + 1/2 + 1/3 + 1/4 = 2.0833, 20.83 us. */
START_TEST(a_core_takes_time_for_scores_that_enter)
{
    struct device device = slow_device();
    device.compute_units = 1;
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e30;
    struct device_stream *stream = &device.streams[KERNEL_TOP_K][DIRECTION_FORWARD];
    stream->wide_elements_per_s = 1e8;
    stream->sum_row_s = 1;
    struct kernel kernel = {.kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {1000, 4, 2}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, stream->fixed_s + 31.667e-6, 3e-3);
    kernel.top_k.k = 1;
    CHECK_NEAR(price(&device, &kernel).seconds_s, stream->fixed_s + 20.833e-6, 3e-3);
    kernel.top_k.k = 4;
    CHECK_NEAR(price(&device, &kernel).seconds_s, stream->fixed_s + 40e-6, 1e-9);
}
END_TEST

/* Of each kind, from one row to a billion: never quicker, never without end. */
START_TEST(more_rows_take_no_less)
{
    struct device device = slow_device();
    device.memory.reread_bytes = 1e4;
    device.memory.latency_s = 1e-7;
    for (int i = 0; i < 4; i++) {
        enum kernel_kind kind = i < 2 ? KERNEL_RMS_NORM : KERNEL_SOFTMAX;
        device.streams[kind][i % 2].row_s = 1e-6;
        double before_s = 0;
        for (int64_t rows = 1; rows <= 1000000000; rows *= 10) {
            struct kernel kernel = rows_of(kind, (enum direction)(i % 2), rows, 3001);
            double seconds_s = price(&device, &kernel).seconds_s;
            ck_assert(isfinite(seconds_s) && seconds_s >= before_s);
            before_s = seconds_s;
        }
    }
}
END_TEST

Suite *
row_cost_suite(void)
{
    Suite *suite = suite_create("row_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, rounds_of_rows_run_beside_their_bytes);
    tcase_add_test(tests, one_row_takes_its_own_time);
    tcase_add_test(tests, a_row_waits_for_its_loads);
    tcase_add_test(tests, a_norm_reads_again_what_l2_lost);
    tcase_add_test(tests, backward_of_a_norm_sums_over_rows);
    tcase_add_test(tests, softmax_holds_rows_by_their_width);
    tcase_add_test(tests, backward_of_softmax_multiplies_first);
    tcase_add_test(tests, warps_of_a_softmax_take_elements_at_their_rate);
    tcase_add_test(tests, elements_of_two_bytes_are_converted);
    tcase_add_test(tests, what_is_left_of_a_row_is_loaded_one_by_one);
    tcase_add_test(tests, later_passes_wait_for_l2);
    tcase_add_test(tests, a_kind_may_overlap_rows_less);
    tcase_add_test(tests, one_workgroup_picks_all_targets);
    tcase_add_test(tests, passes_over_rows_take_the_time_of_l2);
    tcase_add_test(tests, a_loss_passes_three_times_over_wide_rows);
    tcase_add_test(tests, top_k_writes_values_and_indices);
    tcase_add_test(tests, choosing_more_than_one_sorts_them);
    tcase_add_test(tests, a_core_takes_time_for_scores_that_enter);
    tcase_add_test(tests, more_rows_take_no_less);
    suite_add_tcase(suite, tests);
    return suite;
}
