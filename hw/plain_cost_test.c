/* Do plain kernels cost what their rows, strips and bytes come to by hand? */
#include "hw/plain_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *plain_cost_suite(void);

/* Four units. Reads and writes 1e9 B/s each, one after the other; 1 us a launch. */
static struct device
slow_device(void)
{
    struct device device = plain_device();
    device.has_plain_streams = true;
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e9;
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        for (int direction = 0; direction < 2; direction++)
            device.streams[i][direction].fixed_s = 1e-6;
    return device;
}

/* Less the launch. */
static double
price_us(const struct device *device, const struct kernel *kernel)
{
    struct kernel_cost cost;
    struct error_list errors = {0};
    ck_assert(kernel_cost(device, kernel, &cost, &errors));
    return cost.seconds_s * 1e6 - 1;
}

static struct kernel
rows_of(enum kernel_kind kind, enum direction direction, int64_t rows, int64_t width)
{
    return (struct kernel){.kind = kind,
                           .dtype = DTYPE_FP32,
                           .direction = direction,
                           .rows_by_width = {rows, width}};
}

/* Rows of 256 B are 16 strips, four to a thread would be 4 threads: 8. Units hold 4 x 4 blocks of
 * 256 / 8 rows: 512, so that 1,024 rows wait twice, 100 us each, beside 262.144 us in and out. Of
 * 1,024 x 8 threads, 256 warps, each meets in 3 + 2 steps: 1,280 us of 1 us each. */
START_TEST(rows_wait_beside_their_bytes)
{
    struct device device = slow_device();
    struct device_stream *stream = &device.streams[KERNEL_RMS_NORM][DIRECTION_FORWARD];
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_FORWARD, 1024, 64);
    CHECK_NEAR(price_us(&device, &kernel), 524.288, 1e-9);
    stream->row_s = 100e-6;
    CHECK_NEAR(price_us(&device, &kernel), 100 + hypot(524.288, 200), 1e-9);
    stream->element_s = 1e-6;
    CHECK_NEAR(price_us(&device, &kernel), 100 + hypot(524.288, 1280), 1e-9);
}
END_TEST

/* A row of 32,768 B: 256 threads hold four strips each, half of it. The other four wait 1 us each,
 * the second time half as long, out of L2; where that holds nothing, as long again, and 16.384 us
 * of bytes come once more. HBM's first load waits 1 us. */
START_TEST(what_is_not_held_is_loaded_again)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_FORWARD, 1, 8192);
    device.memory.latency_s = 1e-6;
    CHECK_NEAR(price_us(&device, &kernel), hypot(66.536, 6), 1e-9);
    device.memory.reread_bytes = 1;
    CHECK_NEAR(price_us(&device, &kernel), hypot(82.92, 8), 1e-9);
}
END_TEST

/* Two arrays of such a row: two strips of each are held, a quarter. Three arrays are 98.304 us,
 * three quarters of two again 49.152. */
START_TEST(of_two_arrays_less_is_held)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_SOFTMAX, DIRECTION_BACKWARD, 1, 8192);
    CHECK_NEAR(price_us(&device, &kernel), 98.304, 1e-9);
    device.memory.reread_bytes = 1;
    CHECK_NEAR(price_us(&device, &kernel), 98.304 + 49.152, 1e-9);
}
END_TEST

/* 100 rows of 400 B: three arrays of 40 us, then two of them again, or 2 us a row. */
START_TEST(gains_are_summed_behind_a_norm)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_RMS_NORM, DIRECTION_BACKWARD, 100, 100);
    CHECK_NEAR(price_us(&device, &kernel), 120 + 80, 1e-9);
    device.streams[KERNEL_RMS_NORM][DIRECTION_BACKWARD].sum_row_s = 2e-6;
    CHECK_NEAR(price_us(&device, &kernel), 120 + 200, 1e-9);
}
END_TEST

/* 4 x 1,000 logits are 16 us, read once; backward they are written as well. In bf16 half of
 * that, and 4,000 us where an element takes one. */
START_TEST(a_loss_reads_its_logits_once)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {4, 1000}};
    CHECK_NEAR(price_us(&device, &kernel), 16, 1e-9);
    device.streams[KERNEL_CROSS_ENTROPY][DIRECTION_FORWARD].elements_per_s = 1e6;
    CHECK_NEAR(price_us(&device, &kernel), 16, 1e-9);
    kernel.dtype = DTYPE_BF16;
    CHECK_NEAR(price_us(&device, &kernel), hypot(8, 4000), 1e-9);
    kernel.direction = DIRECTION_BACKWARD;
    CHECK_NEAR(price_us(&device, &kernel), 16, 1e-9);
}
END_TEST

/* 512 rows of 32 scores: four to a thread are 8 threads, units hold 4 x 8 x 32 rows, twice as
 * many. Three rounds of 10 us for the first row, half of that for all, beside 65.536 us in and
 * 12.288 out. */
START_TEST(each_choice_is_a_round)
{
    struct device device = slow_device();
    struct kernel kernel = {.kind = KERNEL_TOP_K,
                            .dtype = DTYPE_FP32,
                            .top_k = {.rows = 512, .experts = 32, .k = 3}};
    device.streams[KERNEL_TOP_K][0].row_s = 10e-6;
    CHECK_NEAR(price_us(&device, &kernel), 30 + hypot(77.824, 15), 1e-9);
}
END_TEST

/* 64 x 64 of 4 B are 16.384 us an array. A gather moves two; a scatter_add three, and waits for no
 * strip; a transpose two in four tiles of 32 x 32, of which units hold 32. */
START_TEST(rows_that_move)
{
    struct device device = slow_device();
    struct kernel kernel = rows_of(KERNEL_GATHER, DIRECTION_FORWARD, 64, 64);
    CHECK_NEAR(price_us(&device, &kernel), 32.768, 1e-9);
    kernel.kind = KERNEL_SCATTER_ADD;
    CHECK_NEAR(price_us(&device, &kernel), 49.152, 1e-9);
    kernel.kind = KERNEL_TRANSPOSE;
    device.streams[KERNEL_TRANSPOSE][0].row_s = 8e-6;
    CHECK_NEAR(price_us(&device, &kernel), 8 + hypot(32.768, 1), 1e-9);
}
END_TEST

/* 1,000 parameters: four arrays in, three out, 28 us in fp32, 14 in bf16. */
START_TEST(adamw_moves_seven_arrays)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 1000}};
    CHECK_NEAR(price_us(&device, &kernel), 28, 1e-9);
    kernel.dtype = DTYPE_BF16;
    CHECK_NEAR(price_us(&device, &kernel), 14, 1e-9);
}
END_TEST

/* Elsewhere AdamW in bf16 keeps its state in fp32: 30 us. */
START_TEST(other_devices_run_a_frameworks_kernels)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_BF16, .adamw = {.parameters = 1000}};
    device.has_plain_streams = false;
    CHECK_NEAR(price_us(&device, &kernel), 30, 1e-9);
    ck_assert(!plain_has(KERNEL_ELEMENTWISE) && !plain_has(KERNEL_COPY));
}
END_TEST

Suite *
plain_cost_suite(void)
{
    Suite *suite = suite_create("plain_cost");
    TCase *tests = tcase_create("plain");
    tcase_add_test(tests, rows_wait_beside_their_bytes);
    tcase_add_test(tests, what_is_not_held_is_loaded_again);
    tcase_add_test(tests, of_two_arrays_less_is_held);
    tcase_add_test(tests, gains_are_summed_behind_a_norm);
    tcase_add_test(tests, a_loss_reads_its_logits_once);
    tcase_add_test(tests, each_choice_is_a_round);
    tcase_add_test(tests, rows_that_move);
    tcase_add_test(tests, adamw_moves_seven_arrays);
    tcase_add_test(tests, other_devices_run_a_frameworks_kernels);
    suite_add_tcase(suite, tests);
    return suite;
}
