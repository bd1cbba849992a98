/* Is our own form of a model read whole, do its factors of compression mean what arXiv 2510.04476
 * says, and are slips refused? */
#include <string.h>

#include "models/arch_flop.h"
#include "models/check_arch.h"
#include "models/tensors.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *arch_own_suite(void);

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

static const struct arch *
read_text(const char *text)
{
    return check_arch_of(arena, text, &errors);
}

/* One layer of E = 2048, heads of 128, a feed-forward as narrow as can be. */
#define MODEL                                                                                  \
    "{\"model_type\": \"stepcast\", \"layers\": 1, \"hidden\": 2048, \"vocab\": 1,\n"          \
    "\"dense_ffn\": 1, \"head_dim\": 128,\n"

static const char *
written(const struct arch *arch)
{
    struct text out = text_new(arena);
    struct json_writer writer = json_writer_new(&out, true);
    arch_write(&writer, arch);
    return out.bytes;
}

static const char *const MODELS[] = {
    "zaya1-base",    "zaya1-8b",        "zaya1-8b-native",  "llama-3.1-8b",
    "llama-3.1-70b", "llama-3.1-405b",  "mixtral-8x7b",     "mixtral-8x22b",
    "qwen3-30b-a3b", "olmoe-1b-7b",     "gpt-oss-20b",      "gpt-oss-120b",
    "deepseek-v3",   "qwen3-235b-a22b", "deepseek-v2-lite", "kimi-k2-instruct"};

START_TEST(what_is_written_reads_back_the_same)
{
    const struct arch *arch = check_arch_read(arena, MODELS[_i]);
    const struct arch *again = read_text(written(arch));
    ck_assert_msg(again != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    ck_assert_str_eq(written(again), written(arch));
    struct parameter_counts counts = tensors_count_of(arch), same = tensors_count_of(again);
    ck_assert_mem_eq(&counts, &same, sizeof counts);
    struct token_flop flop = arch_flop(arch, 8192), as_much = arch_flop(again, 8192);
    ck_assert_mem_eq(&flop, &as_much, sizeof flop);
    ck_assert_int_eq(arch_kv_cache_elements(arch, 8192), arch_kv_cache_elements(again, 8192));
}
END_TEST

/* Table II, in units of E^2 for parameters (without convolutions and norms) and of E for a token's
 * cache; forward FLOP of a token are twice the parameters and, of a full mask, 4 E s / C1. */
struct kind {
    const char *keys;
    double parameters, cache, core;
};

static const struct kind KINDS[] = {
    {"\"attention\": \"mha\", \"query_heads\": 16}", 4, 2, 1},
    {"\"attention\": \"gqa\", \"query_heads\": 16, \"kv_compression\": 4}", 2 + 2 / 4.0,
     2 / 4.0, 1},
    {"\"attention\": \"mla\", \"query_heads\": 16, \"query_compression\": 4, "
     "\"kv_compression\": 8}",
     1 + 3 / 8.0 + 2 / 4.0, 1 / 8.0, 1},
    {"\"attention\": \"cca\", \"query_compression\": 4}", 4 / 4.0, 2 / 4.0, 1 / 4.0},
    {"\"attention\": \"ccgqa\", \"query_compression\": 2, \"kv_compression\": 8}",
     2 / 2.0 + 2 / 8.0, 2 / 8.0, 1 / 2.0},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static int64_t
projection_parameters(const struct arch *arch)
{
    struct tensor_list tensors = tensors_of(arch, arena);
    int64_t sum = 0;
    for (int64_t i = 0; i < tensors.count; i++)
        if (tensors.items[i].part == PART_ATTENTION && tensors.items[i].is_matrix)
            sum += tensor_elements(&tensors.items[i]);
    return sum;
}

START_TEST(factors_of_compression_mean_what_the_cca_paper_says)
{
    const struct kind *kind = &KINDS[_i];
    const struct arch *arch = read_text(arena_format(arena, MODEL "%s", kind->keys));
    double e = 2048, s = 4096;
    ck_assert_msg(arch != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct token_flop flop = arch_flop(arch, 4096);
    CHECK_NEAR((double)projection_parameters(arch), kind->parameters * e * e, 1e-12);
    CHECK_NEAR(flop.attention_projections, 2 * kind->parameters * e * e, 1e-12);
    CHECK_NEAR(2 * flop.attention_core, 4 * e * s * kind->core, 1e-12);
    CHECK_NEAR((double)arch_kv_cache_elements(arch, 4096), s * e * kind->cache, 1e-12);
}
END_TEST

/* e- k_seq + e-^2 / (hq + hk) k_ch with e- = E/2 + E/8 = 1280 channels in 10 heads, 2 taps each. */
START_TEST(convolutions_are_those_of_the_cca_paper)
{
    const struct arch *arch = read_text(arena_format(arena, MODEL "%s", KINDS[4].keys));
    ck_assert_int_eq(arch->query_heads, 8);
    ck_assert_int_eq(arch->kv_heads, 2);
    double convolutions = 1280 * 2 + 1280.0 * 1280 / 10 * 2;
    CHECK_NEAR(arch_flop(arch, 4096).convolutions, 2 * convolutions, 1e-12);
    ck_assert_double_eq(convolutions, 330240);
}
END_TEST

/* A cache of E / 4 elements a token, each way: GQA compresses keys and values 8 times, CCA all 8
 * times, CCGQA as it likes its queries, MLA 4 times and a turning key beside. */
START_TEST(kinds_can_be_compared_at_one_size_of_cache)
{
    static const char *const keys[] = {
        "\"attention\": \"gqa\", \"query_heads\": 16, \"kv_compression\": 8}",
        "\"attention\": \"cca\", \"query_compression\": 8}",
        "\"attention\": \"ccgqa\", \"query_compression\": 2, \"kv_compression\": 8}",
        "\"attention\": \"mla\", \"query_heads\": 16, \"kv_compression\": 4}"};
    double flop[4];
    for (int i = 0; i < 4; i++) {
        const struct arch *arch = read_text(arena_format(arena, MODEL "%s", keys[i]));
        ck_assert_int_eq(arch_kv_cache_elements(arch, 1000), 1000 * 2048 / 4);
        flop[i] = arch_flop(arch, 16384).forward;
    }
    ck_assert_double_lt(flop[1], flop[2]);
    ck_assert_double_lt(flop[2], flop[0]);
    ck_assert_double_lt(flop[0], flop[3]);
}
END_TEST

/* The same sizes said in two forms. */
START_TEST(the_sweeping_model_is_zaya1)
{
    const struct arch *sweep = check_arch_read(arena, "sweep-ccgqa-moe");
    const struct arch *zaya = check_arch_read(arena, "zaya1-base");
    struct arch same = *sweep;
    same.name = zaya->name;
    same.model_type = zaya->model_type;
    same.context_max = zaya->context_max;
    ck_assert_mem_eq(&same, zaya, sizeof same);
}
END_TEST

struct bad_case {
    const char *keys, *message;
    int count;
};

static const struct bad_case BAD_CASES[] = {
    {"\"attention\": \"mah\", \"query_heads\": 16}",
     "m.json:3:14: $.attention: is the string 'mah', did you mean 'mha'?", 1},
    {"\"attention\": \"mha\", \"query_head\": 16}",
     "m.json:3:21: $.query_head: unknown key 'query_head' of a model, did you mean "
     "'query_heads'?",
     1},
    {"\"attention\": \"mha\"}", "m.json:1:1: $: lacks the key 'query_heads' (an integer)", 2},
    {"\"attention\": \"gqa\", \"query_heads\": 16, \"kv_heads\": 3}",
     "m.json:3:52: $.kv_heads: 3 key-value heads do not divide the 16 query heads", 1},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"kv_heads\": 4}",
     "m.json:3:52: $.kv_heads: is 4: mha attention has as many as query heads, 16", 1},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"kv_compression\": 2}",
     "m.json:3:58: $.kv_compression: says nothing of mha attention", 1},
    {"\"attention\": \"gqa\", \"query_heads\": 16, \"kv_compression\": 3}",
     "m.json:3:58: $.kv_compression: is 3: the 2048 channels of the model so compressed are "
     "not whole heads of 128",
     2},
    {"\"attention\": \"gqa\", \"query_heads\": 16, \"kv_heads\": 8, \"kv_compression\": 8}",
     "m.json:3:52: $.kv_heads: is 8, but 'kv_compression' makes it 2", 1},
    {"\"attention\": \"gqa\", \"query_heads\": 16, \"kv_heads\": 8, \"kv_rank\": 64}",
     "m.json:3:66: $.kv_rank: is of mla attention only", 1},
    {"\"attention\": \"mla\", \"query_heads\": 16}",
     "m.json:1:1: $: lacks the key 'kv_rank' (an integer)", 1},
    {"\"attention\": \"mla\", \"query_heads\": 16, \"kv_rank\": 64, \"rotary_head_dim\": 129}",
     "m.json:3:74: $.rotary_head_dim: is 129, more than the 128 channels of a head", 1},
    {"\"attention\": \"cca\", \"query_heads\": 4, \"sequence_taps\": 0}",
     "m.json:3:56: $.sequence_taps: is 0, wanted at least 1", 1},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"experts\": 8}",
     "m.json:1:1: $: lacks the key 'experts_per_token' (an integer)", 2},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"window\": \"even\"}",
     "m.json:3:50: $.window: some layers slide, but 'window_tokens' gives no width", 1},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"window_tokens\": 64}",
     "m.json:3:57: $.window_tokens: is 64, but 'window' is none", 1},
    {"\"attention\": \"mha\", \"query_heads\": 16, \"dense_layers\": 2}",
     "m.json:3:56: $.dense_layers: is 2, but the model has only 1 layers", 1},
};

START_TEST(slips_are_told_with_their_place)
{
    const struct bad_case *bad = &BAD_CASES[_i];
    ck_assert_ptr_null(read_text(arena_format(arena, MODEL "%s", bad->keys)));
    ck_assert_str_eq(arena_format(arena, "%s: %s", errors.items[0].where, errors.items[0].what),
                     bad->message);
    ck_assert_int_eq(errors.count, bad->count);
}
END_TEST

Suite *
arch_own_suite(void)
{
    Suite *suite = suite_create("arch_own");
    TCase *tests = tcase_create("own form");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, what_is_written_reads_back_the_same, 0,
                        sizeof MODELS / sizeof *MODELS);
    tcase_add_loop_test(tests, factors_of_compression_mean_what_the_cca_paper_says, 0,
                        KIND_COUNT);
    tcase_add_test(tests, convolutions_are_those_of_the_cca_paper);
    tcase_add_test(tests, kinds_can_be_compared_at_one_size_of_cache);
    tcase_add_test(tests, the_sweeping_model_is_zaya1);
    tcase_add_loop_test(tests, slips_are_told_with_their_place, 0,
                        sizeof BAD_CASES / sizeof *BAD_CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
