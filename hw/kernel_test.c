/* Is every kernel of the vocabulary read as it stands, and every impossible one refused by name? */
#include "hw/kernel.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *kernel_suite(void);

static bool
read_line(struct arena *arena, const char *text, struct kernel *kernel,
          struct error_list *errors)
{
    const struct json *object = json_read_text(arena, "list", 1, text, strlen(text), errors);
    ck_assert_ptr_nonnull(object);
    return kernel_read(object, kernel, arena, errors);
}

/* What is wrong with a line: "where: what" of its first fault holds both words. */
static void
check_refused(const char *text, const char *where, const char *what)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct kernel kernel;
    ck_assert_msg(!read_line(arena, text, &kernel, &errors), "%s was accepted", text);
    ck_assert_msg(strstr(errors.items[0].where, where) && strstr(errors.items[0].what, what),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
    arena_free(arena);
}

static const struct {
    enum kernel_kind kind;
    double flop;
    const char *text;
} lines[] = {
    {KERNEL_GEMM, 48,
     "{'kernel': 'gemm', 'm': 2, 'n': 3, 'k': 4, 'layout': 'tn', 'dtype': 'bf16'}"},
    {KERNEL_GROUPED_GEMM, 72,
     "{'kernel': 'grouped_gemm', 'rows': [1, 0, 2], 'n': 3, 'k': 4, 'dtype': 'fp8'}"},
    /* 6 tokens top_k width ffn */
    {KERNEL_FUSED_MOE, 6 * 2 * 2 * 8 * 4,
     "{'kernel': 'fused_moe', 'tokens': 2, 'width': 8, 'expert_ffn': 4, 'experts': 4, "
     "'top_k': 2, 'dtype': 'bf16'}"},
    /* causal, 3 queries on 4 keys: 4 + 3 + 2 pairs, two products of 2 * 8 flop, 2 heads */
    {KERNEL_ATTENTION, 2 * 2 * 2 * 8 * 9,
     "{'kernel': 'attention', 'direction': 'forward', 'batch': 1, 'q_len': 3, 'kv_len': 4, "
     "'q_heads': 2, 'kv_heads': 1, 'head_dim': 8, 'causal': true, 'dtype': 'bf16', "
     "'implementation': 'ck'}"},
    /* the same with a window of 3 keys: 3 + 3 + 2 pairs */
    {KERNEL_ATTENTION, 2 * 2 * 2 * 8 * 8,
     "{'kernel': 'attention', 'direction': 'forward', 'batch': 1, 'q_len': 3, 'kv_len': 4, "
     "'q_heads': 2, 'kv_heads': 1, 'head_dim': 8, 'causal': true, 'window': 3, "
     "'dtype': 'bf16'}"},
    /* 3 queries on 2 keys: 2 + 1 pairs, the first query sees none; a window of 1: 1 + 1 */
    {KERNEL_ATTENTION, 2 * 2 * 8 * 3,
     "{'kernel': 'attention', 'direction': 'forward', 'batch': 1, 'q_len': 3, 'kv_len': 2, "
     "'q_heads': 1, 'kv_heads': 1, 'head_dim': 8, 'causal': true, 'window': 0, "
     "'dtype': 'bf16'}"},
    {KERNEL_ATTENTION, 2 * 2 * 8 * 2,
     "{'kernel': 'attention', 'direction': 'forward', 'batch': 1, 'q_len': 3, 'kv_len': 2, "
     "'q_heads': 1, 'kv_heads': 1, 'head_dim': 8, 'causal': true, 'window': 1, "
     "'dtype': 'bf16'}"},
    {KERNEL_ELEMENTWISE, 0,
     "{'kernel': 'elementwise', 'op': 'add', 'elements': 8, 'dtype': 'bf16', 'read_bytes': 32, "
     "'write_bytes': 16, 'launches': 1}"},
    {KERNEL_RMS_NORM, 0, "{'kernel': 'rms_norm', 'rows': 2, 'width': 8, 'dtype': 'bf16'}"},
    {KERNEL_SOFTMAX, 0,
     "{'kernel': 'softmax', 'rows': 2, 'width': 8, 'dtype': 'fp32', 'direction': 'backward'}"},
    {KERNEL_GATHER, 0, "{'kernel': 'gather', 'rows': 2, 'width': 8, 'dtype': 'bf16'}"},
    {KERNEL_SCATTER_ADD, 0,
     "{'kernel': 'scatter_add', 'rows': 2, 'width': 8, 'dtype': 'bf16'}"},
    {KERNEL_TRANSPOSE, 0, "{'kernel': 'transpose', 'rows': 2, 'width': 8, 'dtype': 'bf16'}"},
    {KERNEL_TOP_K, 0, "{'kernel': 'top_k', 'rows': 2, 'experts': 8, 'k': 2, 'dtype': 'fp32'}"},
    {KERNEL_CROSS_ENTROPY, 0,
     "{'kernel': 'cross_entropy', 'rows': 2, 'vocab': 8, 'dtype': 'fp32', "
     "'direction': 'forward'}"},
    /* 4 channels in 2 groups: 2 * 3 tokens * 4 channels * 2 taps * 2; backward twice */
    {KERNEL_CONVOLUTION, 192,
     "{'kernel': 'convolution', 'tokens': 3, 'channels': 4, 'taps': 2, 'groups': 2, "
     "'dtype': 'bf16', 'direction': 'backward'}"},
    {KERNEL_ADAMW, 0, "{'kernel': 'adamw', 'parameters': 10, 'dtype': 'bf16'}"},
    /* s = 2, l = 3: 4 * 4 * 3 + 2 * 8 a step */
    {KERNEL_NEWTON_SCHULZ, 2 * 64,
     "{'kernel': 'newton_schulz', 'm': 3, 'n': 2, 'steps': 2, 'symmetric': false, "
     "'dtype': 'bf16'}"},
    {KERNEL_COPY, 0, "{'kernel': 'copy', 'bytes': 1e9, 'from': 'hbm', 'to': 'host'}"},
};

/* JSON from the lines above, whose quotes are single for the reader's sake. */
static char *
quoted(struct arena *arena, const char *text)
{
    char *line = arena_format(arena, "%s", text);
    for (char *c = strchr(line, '\''); c != NULL; c = strchr(c, '\''))
        *c = '"';
    return line;
}

START_TEST(every_kernel_is_read_and_its_flop_counted)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct kernel kernel;
    bool is_right = read_line(arena, quoted(arena, lines[_i].text), &kernel, &errors);
    ck_assert_msg(is_right, "%s", errors.items[0].what);
    ck_assert_int_eq(kernel.kind, lines[_i].kind);
    CHECK_NEAR(kernel_flop(&kernel), lines[_i].flop, 1e-15);
    ck_assert_ptr_nonnull(strstr(lines[_i].text, kernel_kind_name(kernel.kind)));
    arena_free(arena);
}
END_TEST

START_TEST(keys_go_where_they_belong)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct kernel kernel;
    ck_assert(read_line(arena, quoted(arena, lines[0].text), &kernel, &errors));
    ck_assert(kernel.gemm.m == 2 && kernel.gemm.n == 3 && kernel.gemm.k == 4);
    ck_assert_int_eq(kernel.gemm.batch, 1);
    ck_assert_int_eq(kernel.gemm.layout, GEMM_TN);
    ck_assert_int_eq(kernel.dtype, DTYPE_BF16);
    ck_assert(read_line(arena, quoted(arena, lines[1].text), &kernel, &errors));
    ck_assert_int_eq(kernel.grouped_gemm.experts, 3);
    ck_assert(kernel.grouped_gemm.rows[0] == 1 && kernel.grouped_gemm.rows[2] == 2);
    ck_assert(read_line(arena, quoted(arena, lines[3].text), &kernel, &errors));
    ck_assert(kernel.attention.is_causal && strcmp(kernel.attention.implementation, "ck") == 0);
    ck_assert(read_line(arena, quoted(arena, lines[4].text), &kernel, &errors));
    ck_assert_int_eq(kernel.attention.window, 3);
    ck_assert(read_line(arena, quoted(arena, lines[9].text), &kernel, &errors));
    ck_assert_int_eq(kernel.direction, DIRECTION_BACKWARD);
    arena_free(arena);
}
END_TEST

/* What was read is written as a line that reads the same once more. */
START_TEST(a_kernel_written_is_the_line_it_was_read_from)
{
    const char *const texts[] = {
        "{\"kernel\": \"gemm\", \"m\": 3, \"n\": 4, \"k\": 5, \"batch\": 2, \"layout\": "
        "\"tn\", "
        "\"dtype\": \"bf16\"}",
        "{\"kernel\": \"grouped_gemm\", \"rows\": [7, 0, 9], \"n\": 4, \"k\": 5, "
        "\"dtype\": \"fp8\"}",
        "{\"kernel\": \"gemm\", \"m\": 3, \"n\": 4, \"k\": 5, \"batch\": 1, \"layout\": "
        "\"nt\", \"dtype\": \"fp8\", \"scales\": \"of_result\"}",
        "{\"kernel\": \"attention\", \"direction\": \"backward\", \"batch\": 1, \"q_len\": 64, "
        "\"kv_len\": 64, \"q_heads\": 8, \"kv_heads\": 2, \"head_dim\": 128, \"causal\": true, "
        "\"dtype\": \"bf16\", \"implementation\": \"ck\"}",
        "{\"kernel\": \"elementwise\", \"op\": \"add\", \"elements\": 10, \"dtype\": \"fp32\", "
        "\"read_bytes\": 80.5, \"write_bytes\": 40.0, \"launches\": 1}",
        "{\"kernel\": \"copy\", \"bytes\": 1000.0, \"from\": \"host\", \"to\": \"hbm\"}",
    };
    struct arena *arena = check_arena_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct kernel kernel = {0};
        struct error_list errors = {0};
        ck_assert(read_line(arena, texts[i], &kernel, &errors));
        struct text out = text_new(arena);
        struct json_writer writer = json_writer_new(&out, false);
        kernel_write(&kernel, &writer);
        ck_assert_str_eq(out.bytes, texts[i]);
    }
    arena_free(arena);
}
END_TEST

START_TEST(measurements_and_notes_may_stand_beside)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct kernel kernel;
    ck_assert(read_line(arena,
                        "{\"kernel\": \"adamw\", \"parameters\": 10, \"dtype\": \"fp32\", "
                        "\"measured_s\": 1e-4, \"measured_min_s\": 9e-5, \"library\": \"x\", "
                        "\"source\": \"y\", \"note\": \"z\", \"count\": 3}",
                        &kernel, &errors));
    arena_free(arena);
}
END_TEST

START_TEST(what_cannot_be_is_refused_by_its_key)
{
    check_refused("{\"kernel\": \"gem\"}", "list:1:12: $.kernel", "gemm");
    check_refused("{\"m\": 1}", "list:1:1", "kernel");
    check_refused("{\"kernel\": \"gemm\", \"m\": 3, \"n\": 4, \"k\": 5, \"layout\": \"nt\", "
                  "\"dtype\": \"fp8\", \"scales\": \"of_rows\"}",
                  "$.scales", "of_result");
    check_refused("{\"kernel\": 7}", "$.kernel", "kernel");
    check_refused("[]", "list:1:1", "kernel");
    check_refused("{\"kernel\": \"rms_norm\", \"rows\": 0, \"width\": 8, \"dtype\": \"bf16\"}",
                  "$.rows", "0");
    check_refused("{\"kernel\": \"rms_norm\", \"rows\": -4, \"width\": 8, \"dtype\": \"bf16\"}",
                  "$.rows", "-4");
    check_refused("{\"kernel\": \"rms_norm\", \"rows\": 4, \"width\": 8, \"dtype\": \"fp9\"}",
                  "$.dtype", "fp8");
    check_refused("{\"kernel\": \"rms_norm\", \"rows\": 4, \"width\": 8, \"dtype\": \"bf16\", "
                  "\"hight\": 1}",
                  "$.hight", "unknown");
    check_refused("{\"kernel\": \"adamw\", \"dtype\": \"bf16\"}", "list:1:1", "parameters");
    check_refused("{\"kernel\": \"adamw\", \"parameters\": 1.5, \"dtype\": \"bf16\"}",
                  "$.parameters", "integer");
}
END_TEST

START_TEST(keys_that_contradict_each_other_are_refused)
{
    check_refused("{\"kernel\": \"attention\", \"direction\": \"forward\", \"batch\": 1, "
                  "\"q_len\": 3, \"kv_len\": 4, \"q_heads\": 3, \"kv_heads\": 2, "
                  "\"head_dim\": 8, \"causal\": true, \"dtype\": \"bf16\"}",
                  "$.kv_heads", "divide");
    check_refused("{\"kernel\": \"attention\", \"direction\": \"forward\", \"batch\": 1, "
                  "\"q_len\": 3, \"kv_len\": 4, \"q_heads\": 2, \"kv_heads\": 2, "
                  "\"head_dim\": 8, \"causal\": false, \"window\": 2, \"dtype\": \"bf16\"}",
                  "$.window", "causal");
    check_refused("{\"kernel\": \"convolution\", \"tokens\": 1, \"channels\": 4, \"taps\": 2, "
                  "\"groups\": 3, \"dtype\": \"bf16\", \"direction\": \"forward\"}",
                  "$.groups", "divide");
    check_refused(
        "{\"kernel\": \"top_k\", \"rows\": 1, \"experts\": 2, \"k\": 3, \"dtype\": \"fp32\"}",
        "$.k", "experts");
    check_refused("{\"kernel\": \"copy\", \"bytes\": 1, \"from\": \"host\", \"to\": \"host\"}",
                  "$.to", "hbm");
}
END_TEST

START_TEST(rows_are_a_list_of_whole_numbers)
{
    check_refused("{\"kernel\": \"grouped_gemm\", \"rows\": [], \"n\": 1, \"k\": 1, "
                  "\"dtype\": \"bf16\"}",
                  "$.rows", "list");
    check_refused("{\"kernel\": \"grouped_gemm\", \"rows\": 3, \"n\": 1, \"k\": 1, "
                  "\"dtype\": \"bf16\"}",
                  "$.rows", "list");
    check_refused("{\"kernel\": \"grouped_gemm\", \"rows\": [1, -1], \"n\": 1, \"k\": 1, "
                  "\"dtype\": \"bf16\"}",
                  "$.rows[1]", "whole number");
    check_refused("{\"kernel\": \"grouped_gemm\", \"n\": 1, \"k\": 1, \"dtype\": \"bf16\"}",
                  "list:1:1", "rows");
}
END_TEST

Suite *
kernel_suite(void)
{
    Suite *suite = suite_create("kernel");
    TCase *tests = tcase_create("reading");
    tcase_add_loop_test(tests, every_kernel_is_read_and_its_flop_counted, 0,
                        sizeof lines / sizeof lines[0]);
    tcase_add_test(tests, keys_go_where_they_belong);
    tcase_add_test(tests, a_kernel_written_is_the_line_it_was_read_from);
    tcase_add_test(tests, measurements_and_notes_may_stand_beside);
    tcase_add_test(tests, what_cannot_be_is_refused_by_its_key);
    tcase_add_test(tests, keys_that_contradict_each_other_are_refused);
    tcase_add_test(tests, rows_are_a_list_of_whole_numbers);
    suite_add_tcase(suite, tests);
    return suite;
}
