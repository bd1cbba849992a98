/* Is a convolution a stream, and with wide groups a batch of products? */
#include "hw/convolution_cost.h"

#include <math.h>

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *convolution_cost_suite(void);

static struct kernel_cost
price(const struct device *device, int64_t groups, enum direction direction)
{
    struct kernel kernel = {
        .kind = KERNEL_CONVOLUTION,
        .dtype = DTYPE_BF16,
        .direction = direction,
        .convolution = {.tokens = 400, .channels = 400, .taps = 2, .groups = groups}};
    struct kernel_cost cost;
    convolution_cost(device, &kernel, &cost);
    return cost;
}

/* 400 * 400 * 2 B = 320 kB in and out at 1e9 B/s; backward reads two arrays. */
START_TEST(depthwise_is_a_stream)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e9;
    CHECK_NEAR(price(&device, 400, DIRECTION_FORWARD).seconds_s, 640e-6, 1e-9);
    CHECK_NEAR(price(&device, 400, DIRECTION_BACKWARD).seconds_s, 960e-6, 1e-9);
    CHECK_NEAR(price(&device, 400, DIRECTION_FORWARD).flop, 2.0 * 400 * 400 * 2, 1e-12);
}
END_TEST

/* Four groups of 100 channels: four products of 400 x 100 from depth 200, 16 tiles of 4 us in
 * four rounds, and the launch. Backward forms two. */
START_TEST(wide_groups_are_products)
{
    struct device device = plain_device();
    CHECK_NEAR(price(&device, 4, DIRECTION_FORWARD).seconds_s, 17e-6, 1e-9);
    CHECK_NEAR(price(&device, 4, DIRECTION_BACKWARD).seconds_s, 34e-6, 1e-9);
    CHECK_NEAR(price(&device, 4, DIRECTION_FORWARD).flop, 2.0 * 400 * 400 * 200, 1e-12);
}
END_TEST

/* 800 warps on 4 units of 32: six rounds of 128 and one of 32, each over 400 tokens in 12.5 steps.
 * A warp waits 4 us a step, 50 us; 128 warps take 0.1 us each, 160 us, 32 take 40. */
START_TEST(warps_add_up_the_gradient_of_a_weight)
{
    struct device device = plain_device();
    struct device_stream *stream = &device.streams[KERNEL_CONVOLUTION][DIRECTION_BACKWARD];
    stream->row_s = 4e-6;
    stream->sum_row_s = 0.1e-6;
    double expected_s = 6 * hypot(50e-6, 160e-6) + hypot(50e-6, 40e-6);
    struct convolution convolution = {.tokens = 400, .channels = 400, .taps = 2, .groups = 400};
    CHECK_NEAR(convolution_weight_sum_s(&device, &convolution), expected_s, 1e-12);
    CHECK_NEAR(price(&device, 400, DIRECTION_BACKWARD).seconds_s, expected_s, 1e-9);
}
END_TEST

/* 160,000 elements turned there and back at 1e9 a second: 320 us; four groups of 3 us each, after
 * 5 us of the first. Weights of 100 * 2 to a channel are taken at once: the same without groups.
 * Those of 100 * 3, each: groups and turns again, and a walk of 2 us a token over 400 tokens, all
 * groups side by side; of ten groups of 100, two after the other. */
START_TEST(groups_are_turned_to_channels_last)
{
    struct device device = plain_device();
    struct device_stream *forward = &device.streams[KERNEL_CONVOLUTION][DIRECTION_FORWARD];
    forward->row_s = 5e-6;
    forward->group_s = 3e-6;
    forward->turned_elements_per_s = 1e9;
    device.streams[KERNEL_CONVOLUTION][DIRECTION_BACKWARD].element_s = 2e-6;
    struct convolution c = {.tokens = 400, .channels = 400, .taps = 2, .groups = 4};
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_FORWARD), 337e-6, 1e-12);
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_BACKWARD), 662e-6, 1e-12);
    c.taps = 3;
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_BACKWARD), 1469e-6, 1e-12);
    c.channels = 1000, c.groups = 10;
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_BACKWARD), 3265e-6, 1e-12);
    CHECK_NEAR(price(&device, 4, DIRECTION_FORWARD).seconds_s, 337e-6 + 17e-6, 1e-9);
    /* 1000 channels of 100 * 3 weights at 3e9 a second: 100 us more, and again of the gradient */
    double forward_s = convolution_groups_s(&device, &c, DIRECTION_FORWARD);
    forward->turned_weights_per_s = 3e9;
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_FORWARD), forward_s + 100e-6, 1e-12);
    CHECK_NEAR(convolution_groups_s(&device, &c, DIRECTION_BACKWARD), 3465e-6, 1e-12);
}
END_TEST

Suite *
convolution_cost_suite(void)
{
    Suite *suite = suite_create("convolution_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, depthwise_is_a_stream);
    tcase_add_test(tests, wide_groups_are_products);
    tcase_add_test(tests, warps_add_up_the_gradient_of_a_weight);
    tcase_add_test(tests, groups_are_turned_to_channels_last);
    suite_add_tcase(suite, tests);
    return suite;
}
