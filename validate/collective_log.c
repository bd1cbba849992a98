/* Reads the logs of rccl-tests and nccl-tests. */
#include "validate/collective_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 16, TOKEN_BYTES_MAX = 80, RANKS_LISTED_MAX = 1000000 };

static const double S_PER_US = 1e-6, TIME_MAX_S = 1e6, BYTES_MAX = 1e18;

/* A line's words; more or longer ones are cut off. */
struct tokens {
    char words[TOKENS_MAX][TOKEN_BYTES_MAX];
    size_t count;
};

struct log_reading {
    struct measured_list *list;
    const char *name;
    struct arena *arena;
    struct error_list *errors;
    int line;
    bool is_right;
    int kind; /* of enum collective_kind; -1: not said */
    const char **hosts;
    size_t host_count, host_capacity;
    int64_t ranks;
};

static struct tokens
split_line(const char *bytes, size_t length)
{
    struct tokens tokens = {.count = 0};
    for (size_t i = 0; i < length && tokens.count < TOKENS_MAX;) {
        size_t end = i;
        while (end < length && !strchr(" \t\r", bytes[end]))
            end++;
        size_t size = end - i < TOKEN_BYTES_MAX - 1 ? end - i : TOKEN_BYTES_MAX - 1;
        if (size > 0)
            memcpy(tokens.words[tokens.count++], bytes + i, size);
        i = end + 1;
    }
    return tokens;
}

static bool
is_word(const struct tokens *tokens, size_t index, const char *word)
{
    return index < tokens->count && strcmp(tokens->words[index], word) == 0;
}

static bool
is_heading(const struct tokens *tokens)
{
    size_t at = is_word(tokens, 0, "#") ? 1 : 2; /* behind the label of a launcher: "0: #" */
    return (is_word(tokens, 0, "#") || is_word(tokens, 1, "#")) &&
           is_word(tokens, at, "size") && is_word(tokens, at + 1, "count");
}

static const char *
next_line(const struct text *text, size_t *at, size_t *length)
{
    if (*at >= text->length)
        return NULL;
    const char *begin = text->bytes + *at;
    const char *end = memchr(begin, '\n', text->length - *at);
    *length = end ? (size_t)(end - begin) : text->length - *at;
    *at += *length + 1;
    return begin;
}

bool
collective_log_is(const struct text *text)
{
    size_t at = 0, length;
    for (const char *line; (line = next_line(text, &at, &length)) != NULL;) {
        struct tokens tokens = split_line(line, length);
        if (is_heading(&tokens))
            return true;
    }
    return false;
}

static void
fault(struct log_reading *reading, const char *what, const char *word)
{
    error_add(reading->errors, ERROR_INPUT,
              arena_format(reading->arena, "%s:%d", reading->name, reading->line), "%s%.60s",
              what, word);
    reading->is_right = false;
}

/* "all_reduce_perf" or a path that ends so. NULL: another word. */
static const char *
program_name(const char *word, size_t *length)
{
    static const char suffix[] = "_perf";
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    const char *end = strstr(name, suffix);
    *length = end ? (size_t)(end - name) : 0;
    return end && end > name ? name : NULL;
}

static int
kind_of_program(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum collective_kind kind;
    } programs[] = {
        {"all_reduce", COLLECTIVE_ALL_REDUCE}, {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
        {"all_gather", COLLECTIVE_ALL_GATHER}, {"broadcast", COLLECTIVE_BROADCAST},
        {"alltoall", COLLECTIVE_ALL_TO_ALL},   {"all_to_all", COLLECTIVE_ALL_TO_ALL},
        {"sendrecv", COLLECTIVE_SEND_RECV},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strlen(programs[i].name) == length && memcmp(programs[i].name, name, length) == 0)
            return (int)programs[i].kind;
    return -1;
}

static void
look_for_program(struct log_reading *reading, const struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count && reading->kind < 0; i++) {
        size_t length;
        const char *name = program_name(tokens->words[i], &length);
        if (!name)
            continue;
        reading->kind = kind_of_program(name, length);
        if (reading->kind < 0 && reading->is_right)
            fault(reading, "no price for what this program times: ", name);
    }
}

/* "#  Rank  0 Group  0 Pid  37300 on   node7 device  0 ..". */
static void
take_rank(struct log_reading *reading, const struct tokens *tokens)
{
    size_t on = 0;
    while (on < tokens->count && strcmp(tokens->words[on], "on") != 0)
        on++;
    if (on + 1 >= tokens->count || reading->ranks >= RANKS_LISTED_MAX)
        return;
    const char *host = tokens->words[on + 1];
    reading->ranks++;
    for (size_t i = 0; i < reading->host_count; i++)
        if (strcmp(reading->hosts[i], host) == 0)
            return;
    reading->hosts = arena_grow(reading->arena, reading->hosts, reading->host_count,
                                &reading->host_capacity, sizeof *reading->hosts);
    reading->hosts[reading->host_count++] = arena_format(reading->arena, "%s", host);
}

static bool
read_number(const char *word, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(word, &end);
    return end != word && *end == '\0' && errno == 0;
}

/* Before the Rank lines: "# nThread 1 nGpus 8 ..": of one process. */
static void
take_threads(struct log_reading *reading, const struct tokens *tokens, size_t at)
{
    double threads, gpus;
    if (!is_word(tokens, at + 2, "nGpus") || at + 3 >= tokens->count ||
        !read_number(tokens->words[at + 1], &threads) ||
        !read_number(tokens->words[at + 3], &gpus))
        return;
    bool is_sound = threads >= 1 && gpus >= 1 && threads * gpus <= RANKS_LISTED_MAX;
    reading->ranks = is_sound ? -(int64_t)(threads * gpus) : 0; /* below 0: not listed */
}

static bool
read_type(const char *word, enum dtype *dtype)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } types[] = {
        {"float", DTYPE_FP32},  {"half", DTYPE_FP16},    {"bfloat16", DTYPE_BF16},
        {"double", DTYPE_FP64}, {"int8", DTYPE_INT8},    {"uint8", DTYPE_INT8},
        {"char", DTYPE_INT8},   {"int32", DTYPE_FP32},   {"uint32", DTYPE_FP32},
        {"int64", DTYPE_FP64},  {"uint64", DTYPE_FP64},  {"f8e4m3", DTYPE_FP8},
        {"f8e5m2", DTYPE_FP8},  {"fp8_e4m3", DTYPE_FP8}, {"fp8_e5m2", DTYPE_FP8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(word, types[i].name) != 0)
            continue;
        *dtype = types[i].dtype;
        return true;
    }
    return false;
}

/* The word at which the first group of time, algbw, busbw and #wrong begins; 0 when the line
 * is no row. Between type and time stand an operation, where there is one, and a root, where
 * the version has that column. */
static size_t
find_time(const struct tokens *tokens, size_t at)
{
    double number;
    size_t time = at + 3;
    if (time < tokens->count && !read_number(tokens->words[time], &number) &&
        strcmp(tokens->words[time], "N/A") != 0)
        time++;
    size_t left = tokens->count > time ? tokens->count - time : 0;
    if (left % 4 == 1)
        time++, left--;
    return left == 4 || left == 8 ? time : 0;
}

static void
take_row(struct log_reading *reading, const struct tokens *tokens, size_t at)
{
    double bytes, count, time_s;
    enum dtype dtype;
    if (at + 2 >= tokens->count || !read_number(tokens->words[at], &bytes) ||
        !read_number(tokens->words[at + 1], &count) ||
        !read_type(tokens->words[at + 2], &dtype))
        return;
    size_t time = find_time(tokens, at);
    if (time == 0 || bytes == 0)
        return;
    bool is_time = read_number(tokens->words[time], &time_s);
    time_s *= S_PER_US;
    if (!is_time || !(time_s > 0 && time_s <= TIME_MAX_S)) {
        fault(reading, "wanted a time in us, found ", tokens->words[time]);
        return;
    }
    if (!(bytes >= 1 && bytes <= BYTES_MAX)) {
        fault(reading, "wanted a size in bytes, found ", tokens->words[at]);
        return;
    }
    struct measured row = {
        .is_collective = true,
        .collective = {.dtype = dtype, .bytes = bytes},
        .measured_s = time_s,
        .list = reading->name,
        .line = reading->line,
    };
    struct measured_list *list = reading->list;
    list->items = arena_grow(reading->arena, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    list->items[list->count++] = row;
}

static void
take_line(struct log_reading *reading, const struct tokens *tokens)
{
    size_t length = tokens->count > 0 ? strlen(tokens->words[0]) : 0;
    size_t at = length > 0 && tokens->words[0][length - 1] == ':' ? 1 : 0; /* "0:" */
    look_for_program(reading, tokens);
    if (!is_word(tokens, at, "#"))
        take_row(reading, tokens, at);
    else if (is_word(tokens, at + 1, "Rank"))
        reading->ranks = reading->ranks < 0 ? 0 : reading->ranks, take_rank(reading, tokens);
    else if (is_word(tokens, at + 1, "nThread"))
        take_threads(reading, tokens, at + 1);
}

/* What the whole log says, into the rows that it added. */
static void
settle_rows(struct log_reading *reading, size_t first)
{
    int64_t nodes = reading->host_count > 0 ? (int64_t)reading->host_count : 1;
    int64_t ranks = reading->ranks < 0 ? -reading->ranks : reading->ranks;
    reading->line = 1;
    for (size_t i = 0; i < strlen(reading->name) && reading->kind < 0; i++)
        for (int kind = 0; kind <= COLLECTIVE_ALL_TO_ALL && reading->kind < 0; kind++) {
            const char *name = collective_kind_names[kind];
            if (strncmp(reading->name + i, name, strlen(name)) == 0)
                reading->kind = kind;
        }
    if (reading->is_right && reading->list->count == first)
        fault(reading, "no row of sizes and times", "");
    if (reading->is_right && reading->kind < 0)
        fault(reading, "no '.._perf' in it and no collective in its name, as all_reduce.log",
              "");
    if (reading->is_right && (ranks == 0 || ranks % nodes != 0))
        fault(reading, "its '# Rank' lines do not say which ranks of which nodes took part",
              "");
    for (size_t i = first; i < reading->list->count; i++) {
        struct collective *collective = &reading->list->items[i].collective;
        collective->kind = (enum collective_kind)(reading->kind < 0 ? 0 : reading->kind);
        collective->ranks = ranks;
        collective->nodes = nodes;
    }
}

bool
collective_log_parse(struct measured_list *list, const char *name, const struct text *text,
                     struct arena *arena, struct error_list *errors)
{
    struct log_reading reading = {.list = list,
                                  .name = name,
                                  .arena = arena,
                                  .errors = errors,
                                  .is_right = true,
                                  .kind = -1};
    size_t at = 0, length, first = list->count;
    for (const char *line; (line = next_line(text, &at, &length)) != NULL;) {
        struct tokens tokens = split_line(line, length);
        reading.line++;
        take_line(&reading, &tokens);
    }
    settle_rows(&reading, first);
    if (!reading.is_right)
        list->count = first;
    return reading.is_right;
}
