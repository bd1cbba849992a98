/* Events of a Chrome trace (the Trace Event Format: JSON that chrome://tracing and profilers of
 * PyTorch agreed on): slices, counters, names, arrows between slices. Handed over in pieces, so
 * that a trace of any length takes the same memory. */
#ifndef SIM_CLI_CHROME_EVENTS_H
#define SIM_CLI_CHROME_EVENTS_H

#include "sim/base/json_writer.h"
#include "sim/cli/trace_sink.h"

struct chrome_events;

/* Opens the trace's object; what is written to it before the events begin is its header. */
struct chrome_events *chrome_events_new(const struct trace_sink *sink, struct arena *arena);
/* For the header, and for the arguments of the event that was begun last. */
struct json_writer *chrome_events_writer(struct chrome_events *events);
void chrome_events_begin(struct chrome_events *events);
/* Hands over the rest. */
void chrome_events_end(struct chrome_events *events);

struct chrome_thread {
    int64_t pid;
    int tid;
};

/* Both ends are rounded to nanoseconds, so neighbours stay neighbours. */
struct chrome_slice {
    struct chrome_thread thread;
    int64_t start_ps, end_ps;
    const char *name, *category;
};

/* What reads as "process_name" with a "name", or as "thread_sort_index" with a "sort_index". */
void chrome_put_name(struct chrome_events *events, struct chrome_thread thread,
                     const char *what, const char *name);
void chrome_put_order(struct chrome_events *events, struct chrome_thread thread,
                      const char *what, int64_t sort_index);

/* Each leaves its arguments open, until chrome_end_event. */
void chrome_begin_slice(struct chrome_events *events, const struct chrome_slice *slice);
void chrome_begin_counter(struct chrome_events *events, struct chrome_thread thread,
                          const char *name, int64_t at_ps);
void chrome_end_event(struct chrome_events *events);

/* False of a slice that begins and ends in one nanosecond: no arrow can be tied to it. */
bool chrome_slice_takes_arrows(const struct chrome_slice *slice);

/* An arrow from the beginning of one slice to the last nanosecond of another; each comes behind
 * its own slice, which readers find by thread and time. `id` is the message's own. */
void chrome_put_arrow_start(struct chrome_events *events, const struct chrome_slice *slice,
                            int64_t id);
void chrome_put_arrow_end(struct chrome_events *events, const struct chrome_slice *slice,
                          int64_t id);

#endif
