/* Does a stage keep what Korthikanti et al. published (arXiv 2205.05198)?
 *
 * Their stack keeps the scores of attention, drops out, and has no gate in the feed-forward; of a
 * layer it keeps, in bytes of 16 bits, with s tokens, b sequences, width h, a heads, t tensor ranks
 * (equations 1 to 6):
 *
 *      alone                         s b h (34 + 5 a s / h)
 *      tensor parallel               s b h (10 + 24 / t + 5 a s / (h t))
 *      and sequence parallel         s b h (34 + 5 a s / h) / t
 *      and selective recomputation   s b h 34 / t
 *      full recomputation            s b h 2
 *
 * The figure's numbers (their figure 1, as calculon's validation has them) are of the stage that
 * holds most. Ours differ by at most 1 %: the last norm keeps its input and output, too. */
#include <check.h>

#include "models/memory.h"
#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *published_memory_suite(void);

static struct arena *arena;

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const double FIGURE_UNIT_BYTES = 1073741824;

/* A model of their table 3. */
struct published {
    int64_t layers, hidden, heads, pipeline, chunks, microbatch, gpus;
    double parameters, plain, selective; /* figure 1, in 2^30 bytes */
};

static const struct published MODELS[] = {
    {48, 6144, 64, 1, 1, 4, 8, 45.56, 59.25, 9.56},        /* 22B */
    {96, 12288, 96, 8, 3, 1, 64, 45.56, 66.84, 12.35},     /* 175B */
    {105, 20480, 128, 35, 3, 1, 280, 31.64, 114.0, 23.08}, /* 530B */
    {128, 25600, 160, 64, 1, 1, 512, 32.96, 131.25, 26.56} /* 1T */
};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

static const struct run *
run_with(const struct published *model, const char *const *more, size_t more_count)
{
    struct error_list errors = {0};
    bool is_interleaved = model->chunks > 1;
    int64_t head_dim = model->hidden / model->heads, ffn = 4 * model->hidden;
    int64_t batch = 2 * model->pipeline * model->microbatch;
    const char *settings[24] = {
        "model.is_ffn_plain=true",
        "plan.has_dropout=true",
        "software.keeps_attention_scores=true",
        arena_format(arena, "model.layers=%lld", (long long)model->layers),
        arena_format(arena, "model.hidden=%lld", (long long)model->hidden),
        arena_format(arena, "model.query_heads=%lld", (long long)model->heads),
        arena_format(arena, "model.kv_heads=%lld", (long long)model->heads),
        arena_format(arena, "model.head_dim=%lld", (long long)head_dim),
        arena_format(arena, "model.dense_ffn=%lld", (long long)ffn),
        arena_format(arena, "plan.pipeline=%lld", (long long)model->pipeline),
        arena_format(arena, "plan.schedule=%s", is_interleaved ? "interleaved" : "1f1b"),
        arena_format(arena, "plan.virtual_stages=%lld", (long long)model->chunks),
        arena_format(arena, "plan.microbatch_sequences=%lld", (long long)model->microbatch),
        arena_format(arena, "plan.global_batch_sequences=%lld", (long long)batch),
        arena_format(arena, "cluster.nodes=%lld", (long long)model->gpus / 8),
    };
    enum { OURS = 15 };
    for (size_t i = 0; i < more_count; i++)
        settings[OURS + i] = more[i];
    struct run_request request = {.file = "configs/runs/gpt3-175b-64.json",
                                  .settings = settings,
                                  .setting_count = OURS + more_count};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

/* What a layer keeps of one microbatch. */
static double
layer_bytes(const struct run *run, int64_t layers)
{
    struct memory_saved saved = memory_saved_of(&run->inputs, 0, 0, arena);
    double bytes = 0;
    for (int i = 0; i <= CLASS_EXPERT; i++)
        bytes += i == CLASS_EMBEDDING ? 0 : saved.bytes[i];
    return bytes / (double)layers;
}

/* 22B: the head's norm is in CLASS_NORM_RESIDUAL too, a layer's 1 / 48 of two of its widths. */
static void
check_layer(const char *const *settings, size_t count, double wanted_per_sbh)
{
    const struct run *run = run_with(&MODELS[0], settings, count);
    double sbh = 2048.0 * 4 * 6144;
    CHECK_NEAR(layer_bytes(run, 48), sbh * wanted_per_sbh, 0.03);
}

START_TEST(a_layer_keeps_34_sbh_and_5_of_each_pair)
{
    double scores = 5.0 * 64 * 2048 / 6144; /* 106.7 */
    check_layer((const char *[]){"plan.recompute=none", "plan.tensor=1", "cluster.nodes=1",
                                 "cluster.gpus_per_node=1"},
                4, 34 + scores);
    check_layer((const char *[]){"plan.recompute=none", "plan.is_sequence_parallel=false"}, 2,
                10 + 24.0 / 8 + scores / 8);
    check_layer((const char *[]){"plan.recompute=none"}, 1, (34 + scores) / 8);
}
END_TEST

START_TEST(selective_recomputation_keeps_34_sbh)
{
    check_layer((const char *[]){"plan.recompute=selective"}, 1, 34.0 / 8);
}
END_TEST

/* Theirs recomputes a layer from one input, ours a layer's two blocks from one each. */
START_TEST(full_recomputation_keeps_the_inputs)
{
    check_layer((const char *[]){"plan.recompute=full", "plan.is_sequence_parallel=false"}, 2,
                2 * 2);
}
END_TEST

/* Activations of the first stage; with one stage, without the logits and the head, as theirs. */
static double
stage_activations(const struct published *model, const char *const *settings, size_t count)
{
    const struct run *run = run_with(model, settings, count);
    double bytes = memory_of_stages(&run->inputs, arena)[0].activations;
    if (model->pipeline == 1)
        bytes = layer_bytes(run, 1);
    return bytes / FIGURE_UNIT_BYTES;
}

START_TEST(stages_keep_what_figure_1_says)
{
    static const char *const PLAIN[] = {"plan.recompute=none",
                                        "plan.is_sequence_parallel=false"};
    static const char *const SELECTIVE[] = {"plan.recompute=selective"};
    for (int i = 0; i < MODEL_COUNT; i++) {
        double plain = stage_activations(&MODELS[i], PLAIN, 2);
        double selective = stage_activations(&MODELS[i], SELECTIVE, 1);
        CHECK_NEAR(plain, MODELS[i].plain, 0.03);
        CHECK_NEAR(selective, MODELS[i].selective, 0.03);
    }
}
END_TEST

/* 18 bytes a parameter of the layers (weights, fp32 gradients, master weights, two moments). */
START_TEST(parameters_and_optimizer_are_those_of_figure_1)
{
    for (int i = 0; i < MODEL_COUNT; i++) {
        const struct run *run = run_with(&MODELS[i], NULL, 0);
        int64_t middle = MODELS[i].pipeline / 2; /* without embedding, as theirs */
        struct memory memory = memory_of_stages(&run->inputs, arena)[middle];
        double found =
            (memory.weights + memory.gradients + memory.optimizer) / FIGURE_UNIT_BYTES;
        CHECK_NEAR(found, MODELS[i].parameters, 0.03);
    }
}
END_TEST

/* Of a run as it is shipped: weights, gradients and optimizer of a stage. */
static double
state_bytes(const char *file, int64_t stage)
{
    struct error_list errors = {0};
    struct run_request request = {.file = file};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct memory memory = memory_of_stages(&run->inputs, arena)[stage];
    return memory.weights + memory.gradients + memory.optimizer;
}

/* Megatron-LM's report (megatron/training/theoretical_memory_usage.py): 6 + 12 / D bytes of a dense
 * parameter, 6 + 12 / D_e of an expert's; here of stages between the ends.
 *
 * Mixtral-8x7B, 128 GPUs, tensor 2, 4 stages, 4 expert ranks: 8 layers of 4096 x 10,240 for
 * attention over two ranks and a router whole; 8 x 3 x 4096 x 14,336 of experts over four; D = 16,
 * D_e = 8. DeepSeek-V3, 1,024 GPUs, 16 stages, 64 expert ranks: 4 layers of 187.1 M for attention,
 * 44.0 M shared, 1.8 M router; 256 x 44.0 M of experts over 64; D = 64, D_e = 1. */
START_TEST(mixtures_take_what_megatron_reports)
{
    double mixtral = 8 * (4096.0 * 10240 / 2 + 8 * 4096) * (6 + 12.0 / 16) +
                     8 * (8 * 3 * 4096.0 * 14336 / 4) * (6 + 12.0 / 8);
    double attention = 7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 +
                       128.0 * 128 * 7168;
    double expert = 3 * 7168.0 * 2048, router = 256 * 7168.0;
    double deepseek = 4 * (attention + expert + router) * (6 + 12.0 / 64) +
                      4 * (256 * expert / 64) * (6 + 12.0);
    CHECK_NEAR(state_bytes("configs/runs/mixtral-8x7b-tp2-pp4-ep4.json", 1), mixtral, 0.002);
    CHECK_NEAR(state_bytes("configs/runs/deepseek-v3-pp16.json", 5), deepseek, 0.002);
}
END_TEST

Suite *
published_memory_suite(void)
{
    Suite *suite = suite_create("published_memory");
    TCase *tests = tcase_create("korthikanti");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_layer_keeps_34_sbh_and_5_of_each_pair);
    tcase_add_test(tests, selective_recomputation_keeps_34_sbh);
    tcase_add_test(tests, full_recomputation_keeps_the_inputs);
    tcase_add_test(tests, stages_keep_what_figure_1_says);
    tcase_add_test(tests, parameters_and_optimizer_are_those_of_figure_1);
    tcase_add_test(tests, mixtures_take_what_megatron_reports);
    suite_add_tcase(suite, tests);
    return suite;
}
