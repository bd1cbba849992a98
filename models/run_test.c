/* Are the files of a run found, replaced, and refused all at once? */
#include "models/run.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *run_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
set_up(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct run *
read_with(const char *const *settings, size_t count)
{
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = count};
    return run_read(&request, arena, &errors);
}

START_TEST(a_run_names_its_files_relative_to_itself)
{
    const struct run *run = read_with(NULL, 0);
    ck_assert_ptr_nonnull(run);
    ck_assert_str_eq(json_file_name(run->plan_object), "configs/plans/zaya1-base-4k.json");
    ck_assert_str_eq(run->inputs.cluster->name, "mi300x-pollara-128");
    ck_assert_str_eq(run->inputs.cluster->device->name, "mi300x");
    ck_assert_int_eq(run->inputs.workload.arch->layers, 40);
}
END_TEST

START_TEST(a_file_given_beside_the_run_replaces_its_own)
{
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .software = "configs/software/pytorch-eager.json"};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    ck_assert_str_eq(run->inputs.workload.software->name, "pytorch-eager");
}
END_TEST

START_TEST(four_files_make_a_run_without_one)
{
    struct run_request request = {.model = "configs/models/zaya1-base.json",
                                  .cluster = "configs/clusters/mi300x-pollara-128.json",
                                  .plan = "configs/plans/zaya1-base-4k.json",
                                  .software = "configs/software/zyphra-rocm.json"};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    ck_assert_str_eq(run->name, "zaya1-base-4k");
}
END_TEST

START_TEST(single_values_of_every_part_can_be_set)
{
    const char *const settings[] = {"plan.microbatch_sequences=1", "cluster.nodes=64",
                                    "model.hidden_size=4096", "software.fuses_swiglu=false",
                                    "device.hbm_bytes=100e9"};
    const struct run *run = read_with(settings, 5);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct step_inputs *inputs = &run->inputs;
    ck_assert_int_eq(inputs->workload.plan->microbatch_sequences, 1);
    ck_assert_int_eq(inputs->cluster->nodes, 64);
    ck_assert_int_eq(inputs->workload.arch->hidden, 4096);
    ck_assert(!inputs->workload.software->fuses_swiglu);
    ck_assert_double_eq(inputs->cluster->device->hbm_bytes, 100e9);
}
END_TEST

START_TEST(what_was_changed_beside_the_file_is_known)
{
    const char *const settings[] = {"plan.recompute=full"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .software = "configs/software/pytorch-eager.json",
                                  .settings = settings,
                                  .setting_count = 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    ck_assert_uint_eq(run->change_count, 2);
    ck_assert_str_eq(run->changes[0], "software=configs/software/pytorch-eager.json");
    ck_assert_str_eq(run->changes[1], "plan.recompute=full");
    ck_assert_str_eq(run->paths[5], "configs/devices/mi300x.json");
}
END_TEST

START_TEST(a_setting_that_no_reader_looks_at_is_refused)
{
    const char *const settings[] = {"model.num_hidden_layers=20", "model.hidden_size=1024"};
    ck_assert_ptr_null(read_with(settings, 2));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.items[0].where,
                     "--set model.num_hidden_layers=20: $.num_hidden_layers");
}
END_TEST

START_TEST(faults_of_all_files_are_told_at_once)
{
    const char *const settings[] = {"plan.zero_stage=7", "model.hidden_size=0",
                                    "software.host_launch_s=abc", "cluster.nodes=x"};
    ck_assert_ptr_null(read_with(settings, 4));
    ck_assert_int_eq(errors.count, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(strncmp(errors.items[i].where, "--set ", 6), 0);
}
END_TEST

START_TEST(settings_of_no_part_are_refused)
{
    const char *const settings[] = {"plna.x=1", "x", "plan=3", "plan.no.such=1"};
    const char *const whats[] = {
        ("'plna' is no part of a run, wanted model, cluster, plan, software or device: did you "
         "mean 'plan'?"),
        "wanted PART.KEY=VALUE, such as plan.microbatch_sequences=2",
        "wanted PART.KEY=VALUE, such as plan.microbatch_sequences=2"};
    ck_assert_ptr_null(read_with(settings, 4));
    ck_assert_int_eq(errors.count, 4);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(errors.items[i].what, whats[i]);
}
END_TEST

/* Read again with a setting, a run is as if the setting had been given at once: later ones win, and
 * what they leave alone is the base's own. */
START_TEST(a_run_made_again_has_further_settings)
{
    const char *const first[] = {"plan.microbatch_sequences=1", "cluster.nodes=64"};
    const char *const further[] = {"plan.microbatch_sequences=4"};
    const char *const model[] = {"model.hidden_size=1024"};
    const struct run *base = read_with(first, 2);
    ck_assert_ptr_nonnull(base);
    const struct run *run = run_again(base, &(struct run_settings){further, 1}, arena, &errors);
    const struct run *narrow = run_again(run, &(struct run_settings){model, 1}, arena, &errors);
    ck_assert_ptr_nonnull(run);
    ck_assert_ptr_nonnull(narrow);
    ck_assert_int_eq(run->inputs.workload.plan->microbatch_sequences, 4);
    ck_assert_ptr_eq(run->inputs.workload.arch, base->inputs.workload.arch);
    ck_assert_ptr_eq(run->inputs.cluster, base->inputs.cluster);
    ck_assert_int_eq(base->inputs.workload.plan->microbatch_sequences, 1);
    ck_assert_int_eq(narrow->inputs.workload.arch->hidden, 1024);
    ck_assert_int_eq(narrow->inputs.workload.plan->microbatch_sequences, 4);
    ck_assert_int_eq(narrow->inputs.cluster->nodes, 64);
    ck_assert_uint_eq(narrow->change_count, 4);
    ck_assert_str_eq(narrow->changes[2], "plan.microbatch_sequences=4");
}
END_TEST

/* A device belongs to its cluster: both are read anew. */
START_TEST(a_device_can_be_set_again)
{
    const struct run *base = read_with(NULL, 0);
    const char *const text = "device.hbm_bytes=100e9";
    const struct run *run = run_again(base, &(struct run_settings){&text, 1}, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    ck_assert(run->inputs.cluster->device->hbm_bytes < 1.01e11);
    ck_assert(base->inputs.cluster->device->hbm_bytes > 1.9e11);
    const char *const slip = "device.hbm_bites=100e9";
    ck_assert_ptr_null(run_again(base, &(struct run_settings){&slip, 1}, arena, &errors));
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INPUT);
}
END_TEST

/* The other way round the device is the base's, with what had been set of it. */
START_TEST(a_cluster_set_again_keeps_its_device)
{
    const char *const first = "device.hbm_bytes=100e9", *const text = "cluster.nodes=64";
    const struct run *base = read_with(&first, 1);
    const struct run *run = run_again(base, &(struct run_settings){&text, 1}, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    ck_assert_int_eq(run->inputs.cluster->nodes, 64);
    ck_assert_int_ne(base->inputs.cluster->nodes, 64);
    ck_assert_ptr_eq(run->inputs.cluster->device, base->inputs.cluster->device);
    ck_assert(run->inputs.cluster->device->hbm_bytes < 1.01e11);
}
END_TEST

START_TEST(numbers_of_the_files_have_names)
{
    double value = 0;
    const struct run *base = read_with(NULL, 0);
    ck_assert(run_number(base, "model.hidden_size", &value));
    ck_assert(value >= 2048 && value <= 2048);
    ck_assert(run_number(base, "device.hbm_bytes", &value)); /* one with its source */
    ck_assert(value > 1.9e11);
    ck_assert(!run_number(base, "model.no_such", &value));
    ck_assert(!run_number(base, "plan.name", &value));
    ck_assert(!run_number(base, "plan", &value));
    ck_assert(!run_number(base, "width", &value));
}
END_TEST

START_TEST(a_missing_file_is_an_io_fault)
{
    struct run_request request = {.file = "configs/runs/nosuch.json"};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_IO);
}
END_TEST

Suite *
run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_run_names_its_files_relative_to_itself);
    tcase_add_test(tests, a_file_given_beside_the_run_replaces_its_own);
    tcase_add_test(tests, four_files_make_a_run_without_one);
    tcase_add_test(tests, single_values_of_every_part_can_be_set);
    tcase_add_test(tests, what_was_changed_beside_the_file_is_known);
    tcase_add_test(tests, a_setting_that_no_reader_looks_at_is_refused);
    tcase_add_test(tests, faults_of_all_files_are_told_at_once);
    tcase_add_test(tests, settings_of_no_part_are_refused);
    tcase_add_test(tests, a_run_made_again_has_further_settings);
    tcase_add_test(tests, a_device_can_be_set_again);
    tcase_add_test(tests, a_cluster_set_again_keeps_its_device);
    tcase_add_test(tests, numbers_of_the_files_have_names);
    tcase_add_test(tests, a_missing_file_is_an_io_fault);
    suite_add_tcase(suite, tests);
    return suite;
}
