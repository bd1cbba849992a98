/* Is a key the contents' own: the same for the same inputs, another one for any other? */
#include "sim/cli/run_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *run_key_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct run *
read_run(const char *cluster, const char *setting)
{
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .cluster = cluster,
                                  .settings = arena_copy(arena, &setting, sizeof setting),
                                  .setting_count = setting != NULL};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    return run;
}

/* Of the base with a further setting (or none), as a sweep makes it. */
static const char *
key_of(const struct run *base, const char *setting, const char *asked)
{
    struct run_keys keys;
    struct run_key *key = arena_alloc(arena, 1, sizeof *key);
    struct text question = text_new(arena);
    struct run_settings settings = {arena_copy(arena, &setting, sizeof setting),
                                    setting != NULL};
    text_format(&question, "%s", asked);
    const struct run *run = run_again(base, &settings, arena, &errors);
    ck_assert_ptr_nonnull(run);
    ck_assert(run_keys_of(base, &keys, arena, &errors));
    ck_assert(run_key_find(&keys, run, &question, key, &errors));
    ck_assert_uint_eq(strlen(key->digits), RUN_KEY_DIGITS);
    return key->digits;
}

START_TEST(a_value_is_the_same_wherever_it_was_set)
{
    const char *bucket = "plan.bucket_parameters=100000000";
    const char *beside = key_of(read_run(NULL, NULL), bucket, "");
    ck_assert_str_eq(beside, key_of(read_run(NULL, bucket), NULL, ""));
    ck_assert_str_eq(beside, key_of(read_run(NULL, bucket), bucket, ""));
    ck_assert_str_ne(beside, key_of(read_run(NULL, NULL), NULL, ""));
}
END_TEST

START_TEST(each_file_and_the_question_count)
{
    const struct run *base = read_run(NULL, NULL);
    const char *const settings[] = {"model.hidden=4096", "cluster.nodes=64",
                                    "plan.zero_stage=3", "device.hbm_bytes=1e11"};
    const char *plain = key_of(base, NULL, "");
    ck_assert_str_ne(plain, key_of(base, NULL, "inference 1 0 0"));
    for (size_t i = 1; i < sizeof settings / sizeof *settings; i++)
        ck_assert_str_ne(plain, key_of(base, settings[i], ""));
}
END_TEST

static void
copy_file(const char *from, const char *to, const char *word, const char *other)
{
    struct text text = text_new(arena), changed = text_new(arena);
    ck_assert(text_read_file(&text, from, 1 << 20, &errors));
    const char *at = word ? strstr(text.bytes, word) : NULL;
    ck_assert(!word || at);
    if (at)
        text_format(&changed, "%.*s%s%s", (int)(at - text.bytes), text.bytes, other,
                    at + strlen(word));
    ck_assert(text_write_file(at ? &changed : &text, to, &errors));
}

/* The fabric, which the cluster only names, counts by what stands in it, not by its path. */
START_TEST(files_elsewhere_are_the_same_until_their_contents_change)
{
    char folder[] = "/tmp/run_key_test_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const char *cluster = arena_format(arena, "%s/c.json", folder);
    const char *device = arena_format(arena, "%s/d.json", folder);
    const char *fabric = arena_format(arena, "%s/f.json", folder);
    copy_file("configs/clusters/mi300x-pollara-128.json", cluster, "../devices/mi300x.json",
              "d.json");
    copy_file(cluster, cluster, "../fabrics/mi300x-pollara.json", "f.json");
    copy_file("configs/devices/mi300x.json", device, NULL, NULL);
    copy_file("configs/fabrics/mi300x-pollara.json", fabric, NULL, NULL);
    const char *here = key_of(read_run(NULL, NULL), NULL, "");
    ck_assert_str_eq(here, key_of(read_run(cluster, NULL), NULL, ""));
    copy_file(fabric, fabric, "8 MI300X a node", "Eight a node");
    ck_assert_str_ne(here, key_of(read_run(cluster, NULL), NULL, ""));
    unlink(cluster);
    unlink(device);
    unlink(fabric);
    rmdir(folder);
}
END_TEST

Suite *
run_key_suite(void)
{
    Suite *suite = suite_create("run_key");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_value_is_the_same_wherever_it_was_set);
    tcase_add_test(facts, each_file_and_the_question_count);
    tcase_add_test(facts, files_elsewhere_are_the_same_until_their_contents_change);
    suite_add_tcase(suite, facts);
    return suite;
}
