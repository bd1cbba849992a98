/* Reads one kernel of the vocabulary: a table of keys a kind, then what the keys must be
 * together.
 *
 * Sizes end at 1e9 so that no product of three overflows; every bound that a key breaks is
 * reported with the key's place. */
#include "hw/kernel.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/spelling.h"

#define SIZE_MAXIMUM  1e9
#define BYTES_MAXIMUM 1e15

/* One row of a table; `member` is the place in struct kernel. */
#define FIELD_SIZE(name, member)                                                               \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_INTEGER, .offset = offsetof(struct kernel, member),  \
        .minimum = 1, .maximum = SIZE_MAXIMUM                                                  \
    }
#define FIELD_SIZE_OR_ONE(name, member)                                                        \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_INTEGER, .offset = offsetof(struct kernel, member),  \
        .minimum = 1, .maximum = SIZE_MAXIMUM, .flags = JSON_OPTIONAL                          \
    }
#define FIELD_BYTES(name, member, least)                                                       \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_REAL, .offset = offsetof(struct kernel, member),     \
        .minimum = (least), .maximum = BYTES_MAXIMUM                                           \
    }
#define FIELD_BOOL(name, member)                                                               \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_BOOL, .offset = offsetof(struct kernel, member)      \
    }
#define FIELD_CHOICE(name, member, words)                                                      \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_CHOICE, .offset = offsetof(struct kernel, member),   \
        .choices = (words)                                                                     \
    }
#define FIELD_SCALES                                                                           \
    {                                                                                          \
        .key = "scales", .type = JSON_FIELD_CHOICE, .offset = offsetof(struct kernel, scales), \
        .flags = JSON_OPTIONAL, .choices = scales_words                                        \
    }
#define FIELD_KERNEL    FIELD_CHOICE("kernel", kind, kernel_words)
#define FIELD_DTYPE     FIELD_CHOICE("dtype", dtype, dtype_names)
#define FIELD_DIRECTION FIELD_CHOICE("direction", direction, direction_words)

static const char *const kernel_words[] = {
    "gemm",        "grouped_gemm", "fused_moe",     "attention", "elementwise", "rms_norm",
    "softmax",     "gather",       "scatter_add",   "transpose", "top_k",       "cross_entropy",
    "convolution", "adamw",        "newton_schulz", "copy",      NULL};
static const char *const direction_words[] = {"forward", "backward", NULL};
static const char *const scales_words[] = {"as_measured", "of_result", NULL};
static const char *const layout_words[] = {"nn", "nt", "tn", NULL};
static const char *const place_words[] = {"hbm", "host", NULL};
static const char *const ignored_keys[] = {"measured_*", "library", "count", NULL};

static const struct json_field gemm_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("m", gemm.m),
    FIELD_SIZE("n", gemm.n),
    FIELD_SIZE("k", gemm.k),
    FIELD_SIZE_OR_ONE("batch", gemm.batch),
    FIELD_CHOICE("layout", gemm.layout, layout_words),
    FIELD_DTYPE,
    FIELD_SCALES,
    {.key = "source",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct kernel, source),
     .flags = JSON_OPTIONAL | JSON_NULLABLE},
};

/* "rows" is read apart: where its value goes is the caller's place. */
struct grouped_gemm_reading {
    struct kernel kernel;
    const struct json *rows;
};
static const struct json_field grouped_gemm_fields[] = {
    FIELD_KERNEL,
    {.key = "rows",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct grouped_gemm_reading, rows)},
    FIELD_SIZE("n", grouped_gemm.n),
    FIELD_SIZE("k", grouped_gemm.k),
    FIELD_DTYPE,
    FIELD_SCALES,
};
static const struct json_field fused_moe_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("tokens", fused_moe.tokens),
    FIELD_SIZE("width", fused_moe.width),
    FIELD_SIZE("expert_ffn", fused_moe.expert_ffn),
    FIELD_SIZE("experts", fused_moe.experts),
    FIELD_SIZE("top_k", fused_moe.top_k),
    FIELD_DTYPE,
};
static const struct json_field attention_fields[] = {
    FIELD_KERNEL,
    FIELD_DIRECTION,
    FIELD_SIZE("batch", attention.batch),
    FIELD_SIZE("q_len", attention.q_len),
    FIELD_SIZE("kv_len", attention.kv_len),
    FIELD_SIZE("q_heads", attention.q_heads),
    FIELD_SIZE("kv_heads", attention.kv_heads),
    FIELD_SIZE("head_dim", attention.head_dim),
    FIELD_BOOL("causal", attention.is_causal),
    {.key = "window",
     .type = JSON_FIELD_INTEGER,
     .offset = offsetof(struct kernel, attention.window),
     .minimum = 0,
     .maximum = SIZE_MAXIMUM,
     .flags = JSON_OPTIONAL},
    FIELD_DTYPE,
    {.key = "implementation",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct kernel, attention.implementation),
     .flags = JSON_OPTIONAL | JSON_NULLABLE},
    {.key = "library",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct kernel, attention.library),
     .flags = JSON_OPTIONAL | JSON_NULLABLE},
};
static const struct json_field elementwise_fields[] = {
    FIELD_KERNEL,
    {.key = "op", .type = JSON_FIELD_STRING, .offset = offsetof(struct kernel, elementwise.op)},
    {.key = "elements",
     .type = JSON_FIELD_INTEGER,
     .offset = offsetof(struct kernel, elementwise.elements),
     .minimum = 1,
     .maximum = BYTES_MAXIMUM},
    FIELD_DTYPE,
    FIELD_BYTES("read_bytes", elementwise.read_bytes, 0),
    FIELD_BYTES("write_bytes", elementwise.write_bytes, 0),
    FIELD_SIZE_OR_ONE("launches", elementwise.launches),
};
static const struct json_field rows_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("rows", rows_by_width.rows),
    FIELD_SIZE("width", rows_by_width.width),
    FIELD_DTYPE,
};
static const struct json_field rows_direction_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("rows", rows_by_width.rows),
    FIELD_SIZE("width", rows_by_width.width),
    FIELD_DTYPE,
    {.key = "direction",
     .type = JSON_FIELD_CHOICE,
     .offset = offsetof(struct kernel, direction),
     .flags = JSON_OPTIONAL,
     .choices = direction_words},
};
static const struct json_field top_k_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("rows", top_k.rows),
    FIELD_SIZE("experts", top_k.experts),
    FIELD_SIZE("k", top_k.k),
    FIELD_DTYPE,
};
static const struct json_field cross_entropy_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("rows", cross_entropy.rows),
    FIELD_SIZE("vocab", cross_entropy.vocab),
    FIELD_DTYPE,
    FIELD_DIRECTION,
};
static const struct json_field convolution_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("tokens", convolution.tokens),
    FIELD_SIZE("channels", convolution.channels),
    FIELD_SIZE("taps", convolution.taps),
    FIELD_SIZE("groups", convolution.groups),
    FIELD_DTYPE,
    FIELD_DIRECTION,
};
static const struct json_field adamw_fields[] = {
    FIELD_KERNEL,
    {.key = "parameters",
     .type = JSON_FIELD_INTEGER,
     .offset = offsetof(struct kernel, adamw.parameters),
     .minimum = 1,
     .maximum = BYTES_MAXIMUM},
    FIELD_DTYPE,
};
static const struct json_field newton_schulz_fields[] = {
    FIELD_KERNEL,
    FIELD_SIZE("m", newton_schulz.m),
    FIELD_SIZE("n", newton_schulz.n),
    FIELD_SIZE("steps", newton_schulz.steps),
    FIELD_BOOL("symmetric", newton_schulz.is_symmetric),
    FIELD_DTYPE,
};
static const struct json_field copy_fields[] = {
    FIELD_KERNEL,
    FIELD_BYTES("bytes", copy.bytes, 1),
    FIELD_CHOICE("from", copy.from, place_words),
    FIELD_CHOICE("to", copy.to, place_words),
};

#define TYPE(words, table)                                                                     \
    {                                                                                          \
        .noun = (words), .fields = (table), .field_count = sizeof(table) / sizeof((table)[0]), \
        .ignored = ignored_keys                                                                \
    }

static const struct json_object_type kernel_types[KERNEL_KIND_COUNT] = {
    [KERNEL_GEMM] = TYPE("a gemm", gemm_fields),
    [KERNEL_GROUPED_GEMM] = TYPE("a grouped_gemm", grouped_gemm_fields),
    [KERNEL_FUSED_MOE] = TYPE("a fused_moe", fused_moe_fields),
    [KERNEL_ATTENTION] = TYPE("an attention", attention_fields),
    [KERNEL_ELEMENTWISE] = TYPE("an elementwise", elementwise_fields),
    [KERNEL_RMS_NORM] = TYPE("an rms_norm", rows_direction_fields),
    [KERNEL_SOFTMAX] = TYPE("a softmax", rows_direction_fields),
    [KERNEL_GATHER] = TYPE("a gather", rows_fields),
    [KERNEL_SCATTER_ADD] = TYPE("a scatter_add", rows_fields),
    [KERNEL_TRANSPOSE] = TYPE("a transpose", rows_fields),
    [KERNEL_TOP_K] = TYPE("a top_k", top_k_fields),
    [KERNEL_CROSS_ENTROPY] = TYPE("a cross_entropy", cross_entropy_fields),
    [KERNEL_CONVOLUTION] = TYPE("a convolution", convolution_fields),
    [KERNEL_ADAMW] = TYPE("an adamw", adamw_fields),
    [KERNEL_NEWTON_SCHULZ] = TYPE("a newton_schulz", newton_schulz_fields),
    [KERNEL_COPY] = TYPE("a copy", copy_fields),
};

/* The kind that "kernel" names; KERNEL_KIND_COUNT after adding what is wrong. */
static enum kernel_kind
read_kind(const struct json *object, struct error_list *errors)
{
    const struct json *name = json_member(object, "kernel");
    if (name == NULL || json_kind(name) != JSON_KIND_STRING) {
        json_fail(name == NULL ? object : name, errors,
                  "wanted a \"kernel\": one of gemm, attention, elementwise, ...");
        return KERNEL_KIND_COUNT;
    }
    for (size_t i = 0; i < KERNEL_KIND_COUNT; i++) {
        if (strcmp(kernel_words[i], json_as_string(name)) == 0)
            return (enum kernel_kind)i;
    }
    const char *near = spelling_nearest(json_as_string(name), kernel_words, KERNEL_KIND_COUNT);
    json_fail(name, errors, "there is no kernel \"%.40s\"%s%s%s", json_as_string(name),
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return KERNEL_KIND_COUNT;
}

/* rows: a list of whole numbers, 0 for an expert that got none. */
static bool
read_rows(const struct json *list, struct grouped_gemm *grouped, struct arena *arena,
          struct error_list *errors)
{
    size_t count = json_count(list);
    if (json_kind(list) != JSON_KIND_ARRAY || count == 0)
        return json_fail(list, errors, "wanted a list of rows, one number an expert");
    int64_t *rows = arena_alloc(arena, count, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const struct json *row = json_element(list, i);
        if (json_kind(row) != JSON_KIND_INTEGER || json_as_integer(row) < 0 ||
            (double)json_as_integer(row) > SIZE_MAXIMUM)
            return json_fail(row, errors, "wanted a whole number of rows from 0 to 1e9");
        rows[i] = json_as_integer(row);
    }
    grouped->rows = rows;
    grouped->experts = (int64_t)count;
    return true;
}

static bool
read_grouped_gemm(const struct json *object, struct kernel *kernel, struct arena *arena,
                  struct error_list *errors)
{
    struct grouped_gemm_reading reading = {.kernel = *kernel};
    bool is_right =
        json_read_object(object, &kernel_types[KERNEL_GROUPED_GEMM], &reading, errors);
    *kernel = reading.kernel;
    if (reading.rows == NULL)
        return false;
    return read_rows(reading.rows, &kernel->grouped_gemm, arena, errors) && is_right;
}

/* Adds a fault at a key when `whole` is not a multiple of `part`. */
static bool
check_divides(const struct json *object, const char *key, int64_t part, int64_t whole,
              struct error_list *errors)
{
    if (whole % part == 0)
        return true;
    return json_fail(json_member(object, key), errors, "%lld does not divide %lld",
                     (long long)part, (long long)whole);
}

static bool
check_at_most(const struct json *object, const char *key, int64_t value, int64_t most,
              struct error_list *errors)
{
    if (value <= most)
        return true;
    return json_fail(json_member(object, key), errors, "%lld is more than the %lld experts",
                     (long long)value, (long long)most);
}

static bool
check_attention(const struct json *object, const struct attention *attention,
                struct error_list *errors)
{
    if (attention->window > 0 && !attention->is_causal)
        return json_fail(json_member(object, "window"), errors,
                         "a window ends at the query itself: wanted causal beside it");
    return check_divides(object, "kv_heads", attention->kv_heads, attention->q_heads, errors);
}

static bool
check_copy(const struct json *object, const struct copy *copy, struct error_list *errors)
{
    if (copy->from == COPY_HBM || copy->to == COPY_HBM)
        return true;
    return json_fail(
        json_member(object, "to"), errors,
        "a copy from host to host is no work of the device: wanted hbm at one end");
}

/* What the keys of one kind must be together. */
static bool
check_together(const struct json *object, const struct kernel *kernel,
               struct error_list *errors)
{
    switch (kernel->kind) {
    case KERNEL_ATTENTION:
        return check_attention(object, &kernel->attention, errors);
    case KERNEL_CONVOLUTION:
        return check_divides(object, "groups", kernel->convolution.groups,
                             kernel->convolution.channels, errors);
    case KERNEL_TOP_K:
        return check_at_most(object, "k", kernel->top_k.k, kernel->top_k.experts, errors);
    case KERNEL_FUSED_MOE:
        return check_at_most(object, "top_k", kernel->fused_moe.top_k,
                             kernel->fused_moe.experts, errors);
    case KERNEL_COPY:
        return check_copy(object, &kernel->copy, errors);
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_ELEMENTWISE:
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_CROSS_ENTROPY:
    case KERNEL_ADAMW:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    return true;
}

bool
kernel_read(const struct json *object, struct kernel *kernel, struct arena *arena,
            struct error_list *errors)
{
    *kernel = (struct kernel){.kind = read_kind(object, errors)};
    if (kernel->kind == KERNEL_KIND_COUNT)
        return false;
    if (kernel->kind == KERNEL_GROUPED_GEMM)
        return read_grouped_gemm(object, kernel, arena, errors);
    if (kernel->kind == KERNEL_GEMM)
        kernel->gemm.batch = 1;
    if (kernel->kind == KERNEL_ELEMENTWISE)
        kernel->elementwise.launches = 1;
    return json_read_object(object, &kernel_types[kernel->kind], kernel, errors) &&
           check_together(object, kernel, errors);
}

/* "rows" of a grouped product is the one field that does not lie in the struct itself. */
static void
write_rows(const struct kernel *kernel, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (int64_t i = 0; i < kernel->grouped_gemm.experts; i++)
        json_write_integer(writer, kernel->grouped_gemm.rows[i]);
    json_write_end_array(writer);
}

static bool
is_left_out(const struct json_field *field, const char *place)
{
    int64_t number = 0;
    const char *text = NULL;
    if (field->type == JSON_FIELD_INTEGER)
        memcpy(&number, place, sizeof number);
    if (field->type == JSON_FIELD_CHOICE)
        number = *(const int *)(const void *)place;
    if (field->type == JSON_FIELD_STRING)
        memcpy(&text, place, sizeof text);
    return field->flags & JSON_OPTIONAL && number == 0 && !text;
}

static void
write_field(const struct json_field *field, const struct kernel *kernel,
            struct json_writer *writer)
{
    const char *place = (const char *)kernel + field->offset;
    if (is_left_out(field, place))
        return;
    json_write_key(writer, field->key);
    switch (field->type) {
    case JSON_FIELD_BOOL:
        json_write_bool(writer, *(const bool *)(const void *)place);
        break;
    case JSON_FIELD_INTEGER:
        json_write_integer(writer, *(const int64_t *)(const void *)place);
        break;
    case JSON_FIELD_REAL:
        json_write_real(writer, *(const double *)(const void *)place);
        break;
    case JSON_FIELD_STRING:
        json_write_string(writer, *(const char *const *)(const void *)place);
        break;
    case JSON_FIELD_CHOICE:
        json_write_string(writer, field->choices[*(const int *)(const void *)place]);
        break;
    case JSON_FIELD_VALUE:
        write_rows(kernel, writer);
        break;
    }
}

void
kernel_write(const struct kernel *kernel, struct json_writer *writer)
{
    const struct json_object_type *type = &kernel_types[kernel->kind];
    json_write_begin_object(writer);
    for (size_t i = 0; i < type->field_count; i++)
        write_field(&type->fields[i], kernel, writer);
    json_write_end_object(writer);
}
