/* Are the families and dialects of config.json told apart on files of a few lines, and are spoilt
 * ones refused in words that help? */
#include <string.h>

#include "models/arch.h"
#include "models/check_arch.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *arch_dialect_suite(void);

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

/* A file of a few lines for each family, to be spoilt line by line. */
static const char LLAMA[] = "{\"model_type\": \"llama\",\n"
                            "\"hidden_size\": 64,\n"
                            "\"num_hidden_layers\": 2,\n"
                            "\"num_attention_heads\": 4,\n"
                            "\"num_key_value_heads\": 2,\n"
                            "\"intermediate_size\": 96,\n"
                            "\"vocab_size\": 100,\n"
                            "\"max_position_embeddings\": 512}";
static const char MIXTRAL[] = "{\"model_type\": \"mixtral\",\n"
                              "\"hidden_size\": 64,\n"
                              "\"num_hidden_layers\": 2,\n"
                              "\"num_attention_heads\": 4,\n"
                              "\"num_key_value_heads\": 2,\n"
                              "\"intermediate_size\": 96,\n"
                              "\"num_local_experts\": 4,\n"
                              "\"num_experts_per_tok\": 2,\n"
                              "\"vocab_size\": 100,\n"
                              "\"max_position_embeddings\": 512}";
static const char QWEN3[] = "{\"model_type\": \"qwen3_moe\",\n"
                            "\"hidden_size\": 64,\n"
                            "\"num_hidden_layers\": 4,\n"
                            "\"num_attention_heads\": 4,\n"
                            "\"num_key_value_heads\": 2,\n"
                            "\"head_dim\": 32,\n"
                            "\"moe_intermediate_size\": 96,\n"
                            "\"num_experts\": 4,\n"
                            "\"num_experts_per_tok\": 2,\n"
                            "\"mlp_only_layers\": [],\n"
                            "\"decoder_sparse_step\": 1,\n"
                            "\"use_sliding_window\": false,\n"
                            "\"sliding_window\": 16,\n"
                            "\"max_window_layers\": 2,\n"
                            "\"vocab_size\": 100,\n"
                            "\"max_position_embeddings\": 512}";
static const char GPT_OSS[] = "{\"model_type\": \"gpt_oss\",\n"
                              "\"hidden_size\": 64,\n"
                              "\"num_hidden_layers\": 4,\n"
                              "\"num_attention_heads\": 4,\n"
                              "\"num_key_value_heads\": 2,\n"
                              "\"head_dim\": 32,\n"
                              "\"intermediate_size\": 96,\n"
                              "\"num_local_experts\": 4,\n"
                              "\"num_experts_per_tok\": 2,\n"
                              "\"sliding_window\": 16,\n"
                              "\"layer_types\": [\"sliding_attention\", \"full_attention\", "
                              "\"sliding_attention\", \"full_attention\"],\n"
                              "\"vocab_size\": 100,\n"
                              "\"max_position_embeddings\": 512}";
static const char ZAYA_LIST[] = "{\"model_type\": \"zaya\",\n"
                                "\"zaya_layers\": [\"a\", 4, \"a\", 4],\n"
                                "\"cca_num_q_heads\": [4, 0, 4, 0],\n"
                                "\"num_query_groups_list\": [2, 0, 2, 0],\n"
                                "\"ffn_hidden_size_list\": [0, 96, 0, 96],\n"
                                "\"zaya_mlp_expansion\": [0, 8, 0, 8],\n"
                                "\"moe_router_topk\": 1,\n"
                                "\"num_attention_heads\": 8,\n"
                                "\"hidden_size\": 64,\n"
                                "\"vocab_size\": 100,\n"
                                "\"max_position_embeddings\": 512}";
static const char ZAYA_SCALAR[] = "{\"model_type\": \"zaya\",\n"
                                  "\"num_hidden_layers\": 4,\n"
                                  "\"num_attention_heads\": 4,\n"
                                  "\"num_query_groups\": 2,\n"
                                  "\"head_dim\": 8,\n"
                                  "\"num_experts\": 4,\n"
                                  "\"ffn_hidden_size\": 96,\n"
                                  "\"zaya_mlp_expansion\": 8,\n"
                                  "\"moe_router_topk\": 1,\n"
                                  "\"hidden_size\": 64,\n"
                                  "\"vocab_size\": 100,\n"
                                  "\"max_position_embeddings\": 512}";
static const char ZAYA_NATIVE[] = "{\"model_type\": \"zaya\",\n"
                                  "\"num_hidden_layers\": 2,\n"
                                  "\"num_attention_heads\": 4,\n"
                                  "\"num_key_value_heads\": 2,\n"
                                  "\"head_dim\": 8,\n"
                                  "\"num_experts\": 4,\n"
                                  "\"num_experts_per_tok\": 1,\n"
                                  "\"moe_intermediate_size\": 48,\n"
                                  "\"router_hidden_size\": 8,\n"
                                  "\"layer_types\": [\"hybrid\", \"hybrid\"],\n"
                                  "\"hidden_size\": 64,\n"
                                  "\"vocab_size\": 100,\n"
                                  "\"max_position_embeddings\": 512}";

/* The text with its one place of `find` replaced. */
static const char *
spoil(const char *text, const char *find, const char *replace)
{
    const char *at = strstr(text, find);
    ck_assert_msg(at != NULL, "%s does not stand in the file to spoil", find);
    return arena_format(arena, "%.*s%s%s", (int)(at - text), text, replace, at + strlen(find));
}

START_TEST(the_files_to_spoil_are_good)
{
    const char *const texts[] = {LLAMA,     MIXTRAL,     QWEN3,      GPT_OSS,
                                 ZAYA_LIST, ZAYA_SCALAR, ZAYA_NATIVE};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(read_text(texts[i]) != NULL, "%s: %s", errors.items[0].where,
                      errors.items[0].what);
}
END_TEST

START_TEST(three_dialects_of_zaya_say_the_same)
{
    const struct arch *list = read_text(ZAYA_LIST);
    struct arch scalar = *read_text(ZAYA_SCALAR), native = *read_text(ZAYA_NATIVE);
    ck_assert_int_eq(list->layers, 2);
    scalar.name = native.name = list->name; /* the same text, elsewhere */
    ck_assert_mem_eq(list, &scalar, sizeof scalar);
    ck_assert(native.is_residual_fp32);
    native.is_residual_fp32 = false;
    ck_assert_mem_eq(list, &native, sizeof native);
}
END_TEST

START_TEST(padding_of_lists_is_passed_over)
{
    const struct arch *arch =
        read_text(spoil(ZAYA_LIST, "\"ffn_hidden_size_list\": [0, 96, 0, 96]",
                        "\"ffn_hidden_size_list\": [0, 96, 0, 96, 0, 128, 0]"));
    ck_assert_ptr_nonnull(arch);
    ck_assert_int_eq(arch->expert_ffn, 48);
}
END_TEST

START_TEST(keys_without_a_meaning_here_are_passed_over)
{
    ck_assert_ptr_nonnull(read_text(
        spoil(LLAMA, "\"hidden_size\"",
              "\"rope_scaling\": {\"factor\": 8.0}, \"use_cache\": true, \"hidden_size\"")));
}
END_TEST

START_TEST(the_first_layers_of_qwen3_may_have_no_experts)
{
    const struct arch *arch =
        read_text(spoil(QWEN3, "\"mlp_only_layers\": []",
                        "\"mlp_only_layers\": [0, 1], \"intermediate_size\": 192"));
    ck_assert_ptr_nonnull(arch);
    ck_assert_int_eq(arch->dense_layers, 2);
    ck_assert_int_eq(arch->dense_ffn, 192);
    ck_assert(!arch_has_experts(arch, 1) && arch_has_experts(arch, 2));
}
END_TEST

START_TEST(null_is_as_good_as_absent_where_hugging_face_writes_it)
{
    const struct arch *arch =
        read_text(spoil(MIXTRAL, "\"hidden_size\"",
                        "\"head_dim\": null, \"sliding_window\": null, \"hidden_size\""));
    ck_assert_ptr_nonnull(arch);
    ck_assert_int_eq(arch->head_dim, 16);
    ck_assert_int_eq(arch->window, WINDOW_NONE);
}
END_TEST

struct bad_case {
    const char *text, *find, *replace;
    const char *message; /* the first fault */
    int count;           /* of faults */
};

static const struct bad_case BAD_CASES[] = {
    {LLAMA, "\"vocab_size\": 100,\n", "",
     "m.json:1:1: $: lacks the key 'vocab_size' (an integer)", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": \"64\"",
     "m.json:2:16: $.hidden_size: is the string '64', wanted an integer", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": 64.5",
     "m.json:2:16: $.hidden_size: is 64.5, wanted an integer", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": -64",
     "m.json:2:16: $.hidden_size: is -64, wanted 1 to 65536", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": 1000000000000",
     "m.json:2:16: $.hidden_size: is 1000000000000, wanted 1 to 65536", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": 66",
     "m.json:4:24: $.num_attention_heads: 4 heads do not divide the hidden size 66, and there "
     "is no 'head_dim'",
     1},
    {LLAMA, "\"hidden_size\": 64", "\"hiden_size\": 64",
     "m.json:1:1: $: lacks the key 'hidden_size' (an integer)", 2},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": 64, \"tie_word_embedding\": true",
     "m.json:2:42: $.tie_word_embedding: is an unknown key, did you mean "
     "'tie_word_embeddings'?",
     1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": 64, \"tie_word_embeddings\": 1",
     "m.json:2:43: $.tie_word_embeddings: is 1, wanted true or false", 1},
    {LLAMA, "\"hidden_size\": 64", "\"hidden_size\": [64]",
     "m.json:2:16: $.hidden_size: is a list, wanted an integer", 1},
    {LLAMA, "\"num_attention_heads\": 4", "\"num_attention_heads\": 0",
     "m.json:4:24: $.num_attention_heads: is 0, wanted 1 to 4096", 1},
    {LLAMA, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3",
     "m.json:5:24: $.num_key_value_heads: 3 key-value heads do not divide the 4 query heads",
     1},
    {LLAMA, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": null",
     "m.json:3:22: $.num_hidden_layers: is null, wanted an integer", 1},
    {LLAMA, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1e9",
     "m.json:3:22: $.num_hidden_layers: is 1000000000, wanted 1 to 1024", 1},
    {LLAMA, "\"llama\"", "\"lama\"",
     "m.json:1:16: $.model_type: is 'lama', did you mean 'llama'? supported: zaya, llama, "
     "mixtral, qwen3_moe, olmoe, gpt_oss, deepseek_v2, deepseek_v3, kimi_k2, stepcast",
     1},
    {LLAMA, "\"llama\"", "\"gpt2\"",
     "m.json:1:16: $.model_type: is 'gpt2', supported: zaya, llama, mixtral, qwen3_moe, olmoe, "
     "gpt_oss, deepseek_v2, deepseek_v3, kimi_k2, stepcast",
     1},
    {LLAMA, "\"llama\"", "7",
     "m.json:1:16: $.model_type: is not a string, wanted one of: zaya, llama, mixtral, "
     "qwen3_moe, olmoe, gpt_oss, deepseek_v2, deepseek_v3, kimi_k2, stepcast",
     1},
    {LLAMA, "\"model_type\": \"llama\",\n", "\n",
     "m.json:1:1: $: lacks the key 'model_type', wanted one of: zaya, llama, mixtral, "
     "qwen3_moe, olmoe, gpt_oss, deepseek_v2, deepseek_v3, kimi_k2, stepcast",
     1},
    {MIXTRAL, "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 5",
     "m.json:8:24: $.num_experts_per_tok: each token visits 5 experts, but there are only 4",
     1},
    {MIXTRAL, "\"num_experts_per_tok\": 2,\n", "",
     "m.json:1:1: $: lacks the key 'num_experts_per_tok' or 'experts_per_token' (an integer)",
     1},
    {MIXTRAL, "\"num_local_experts\": 4,\n", "",
     "m.json:1:1: $: lacks the key 'num_experts' or 'num_local_experts' (an integer)", 1},
    {MIXTRAL, "\"num_local_experts\": 4", "\"num_local_experts\": 4, \"num_experts\": 8",
     "m.json:7:40: $.num_experts: 'num_experts' is 8, but 'num_local_experts' is 4", 1},
    {MIXTRAL, "\"num_local_experts\": 4", "\"num_local_experts\": 0",
     "m.json:7:22: $.num_local_experts: is 0, wanted 1 to 4096", 1},
    {MIXTRAL, "\"num_local_experts\": 4", "\"num_local_experts\": 4, \"sliding_window\": 0",
     "m.json:7:43: $.sliding_window: is 0, wanted 1 to 1073741824", 1},
    {QWEN3, "\"head_dim\": 32,\n", "", "m.json:1:1: $: lacks the key 'head_dim' (an integer)",
     1},
    {QWEN3, "\"mlp_only_layers\": []", "\"mlp_only_layers\": [0, 3]",
     "m.json:10:24: $.mlp_only_layers[1]: layers without experts behind others are not "
     "modelled, wanted 1 here, as in [0, 1, ...]",
     1},
    {QWEN3, "\"mlp_only_layers\": []", "\"mlp_only_layers\": [0, 1]",
     "m.json:1:1: $: lacks the key 'intermediate_size' (an integer)", 1},
    {QWEN3, "\"mlp_only_layers\": []", "\"mlp_only_layers\": 0",
     "m.json:10:20: $.mlp_only_layers: is not a list of layers", 1},
    {QWEN3, "\"decoder_sparse_step\": 1", "\"decoder_sparse_step\": 2",
     "m.json:11:24: $.decoder_sparse_step: is 2: layers without experts among the others are "
     "not modelled, wanted 1",
     1},
    {QWEN3, "\"use_sliding_window\": false", "\"use_sliding_window\": true",
     "m.json:14:22: $.max_window_layers: windows from layer 2 on are not modelled, wanted 0 "
     "(all slide) or 4 (none)",
     1},
    {GPT_OSS, "\"full_attention\", ", "\"full_attention\", \"full_attention\", ",
     "m.json:11:16: $.layer_types: has 5 entries, wanted one for each of the 4 layers", 1},
    {GPT_OSS, "\"sliding_attention\", \"full_attention\", ",
     "\"full_attention\", \"sliding_attention\", ",
     "m.json:11:16: $.layer_types: is a pattern that is not modelled, wanted all "
     "full_attention, all sliding_attention, or sliding_attention and full_attention by turns",
     1},
    {GPT_OSS, "\"full_attention\"", "\"linear_attention\"",
     "m.json:11:38: $.layer_types[1]: is not a kind of layer known here, wanted full_attention "
     "or sliding_attention",
     1},
    {GPT_OSS, "\"sliding_window\": 16", "\"sliding_window\": null",
     "m.json:11:16: $.layer_types: some layers slide, but 'sliding_window' gives no width", 1},
    {ZAYA_LIST, "\"a\", 4, \"a\", 4", "\"a\", 4, \"a\"",
     "m.json:2:16: $.zaya_layers: has 3 entries, wanted pairs of \"a\" and a number of "
     "experts, at most 2048",
     1},
    {ZAYA_LIST, "\"a\", 4, \"a\", 4", "",
     "m.json:2:16: $.zaya_layers: has 0 entries, wanted pairs of \"a\" and a number of "
     "experts, at most 2048",
     1},
    {ZAYA_LIST, "\"a\", 4, \"a\", 4", "\"a\", 4, 4, \"a\"",
     "m.json:2:25: $.zaya_layers[2]: is not \"a\": attention and experts stand by turns", 1},
    {ZAYA_LIST, "\"a\", 4, \"a\", 4", "\"a\", 4, \"a\", 8",
     "m.json:2:30: $.zaya_layers[3]: is 8, but entry 1 is 4: unequal layers are not modelled",
     1},
    {ZAYA_LIST, "\"a\", 4, \"a\", 4", "\"a\", 4, \"a\", \"m\"",
     "m.json:2:30: $.zaya_layers[3]: is not an integer, wanted 1 to 4096", 1},
    {ZAYA_LIST, "\"zaya_layers\": [\"a\", 4, \"a\", 4]", "\"zaya_layers\": 80",
     "m.json:2:16: $.zaya_layers: is not a list of half-blocks", 1},
    {ZAYA_LIST, "[0, 96, 0, 96]", "[0, 96, 0]",
     "m.json:5:25: $.ffn_hidden_size_list: has 3 entries, wanted one for each of the 4 "
     "half-blocks",
     1},
    {ZAYA_LIST, "[0, 96, 0, 96]", "[0, 96, 0, 128]",
     "m.json:5:36: $.ffn_hidden_size_list[3]: is 128, but entry 1 is 96: unequal layers are "
     "not modelled",
     1},
    {ZAYA_LIST, "[0, 96, 0, 96]", "[0, 97, 0, 97]",
     "m.json:5:25: $.ffn_hidden_size_list: is 97: gate and up together, wanted an even number",
     1},
    {ZAYA_LIST, "[0, 96, 0, 96]", "[96, 0, 96, 0]",
     "m.json:5:30: $.ffn_hidden_size_list[1]: is 0, wanted 1 to 524288", 1},
    {ZAYA_LIST, "[0, 96, 0, 96]", "\"wide\"",
     "m.json:5:25: $.ffn_hidden_size_list: is neither a list nor an integer", 1},
    {ZAYA_LIST, "\"cca_num_q_heads\": [4, 0, 4, 0],\n", "",
     "m.json:1:1: $: lacks the key 'cca_num_q_heads' (a list)", 1},
    {ZAYA_LIST, "[2, 0, 2, 0]", "[3, 0, 3, 0]",
     "m.json:4:26: $.num_query_groups_list: 3 key-value heads do not divide the 4 query heads",
     1},
    {ZAYA_LIST, "\"num_attention_heads\": 8", "\"num_attention_heads\": 7",
     "m.json:8:24: $.num_attention_heads: 7 does not divide the hidden size 64", 1},
    {ZAYA_LIST, "\"hidden_size\": 64", "\"hidden_size\": 64, \"swa_layers\": [128, 0, 0, 0]",
     "m.json:9:35: $.swa_layers[0]: a window is not modelled in this dialect, wanted 0", 1},
    {ZAYA_LIST, "\"hidden_size\": 64", "\"hidden_size\": 64, \"cca\": false",
     "m.json:9:27: $.cca: is false, which is not modelled, wanted true", 1},
    {ZAYA_SCALAR, "\"num_hidden_layers\": 4", "\"num_hidden_layers\": 5",
     "m.json:2:22: $.num_hidden_layers: is 5: half-blocks, attention and experts by turns, "
     "wanted an even number",
     1},
    {ZAYA_SCALAR, "\"ffn_hidden_size\": 96", "\"ffn_hidden_size\": 95",
     "m.json:7:20: $.ffn_hidden_size: is 95: gate and up together, wanted an even number", 1},
    {ZAYA_SCALAR, "\"head_dim\": 8,\n", "",
     "m.json:1:1: $: lacks the key 'head_dim' (an integer)", 1},
    {ZAYA_SCALAR, "\"head_dim\": 8", "\"head_dim\": 8, \"moe_intermediate_size\": 48",
     "m.json:5:41: $.moe_intermediate_size: stands beside 'ffn_hidden_size' of the dialect in "
     "which num_hidden_layers counts half-blocks",
     1},
    {ZAYA_SCALAR, "\"ffn_hidden_size\": 96,\n\"zaya_mlp_expansion\": 8,\n", "",
     "m.json:1:1: $: has none of zaya_layers, ffn_hidden_size, moe_intermediate_size, by which "
     "ZAYA's dialects are known",
     1},
    {ZAYA_SCALAR, "\"num_query_groups\": 2,\n\"head_dim\": 8",
     "\"num_query_groups\": 1,\n\"head_dim\": 7",
     "m.json:4:21: $.num_query_groups: 7 channels of values cannot be halved for the value "
     "shift",
     1},
    {ZAYA_NATIVE, "[\"hybrid\", \"hybrid\"]", "[\"hybrid\", \"hybrid\", \"hybrid\"]",
     "m.json:10:16: $.layer_types: has 3 entries, wanted one for each of the 2 layers", 1},
    {ZAYA_NATIVE, "[\"hybrid\", \"hybrid\"]", "[\"hybrid_sliding\", \"hybrid\"]",
     "m.json:10:16: $.layer_types: some layers slide, but 'sliding_window' gives no width", 1},
    {ZAYA_NATIVE, "\"head_dim\": 8", "\"head_dim\": 8, \"partial_rotary_factor\": 1.5",
     "m.json:5:41: $.partial_rotary_factor: is 1.5, wanted 0 to 1", 1},
    {ZAYA_NATIVE, "\"head_dim\": 8",
     "\"head_dim\": 8, \"rope_parameters\": {\"hybrid\": {\"partial_rotary_factor\": 2}}",
     "m.json:5:72: $.rope_parameters.hybrid.partial_rotary_factor: is 2, wanted 0 to 1", 1},
    {ZAYA_NATIVE, "\"head_dim\": 8", "\"head_dim\": 8, \"rope_parameters\": \"yarn\"",
     "m.json:5:35: $.rope_parameters: is not an object", 1},
    {ZAYA_NATIVE, "\"router_hidden_size\": 8", "\"router_hidden_size\": true",
     "m.json:9:23: $.router_hidden_size: is true, wanted an integer", 1},
};

START_TEST(bad_input_is_told_with_its_place)
{
    const struct bad_case *bad = &BAD_CASES[_i];
    ck_assert_ptr_null(read_text(spoil(bad->text, bad->find, bad->replace)));
    const char *message =
        arena_format(arena, "%s: %s", errors.items[0].where, errors.items[0].what);
    ck_assert_str_eq(message, bad->message);
    ck_assert_int_eq(errors.count, bad->count);
}
END_TEST

START_TEST(a_config_is_an_object)
{
    ck_assert_ptr_null(read_text("[1]"));
    ck_assert_str_eq(errors.items[0].where, "m.json:1:1: $");
    ck_assert_str_eq(errors.items[0].what, "is not an object, wanted a model's config.json");
}
END_TEST

START_TEST(all_faults_of_a_file_are_told_at_once)
{
    const char *text = spoil(MIXTRAL, "64", "\"wide\"");
    text = spoil(text, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3");
    text = spoil(text, "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 5");
    ck_assert_ptr_null(read_text(text));
    ck_assert_int_eq(errors.count, 3);
}
END_TEST

Suite *
arch_dialect_suite(void)
{
    Suite *suite = suite_create("arch_dialect");
    TCase *good = tcase_create("good");
    tcase_add_checked_fixture(good, set_up, tear_down);
    tcase_add_test(good, the_files_to_spoil_are_good);
    tcase_add_test(good, three_dialects_of_zaya_say_the_same);
    tcase_add_test(good, padding_of_lists_is_passed_over);
    tcase_add_test(good, keys_without_a_meaning_here_are_passed_over);
    tcase_add_test(good, the_first_layers_of_qwen3_may_have_no_experts);
    tcase_add_test(good, null_is_as_good_as_absent_where_hugging_face_writes_it);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_checked_fixture(bad, set_up, tear_down);
    tcase_add_loop_test(bad, bad_input_is_told_with_its_place, 0,
                        sizeof BAD_CASES / sizeof BAD_CASES[0]);
    tcase_add_test(bad, a_config_is_an_object);
    tcase_add_test(bad, all_faults_of_a_file_are_told_at_once);
    suite_add_tcase(suite, bad);
    return suite;
}
