/* Sizes of each kind drawn from a sequence that fills the cube evenly. */
#include "validate/host_list.h"

#include <math.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/json_writer.h"

/* Powers of 1/g with g^4 = g + 1: multiples of them modulo 1 fill the cube more evenly than random
 * numbers (M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018). */
static const double STEPS[] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};

struct drawing {
    struct text *out;
    int line; /* of all */
    int turn; /* within a kind */
};

/* From least to most, evenly in its logarithm, rounded to a multiple. */
static long long
draw(const struct drawing *drawing, int axis, double least, double most, double multiple)
{
    double whole, part = modf(0.5 + (drawing->turn + 1) * STEPS[axis], &whole);
    double size = least * pow(most / least, part);
    return (long long)(fmax(1, round(size / multiple)) * multiple);
}

static void
add_gemm(struct drawing *drawing)
{
    static const char *const layouts[] = {"nn", "nt", "tn"};
    text_format(drawing->out,
                "{\"kernel\": \"gemm\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
                "\"layout\": \"%s\", \"dtype\": \"fp32\"}\n",
                draw(drawing, 0, 32, 1024, 16), draw(drawing, 1, 32, 1024, 16),
                draw(drawing, 2, 64, 1024, 16), layouts[drawing->turn % 3]);
}

/* Rows of the experts from half to one and a half times their mean. */
static void
add_grouped_gemm(struct drawing *drawing)
{
    long long experts = 2LL << drawing->turn % 4, mean = draw(drawing, 0, 16, 128, 4);
    text_format(drawing->out, "{\"kernel\": \"grouped_gemm\", \"rows\": [");
    for (long long i = 0; i < experts; i++)
        text_format(drawing->out, "%s%lld", i > 0 ? ", " : "",
                    mean / 2 + i * mean / (experts - 1));
    text_format(drawing->out, "], \"n\": %lld, \"k\": %lld, \"dtype\": \"fp32\"}\n",
                draw(drawing, 1, 64, 512, 16), draw(drawing, 2, 64, 512, 16));
}

static void
add_elementwise(struct drawing *drawing)
{
    static const struct {
        const char *op;
        int reads;
    } ops[] = {{"copy", 1}, {"add", 2}, {"gelu", 1}, {"silu_mul", 2}};
    int i = drawing->turn % 4;
    long long elements = draw(drawing, 0, 8192, 1048576, 64);
    text_format(drawing->out,
                "{\"kernel\": \"elementwise\", \"op\": \"%s\", \"elements\": %lld, \"dtype\": "
                "\"fp32\", \"read_bytes\": %lld, \"write_bytes\": %lld, \"launches\": 1}\n",
                ops[i].op, elements, 4 * elements * ops[i].reads, 4 * elements);
}

/* rms_norm and its like; a direction where the kind has one. */
static void
add_rows(struct drawing *drawing, const char *kind, const char *direction)
{
    text_format(
        drawing->out,
        "{\"kernel\": \"%s\", \"rows\": %lld, \"width\": %lld, \"dtype\": \"fp32\"%s}\n", kind,
        draw(drawing, 0, 32, 1024, 4), draw(drawing, 1, 64, 1024, 16), direction);
}

static void
add_attentions(struct drawing *drawing, const char *direction)
{
    long long heads = 1LL << drawing->turn % 3, groups = 1 + drawing->turn % 2;
    long long length = draw(drawing, 0, 64, 384, 16);
    text_format(drawing->out,
                "{\"kernel\": \"attention\", \"direction\": \"%s\", \"batch\": 1, "
                "\"q_len\": %lld, \"kv_len\": %lld, \"q_heads\": %lld, \"kv_heads\": %lld, "
                "\"head_dim\": %d, \"causal\": %s, \"dtype\": \"fp32\"}\n",
                direction, length, length, heads * groups, heads, 32 << drawing->turn % 2,
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
    add_rows(drawing, "rms_norm", FORWARD);
}

static void
add_rms_norm_backward(struct drawing *drawing)
{
    add_rows(drawing, "rms_norm", BACKWARD);
}

static void
add_softmax(struct drawing *drawing)
{
    add_rows(drawing, "softmax", FORWARD);
}

static void
add_softmax_backward(struct drawing *drawing)
{
    add_rows(drawing, "softmax", BACKWARD);
}

static void
add_gather(struct drawing *drawing)
{
    add_rows(drawing, "gather", "");
}

static void
add_scatter_add(struct drawing *drawing)
{
    add_rows(drawing, "scatter_add", "");
}

static void
add_transpose(struct drawing *drawing)
{
    add_rows(drawing, "transpose", "");
}

/* A channel a group. Taps do not enter the price: as many as ZAYA1's attention has. */
static void
add_convolutions(struct drawing *drawing, const char *direction)
{
    long long channels = draw(drawing, 1, 64, 1024, 16);
    text_format(drawing->out,
                "{\"kernel\": \"convolution\", \"tokens\": %lld, \"channels\": %lld, "
                "\"taps\": 2, \"groups\": %lld, \"dtype\": \"fp32\"%s}\n",
                draw(drawing, 0, 64, 1024, 4), channels, channels, direction);
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
                draw(drawing, 0, 64, 1024, 4), 8 << drawing->turn % 3, 1 + drawing->turn % 2);
}

static void
add_loss(struct drawing *drawing, const char *direction)
{
    text_format(drawing->out,
                "{\"kernel\": \"cross_entropy\", \"rows\": %lld, \"vocab\": %lld, \"dtype\": "
                "\"fp32\"%s}\n",
                draw(drawing, 0, 32, 512, 4), draw(drawing, 1, 128, 2048, 16), direction);
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
                draw(drawing, 0, 16384, 2097152, 64));
}

static void
add_copy(struct drawing *drawing)
{
    text_format(drawing->out,
                "{\"kernel\": \"copy\", \"bytes\": %lld, \"from\": \"hbm\", \"to\": \"hbm\"}\n",
                draw(drawing, 0, 65536, 8388608, 256));
}

/* About half of the lines are held out; of what is left every coefficient of a kind wants a few
 * shapes of its own. */
static const struct {
    void (*add)(struct drawing *drawing);
    int count;
} kinds[] = {
    {add_gemm, 80},
    {add_grouped_gemm, 40},
    {add_attention, 32},
    {add_attention_backward, 32},
    {add_elementwise, 96},
    {add_rms_norm, 24},
    {add_rms_norm_backward, 24},
    {add_softmax, 24},
    {add_softmax_backward, 24},
    {add_gather, 24},
    {add_scatter_add, 24},
    {add_transpose, 24},
    {add_convolution, 24},
    {add_convolution_backward, 24},
    {add_top_k, 24},
    {add_cross_entropy, 24},
    {add_cross_entropy_backward, 24},
    {add_adamw, 24},
    {add_copy, 32},
};

int
host_list_write(struct text *out)
{
    struct drawing drawing = {.out = out};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (drawing.turn = 0; drawing.turn < kinds[i].count; drawing.turn++, drawing.line++)
            kinds[i].add(&drawing);
    return drawing.line;
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
