/* Do kernels that stream cost what their bytes come to by hand? */
#include "hw/memory_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *memory_cost_suite(void);

/* Reads 1e9 B/s, writes 2e9 B/s, half of that when both; full from 1,000 B on; 1 us a launch. */
static struct device
slow_device(void)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = 1e9;
    device.memory.hbm_write_bytes_per_s = 2e9;
    device.memory.mixed_fraction = 0.5;
    device.memory.wave_bytes = 1000;
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        device.streams[i].fixed_s = 1e-6;
    return device;
}

static struct kernel_cost
price(const struct device *device, const struct kernel *kernel)
{
    struct kernel_cost cost;
    memory_cost(device, kernel, &cost);
    return cost;
}

/* (2 us + 1 us) / 0.5. */
START_TEST(reads_and_writes_share_the_bus)
{
    struct device device = slow_device();
    CHECK_NEAR(memory_stream_s(&device, 2000, 2000), 6e-6, 1e-12);
    CHECK_NEAR(memory_stream_s(&device, 2000, 0), 2e-6, 1e-12);
    ck_assert(memory_stream_s(&device, 0, 0) == 0);
}
END_TEST

/* A quarter full: (1 + 1) * 0.25 / (0.25 + 1) = 0.4 of the bandwidth; 250 B in 0.25 us / 0.4. */
START_TEST(a_small_kernel_leaves_the_device_partly_empty)
{
    struct device device = slow_device();
    CHECK_NEAR(memory_stream_s(&device, 250, 0), 0.625e-6, 1e-12);
}
END_TEST

/* 4 us + 2 us at half the bandwidth are 12 us, and no launch. */
START_TEST(bytes_within_another_kernel_cost_no_launch)
{
    struct device device = slow_device();
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_BF16,
                            .elementwise = {.op = "accumulate",
                                            .elements = 2000,
                                            .read_bytes = 4000,
                                            .write_bytes = 4000,
                                            .launches = 0}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 12e-6, 1e-12);
}
END_TEST

/* Two launches of 1 us; each reads 2,000 B and writes as many: 6 us. */
START_TEST(each_launch_moves_its_part)
{
    struct device device = slow_device();
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_BF16,
                            .elementwise = {.op = "add",
                                            .elements = 2000,
                                            .read_bytes = 4000,
                                            .write_bytes = 4000,
                                            .launches = 2}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 14e-6, 1e-12);
    device.element_rates[0] = (struct device_element_rate){"add", 1e8};
    device.element_rate_count = 1;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 22e-6, 1e-12); /* 2,000 / 1e8 = 20 us */
    ck_assert_int_eq(price(&device, &kernel).bound, BOUND_COMPUTE);
}
END_TEST

/* Bytes read by one launch of an operation that nothing else is known of. */
static struct kernel
reading(double bytes)
{
    return (struct kernel){
        .kind = KERNEL_ELEMENTWISE,
        .dtype = DTYPE_BF16,
        .elementwise = {.op = "sum", .elements = 1000, .read_bytes = bytes, .launches = 1}};
}

/* A launch of 1 us; 900 B take 0.9 us, 1,100 B 1.1 us. */
START_TEST(the_launch_is_the_bound_while_it_takes_the_longer_part)
{
    struct device device = slow_device();
    device.memory.wave_bytes = 1;
    struct kernel less = reading(900), more = reading(1100);
    ck_assert_int_eq(price(&device, &less).bound, BOUND_LAUNCH);
    ck_assert_int_eq(price(&device, &more).bound, BOUND_HBM);
}
END_TEST

/* 4,000 B take 4 of 5 us. Two of the four units could draw all of HBM's 1e9 B/s: half of the
 * device for 4 of 5 us. 1,000 elements at 4e8 a second hold the vector units for 2.5 of 5 us. */
START_TEST(a_stream_holds_the_units_that_draw_or_compute)
{
    struct device device = slow_device();
    struct kernel kernel = reading(4000);
    device.memory.unit_bytes_per_s = 5e8;
    CHECK_NEAR(price(&device, &kernel).compute_fraction, 0.4, 1e-12);
    CHECK_NEAR(price(&device, &kernel).hbm_fraction, 0.8, 1e-12);
    device.element_rates[0] = (struct device_element_rate){"sum", 4e8};
    device.element_rate_count = 1;
    CHECK_NEAR(price(&device, &kernel).compute_fraction, 0.5, 1e-12);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 5e-6, 1e-12);
}
END_TEST

/* 10 rows of 100 bf16: 2,000 B. Backward reads two arrays. */
START_TEST(backward_reads_twice_what_forward_reads)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_RMS_NORM, .dtype = DTYPE_BF16, .rows_by_width = {10, 100}};
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 4000, 1e-12);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 7e-6, 1e-12);
    kernel.direction = DIRECTION_BACKWARD;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 6000, 1e-12);
}
END_TEST

/* fp32 alone: 16 read, 12 written; a bf16 copy of the parameter is 2 more. */
START_TEST(adamw_moves_30_bytes_a_bf16_parameter)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_BF16, .adamw = {.parameters = 1000}};
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 30000, 1e-12);
    kernel.dtype = DTYPE_FP32;
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 28000, 1e-12);
}
END_TEST

/* 4 rows of 1,000 fp32 in flight: 16,000 B. In L2 the second pass is free (1e30 B/s): 16 us, 32 B
 * of results 16 ns. Out of every cache it is a read as slow as the first. */
START_TEST(a_wide_row_is_read_twice_from_hbm)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {4, 1000}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 17.016e-6, 1e-9);
    device.memory.l2_bytes = 1000;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 33.016e-6, 1e-9);
    CHECK_NEAR(price(&device, &kernel).hbm_bytes, 32032, 1e-12);
}
END_TEST

/* The host's link: 1e9 B/s. */
START_TEST(a_copy_to_the_host_takes_its_link)
{
    struct device device = slow_device();
    struct kernel kernel = {.kind = KERNEL_COPY,
                            .copy = {.bytes = 1000, .from = COPY_HBM, .to = COPY_HOST}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 2e-6, 1e-12);
    kernel.copy.to = COPY_HBM;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 4e-6, 1e-12); /* (1 + 0.5) / 0.5 us */
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

START_TEST(a_second_pass_comes_from_the_nearest_level_that_holds_it)
{
    struct device device = slow_device();
    device.memory.l2_bytes = 1000;
    device.memory.l2_bytes_per_s = 8e9;
    device.memory.last_level_bytes = 5000;
    device.memory.last_level_bytes_per_s = 4e9;
    CHECK_NEAR(memory_reread_bytes_per_s(&device, 1000), 8e9, 1e-12);
    CHECK_NEAR(memory_reread_bytes_per_s(&device, 1001), 4e9, 1e-12);
    CHECK_NEAR(memory_reread_bytes_per_s(&device, 5001), 1e9, 1e-12);
}
END_TEST

Suite *
memory_cost_suite(void)
{
    Suite *suite = suite_create("memory_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, reads_and_writes_share_the_bus);
    tcase_add_test(tests, a_small_kernel_leaves_the_device_partly_empty);
    tcase_add_test(tests, bytes_within_another_kernel_cost_no_launch);
    tcase_add_test(tests, each_launch_moves_its_part);
    tcase_add_test(tests, the_launch_is_the_bound_while_it_takes_the_longer_part);
    tcase_add_test(tests, a_stream_holds_the_units_that_draw_or_compute);
    tcase_add_test(tests, backward_reads_twice_what_forward_reads);
    tcase_add_test(tests, adamw_moves_30_bytes_a_bf16_parameter);
    tcase_add_test(tests, a_wide_row_is_read_twice_from_hbm);
    tcase_add_test(tests, a_copy_to_the_host_takes_its_link);
    tcase_add_test(tests, top_k_writes_values_and_indices);
    tcase_add_test(tests, a_second_pass_comes_from_the_nearest_level_that_holds_it);
    suite_add_tcase(suite, tests);
    return suite;
}
