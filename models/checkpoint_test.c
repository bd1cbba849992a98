/* Is what runs again, and what is kept instead, that of torchtitan's per-operator selective
 * checkpointing?
 *
 * Llama-3-8B in its own software: seven products a layer, of which the second, fourth and sixth run
 * again (torchtitan, models/llama3/infra/parallelize.py: every second product is not saved), keys,
 * the attention's output and the up projection. */
#include <string.h>

#include <check.h>

#include "models/bound.h"
#include "models/memory.h"
#include "models/pricing.h"
#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *checkpoint_suite(void);

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

static const struct run *
llama_with(const char *setting)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/mi300x-llama-3-8b-fsdp2.json",
                                  .settings = &setting,
                                  .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

/* How often a kernel of that name runs in a block's backward. */
static int
count_backward(const struct run *run, enum block block, const char *name)
{
    struct error_list errors = {0};
    struct shard shard = step_inputs_shard(&run->inputs);
    const struct pricing pricing = {&run->inputs, arena, &errors, {1, 1}};
    const struct priced_block *priced = pricing_block(&pricing, &shard, block, 0);
    int count = 0;
    for (int64_t i = 0; i < priced->passes[PASS_BACKWARD].count; i++)
        count += strcmp(priced->passes[PASS_BACKWARD].steps[i].work->name, name) == 0;
    return count;
}

START_TEST(every_second_product_runs_again)
{
    const struct run *run = llama_with(NULL);
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "query"), 0);
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "key"), 1);
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "value"), 0);
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "attention_output"), 1);
    ck_assert_int_eq(count_backward(run, BLOCK_FEED_FORWARD, "gate_projection"), 0);
    ck_assert_int_eq(count_backward(run, BLOCK_FEED_FORWARD, "up_projection"), 1);
    ck_assert_int_eq(count_backward(run, BLOCK_FEED_FORWARD, "down"), 0);
}
END_TEST

/* What is cheap runs again, attention's forward does not (its backward has the same name). */
START_TEST(cheap_kernels_run_again_and_attention_does_not)
{
    const struct run *run = llama_with(NULL), *plain = llama_with("plan.recompute=none");
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "rope"),
                     1 + count_backward(plain, BLOCK_ATTENTION, "rope"));
    ck_assert_int_eq(count_backward(run, BLOCK_FEED_FORWARD, "swiglu"),
                     1 + count_backward(plain, BLOCK_FEED_FORWARD, "swiglu"));
    ck_assert_int_eq(count_backward(run, BLOCK_ATTENTION, "attention"),
                     count_backward(plain, BLOCK_ATTENTION, "attention"));
    ck_assert_int_eq(count_backward(plain, BLOCK_ATTENTION, "key"), 0);
}
END_TEST

/* Bytes of a token of a layer, h = 4096, f = 14336, 8 of 32 heads are keys: its input 2h, queries
 * 2h, values 2h / 4, attention 2h and a statistic of 4 bytes a query head, gate 2f, down 2h. */
START_TEST(a_layer_keeps_its_input_and_every_other_product)
{
    const struct run *run = llama_with(NULL);
    const double *kept = memory_saved_of(&run->inputs, 0, 0, arena).bytes;
    double h = 4096, f = 14336, rows = 32.0 * 8192;
    CHECK_NEAR(kept[CLASS_ATTENTION_PROJECTION], rows * (2 * h + h / 2), 1e-9);
    CHECK_NEAR(kept[CLASS_ATTENTION_CORE], rows * (2 * h + 4 * 32), 1e-9);
    CHECK_NEAR(kept[CLASS_EXPERT], rows * (2 * f + 2 * h), 1e-9);
    ck_assert_double_eq(kept[CLASS_ATTENTION_MIXING], 0);
    /* the layers' inputs, and the last norm, which is the head's and keeps its own: 2h */
    CHECK_NEAR(kept[CLASS_NORM_RESIDUAL], rows * 2 * h + 8192 * 2 * h, 1e-9);
}
END_TEST

/* Products of their own are the same work: their FLOP add up to those of one product. */
START_TEST(split_projections_are_the_same_flop)
{
    double flop[2] = {0};
    const struct run *runs[2] = {llama_with(NULL),
                                 llama_with("software.splits_projections=false")};
    for (int i = 0; i < 2; i++) {
        for (int block = 0; block < BLOCK_COUNT; block++) {
            struct operator_list list =
                operators_of(&runs[i]->inputs.workload, (enum block)block, arena);
            for (int64_t j = 0; j < list.count; j++)
                for (int k = 0; k < list.items[j].forward_count; k++)
                    flop[i] += kernel_flop(&list.items[j].forward[k].kernel);
        }
    }
    CHECK_NEAR(flop[0], flop[1], 1e-9);
}
END_TEST

static const struct run *
llama_of(const char *recompute, const char *layers)
{
    struct error_list errors = {0};
    const char *settings[] = {recompute, layers};
    struct run_request request = {.file = "configs/runs/mi300x-llama-3-8b-fsdp2.json",
                                  .settings = settings,
                                  .setting_count = layers ? 2 : 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

/* Of the gate's product: forward of a layer that runs again stands in its backward. */
START_TEST(of_layers_the_first_ones_run_again)
{
    struct error_list errors = {0};
    const struct run *run = llama_of("plan.recompute=full", "plan.recompute_layers=21");
    const struct program *program = program_of(&run->inputs, RANKS_ALL, arena, &errors);
    const struct rank_program *kind = &program->kinds[0];
    int again = 0;
    for (int64_t i = 0; i < kind->count; i++) {
        const struct step_item *item = &kind->items[i];
        if (item->phase != PHASE_BACKWARD || !item->work ||
            strcmp(item->work->name, "gate_projection") != 0)
            continue;
        ck_assert_int_lt(item->layer, 21);
        again++;
    }
    ck_assert_int_eq(again, 21);
}
END_TEST

/* 8 of 32 layers keep no more than their blocks' inputs: a quarter of what all of them save. The
 * step lies between the two as well, as far. */
START_TEST(a_quarter_of_the_layers_saves_a_quarter)
{
    struct error_list errors = {0};
    const struct run *runs[] = {llama_of("plan.recompute=none", NULL),
                                llama_of("plan.recompute=full", NULL),
                                llama_of("plan.recompute=full", "plan.recompute_layers=8")};
    double kept[3], bound_s[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = memory_saved_of(&runs[i]->inputs, 0, 0, arena).sum;
        struct bound_prices *prices = bound_prices_new(arena);
        ck_assert(bound_step_s(prices, &runs[i]->inputs, &bound_s[i], &errors));
    }
    CHECK_NEAR(kept[0] - kept[2], (kept[0] - kept[1]) / 4, 1e-9);
    CHECK_NEAR(bound_s[2] - bound_s[0], (bound_s[1] - bound_s[0]) / 4, 1e-3);
}
END_TEST

/* Layers that keep all are the last of a chunk: at the peak, before backward, none runs again. */
START_TEST(memory_of_layers_that_run_again_is_of_one_at_a_time)
{
    const struct run *part = llama_of("plan.recompute=full", "plan.recompute_layers=31");
    const struct run *all = llama_of("plan.recompute=full", NULL);
    double layer =
        memory_of(&llama_of("plan.recompute=none", NULL)->inputs, arena).activations -
        memory_of(&llama_of("plan.recompute=full", "plan.recompute_layers=1")->inputs, arena)
            .activations;
    double more = memory_of(&part->inputs, arena).activations -
                  memory_saved_of(&all->inputs, 0, 0, arena).sum;
    CHECK_NEAR(more, layer, 1e-9);
}
END_TEST

Suite *
checkpoint_suite(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("torchtitan");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_second_product_runs_again);
    tcase_add_test(tests, cheap_kernels_run_again_and_attention_does_not);
    tcase_add_test(tests, a_layer_keeps_its_input_and_every_other_product);
    tcase_add_test(tests, split_projections_are_the_same_flop);
    tcase_add_test(tests, of_layers_the_first_ones_run_again);
    tcase_add_test(tests, a_quarter_of_the_layers_saves_a_quarter);
    tcase_add_test(tests, memory_of_layers_that_run_again_is_of_one_at_a_time);
    suite_add_tcase(suite, tests);
    return suite;
}
