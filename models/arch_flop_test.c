/* Does the FLOP count of a token agree with numbers worked by hand and with published counts?
 */
#include <string.h>

#include "models/arch_flop.h"
#include "models/check_arch.h"
#include "models/tensors.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *arch_flop_suite(void);

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

START_TEST(zaya1_costs_what_its_shapes_say)
{
    struct token_flop flop = arch_flop(check_arch_read(arena, "zaya1-base"), 4096);
    /* 2 x 40 layers x 2048 x (1024 q + 256 k + 128 v1 + 128 v2 + 1024 o) */
    CHECK_NEAR(flop.attention_projections, 80.0 * 2048 * 2560, 0);
    /* 2 x 40 x (1280 channels x 2 taps + 10 heads x 128 x 128 x 2 taps) = 2 x 40 x 330240 */
    CHECK_NEAR(flop.convolutions, 80.0 * 330240, 0);
    /* Q K^T and A V over half of 4096 keys, 8 heads of 128: 2 x 2 x 2048 x 1024 x 40 */
    CHECK_NEAR(flop.attention_core, 335544320, 0);
    /* 2 x 40 x (2048 x 256 + 2 x 256 x 256 + 256 x 17) */
    CHECK_NEAR(flop.router, 80.0 * 659712, 0);
    /* 2 x 40 x (2048 x 4096 + 2048 x 2048) */
    CHECK_NEAR(flop.experts, 80.0 * 12582912, 0);
    CHECK_NEAR(flop.head, 2.0 * 2048 * 262272, 0);
    CHECK_NEAR(flop.forward, 2915069952, 0);
    CHECK_NEAR(flop.train, 3 * flop.forward, 0);
    /* 6 x 752671480: less than half of the truth, for it knows neither head nor attention. */
    CHECK_NEAR(flop.six_n_active, 4516028880, 0);
    CHECK_NEAR(flop.train / flop.six_n_active, 1.94, 0.005);
}
END_TEST

START_TEST(full_mask_counts_attention_twice)
{
    struct token_flop flop = arch_flop(check_arch_read(arena, "zaya1-base"), 4096);
    CHECK_NEAR(flop.forward_full_mask, flop.forward + flop.attention_core, 1e-12);
    CHECK_NEAR(flop.train_full_mask, 3 * flop.forward_full_mask, 1e-12);
}
END_TEST

START_TEST(llama_70b_agrees_with_the_megatron_count)
{
    /* Megatron-LM's num_floating_point_operations, causal, at 8192: per layer
     * 6 x (8192 x 8192 x (1 + 2 x 8 / 64 + 1) + 3 x 8192 x 28672 + 8192 x 8192 / 2 x 2) and the
     * head 6 x 8192 x 128256; by 80 layers. */
    struct token_flop flop = arch_flop(check_arch_read(arena, "llama-3.1-70b"), 8192);
    double layer = 8192.0 * 8192 * 2.25 + 3.0 * 8192 * 28672 + 8192.0 * 8192;
    CHECK_NEAR(flop.train, 6 * (80 * layer + 8192.0 * 128256), 1e-12);
}
END_TEST

START_TEST(a_window_spares_what_it_hides)
{
    const struct arch *arch = check_arch_read(arena, "gpt-oss-20b");
    /* 12 layers meet 2048 keys, 12 meet 128 - 128^2 / (2 x 4096) = 126; 2 x 2 x 64 heads x 64.
     */
    CHECK_NEAR(arch_flop(arch, 4096).attention_core, 12 * (2048.0 + 126) * 4 * 4096, 1e-12);
    /* A sequence no longer than the window sees no difference. */
    CHECK_NEAR(arch_flop(arch, 128).attention_core, 24 * 64.0 * 4 * 4096, 1e-12);
}
END_TEST

/* Per token and layer 2 (1536 (7168 + 128 x 192) + 512 (7168 + 128 x 256) + 7168 x 64 +
 * 128 x 128 x 7168), as Megatron-LM counts latent attention, and s x 128 x (192 + 128) causal. */
START_TEST(deepseek_v3_agrees_with_the_megatron_count)
{
    struct token_flop flop = arch_flop(check_arch_read(arena, "deepseek-v3"), 4096);
    double projections =
        2 * (1536.0 * (7168 + 24576) + 512.0 * (7168 + 32768) + 7168.0 * 64 + 16384.0 * 7168);
    double core = 4096.0 * 128 * 320, expert = 6.0 * 7168 * 2048;
    CHECK_NEAR(flop.attention_projections, 61 * projections, 1e-12);
    CHECK_NEAR(flop.attention_core, 61 * core, 1e-12);
    CHECK_NEAR(flop.experts, 58 * 8 * expert, 1e-12);
    CHECK_NEAR(flop.shared_experts, 58 * expert, 1e-12);
    CHECK_NEAR(flop.dense_layers, 3 * 6.0 * 7168 * 18432, 1e-12);
    CHECK_NEAR(flop.prediction,
               projections + core + 9 * expert + 2 * 7168.0 * 256 + 4 * 7168.0 * 7168 +
                   2 * 7168.0 * 129280,
               1e-12);
    /* 250.4e9 of training without prediction: DeepSeek-V3's 180 thousand GPU hours for 1e12
     * tokens at 386e12 FLOP/s. */
    CHECK_NEAR(3 * (flop.forward - flop.prediction), 250.4e9, 0.001);
}
END_TEST

/* arXiv 2510.04476 table II, a layer of E = 2048 and 16 heads of 128, all of which sees a full
 * mask: B S (2 E^2 + 4 E^2 / c_q + 6 E^2 / c_kv) + 4 B E S^2 with c_q = 4, c_kv = 8, without the
 * turning key; parameters E^2 + 3 E^2 / c_kv + 2 E^2 / c_q. */
START_TEST(latent_attention_agrees_with_the_cca_papers_table)
{
    struct arch arch = {.layers = 1,
                        .hidden = 2048,
                        .attention = ATTENTION_MLA,
                        .query_heads = 16,
                        .kv_heads = 16,
                        .head_dim = 128,
                        .query_rank = 512,
                        .value_head_dim = 128,
                        .kv_rank = 256,
                        .vocab = 1,
                        .dense_ffn = 1};
    double e = 2048, s = 4096;
    struct token_flop flop = arch_flop(&arch, 4096);
    CHECK_NEAR(flop.attention_projections, 2 * e * e + e * e + 6 * e * e / 8, 1e-12);
    CHECK_NEAR(flop.attention_core, 4 * e * s / 2, 1e-12);
    struct parameter_counts counts = tensors_count_of(&arch);
    ck_assert_int_eq(counts.active_of[PART_ATTENTION] - 512 - 256,
                     2048 * 2048 + 3 * 2048 * 256 + 2 * 2048 * 512);
    ck_assert_int_eq(arch_kv_cache_elements(&arch, 4096), 4096 * 256);
}
END_TEST

Suite *
arch_flop_suite(void)
{
    Suite *suite = suite_create("arch_flop");
    TCase *tcase = tcase_create("flop");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, zaya1_costs_what_its_shapes_say);
    tcase_add_test(tcase, full_mask_counts_attention_twice);
    tcase_add_test(tcase, llama_70b_agrees_with_the_megatron_count);
    tcase_add_test(tcase, a_window_spares_what_it_hides);
    tcase_add_test(tcase, deepseek_v3_agrees_with_the_megatron_count);
    tcase_add_test(tcase, latent_attention_agrees_with_the_cca_papers_table);
    suite_add_tcase(suite, tcase);
    return suite;
}
