/* Are software stacks read whole, and broken ones refused? */
#include "models/software.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *software_suite(void);

START_TEST(shipped_stacks_are_read)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct software *fused = software_read(
        json_read_file(arena, "configs/software/zyphra-rocm.json", &errors), arena, &errors);
    const struct software *eager = software_read(
        json_read_file(arena, "configs/software/pytorch-eager.json", &errors), arena, &errors);
    ck_assert_int_eq(errors.count, 0);
    ck_assert(fused->fuses_residual_norm && !eager->fuses_residual_norm);
    CHECK_NEAR(fused->host_launch_s, 2.8e-6, 1e-12);
    ck_assert_ptr_null(fused->attention_implementation);
    const struct software *megatron = software_read(
        json_read_file(arena, "configs/software/megatron-fused.json", &errors), arena, &errors);
    ck_assert(megatron->fuses_permutation && !megatron->fuses_residual_norm);
    arena_free(arena);
}
END_TEST

START_TEST(numbers_without_source_and_slips_are_refused)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const char *text = "{\"name\": \"x\", \"host_launch_s\": 1e-6, \"fuses_swigul\": true,"
                       "\"fuses_residual_norm\": 1}";
    const struct json *object = json_read_text(arena, "s.json", 1, text, strlen(text), &errors);
    ck_assert_ptr_null(software_read(object, arena, &errors));
    ck_assert_str_eq(errors.items[0].where, "s.json:1:38: $.fuses_swigul");
    ck_assert_str_eq(errors.items[0].what,
                     "unknown key 'fuses_swigul' of a software stack, did "
                     "you mean 'fuses_swiglu'?");
    int unsourced = 0, mistyped = 0;
    for (int i = 0; i < error_list_kept(&errors); i++) {
        unsourced += strstr(errors.items[i].what, "without its source") != NULL;
        mistyped += strcmp(errors.items[i].what, "is 1, wanted true or false") == 0;
    }
    ck_assert_int_eq(unsourced, 1);
    ck_assert_int_eq(mistyped, 1);
    arena_free(arena);
}
END_TEST

Suite *
software_suite(void)
{
    Suite *suite = suite_create("software");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, shipped_stacks_are_read);
    tcase_add_test(tests, numbers_without_source_and_slips_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
