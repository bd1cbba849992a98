/* Text is gathered until it is worth handing over. */
#include "sim/cli/chrome_events.h"

#include <inttypes.h>

static const int64_t PS_PER_NS = 1000;
enum { PIECE_BYTES = 1 << 16 };

struct chrome_events {
    struct trace_sink sink;
    struct text text;
    struct json_writer writer;
};

struct chrome_events *
chrome_events_new(const struct trace_sink *sink, struct arena *arena)
{
    struct chrome_events *events = arena_alloc(arena, 1, sizeof *events);
    events->sink = *sink;
    events->text = text_new(arena);
    events->writer = json_writer_new(&events->text, false);
    json_write_begin_object(&events->writer);
    return events;
}

struct json_writer *
chrome_events_writer(struct chrome_events *events)
{
    return &events->writer;
}

void
chrome_events_begin(struct chrome_events *events)
{
    json_write_key(&events->writer, "traceEvents");
    json_write_begin_array(&events->writer);
}

/* The last byte stays: by it the writer knows whether a comma is due. */
static void
hand_over(struct chrome_events *events, size_t kept)
{
    struct text *text = &events->text;
    size_t length = text->length - kept;
    events->sink.put(events->sink.context, text->bytes, length);
    for (size_t i = 0; i < kept; i++)
        text->bytes[i] = text->bytes[length + i];
    text->length = kept;
}

void
chrome_events_end(struct chrome_events *events)
{
    json_write_end_array(&events->writer);
    json_write_end_object(&events->writer);
    text_append(&events->text, "\n", 1);
    hand_over(events, 0);
}

static int64_t
ns_of(int64_t ps)
{
    return (ps + PS_PER_NS / 2) / PS_PER_NS;
}

static void
write_us_at(struct chrome_events *events, const char *key, int64_t ns)
{
    json_write_key(&events->writer, key);
    events->writer.has_key = false;
    text_format(&events->text, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
}

static void
begin_event(struct chrome_events *events, const char *phase, const char *name,
            struct chrome_thread thread)
{
    struct json_writer *writer = &events->writer;
    json_write_begin_object(writer);
    json_write_string_at(writer, "ph", phase);
    json_write_string_at(writer, "name", name);
    json_write_integer_at(writer, "pid", thread.pid);
    json_write_integer_at(writer, "tid", thread.tid);
}

static void
begin_arguments(struct chrome_events *events)
{
    json_write_key(&events->writer, "args");
    json_write_begin_object(&events->writer);
}

static void
end_object(struct chrome_events *events)
{
    json_write_end_object(&events->writer);
    if (events->text.length >= PIECE_BYTES)
        hand_over(events, 1);
}

void
chrome_end_event(struct chrome_events *events)
{
    json_write_end_object(&events->writer); /* arguments */
    end_object(events);
}

void
chrome_begin_slice(struct chrome_events *events, const struct chrome_slice *slice)
{
    begin_event(events, "X", slice->name, slice->thread);
    json_write_string_at(&events->writer, "cat", slice->category);
    write_us_at(events, "ts", ns_of(slice->start_ps));
    write_us_at(events, "dur", ns_of(slice->end_ps) - ns_of(slice->start_ps));
    begin_arguments(events);
}

void
chrome_begin_counter(struct chrome_events *events, struct chrome_thread thread,
                     const char *name, int64_t at_ps)
{
    begin_event(events, "C", name, thread);
    write_us_at(events, "ts", ns_of(at_ps));
    begin_arguments(events);
}

static void
begin_metadata(struct chrome_events *events, struct chrome_thread thread, const char *what)
{
    begin_event(events, "M", what, thread);
    write_us_at(events, "ts", 0);
    begin_arguments(events);
}

void
chrome_put_name(struct chrome_events *events, struct chrome_thread thread, const char *what,
                const char *name)
{
    begin_metadata(events, thread, what);
    json_write_string_at(&events->writer, "name", name);
    chrome_end_event(events);
}

void
chrome_put_order(struct chrome_events *events, struct chrome_thread thread, const char *what,
                 int64_t sort_index)
{
    begin_metadata(events, thread, what);
    json_write_integer_at(&events->writer, "sort_index", sort_index);
    chrome_end_event(events);
}

bool
chrome_slice_takes_arrows(const struct chrome_slice *slice)
{
    return ns_of(slice->start_ps) < ns_of(slice->end_ps);
}

/* Readers pair both ends by category, name and id. An event that names its kind in "cat" and has
 * no "dur" is left alone by HTA and TraceLens. */
static void
begin_arrow(struct chrome_events *events, const char *phase, const struct chrome_slice *slice,
            int64_t id, int64_t at_ps)
{
    begin_event(events, phase, "message", slice->thread);
    json_write_string_at(&events->writer, "cat", "message");
    json_write_integer_at(&events->writer, "id", id);
    write_us_at(events, "ts", ns_of(at_ps));
}

void
chrome_put_arrow_start(struct chrome_events *events, const struct chrome_slice *slice,
                       int64_t id)
{
    begin_arrow(events, "s", slice, id, slice->start_ps);
    end_object(events);
}

void
chrome_put_arrow_end(struct chrome_events *events, const struct chrome_slice *slice, int64_t id)
{
    begin_arrow(events, "f", slice, id, slice->end_ps - PS_PER_NS);
    json_write_string_at(&events->writer, "bp",
                         "e"); /* the slice around it, not the next one */
    end_object(events);
}
