/* Does the picture of predictions against measurements name those that are worst? */
#include "sim/cli/validate_outcome.h"

#include <check.h>

#include "sim/base/check_suite.h"

Suite *validate_picture_suite(void);

/* A row of one kind and dtype, measured as a second. */
static struct error_sample
sample_of(const char *kind, double predicted_s, enum split_part part, const char *shape)
{
    return (struct error_sample){.group = {.kind = kind, .dtype = "bf16", .size = "all"},
                                 .part = part,
                                 .measured_s = 1.0,
                                 .predicted_s = predicted_s,
                                 .shape = shape};
}

static const struct ratio_chart_panel *
panel_of(struct error_sample *samples, size_t count)
{
    static const struct suite_table asked = {.title = "table", .device = "d", .cluster = ""};
    static const struct device device = {.name = "d"};
    struct validate_outcome outcome = {.asked = &asked,
                                       .basis = {.device = &device},
                                       .comparison = {samples, count, count},
                                       .table = error_table_new(samples, count, arena)};
    const struct ratio_chart *chart = validate_picture(&outcome, 1, arena);
    ck_assert_uint_eq(chart->section_count, 1);
    ck_assert_uint_eq(chart->sections[0].panel_count, 1);
    ck_assert_uint_eq(chart->sections[0].panels[0].point_count, count);
    return &chart->sections[0].panels[0];
}

/* Of six rows the fit saw one, two are within 10 %: three are left, from the worst down. */
START_TEST(the_three_worst_held_out_are_named)
{
    struct error_sample samples[] = {
        sample_of("gemm", 1.05, SPLIT_HELD_OUT, "gemm m=1 n=2 k=3 batch=1"),
        sample_of("gemm", 1.2, SPLIT_HELD_OUT, "gemm m=4 n=5 k=6 batch=1"),
        sample_of("gemm", 3.0, SPLIT_FIT, "gemm m=7 n=8 k=9 batch=1"),
        sample_of("gemm", 0.5, SPLIT_HELD_OUT, "gemm m=10 n=11 k=12 batch=13"),
        sample_of("gemm", 0.85, SPLIT_HELD_OUT, "gemm m=16 n=17 k=18 batch=19"),
        sample_of("gemm", 1.11, SPLIT_HELD_OUT, "gemm m=20 n=21 k=22 batch=1")};
    const struct ratio_chart_panel *panel = panel_of(samples, 6);
    ck_assert_str_eq(panel->points[0].label, "-50.0 %: 10×11×12×13");
    ck_assert_str_eq(panel->points[1].label, "+20.0 %: 4×5×6");
    ck_assert_str_eq(panel->points[2].label, "-15.0 %: 16×17×18×19");
    for (size_t i = 3; i < 6; i++)
        ck_assert_ptr_null(panel->points[i].label);
}
END_TEST

START_TEST(what_is_near_or_fitted_has_no_name)
{
    struct error_sample samples[] = {
        sample_of("gemm", 1.09, SPLIT_HELD_OUT, "gemm m=1 n=2 k=3 batch=1"),
        sample_of("gemm", 3.0, SPLIT_FIT, "gemm m=7 n=8 k=9 batch=1")};
    const struct ratio_chart_panel *panel = panel_of(samples, 2);
    ck_assert_ptr_null(panel->points[0].label);
    ck_assert_ptr_null(panel->points[1].label);
}
END_TEST

/* Equal numbers of a list are counted, a mask is a word, and a name stays. */
START_TEST(a_shape_is_said_by_its_sizes)
{
    static const char *const shapes[][2] = {
        {"grouped_gemm n=64 k=32 rows=8,8,8,16,8", "+50.0 %: 64×32×3·8,16,8"},
        {"grouped_gemm n=64 k=32 rows=12,128,12", "+50.0 %: 64×32×12,128,12"},
        {"grouped_gemm n=64 k=32 rows=128,12", "+50.0 %: 64×32×128,12"},
        {"attention batch=1 q_len=64 kv_len=64 q_heads=8 kv_heads=2 head_dim=128 causal=1",
         "+50.0 %: 64×64×8×2×128 causal"},
        {"attention batch=12 q_len=64 kv_len=64 q_heads=8 kv_heads=2 head_dim=128 causal=0 "
         "window=16",
         "+50.0 %: 12×64×64×8×2×128×16"},
        {"a step on two GPUs", "+50.0 %: a step on two GPUs"},
        {"step", "+50.0 %: step"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct error_sample sample = sample_of("kind", 1.5, SPLIT_HELD_OUT, shapes[i][0]);
        ck_assert_str_eq(panel_of(&sample, 1)->points[0].label, shapes[i][1]);
    }
}
END_TEST

Suite *
validate_picture_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("validate_picture", &tests);
    tcase_add_test(tests, the_three_worst_held_out_are_named);
    tcase_add_test(tests, what_is_near_or_fitted_has_no_name);
    tcase_add_test(tests, a_shape_is_said_by_its_sizes);
    return suite;
}
