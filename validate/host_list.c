/* Sizes of each kind drawn from a sequence that fills the cube evenly. */
#include "validate/host_list.h"

#include <math.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/json_writer.h"

/* Powers of 1/g with g^4 = g + 1: multiples of them modulo 1 fill the cube more evenly than random
 * numbers (M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018). */
static const double STEPS[] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};

struct range {
    double least, most, multiple;
};

/* How large the work of a device is, and in which dtype. */
struct sizes {
    const char *dtype, *row_dtype; /* of products and streams; of norms, softmax and losses */
    long long element_bytes;
    struct range columns, depth, expert_rows, expert_columns, elements, rows, widths, lengths;
    struct range channels, top_rows, loss_rows, vocab, parameters, copied_bytes;
    int experts, heads, head_dim, routes; /* the least, doubled from line to line */
};

static const struct sizes OF_CORE = {
    .dtype = "fp32",
    .row_dtype = "fp32",
    .element_bytes = 4,
    .columns = {32, 1024, 16},
    .depth = {64, 1024, 16},
    .expert_rows = {16, 128, 4},
    .expert_columns = {64, 1024, 16},
    .elements = {8192, 1048576, 64},
    .rows = {32, 1024, 4},
    .widths = {64, 1024, 16},
    .lengths = {64, 384, 16},
    .channels = {64, 1024, 16},
    .top_rows = {64, 1024, 4},
    .loss_rows = {32, 512, 4},
    .vocab = {128, 2048, 16},
    .parameters = {16384, 2097152, 64},
    .copied_bytes = {65536, 8388608, 256},
    .experts = 2,
    .heads = 1,
    .head_dim = 32,
    .routes = 8,
};

static const struct sizes OF_GPU = {
    .dtype = "bf16",
    .row_dtype = "fp32",
    .element_bytes = 2,
    .columns = {256, 16384, 64},
    .depth = {256, 16384, 64},
    .expert_rows = {64, 2048, 16},
    .expert_columns = {512, 8192, 64},
    .elements = {65536, 67108864, 1024},
    .rows = {1024, 16384, 64},
    .widths = {512, 8192, 64},
    .top_rows = {1024, 65536, 64},
    .loss_rows = {256, 8192, 64},
    .vocab = {4096, 131072, 64},
    .parameters = {1048576, 33554432, 1024},
    .copied_bytes = {1048576, 268435456,
                     65536}, /* a graph copies others slower (gpu_stream.c) */
    .experts = 8,
    .routes = 8,
};

struct drawing {
    const struct sizes *sizes;
    struct text *out;
    int line; /* of all */
    int turn; /* within a kind */
};

/* From least to most, evenly in its logarithm, rounded to a multiple. */
static long long
draw(const struct drawing *drawing, int axis, struct range range)
{
    double whole, part = modf(0.5 + (drawing->turn + 1) * STEPS[axis], &whole);
    double size = range.least * pow(range.most / range.least, part);
    return (long long)(fmax(1, round(size / range.multiple)) * range.multiple);
}

static void
add_gemm(struct drawing *drawing)
{
    static const char *const layouts[] = {"nn", "nt", "tn"};
    text_format(drawing->out,
                "{\"kernel\": \"gemm\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
                "\"layout\": \"%s\", \"dtype\": \"%s\"}\n",
                draw(drawing, 0, drawing->sizes->columns),
                draw(drawing, 1, drawing->sizes->columns),
                draw(drawing, 2, drawing->sizes->depth), layouts[drawing->turn % 3],
                drawing->sizes->dtype);
}

/* Rows of the experts from half to one and a half times their mean. */
static void
add_grouped_gemm(struct drawing *drawing)
{
    long long experts = (long long)drawing->sizes->experts << drawing->turn % 4;
    long long mean = draw(drawing, 0, drawing->sizes->expert_rows);
    text_format(drawing->out, "{\"kernel\": \"grouped_gemm\", \"rows\": [");
    for (long long i = 0; i < experts; i++)
        text_format(drawing->out, "%s%lld", i > 0 ? ", " : "",
                    mean / 2 + i * mean / (experts - 1));
    text_format(drawing->out, "], \"n\": %lld, \"k\": %lld, \"dtype\": \"%s\"}\n",
                draw(drawing, 1, drawing->sizes->expert_columns),
                draw(drawing, 2, drawing->sizes->expert_columns), drawing->sizes->dtype);
}

/* Those behind the first four are a core's alone. */
static void
add_elementwise(struct drawing *drawing)
{
    static const struct {
        const char *op;
        double reads;
    } ops[] = {{"copy", 1},     {"add", 2},    {"gelu", 1},
               {"silu_mul", 2}, {"swiglu", 2}, {"swiglu", 1.5}};
    int i = drawing->turn % (drawing->sizes == &OF_GPU ? 4 : (int)(sizeof ops / sizeof ops[0]));
    long long elements = draw(drawing, 0, drawing->sizes->elements);
    long long bytes = elements * drawing->sizes->element_bytes;
    text_format(drawing->out,
                "{\"kernel\": \"elementwise\", \"op\": \"%s\", \"elements\": %lld, \"dtype\": "
                "\"%s\", \"read_bytes\": %.0f, \"write_bytes\": %lld, \"launches\": 1}\n",
                ops[i].op, elements, drawing->sizes->dtype, (double)bytes * ops[i].reads,
                bytes);
}

/* rms_norm and its like; a direction where the kind has one. */
static void
add_rows(struct drawing *drawing, const char *kind, const char *dtype, const char *direction)
{
    text_format(drawing->out,
                "{\"kernel\": \"%s\", \"rows\": %lld, \"width\": %lld, \"dtype\": \"%s\"%s}\n",
                kind, draw(drawing, 0, drawing->sizes->rows),
                draw(drawing, 1, drawing->sizes->widths), dtype, direction);
}

static void
add_attentions(struct drawing *drawing, const char *direction)
{
    long long heads = (long long)drawing->sizes->heads << drawing->turn % 3,
              groups = 1 + drawing->turn % 2;
    long long length = draw(drawing, 0, drawing->sizes->lengths);
    text_format(drawing->out,
                "{\"kernel\": \"attention\", \"direction\": \"%s\", \"batch\": 1, "
                "\"q_len\": %lld, \"kv_len\": %lld, \"q_heads\": %lld, \"kv_heads\": %lld, "
                "\"head_dim\": %d, \"causal\": %s, \"dtype\": \"fp32\"}\n",
                direction, length, length, heads * groups, heads,
                drawing->sizes->head_dim << drawing->turn % 2,
                drawing->turn % 4 < 2 ? "true" : "false");
}

static void
add_attention(struct drawing *drawing)
{
    add_attentions(drawing, "forward");
}

static void
add_attention_backward(struct drawing *drawing)
{
    add_attentions(drawing, "backward");
}

static const char FORWARD[] = ", \"direction\": \"forward\"";
static const char BACKWARD[] = ", \"direction\": \"backward\"";

static void
add_rms_norm(struct drawing *drawing)
{
    add_rows(drawing, "rms_norm", drawing->sizes->dtype, FORWARD);
}

static void
add_rms_norm_backward(struct drawing *drawing)
{
    add_rows(drawing, "rms_norm", drawing->sizes->dtype, BACKWARD);
}

static void
add_softmax(struct drawing *drawing)
{
    add_rows(drawing, "softmax", drawing->sizes->row_dtype, FORWARD);
}

static void
add_softmax_backward(struct drawing *drawing)
{
    add_rows(drawing, "softmax", drawing->sizes->row_dtype, BACKWARD);
}

static void
add_gather(struct drawing *drawing)
{
    add_rows(drawing, "gather", drawing->sizes->dtype, "");
}

static void
add_scatter_add(struct drawing *drawing)
{
    add_rows(drawing, "scatter_add", drawing->sizes->dtype, "");
}

static void
add_transpose(struct drawing *drawing)
{
    add_rows(drawing, "transpose", drawing->sizes->dtype, "");
}

/* A channel a group. Taps do not enter the price: as many as ZAYA1's attention has. */
static void
add_convolutions(struct drawing *drawing, const char *direction)
{
    long long channels = draw(drawing, 1, drawing->sizes->channels);
    text_format(drawing->out,
                "{\"kernel\": \"convolution\", \"tokens\": %lld, \"channels\": %lld, "
                "\"taps\": 2, \"groups\": %lld, \"dtype\": \"fp32\"%s}\n",
                draw(drawing, 0, drawing->sizes->top_rows), channels, channels, direction);
}

static void
add_convolution(struct drawing *drawing)
{
    add_convolutions(drawing, FORWARD);
}

static void
add_convolution_backward(struct drawing *drawing)
{
    add_convolutions(drawing, BACKWARD);
}

static void
add_top_k(struct drawing *drawing)
{
    text_format(drawing->out,
                "{\"kernel\": \"top_k\", \"rows\": %lld, \"experts\": %d, \"k\": %d, "
                "\"dtype\": \"fp32\"}\n",
                draw(drawing, 0, drawing->sizes->top_rows),
                drawing->sizes->routes << drawing->turn % 3, 1 + drawing->turn % 2);
}

static void
add_loss(struct drawing *drawing, const char *direction)
{
    text_format(drawing->out,
                "{\"kernel\": \"cross_entropy\", \"rows\": %lld, \"vocab\": %lld, \"dtype\": "
                "\"fp32\"%s}\n",
                draw(drawing, 0, drawing->sizes->loss_rows),
                draw(drawing, 1, drawing->sizes->vocab), direction);
}

static void
add_cross_entropy(struct drawing *drawing)
{
    add_loss(drawing, FORWARD);
}

static void
add_cross_entropy_backward(struct drawing *drawing)
{
    add_loss(drawing, BACKWARD);
}

static void
add_adamw(struct drawing *drawing)
{
    text_format(drawing->out,
                "{\"kernel\": \"adamw\", \"parameters\": %lld, \"dtype\": \"fp32\"}\n",
                draw(drawing, 0, drawing->sizes->parameters));
}

static void
add_copy(struct drawing *drawing)
{
    text_format(drawing->out,
                "{\"kernel\": \"copy\", \"bytes\": %lld, \"from\": \"hbm\", \"to\": \"hbm\"}\n",
                draw(drawing, 0, drawing->sizes->copied_bytes));
}

/* Of a few experts, as a layer of a small step. */
static void
add_fused_moe(struct drawing *drawing)
{
    const struct sizes *sizes = drawing->sizes;
    text_format(
        drawing->out,
        "{\"kernel\": \"fused_moe\", \"tokens\": %lld, \"width\": %lld, \"expert_ffn\": "
        "%lld, \"experts\": %d, \"top_k\": %d, \"dtype\": \"%s\"}\n",
        draw(drawing, 0, sizes->top_rows), draw(drawing, 1, sizes->expert_columns),
        draw(drawing, 2, sizes->expert_columns), sizes->experts << drawing->turn % 4,
        1 + drawing->turn % 2, sizes->dtype);
}

static void
add_newton_schulz(struct drawing *drawing)
{
    const struct sizes *sizes = drawing->sizes;
    text_format(drawing->out,
                "{\"kernel\": \"newton_schulz\", \"m\": %lld, \"n\": %lld, \"steps\": 5, "
                "\"symmetric\": %s, \"dtype\": \"%s\"}\n",
                draw(drawing, 0, sizes->expert_columns),
                draw(drawing, 1, sizes->expert_columns),
                drawing->turn % 2 == 0 ? "true" : "false", sizes->dtype);
}

/* About half of the lines are held out; of what is left every coefficient of a kind wants a few
 * shapes of its own. A GPU's attention, convolutions and grouped products are left as the device
 * file has them. */
struct kind {
    void (*add)(struct drawing *drawing);
    int core_count, gpu_count;
};

static const struct kind KINDS[] = {
    {add_gemm, 80, 120},
    {add_grouped_gemm, 56, 0},
    {add_fused_moe, 24, 0},
    {add_newton_schulz, 16, 0},
    {add_attention, 64, 0},
    {add_attention_backward, 64, 0},
    {add_elementwise, 96, 48},
    {add_rms_norm, 24, 24},
    {add_rms_norm_backward, 24, 24},
    {add_softmax, 24, 24},
    {add_softmax_backward, 24, 24},
    {add_gather, 24, 24},
    {add_scatter_add, 24, 24},
    {add_transpose, 24, 24},
    {add_convolution, 24, 0},
    {add_convolution_backward, 24, 0},
    {add_top_k, 24, 24},
    {add_cross_entropy, 24, 16},
    {add_cross_entropy_backward, 24, 16},
    {add_adamw, 24, 24},
    {add_copy, 32, 24},
};

static int
write_list(const struct sizes *sizes, struct text *out)
{
    struct drawing drawing = {.sizes = sizes, .out = out};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        int count = sizes == &OF_GPU ? KINDS[i].gpu_count : KINDS[i].core_count;
        for (drawing.turn = 0; drawing.turn < count; drawing.turn++, drawing.line++)
            KINDS[i].add(&drawing);
    }
    return drawing.line;
}

int
host_list_write(struct text *out)
{
    return write_list(&OF_CORE, out);
}

int
host_list_write_gpu(struct text *out)
{
    return write_list(&OF_GPU, out);
}

int
host_list_write_collectives(const struct host_collectives *collectives, struct text *out)
{
    static const char *const whole[] = {"all_reduce", "reduce_scatter", "all_gather",
                                        "broadcast", "all_to_all"};
    enum { SIZES = 12, WHOLE_KINDS = sizeof whole / sizeof whole[0], GRAIN = 64 };
    struct drawing drawing = {.out = out};
    struct range sizes = {256, collectives->most_bytes, (double)GRAIN * collectives->ranks};
    for (; drawing.turn < SIZES; drawing.turn++) {
        long long bytes = draw(&drawing, 0, sizes);
        for (int i = 0; i < WHOLE_KINDS; i++)
            text_format(
                out,
                "{\"collective\": \"%s\", \"ranks\": %d, \"nodes\": 1, \"bytes\": %lld, "
                "\"dtype\": \"%s\"}\n",
                whole[i], collectives->ranks, bytes, collectives->dtype);
        if (collectives->ranks == 2)
            text_format(out, "{\"collective\": \"send_recv\", \"bytes\": %lld}\n", bytes);
    }
    return SIZES * (WHOLE_KINDS + (collectives->ranks == 2));
}

/* The line with its least time as measured_s. */
static void
write_quietest(const struct json *line, struct text *out)
{
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    for (size_t i = 0; i < json_count(line); i++) {
        const char *key = json_key(line, i);
        bool is_median = strcmp(key, "measured_s") == 0;
        json_write_key(&writer, is_median ? "measured_median_s" : key);
        json_write_value(&writer, json_value_at(line, i));
    }
    json_write_key(&writer, "measured_s");
    json_write_value(&writer, json_member(line, "measured_min_s"));
    json_write_end_object(&writer);
    text_format(out, "\n");
}

bool
host_list_quietest(const struct text *measured, struct text *out, struct error_list *errors)
{
    int number = 1;
    for (size_t start = 0; start < measured->length; number++) {
        size_t length = strcspn(measured->bytes + start, "\n");
        const struct json *line = json_read_text(out->arena, "measure", number,
                                                 measured->bytes + start, length, errors);
        if (!line)
            return false;
        if (!json_member(line, "measured_min_s"))
            return json_fail(line, errors, "measured_min_s is missing");
        write_quietest(line, out);
        start += length + 1;
    }
    return true;
}
