/* Do kernels that stream cost what their bytes come to by hand? */
#include "hw/memory_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *memory_cost_suite(void);

/* Reads 1e9 B/s, writes 2e9 B/s, half of that when both; 1 us a launch. */
static struct device
slow_device(void)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = 1e9;
    device.memory.hbm_write_bytes_per_s = 2e9;
    device.memory.mixed_fraction = 0.5;
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        device.streams[i][DIRECTION_FORWARD].fixed_s = 1e-6;
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

/* Up to 1,000 B come from L2 at 1e10 B/s: 0.1 us. One more, and HBM's latency of 3 us comes
 * before 1.001 us of reading; a write waits for nobody, but at four fifths of its rate. */
START_TEST(a_small_kernel_finds_its_bytes_warm)
{
    struct device device = slow_device();
    device.memory.warm_bytes = 1000;
    device.memory.warm_bytes_per_s = 1e10;
    device.memory.latency_s = 3e-6;
    device.memory.write_only_fraction = 0.8;
    CHECK_NEAR(memory_stream_s(&device, 1000, 0), 0.1e-6, 1e-12);
    CHECK_NEAR(memory_stream_s(&device, 1001, 0), 4.001e-6, 1e-12);
    CHECK_NEAR(memory_stream_s(&device, 0, 2000), 1.25e-6, 1e-12);
}
END_TEST

/* A gather of 50 rows of 10 fp32 reads 2,000 B and writes as many: warm by what it reads, both at
 * 1e10 B/s. Not warm, (2 us + 1 us) / 0.5; of the result L2 could hold, half is overwritten there:
 * (2 us + 0.5 us) / 0.5. */
START_TEST(a_result_lies_where_the_last_one_lay)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_GATHER, .dtype = DTYPE_FP32, .rows_by_width = {50, 10}};
    double fixed_s = device.streams[KERNEL_GATHER][0].fixed_s;
    CHECK_NEAR(price(&device, &kernel).seconds_s, fixed_s + 6e-6, 1e-9);
    device.memory.result_kept_fraction = 0.5;
    CHECK_NEAR(price(&device, &kernel).seconds_s, fixed_s + 5e-6, 1e-9);
    device.memory.reread_bytes = 1000; /* holds none of 2,000 B */
    CHECK_NEAR(price(&device, &kernel).seconds_s, fixed_s + 6e-6, 1e-9);
    device.memory.warm_bytes = 2000;
    device.memory.warm_bytes_per_s = 1e10;
    CHECK_NEAR(price(&device, &kernel).seconds_s, fixed_s + 0.4e-6, 1e-9);
}
END_TEST

/* 1e6 B at 1e9 B/s to the host after one way of 3 us along the link, and from it after two. */
START_TEST(a_copy_from_the_host_goes_both_ways)
{
    struct device device = slow_device();
    struct device_stream *stream = &device.streams[KERNEL_COPY][0];
    stream->row_s = 3e-6;
    struct kernel kernel = {.kind = KERNEL_COPY, .copy = {1e6, COPY_HBM, COPY_HOST}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, stream->fixed_s + 1003e-6, 1e-12);
    kernel.copy.from = COPY_HOST, kernel.copy.to = COPY_HBM;
    CHECK_NEAR(price(&device, &kernel).seconds_s, stream->fixed_s + 1006e-6, 1e-12);
}
END_TEST

/* L2 keeps 1,000 B for second passes: all of 1,000, half of 1,500, nothing of 2,000. */
START_TEST(a_second_pass_misses_what_l2_cannot_keep)
{
    struct device device = slow_device();
    device.memory.reread_bytes = 1000;
    CHECK_NEAR(memory_reread_hit_fraction(&device, 500), 1, 1e-12);
    CHECK_NEAR(memory_reread_hit_fraction(&device, 1000), 1, 1e-12);
    CHECK_NEAR(memory_reread_hit_fraction(&device, 1500), 0.5, 1e-12);
    ck_assert(memory_reread_hit_fraction(&device, 2000) == 0);
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
    device.element_rates[0] = (struct device_element_rate){"add", 1e8, 0};
    device.element_rate_count = 1;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 22e-6, 1e-12); /* 2,000 / 1e8 = 20 us */
    ck_assert_int_eq(price(&device, &kernel).bound, BOUND_COMPUTE);
    device.element_rates[0].wait_s = 3e-6; /* of each of the two launches */
    CHECK_NEAR(price(&device, &kernel).seconds_s, 28e-6, 1e-12);
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
    device.element_rates[0] = (struct device_element_rate){"sum", 4e8, 0};
    device.element_rate_count = 1;
    CHECK_NEAR(price(&device, &kernel).compute_fraction, 0.5, 1e-12);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 5e-6, 1e-12);
}
END_TEST

/* 8,192 rows of one bf16. Four units of 16 rows each hold 64 at a time: 128 rounds of 1 us,
 * beside 16,384 B in and out: the root of both squares. */
START_TEST(narrow_rows_are_gathered_by_rounds)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_GATHER, .dtype = DTYPE_BF16, .rows_by_width = {8192, 1}};
    double moving_s = (16.384e-6 + 8.192e-6) / 0.5;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + moving_s, 1e-12);
    device.streams[KERNEL_GATHER][DIRECTION_FORWARD].row_s = 1e-6;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + hypot(128e-6, moving_s), 1e-12);
    ck_assert_int_eq(price(&device, &kernel).bound, BOUND_LATENCY);
}
END_TEST

/* 1,000 elements at 1e7 a second: 100 us, however narrow; 4-byte ones at 2e7: 50 us. */
START_TEST(atomics_take_element_by_element)
{
    struct device device = slow_device();
    struct device_stream *stream = &device.streams[KERNEL_SCATTER_ADD][DIRECTION_FORWARD];
    struct kernel kernel = {
        .kind = KERNEL_SCATTER_ADD, .dtype = DTYPE_BF16, .rows_by_width = {100, 10}};
    stream->elements_per_s = 1e7;
    stream->wide_elements_per_s = 2e7;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 101e-6, 1e-12);
    kernel.dtype = DTYPE_FP32;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 51e-6, 1e-12);
}
END_TEST

/* 16 rows are added one after the other, 10 us each; 17 all at once, after the latency. */
START_TEST(few_rows_are_added_one_by_one)
{
    struct device device = slow_device();
    device.memory.latency_s = 10e-6;
    device.streams[KERNEL_SCATTER_ADD][0].row_s = 10e-6;
    struct kernel kernel = {
        .kind = KERNEL_SCATTER_ADD, .dtype = DTYPE_BF16, .rows_by_width = {16, 1}};
    CHECK_NEAR(price(&device, &kernel).seconds_s, 161e-6, 1e-12);
    kernel.rows_by_width.rows = 17;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 11e-6 + (68e-9 + 17e-9) / 0.5, 1e-12);
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

/* 320 chunks of 65,536 on 132 units: two to a unit are 264 at once, then the other 56; each walks
 * for 18 ms, 8 of them HBM's, beside the bytes of all. 384 are a launch of 320 and one of 64. Half
 * a chunk walks half as long. */
START_TEST(chunks_of_adamw_walk_beside_their_bytes)
{
    struct device device = slow_device();
    struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 320 * 65536}};
    device.compute_units = 132;
    double chunk_s = (price(&device, &kernel).seconds_s - 1e-6) / 320;
    device.streams[KERNEL_ADAMW][DIRECTION_FORWARD].row_s = 10e-3;
    device.streams[KERNEL_ADAMW][DIRECTION_FORWARD].sum_row_s = 8e-3;
    double launch_s = hypot(264 * chunk_s, 18e-3) + hypot(56 * chunk_s, 18e-3);
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + launch_s, 1e-9);
    kernel.adamw.parameters = 384 * 65536;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + launch_s + hypot(64 * chunk_s, 18e-3),
               1e-9);
    kernel.adamw.parameters = 32768;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + hypot(chunk_s / 2, 9e-3), 1e-9);
    device.memory.warm_bytes = 1e6; /* of L2: 0.9 MB */
    device.memory.warm_bytes_per_s = 1e30;
    CHECK_NEAR(price(&device, &kernel).seconds_s, 1e-6 + 5e-3, 1e-9);
}
END_TEST

/* Of 101 us, 70 are the host's. */
START_TEST(a_lone_call_waits_for_the_host)
{
    struct device device = slow_device();
    device.streams[KERNEL_ADAMW][DIRECTION_FORWARD].isolated_call_s = 70e-6;
    struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 1000}};
    struct kernel_cost cost = price(&device, &kernel);
    CHECK_NEAR(cost.host_s, 70e-6, 1e-12);
    CHECK_NEAR(cost.seconds_s, 71e-6 + (16e-6 + 6e-6) / 0.5, 1e-12);
}
END_TEST

/* Twice every rate and half of every wait: half of every time. */
START_TEST(a_device_twice_as_quick_takes_half_as_long)
{
    struct device device = slow_device();
    device.memory.latency_s = 1e-6;
    device.streams[KERNEL_GATHER][DIRECTION_FORWARD].row_s = 1e-6;
    device.streams[KERNEL_TRANSPOSE][DIRECTION_FORWARD].elements_per_s = 1e9;
    struct device quick = device;
    quick.memory.hbm_read_bytes_per_s *= 2;
    quick.memory.hbm_write_bytes_per_s *= 2;
    quick.memory.latency_s /= 2;
    quick.streams[KERNEL_TRANSPOSE][DIRECTION_FORWARD].elements_per_s *= 2;
    quick.streams[KERNEL_GATHER][DIRECTION_FORWARD].row_s /= 2;
    const enum kernel_kind kinds[] = {KERNEL_GATHER, KERNEL_TRANSPOSE, KERNEL_SCATTER_ADD};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct kernel kernel = {
            .kind = kinds[i], .dtype = DTYPE_BF16, .rows_by_width = {1000, 77}};
        quick.streams[kinds[i]][DIRECTION_FORWARD].fixed_s = 0.5e-6;
        CHECK_NEAR(price(&quick, &kernel).seconds_s, price(&device, &kernel).seconds_s / 2,
                   1e-12);
    }
}
END_TEST

/* Of each kind, from one row to a billion: never quicker, never without end. */
START_TEST(more_rows_take_no_less)
{
    struct device device = slow_device();
    device.memory.warm_bytes = 4096;
    device.memory.latency_s = 1e-7;
    const enum kernel_kind kinds[] = {KERNEL_GATHER, KERNEL_TRANSPOSE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double before_s = 0;
        for (int64_t rows = 1; rows <= 1000000000; rows *= 10) {
            struct kernel kernel = {
                .kind = kinds[i], .dtype = DTYPE_BF16, .rows_by_width = {rows, 33}};
            double seconds_s = price(&device, &kernel).seconds_s;
            ck_assert(isfinite(seconds_s) && seconds_s >= before_s);
            before_s = seconds_s;
        }
    }
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

Suite *
memory_cost_suite(void)
{
    Suite *suite = suite_create("memory_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, reads_and_writes_share_the_bus);
    tcase_add_test(tests, a_small_kernel_finds_its_bytes_warm);
    tcase_add_test(tests, a_result_lies_where_the_last_one_lay);
    tcase_add_test(tests, a_copy_from_the_host_goes_both_ways);
    tcase_add_test(tests, a_second_pass_misses_what_l2_cannot_keep);
    tcase_add_test(tests, bytes_within_another_kernel_cost_no_launch);
    tcase_add_test(tests, each_launch_moves_its_part);
    tcase_add_test(tests, the_launch_is_the_bound_while_it_takes_the_longer_part);
    tcase_add_test(tests, a_stream_holds_the_units_that_draw_or_compute);
    tcase_add_test(tests, narrow_rows_are_gathered_by_rounds);
    tcase_add_test(tests, atomics_take_element_by_element);
    tcase_add_test(tests, few_rows_are_added_one_by_one);
    tcase_add_test(tests, adamw_moves_30_bytes_a_bf16_parameter);
    tcase_add_test(tests, chunks_of_adamw_walk_beside_their_bytes);
    tcase_add_test(tests, a_lone_call_waits_for_the_host);
    tcase_add_test(tests, a_device_twice_as_quick_takes_half_as_long);
    tcase_add_test(tests, more_rows_take_no_less);
    tcase_add_test(tests, a_copy_to_the_host_takes_its_link);
    suite_add_tcase(suite, tests);
    return suite;
}
