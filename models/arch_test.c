/* Are the config files of published models understood? */
#include <string.h>

#include "models/arch.h"
#include "models/check_arch.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *arch_suite(void);

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

static void
check_zaya(const struct arch *arch)
{
    ck_assert_int_eq(arch->layers, 40);
    ck_assert_int_eq(arch->hidden, 2048);
    ck_assert_int_eq(arch->vocab, 262272);
    ck_assert(arch->is_embedding_tied);
    ck_assert_int_eq(arch->attention, ATTENTION_CCA);
    ck_assert_int_eq(arch->query_heads, 8);
    ck_assert_int_eq(arch->kv_heads, 2);
    ck_assert_int_eq(arch->head_dim, 128);
    CHECK_NEAR(arch->rotary_fraction, 0.5, 0);
    ck_assert_int_eq(arch->sequence_taps, 2);
    ck_assert_int_eq(arch->channel_taps, 2);
    ck_assert_int_eq(arch->experts, 16);
    ck_assert_int_eq(arch->experts_per_token, 1);
    ck_assert_int_eq(arch->expert_ffn, 2048);
    ck_assert_int_eq(arch->router, ROUTER_MLP);
    ck_assert_int_eq(arch->router_hidden, 256);
    ck_assert_int_eq(arch_router_classes(arch), 17);
    ck_assert(arch->has_router_average && arch->has_residual_scaling);
    ck_assert(!arch->has_attention_bias);
}

START_TEST(lists_of_half_blocks_win_over_scalars)
{
    /* num_hidden_layers is 120 and num_attention_heads 16 in this file. */
    const struct arch *arch = check_arch_read(arena, "zaya1-base");
    check_zaya(arch);
    ck_assert_str_eq(arch->name, "zaya1-base");
    ck_assert_int_eq(arch->context_max, 4096);
    ck_assert(!arch->is_residual_fp32);
}
END_TEST

START_TEST(scalar_dialect_counts_half_blocks_and_fused_widths)
{
    /* 80 layers and ffn_hidden_size 4096 in this file, and nothing of tied embeddings. */
    const struct arch *arch = check_arch_read(arena, "zaya1-8b");
    check_zaya(arch);
    ck_assert_int_eq(arch->context_max, 131072);
    ck_assert(arch->is_residual_fp32);
}
END_TEST

START_TEST(native_dialect_counts_whole_layers)
{
    const struct arch *arch = check_arch_read(arena, "zaya1-8b-native");
    check_zaya(arch);
    ck_assert(arch->is_residual_fp32);
}
END_TEST

START_TEST(head_width_of_qwen3_is_not_hidden_over_heads)
{
    const struct arch *arch = check_arch_read(arena, "qwen3-30b-a3b");
    ck_assert_int_eq(arch->head_dim, 128); /* not 2048 / 32 */
    ck_assert_int_eq(arch->expert_ffn, 768);
    ck_assert_int_eq(arch->experts, 128);
    ck_assert_int_eq(arch->experts_per_token, 8);
    ck_assert_int_eq(arch->window, WINDOW_NONE);
    ck_assert(arch->has_query_key_norm && !arch->is_query_key_norm_whole);
}
END_TEST

START_TEST(intermediate_size_is_dense_in_llama_and_an_experts_in_mixtral)
{
    const struct arch *llama = check_arch_read(arena, "llama-3.1-8b");
    ck_assert_int_eq(llama->dense_ffn, 14336);
    ck_assert_int_eq(llama->experts, 0);
    ck_assert_int_eq(llama->head_dim, 128); /* 4096 / 32 */
    const struct arch *mixtral = check_arch_read(arena, "mixtral-8x7b");
    ck_assert_int_eq(mixtral->expert_ffn, 14336);
    ck_assert_int_eq(mixtral->dense_ffn, 0);
    ck_assert_int_eq(mixtral->experts, 8);
}
END_TEST

START_TEST(every_second_layer_of_gpt_oss_slides)
{
    const struct arch *arch = check_arch_read(arena, "gpt-oss-20b");
    ck_assert_int_eq(arch->window, WINDOW_EVEN);
    ck_assert_int_eq(arch_window_tokens(arch, 0), 128);
    ck_assert_int_eq(arch_window_tokens(arch, 1), 0);
    ck_assert(arch->has_attention_sinks && arch->has_attention_bias && arch->has_router_bias);
    /* 12 layers keep 128 positions, 12 keep 4096; 8 heads x 64 channels, keys and values. */
    ck_assert_int_eq(arch_kv_cache_elements(arch, 4096), 12LL * (128 + 4096) * 2 * 512);
}
END_TEST

static const char LLAMA[] = "{\"model_type\": \"llama\",\n"
                            "\"hidden_size\": 64,\n"
                            "\"num_hidden_layers\": 2,\n"
                            "\"num_attention_heads\": 4,\n"
                            "\"num_key_value_heads\": 2,\n"
                            "\"intermediate_size\": 96,\n"
                            "\"vocab_size\": 100,\n"
                            "\"max_position_embeddings\": 512}";
START_TEST(model_is_named_after_its_file_or_folder)
{
    static const char *const names[][2] = {{"a/zaya1-base.json", "zaya1-base"},
                                           {"hub/Llama-3.1-8B/config.json", "Llama-3.1-8B"},
                                           {"config.json", "llama"},
                                           {"./config.json", "llama"},
                                           {"-", "llama"},
                                           {"plain", "plain"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct json *config =
            json_read_text(arena, names[i][0], 1, LLAMA, strlen(LLAMA), &errors);
        ck_assert_str_eq(arch_read(config, arena, &errors)->name, names[i][1]);
    }
}
END_TEST

Suite *
arch_suite(void)
{
    Suite *suite = suite_create("arch");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_add_test(files, lists_of_half_blocks_win_over_scalars);
    tcase_add_test(files, scalar_dialect_counts_half_blocks_and_fused_widths);
    tcase_add_test(files, native_dialect_counts_whole_layers);
    tcase_add_test(files, head_width_of_qwen3_is_not_hidden_over_heads);
    tcase_add_test(files, intermediate_size_is_dense_in_llama_and_an_experts_in_mixtral);
    tcase_add_test(files, every_second_layer_of_gpt_oss_slides);
    tcase_add_test(files, model_is_named_after_its_file_or_folder);
    suite_add_tcase(suite, files);
    return suite;
}
