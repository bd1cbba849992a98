/* Is a convolution a stream, and with wide groups a batch of products? */
#include "hw/convolution_cost.h"

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

Suite *
convolution_cost_suite(void)
{
    Suite *suite = suite_create("convolution_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, depthwise_is_a_stream);
    tcase_add_test(tests, wide_groups_are_products);
    suite_add_tcase(suite, tests);
    return suite;
}
