/* Does a fused MoE cost what its products come to by hand? */
#include "hw/fused_moe_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *fused_moe_cost_suite(void);

/* One expert, 100 rows: gate and up 100 x 100 from depth 100 (2 us), down from depth 50 (1 us),
 * two launches. */
START_TEST(a_fused_moe_is_two_grouped_products)
{
    struct device device = plain_device();
    struct kernel kernel = {
        .kind = KERNEL_FUSED_MOE,
        .dtype = DTYPE_BF16,
        .fused_moe = {.tokens = 100, .width = 100, .expert_ffn = 50, .experts = 1, .top_k = 1}};
    struct kernel_cost cost;
    fused_moe_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 5e-6, 1e-12);
    CHECK_NEAR(cost.flop, 3e6, 1e-12);
    CHECK_NEAR(cost.relative_sigma, 0.04, 1e-12);
    device.gemm.moe_fraction = 0.5;
    fused_moe_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 8e-6, 1e-12);
}
END_TEST

Suite *
fused_moe_cost_suite(void)
{
    Suite *suite = suite_create("fused_moe_cost");
    TCase *tests = tcase_create("");
    tcase_add_test(tests, a_fused_moe_is_two_grouped_products);
    suite_add_tcase(suite, tests);
    return suite;
}
