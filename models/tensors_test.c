/* Are the tensors those of the published checkpoints, and do their counts agree with the
 * published ones? */
#include <string.h>

#include "models/check_arch.h"
#include "models/tensors.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *tensors_suite(void);

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

struct published {
    const char *model;
    int64_t every; /* what the publisher's safetensors index states */
};

/* Totals with every norm and bias, as Hugging Face shows them from the safetensors headers. */
static const struct published MODELS[] = {
    {"llama-3.1-8b", 8030261248},
    {"llama-3.1-70b", 70553706496},
    {"llama-3.1-405b", 405853388800},
    {"mixtral-8x7b", 46702792704},
    {"mixtral-8x22b", 140620634112},
    {"qwen3-30b-a3b", 30532122624},
    {"qwen3-235b-a22b", 235093634560},
    {"olmoe-1b-7b", 6919161856},
    {"gpt-oss-20b", 20914757184},
    {"gpt-oss-120b", 116829156672},
    /* Hugging Face shows 684489845504: its checkpoint has embedding and head twice. What is
     * counted, embedding and head, and: norms 61 x (2 x 7168 + 1536 + 512) + 7168, balancing
     * biases 58 x 256, and of prediction 1 layer of attention 187105280, experts 256 + 1 of
     * 44040192, router 256 x 7168 + 256, join 2 x 7168 x 7168, norms 16384 + 3 x 7168. */
    {"deepseek-v3", 669172039680 + 1853358080 + 61 * 16384 + 7168 + 58 * 256 + 187105280 +
                        257LL * 44040192 + 256 * 7168 + 256 + 2LL * 7168 * 7168 + 16384 +
                        3 * 7168},
    /* No rank of queries, no prediction, no balancing bias: 27 x (2 x 2048 + 512) + 2048. */
    {"deepseek-v2-lite", 15286927360 + 419430400 + 27 * 4608 + 2048},
    {"kimi-k2-instruct", 1024058392576 + 2348810240 + 61 * 16384 + 7168 + 60 * 384},
    /* Not published to the last digit (17.7 GB of bf16): 262272 x 2048 embedding,
     * 40 x 207563027 (attention 5242880, convolutions 332800, temperatures 2, experts
     * 201326592, router 659712 + 1024 + 17), 39 x 256 averaging, (80 x 4 + 4 - 2) x 2048
     * residual scales and biases, 81 x 2048 norms. */
    {"zaya1-base", 8840489464},
    {"zaya1-8b", 8840489464},
    {"zaya1-8b-native", 8840489464},
};

START_TEST(counts_agree_with_published_ones_to_the_last_digit)
{
    const struct json *golden =
        json_read_file(arena, "validate/reference/golden_parameter_counts.json", &errors);
    ck_assert_msg(golden != NULL, "%s", errors.items[0].what);
    const struct published *model = &MODELS[_i];
    const struct json *wanted = json_member(json_member(golden, "models"), model->model);
    const struct arch *arch = check_arch_read(arena, model->model);
    struct parameter_counts counts = tensors_count_of(arch);
    ck_assert_int_eq(arch->layers, json_as_integer(json_member(wanted, "blocks")));
    ck_assert_int_eq(counts.embedding,
                     json_as_integer(json_member(wanted, "embedding_params")));
    ck_assert_int_eq(counts.nonembedding_total,
                     json_as_integer(json_member(wanted, "nonembedding_total")));
    ck_assert_int_eq(counts.nonembedding_active,
                     json_as_integer(json_member(wanted, "nonembedding_active")));
    ck_assert_int_eq(counts.every, model->every);
}
END_TEST

START_TEST(parts_add_up_to_every_parameter)
{
    const struct arch *arch = check_arch_read(arena, MODELS[_i].model);
    struct tensor_list tensors = tensors_of(arch, arena);
    struct parameter_counts counts = tensors_count(arch, &tensors);
    int64_t sum = 0;
    for (int part = 0; part < TENSOR_PART_COUNT; part++)
        sum += counts.every_of[part];
    ck_assert_int_eq(sum, counts.every);
    struct parameter_counts again = tensors_count_of(arch);
    ck_assert_mem_eq(&counts, &again, sizeof counts);
}
END_TEST

struct shape {
    const char *name;
    int64_t rows, columns, copies;
    bool is_matrix;
};

/* The second layer of ZAYA1 in the checkpoint: model.layers.2 and .3, in the order of forward.
 */
static const struct shape ZAYA_LAYER[] = {
    {"layer.attention.input_scale", 2048, 1, 1, false},
    {"layer.attention.input_bias", 2048, 1, 1, false},
    {"layer.attention.residual_scale", 2048, 1, 1, false},
    {"layer.attention.residual_bias", 2048, 1, 1, false},
    {"layer.attention.norm", 2048, 1, 1, false},
    {"layer.attention.query", 1024, 2048, 1, true},              /* linear_q */
    {"layer.attention.key", 256, 2048, 1, true},                 /* linear_k */
    {"layer.attention.sequence_convolution", 1280, 2, 1, false}, /* conv_qk.0 [1280, 1, 2] */
    {"layer.attention.sequence_convolution_bias", 1280, 1, 1, false},
    {"layer.attention.channel_convolution", 1280, 256, 1, false}, /* conv_qk.1 [1280, 128, 2] */
    {"layer.attention.channel_convolution_bias", 1280, 1, 1, false},
    {"layer.attention.value_now", 128, 2048, 1, true},    /* val_proj1 */
    {"layer.attention.value_before", 128, 2048, 1, true}, /* val_proj2 */
    {"layer.attention.key_temperature", 2, 1, 1, false},  /* temp */
    {"layer.attention.output", 2048, 1024, 1, true},      /* o_proj */
    {"layer.ffn.input_scale", 2048, 1, 1, false},
    {"layer.ffn.input_bias", 2048, 1, 1, false},
    {"layer.ffn.residual_scale", 2048, 1, 1, false},
    {"layer.ffn.residual_bias", 2048, 1, 1, false},
    {"layer.ffn.norm", 2048, 1, 1, false},
    {"layer.router.down", 256, 2048, 1, true},
    {"layer.router.down_bias", 256, 1, 1, false},
    {"layer.router.average_scale", 256, 1, 1, false}, /* router_states_scale */
    {"layer.router.norm", 256, 1, 1, false},          /* rmsnorm_eda */
    {"layer.router.first", 256, 256, 1, true},
    {"layer.router.first_bias", 256, 1, 1, false},
    {"layer.router.second", 256, 256, 1, true},
    {"layer.router.second_bias", 256, 1, 1, false},
    {"layer.router.output", 17, 256, 1, true},
    {"layer.router.balancing_bias", 17, 1, 1, false},
    {"layer.experts.gate_up", 4096, 2048, 16, true}, /* linear_fc1 */
    {"layer.experts.down", 2048, 2048, 16, true},    /* linear_fc2 */
};
enum { ZAYA_LAYER_COUNT = sizeof ZAYA_LAYER / sizeof ZAYA_LAYER[0] };

START_TEST(shapes_of_zaya1_are_those_of_its_checkpoint)
{
    struct tensor_list tensors = tensors_of(check_arch_read(arena, "zaya1-base"), arena);
    /* Before: the embedding, and layer 0 without its first residual's two vectors and without
     * the averaging of a router state that is not there yet. */
    const struct tensor *second = &tensors.items[1 + ZAYA_LAYER_COUNT - 3];
    for (int i = 0; i < ZAYA_LAYER_COUNT; i++) {
        ck_assert_str_eq(second[i].name, ZAYA_LAYER[i].name);
        ck_assert_int_eq(second[i].layer, 1);
        ck_assert_int_eq(second[i].rows, ZAYA_LAYER[i].rows);
        ck_assert_int_eq(second[i].columns, ZAYA_LAYER[i].columns);
        ck_assert_int_eq(second[i].copies, ZAYA_LAYER[i].copies);
        ck_assert_int_eq(second[i].is_matrix, ZAYA_LAYER[i].is_matrix);
    }
    /* After: the last junction's four vectors and the final norm; the head is the embedding. */
    ck_assert_int_eq(tensors.count, 1 + 40 * ZAYA_LAYER_COUNT - 3 + 5);
    ck_assert_str_eq(tensors.items[0].name, "embedding");
    ck_assert_str_eq(tensors.items[tensors.count - 1].name, "final.norm");
}
END_TEST

static void
check_part(const struct tensor *tensor, const char *name, enum tensor_part part)
{
    ck_assert_str_eq(tensor->name, name);
    ck_assert_int_eq(tensor->part, part);
    ck_assert_int_eq(tensor->layer, -1);
    ck_assert(!tensor->is_matrix);
}

START_TEST(an_untied_head_stands_last_and_is_not_orthogonalised)
{
    struct tensor_list tensors = tensors_of(check_arch_read(arena, "llama-3.1-8b"), arena);
    check_part(&tensors.items[0], "embedding", PART_EMBEDDING);
    check_part(&tensors.items[tensors.count - 1], "head", PART_HEAD);
    /* norm, q, k, v, o, norm, gate and up, down */
    ck_assert_int_eq(tensors.count, 1 + 32 * 8 + 2);
}
END_TEST

START_TEST(muon_takes_nearly_all_of_zaya1_but_its_embedding)
{
    struct tensor_list tensors = tensors_of(check_arch_read(arena, "zaya1-base"), arena);
    int64_t matrices = 0;
    for (int64_t i = 0; i < tensors.count; i++)
        matrices += tensors.items[i].is_matrix ? tensor_elements(&tensors.items[i]) : 0;
    /* attention, experts and router of 40 layers */
    ck_assert_int_eq(matrices, 40LL * (5242880 + 201326592 + 659712));
}
END_TEST

Suite *
tensors_suite(void)
{
    Suite *suite = suite_create("tensors");
    TCase *tcase = tcase_create("tensors");
    int models = sizeof MODELS / sizeof MODELS[0];
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, counts_agree_with_published_ones_to_the_last_digit, 0, models);
    tcase_add_loop_test(tcase, parts_add_up_to_every_parameter, 0, models);
    tcase_add_test(tcase, shapes_of_zaya1_are_those_of_its_checkpoint);
    tcase_add_test(tcase, an_untied_head_stands_last_and_is_not_orthogonalised);
    tcase_add_test(tcase, muon_takes_nearly_all_of_zaya1_but_its_embedding);
    suite_add_tcase(suite, tcase);
    return suite;
}
