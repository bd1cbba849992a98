/* Does a token cost what must be read for it, and a prompt what must be computed? */
#include "models/inference.h"

#include <string.h>

#include <check.h>

#include "models/arch_flop.h"
#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *inference_suite(void);

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

/* On one node of MI300X. */
static const struct run *
run_of(const char *model, const char *setting)
{
    const char *settings[] = {"plan.global_batch_sequences=64", "cluster.nodes=1",
                              "software.host_launch_s=0", setting};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .model = model,
                                  .settings = settings,
                                  .setting_count = setting ? 4 : 3};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

static struct inference
ask(const struct run *run, int64_t batch, int64_t tokens)
{
    struct inference answer;
    struct inference_request request = {batch, tokens, tokens};
    ck_assert_msg(inference_find(&run->inputs, &request, &answer, arena, &errors), "%s",
                  errors.items[0].what);
    return answer;
}

static const char *const LLAMA = "configs/models/llama-3.1-8b.json";

/* Llama-3.1-8B: 8.03e9 parameters in bf16; 32 layers of 8 heads of 128 channels, keys and values,
 * 131,072 bytes a token. One token cannot be had before every weight but the embedding's is read:
 * 15.0 GB at the 5.3 TB/s of the data sheet, 2.8 ms. */
START_TEST(a_token_reads_every_weight)
{
    struct inference answer = ask(run_of(LLAMA, NULL), 1, 1024);
    CHECK_NEAR(answer.weight_bytes, 2 * 8.03e9, 0.001);
    CHECK_NEAR(answer.cache_bytes, 131072.0 * 1024, 1e-12);
    ck_assert_double_gt(answer.decode.seconds_s, 15.0e9 / 5.3e12);
    ck_assert_double_lt(answer.decode.seconds_s, 4 * 15.0e9 / 5.3e12);
    ck_assert_double_eq(answer.decode.exchange_s, 0);
}
END_TEST

/* 4,096 tokens a sequence of Llama's forward FLOP, the head's but for the last one: no faster than
 * the peak, and at a fifth of it at least. */
START_TEST(a_prompt_takes_its_flop)
{
    const struct run *run = run_of(LLAMA, NULL);
    struct inference answer = ask(run, 4, 4096);
    struct token_flop flop = arch_flop(run->inputs.workload.arch, 4096);
    double peak_s = 4 * 4096 * (flop.forward - flop.head) / 1307.4e12;
    ck_assert_double_gt(answer.prefill.seconds_s, peak_s);
    ck_assert_double_lt(answer.prefill.seconds_s, 5 * peak_s);
}
END_TEST

/* Eight tensor ranks hold an eighth each of weights and cache, and exchange. */
START_TEST(tensor_ranks_share_weights_and_cache)
{
    struct inference one = ask(run_of(LLAMA, NULL), 8, 2048);
    struct inference eight = ask(run_of(LLAMA, "plan.tensor=8"), 8, 2048);
    CHECK_NEAR(8 * eight.cache_bytes, one.cache_bytes, 1e-12);
    CHECK_NEAR(8 * eight.weight_bytes, one.weight_bytes, 0.001);
    ck_assert_double_gt(eight.decode.exchange_s, 0);
    ck_assert_double_lt(eight.decode.device_s - eight.decode.exchange_s,
                        one.decode.device_s / 2);
}
END_TEST

/* A longer context is read for every token: its keys and values at less than the peak rate. */
START_TEST(a_longer_context_takes_longer)
{
    const struct run *run = run_of(LLAMA, NULL);
    struct inference near = ask(run, 32, 1024), far = ask(run, 32, 8192);
    double more_s = (far.cache_bytes - near.cache_bytes) / 5.3e12;
    ck_assert_double_gt(far.decode.device_s - near.decode.device_s, more_s);
}
END_TEST

static const char *const DEEPSEEK = "configs/models/deepseek-v3.json";

/* DeepSeek-V3 caches a compressed key of 512 channels and 64 that turn in each of 61 layers, on
 * every tensor rank: 70,272 bytes a token in bf16 (arXiv 2405.04434, table 1). A token more in the
 * cache is read at no more than the peak; its products, 2 x 128 heads x (576 + 512) a layer, run
 * at no more than that either. Expanded, 128 keys of 192 and values of 128 would take 71 times as
 * long to read. */
START_TEST(latent_caches_are_read_compressed)
{
    const struct run *run = run_of(DEEPSEEK, "plan.expert=8");
    struct inference near = ask(run, 32, 1024), far = ask(run, 32, 8192);
    struct inference split = ask(run_of(DEEPSEEK, "plan.tensor=8"), 32, 1024);
    double more_bytes = far.cache_bytes - near.cache_bytes;
    double more_flop = 61.0 * 32 * 7168 * 2 * 128 * (576 + 512);
    double more_s = far.decode.device_s - near.decode.device_s;
    CHECK_NEAR(near.cache_bytes, 70272.0 * 32 * 1024, 1e-12);
    CHECK_NEAR(split.cache_bytes, near.cache_bytes, 1e-12);
    ck_assert_double_gt(more_s, more_bytes / 5.3e12);
    ck_assert_double_gt(more_s, more_flop / 1307.4e12);
    ck_assert_double_lt(more_s, 6 * more_flop / 1307.4e12);
    ck_assert_double_lt(more_s, 71 * more_bytes / 5.3e12 / 4);
}
END_TEST

/* Of 128 experts each of four ranks holds 32, and a quarter of attention; what one rank of four has
 * to do is less than all of it, and the exchanges are there. */
START_TEST(experts_stand_beside_tensor_ranks)
{
    static const char *const QWEN = "configs/models/qwen3-30b-a3b.json";
    const struct run *run = run_of(QWEN, "plan.tensor=4");
    struct inference one = ask(run_of(QWEN, NULL), 64, 1024), four = ask(run, 64, 1024);
    CHECK_NEAR(4 * four.weight_bytes, one.weight_bytes, 0.01);
    CHECK_NEAR(4 * four.cache_bytes, one.cache_bytes, 1e-12);
    ck_assert_double_gt(four.decode.exchange_s, 0);
    ck_assert_double_lt(four.decode.device_s - four.decode.exchange_s, one.decode.device_s / 2);
}
END_TEST

START_TEST(tokens_that_do_not_divide_are_named)
{
    struct inference answer;
    struct inference_request request = {6, 1024, 1024};
    const struct run *run = run_of("configs/models/qwen3-30b-a3b.json", "plan.tensor=4");
    ck_assert(!inference_find(&run->inputs, &request, &answer, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "the nearest that is: 8"));
}
END_TEST

START_TEST(what_is_not_known_is_refused)
{
    struct inference answer;
    struct inference_request request = {1, 1024, 1024};
    const struct run *run = run_of("configs/models/zaya1-base.json", "plan.pipeline=2");
    ck_assert(!inference_find(&run->inputs, &request, &answer, arena, &errors));
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
}
END_TEST

Suite *
inference_suite(void)
{
    Suite *suite = suite_create("inference");
    TCase *tests = tcase_create("llama");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_token_reads_every_weight);
    tcase_add_test(tests, a_prompt_takes_its_flop);
    tcase_add_test(tests, tensor_ranks_share_weights_and_cache);
    tcase_add_test(tests, a_longer_context_takes_longer);
    tcase_add_test(tests, latent_caches_are_read_compressed);
    tcase_add_test(tests, experts_stand_beside_tensor_ranks);
    tcase_add_test(tests, tokens_that_do_not_divide_are_named);
    tcase_add_test(tests, what_is_not_known_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
