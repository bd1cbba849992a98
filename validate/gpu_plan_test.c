/* Does every launch name a kernel of the source, cover its work and pass what it takes? */
#include "validate/gpu_stream.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "validate/gpu_kernels.h"

Suite *gpu_plan_suite(void);

/* Whether the source has the kernel; an ELEMENTWISE macro makes one, too. */
static bool
source_has(const char *name)
{
    char plain[80], one[80], two[80];
    (void)snprintf(plain, sizeof plain, " %s(", name);
    (void)snprintf(one, sizeof one, "ELEMENTWISE_1(%s,", name);
    (void)snprintf(two, sizeof two, "ELEMENTWISE_2(%s,", name);
    for (int i = 0; gpu_kernel_lines[i] != NULL; i++)
        if ((strstr(gpu_kernel_lines[i], "__global__ void ") != NULL &&
             strstr(gpu_kernel_lines[i], plain) != NULL) ||
            strstr(gpu_kernel_lines[i], one) == gpu_kernel_lines[i] ||
            strstr(gpu_kernel_lines[i], two) == gpu_kernel_lines[i])
            return true;
    return false;
}

static int64_t
threads_of(const struct gpu_shape *shape)
{
    return shape->grid_x * shape->grid_y * shape->block_x * shape->block_y;
}

static void
check_plan(const struct kernel *kernel, int operands, int launches)
{
    struct gpu_stream_plan plan;
    ck_assert(gpu_stream_plan(kernel, operands, &plan));
    ck_assert_int_eq(plan.launch_count, launches);
    for (int i = 0; i < launches; i++) {
        const struct gpu_stream_launch *launch = &plan.launches[i];
        ck_assert_msg(source_has(launch->name), "%s", launch->name);
        ck_assert_int_le(launch->shape.block_x * launch->shape.block_y, 256);
        ck_assert_int_gt(threads_of(&launch->shape), 0);
    }
}

START_TEST(kernels_by_rows_are_in_the_source)
{
    for (int direction = 0; direction < 2; direction++) {
        struct kernel kernel = {.kind = KERNEL_RMS_NORM,
                                .dtype = DTYPE_BF16,
                                .direction = (enum direction)direction,
                                .rows_by_width = {100, 1000}};
        check_plan(&kernel, direction == 0 ? 3 : 5, direction == 0 ? 1 : 3);
        kernel.kind = KERNEL_SOFTMAX;
        check_plan(&kernel, direction == 0 ? 2 : 3, 1);
        kernel = (struct kernel){.kind = KERNEL_CROSS_ENTROPY,
                                 .dtype = DTYPE_FP32,
                                 .direction = (enum direction)direction,
                                 .cross_entropy = {10, 50000}};
        check_plan(&kernel, 3, 1);
    }
}
END_TEST

START_TEST(kernels_that_move_are_in_the_source)
{
    const enum kernel_kind kinds[] = {KERNEL_GATHER, KERNEL_SCATTER_ADD, KERNEL_TRANSPOSE};
    for (int i = 0; i < 3; i++) {
        struct kernel kernel = {
            .kind = kinds[i], .dtype = DTYPE_BF16, .rows_by_width = {77, 130}};
        check_plan(&kernel, kinds[i] == KERNEL_TRANSPOSE ? 2 : 3, 1);
    }
    struct kernel top_k = {
        .kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {.rows = 5, .experts = 64, .k = 2}};
    check_plan(&top_k, 3, 1);
}
END_TEST

/* 1,000,003 elements, eight to a thread: 125,000 whole threads and three single ones. */
START_TEST(elementwise_launches_cover_the_odd_rest)
{
    const char *const ops[] = {"copy", "add", "gelu", "silu_mul"};
    for (int i = 0; i < 4; i++) {
        struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                                .dtype = DTYPE_BF16,
                                .elementwise = {.op = ops[i], .elements = 1000003}};
        struct gpu_stream_plan plan;
        kernel.elementwise.launches = 1;
        check_plan(&kernel, 3, 1);
        ck_assert(gpu_stream_plan(&kernel, 3, &plan));
        ck_assert_int_ge(threads_of(&plan.launches[0].shape), 125000 + 3);
        ck_assert_int_eq(plan.launches[0].sizes[0], 1000003);
    }
}
END_TEST

/* silu of the gate into the operand between, 3; that times up, 1, into the result, 2 */
START_TEST(silu_mul_in_two_launches_goes_through_the_operand_between)
{
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_FP32,
                            .elementwise = {.op = "silu_mul", .elements = 10, .launches = 2}};
    struct gpu_stream_plan plan;
    ck_assert(gpu_stream_plan(&kernel, 4, &plan));
    ck_assert_int_eq(plan.launch_count, 2);
    ck_assert_str_eq(plan.launches[0].name, "silu");
    ck_assert_int_eq(plan.launches[0].operands[0], 0);
    ck_assert_int_eq(plan.launches[0].operands[1], 3);
    ck_assert_str_eq(plan.launches[1].name, "mul");
    ck_assert_int_eq(plan.launches[1].operands[0], 3);
    ck_assert_int_eq(plan.launches[1].operands[1], 1);
    ck_assert_int_eq(plan.launches[1].operands[2], 2);
}
END_TEST

START_TEST(convolutions_are_in_the_source)
{
    struct kernel kernel = {
        .kind = KERNEL_CONVOLUTION, .dtype = DTYPE_BF16, .convolution = {100, 64, 4, 64}};
    check_plan(&kernel, 3, 1);
    kernel.direction = DIRECTION_BACKWARD;
    check_plan(&kernel, 5, 2);
}
END_TEST

/* Two sequences of three heads, 17 queries: three blocks of eight each; no more code than that. */
START_TEST(attention_is_planned_forward_for_heads_that_fit)
{
    struct kernel kernel = {.kind = KERNEL_ATTENTION,
                            .dtype = DTYPE_BF16,
                            .attention = {.batch = 2,
                                          .q_len = 17,
                                          .kv_len = 17,
                                          .q_heads = 3,
                                          .kv_heads = 1,
                                          .head_dim = 128,
                                          .implementation = "own"}};
    struct gpu_stream_plan plan;
    check_plan(&kernel, 4, 1);
    ck_assert(gpu_stream_plan(&kernel, 4, &plan));
    ck_assert_int_eq(plan.launches[0].shape.grid_x, 2 * 3 * 3);
    kernel.attention.implementation = "flash2";
    ck_assert(!gpu_stream_plan(&kernel, 4, &plan));
    kernel.attention.implementation = NULL;
    ck_assert(!gpu_stream_plan(&kernel, 4, &plan));
    kernel.attention.implementation = "own";
    ck_assert(gpu_stream_plan(&kernel, 4, &plan));
    kernel.attention.head_dim = 256;
    ck_assert(gpu_stream_plan(&kernel, 4, &plan));
    kernel.attention.head_dim = 264;
    ck_assert(!gpu_stream_plan(&kernel, 4, &plan));
}
END_TEST

/* Of 27,741,184 elements the last 2^20 are read: 2 bytes each. A share of 2^20 / 27,741,184 of
 * the bytes would be 2.3e-10 bytes off, and no kernel that the CPU knows. */
START_TEST(the_part_that_is_checked_has_whole_bytes)
{
    for (int64_t elements = 1 << 20; elements < 64 << 20; elements += 1024 * 997) {
        struct kernel kernel = {.kind = KERNEL_ELEMENTWISE, .dtype = DTYPE_BF16};
        kernel.elementwise = (struct elementwise){"swiglu", elements, 3 * (double)elements,
                                                  2 * (double)elements, 1};
        struct kernel part = gpu_stream_checked_part(&kernel);
        ck_assert_int_eq(part.elementwise.elements, 1 << 20);
        ck_assert_double_eq(part.elementwise.read_bytes, 3 << 20);
        ck_assert_double_eq(part.elementwise.write_bytes, 2 << 20);
    }
}
END_TEST

START_TEST(products_have_no_plan_here)
{
    struct kernel kernel = {.kind = KERNEL_GEMM, .dtype = DTYPE_BF16};
    struct gpu_stream_plan plan;
    ck_assert(!gpu_stream_plan(&kernel, 0, &plan));
}
END_TEST

Suite *
gpu_plan_suite(void)
{
    Suite *suite = suite_create("gpu_plan");
    TCase *tcase = tcase_create("launches");
    tcase_add_test(tcase, kernels_by_rows_are_in_the_source);
    tcase_add_test(tcase, kernels_that_move_are_in_the_source);
    tcase_add_test(tcase, elementwise_launches_cover_the_odd_rest);
    tcase_add_test(tcase, silu_mul_in_two_launches_goes_through_the_operand_between);
    tcase_add_test(tcase, convolutions_are_in_the_source);
    tcase_add_test(tcase, attention_is_planned_forward_for_heads_that_fit);
    tcase_add_test(tcase, the_part_that_is_checked_has_whole_bytes);
    tcase_add_test(tcase, products_have_no_plan_here);
    suite_add_tcase(suite, tcase);
    return suite;
}
