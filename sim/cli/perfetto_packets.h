/* Packets of a Perfetto trace (perfetto.dev/docs/reference/synthetic-track-event): tracks, slices
 * with arrows between them, counters. Written through a buffer of fixed size, so that a trace of
 * any length takes the same memory; names are sent once and then by number. */
#ifndef SIM_CLI_PERFETTO_PACKETS_H
#define SIM_CLI_PERFETTO_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/cli/trace_sink.h"

struct perfetto_packets;

/* Nothing is left behind if perfetto_packets_end is called. */
struct perfetto_packets *perfetto_packets_new(const struct trace_sink *sink,
                                              struct arena *arena);
/* Hands over what is still in the buffer; how many bytes there were in all. */
uint64_t perfetto_packets_end(struct perfetto_packets *packets);

enum perfetto_track_kind {
    PERFETTO_PROCESS,
    PERFETTO_SLICES,
    PERFETTO_BYTES,
    PERFETTO_PERCENT
};

struct perfetto_track {
    uint64_t uuid, parent_uuid; /* above 0; parent 0: none */
    enum perfetto_track_kind kind;
    const char *name; /* of at most PERFETTO_TEXT_MAX bytes, else cut */
    int32_t pid;      /* of a process, above 0 */
    int32_t place;    /* among its siblings */
};
void perfetto_put_track(struct perfetto_packets *packets, const struct perfetto_track *track);

/* What is shown beside a slice that is selected. */
enum perfetto_note_kind { PERFETTO_TEXT, PERFETTO_WHOLE, PERFETTO_REAL };
struct perfetto_note {
    const char *name;
    enum perfetto_note_kind kind;
    const char *text;
    int64_t whole;
    double real;
};

/* Arrows go from the slice that has an identity in `starts` to the one that has it in `ends`. */
struct perfetto_arrows {
    const uint64_t *starts;
    size_t start_count;
    const uint64_t *ends;
    size_t end_count;
};

enum { PERFETTO_TEXT_MAX = 200, PERFETTO_NOTES_MAX = 12, PERFETTO_ARROWS_MAX = 4096 };

/* Names and categories must last as long as the packets do. */
struct perfetto_slice {
    uint64_t track;
    int64_t start_ps, end_ps;
    const char *name, *category;
    const struct perfetto_note *notes; /* PERFETTO_NOTES_MAX at most */
    size_t note_count;
    struct perfetto_arrows arrows; /* PERFETTO_ARROWS_MAX at most of each */
};
void perfetto_put_slice(struct perfetto_packets *packets, const struct perfetto_slice *slice);

void perfetto_put_counter(struct perfetto_packets *packets, uint64_t track, int64_t at_ps,
                          double value);

#endif
