/* For tests: a run's trace, written and read back. */
#ifndef SIM_CLI_CHECK_CHROME_TRACE_H
#define SIM_CLI_CHECK_CHROME_TRACE_H

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/json.h"
#include "sim/cli/chrome_trace.h"

/* Threads as the trace numbers them. */
enum { HOST = 1, COMPUTE = 7, DATA = 21 };

static struct arena *arena;
static const struct step *step;
static struct text text;
static const struct json *events;
static size_t pieces, piece_max_bytes; /* as the trace was handed over */

static inline void
take(void *context, const char *bytes, size_t length)
{
    text_append(context, bytes, length);
    pieces++;
    piece_max_bytes = length > piece_max_bytes ? length : piece_max_bytes;
}

struct request {
    const char *file;
    const char *settings[2];
    enum program_ranks ranks;
    const char *show;
};

static inline void
trace(const struct request *wanted)
{
    struct error_list errors = {0};
    struct shown_ranks shown;
    size_t settings = 0;
    while (settings < 2 && wanted->settings[settings])
        settings++;
    const struct run *run = run_read(&(struct run_request){.file = wanted->file,
                                                           .settings = wanted->settings,
                                                           .setting_count = settings},
                                     arena, &errors);
    step = step_simulate(run, wanted->ranks, arena, &errors);
    ck_assert(shown_ranks_read(wanted->show, step, &shown, arena));
    text = text_new(arena);
    pieces = piece_max_bytes = 0;
    chrome_trace_write(step, &shown, &(struct trace_sink){take, &text}, arena);
    const struct json *root =
        json_read_text(arena, "trace", 1, text.bytes, text.length, &errors);
    ck_assert_int_eq(errors.count, 0);
    events = json_member(root, "traceEvents");
}

static inline void
set_up_arena(void)
{
    arena = check_arena_new();
}

static inline void
tear_down(void)
{
    arena_free(arena);
}

static inline const char *
text_at(const struct json *event, const char *key)
{
    const struct json *value = json_member(event, key);
    return value ? json_as_string(value) : "";
}

static inline double
real_at(const struct json *event, const char *key)
{
    return json_as_real(json_member(event, key));
}

static inline int64_t
integer_at(const struct json *event, const char *key)
{
    return json_as_integer(json_member(event, key));
}

static const double S_PER_US = 1e-6; /* the format counts in microseconds */

#endif
