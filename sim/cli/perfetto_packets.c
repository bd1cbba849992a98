/* Messages as protos/perfetto/trace/trace_packet.proto and track_event.proto define them. */
#include "sim/cli/perfetto_packets.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/wire.h"

/* Fields by their message. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60
};
enum { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDED = 2 };
enum {
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
    DESCRIPTOR_CHILD_ORDERING = 11,
    DESCRIPTOR_SIBLING_RANK = 12
};
enum { CHILD_ORDERING_EXPLICIT = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, COUNTER_UNIT_BYTES = 3 };
enum {
    EVENT_CATEGORY_IIDS = 3,
    EVENT_NOTE = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_DOUBLE_VALUE = 44,
    EVENT_FLOW_IDS = 47,
    EVENT_ENDING_FLOW_IDS = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };
enum { NOTE_NAME_IID = 1, NOTE_INT = 4, NOTE_DOUBLE = 5, NOTE_TEXT = 6 };
enum interned_field { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_NOTE_NAMES = 3 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };

enum { BUFFER_BYTES = 1 << 20 };
/* A packet: arrows both ways, notes and the names that it brings. */
enum {
    BODY_BYTES = 2 * PERFETTO_ARROWS_MAX * WIRE_FIELD_MAX +
                 (PERFETTO_NOTES_MAX + 4) * 4 * (PERFETTO_TEXT_MAX + 64)
};
static const int64_t PS_PER_NS = 1000;

/* A text that readers know by number: found again by its address, which is as good as its words. */
struct interned {
    const char *text;
    enum interned_field field;
    uint32_t iid;
};

struct perfetto_packets {
    struct trace_sink sink;
    struct arena *arena;
    uint64_t byte_count;
    struct wire buffer;
    struct wire packet, event, names; /* what is being put together */
    bool has_begun;
    struct interned *interned; /* a hash table */
    size_t interned_count, interned_size;
};

static struct wire
make_room(struct arena *arena, size_t bytes)
{
    return (struct wire){.bytes = arena_alloc(arena, bytes, 1), .room = bytes};
}

struct perfetto_packets *
perfetto_packets_new(const struct trace_sink *sink, struct arena *arena)
{
    struct perfetto_packets *packets = arena_alloc(arena, 1, sizeof *packets);
    packets->sink = *sink;
    packets->arena = arena;
    packets->buffer = make_room(arena, BUFFER_BYTES + (size_t)2 * BODY_BYTES);
    packets->packet = make_room(arena, (size_t)2 * BODY_BYTES);
    packets->event = make_room(arena, BODY_BYTES);
    packets->names = make_room(arena, BODY_BYTES);
    packets->interned_size = 256;
    packets->interned = arena_alloc(arena, packets->interned_size, sizeof *packets->interned);
    return packets;
}

static void
flush(struct perfetto_packets *packets)
{
    packets->sink.put(packets->sink.context, (const char *)packets->buffer.bytes,
                      packets->buffer.length);
    packets->byte_count += packets->buffer.length;
    packets->buffer.length = 0;
}

uint64_t
perfetto_packets_end(struct perfetto_packets *packets)
{
    flush(packets);
    return packets->byte_count;
}

/* All packets are of one sequence; only the first one says that it begins. */
static void
put_packet(struct perfetto_packets *packets, bool needs_names)
{
    struct wire *packet = &packets->packet;
    wire_put_integer(packet, PACKET_SEQUENCE_ID, 1);
    if (packets->names.length > 0)
        wire_put_message(packet, PACKET_INTERNED, &packets->names);
    uint64_t flags =
        (packets->has_begun ? 0 : SEQUENCE_CLEARED) | (needs_names ? SEQUENCE_NEEDED : 0);
    if (flags != 0)
        wire_put_integer(packet, PACKET_SEQUENCE_FLAGS, flags);
    wire_put_message(&packets->buffer, TRACE_PACKET, packet);
    packets->has_begun = true;
    packet->length = packets->event.length = packets->names.length = 0;
    if (packets->buffer.length >= BUFFER_BYTES)
        flush(packets);
}

static size_t
find_interned(const struct perfetto_packets *packets, const char *text,
              enum interned_field field)
{
    uint64_t key = (uint64_t)(uintptr_t)text * 4 + (uint64_t)field;
    size_t place = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (packets->interned_size - 1);
    while (packets->interned[place].text &&
           (packets->interned[place].text != text || packets->interned[place].field != field))
        place = (place + 1) & (packets->interned_size - 1);
    return place;
}

static void
grow_interned(struct perfetto_packets *packets)
{
    struct interned *old = packets->interned;
    size_t old_size = packets->interned_size;
    packets->interned_size *= 2;
    packets->interned = arena_alloc(packets->arena, packets->interned_size, sizeof *old);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].text)
            packets->interned[find_interned(packets, old[i].text, old[i].field)] = old[i];
}

static void
put_cut_text(struct wire *wire, uint32_t field, const char *text)
{
    size_t length = strlen(text);
    size_t cut = length > PERFETTO_TEXT_MAX ? PERFETTO_TEXT_MAX : length;
    while (cut < length && cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--; /* not within a letter */
    wire_put_bytes(wire, field, text, cut);
}

/* The number of a text; the first time it goes out with the packet. */
static uint32_t
intern(struct perfetto_packets *packets, enum interned_field field, const char *text)
{
    uint8_t room[PERFETTO_TEXT_MAX + 64];
    struct wire entry = {.bytes = room, .room = sizeof room};
    if (2 * packets->interned_count >= packets->interned_size)
        grow_interned(packets);
    size_t place = find_interned(packets, text, field);
    if (!packets->interned[place].text) {
        uint32_t iid = (uint32_t)++packets->interned_count;
        packets->interned[place] = (struct interned){text, field, iid};
        wire_put_integer(&entry, INTERNED_IID, iid);
        put_cut_text(&entry, INTERNED_TEXT, text);
        wire_put_message(&packets->names, field, &entry);
    }
    return packets->interned[place].iid;
}

void
perfetto_put_track(struct perfetto_packets *packets, const struct perfetto_track *track)
{
    uint8_t room[PERFETTO_TEXT_MAX + 64];
    struct wire *descriptor = &packets->event, inner = {.bytes = room, .room = sizeof room};
    wire_put_integer(descriptor, DESCRIPTOR_UUID, track->uuid);
    put_cut_text(descriptor, DESCRIPTOR_NAME, track->name);
    if (track->parent_uuid != 0)
        wire_put_integer(descriptor, DESCRIPTOR_PARENT, track->parent_uuid);
    wire_put_integer(descriptor, DESCRIPTOR_SIBLING_RANK, (uint64_t)track->place);
    if (track->kind == PERFETTO_PROCESS) {
        wire_put_integer(&inner, PROCESS_PID, (uint64_t)track->pid);
        put_cut_text(&inner, PROCESS_NAME, track->name);
        wire_put_message(descriptor, DESCRIPTOR_PROCESS, &inner);
        wire_put_integer(descriptor, DESCRIPTOR_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
    } else if (track->kind != PERFETTO_SLICES) {
        if (track->kind == PERFETTO_BYTES)
            wire_put_integer(&inner, COUNTER_UNIT, COUNTER_UNIT_BYTES);
        else
            wire_put_text(&inner, COUNTER_UNIT_NAME, "%");
        wire_put_message(descriptor, DESCRIPTOR_COUNTER, &inner);
    }
    wire_put_message(&packets->packet, PACKET_TRACK_DESCRIPTOR, descriptor);
    put_packet(packets, false);
}

/* Both ends are rounded to nanoseconds, so neighbours stay neighbours. */
static uint64_t
ns_of(int64_t ps)
{
    return (uint64_t)((ps + PS_PER_NS / 2) / PS_PER_NS);
}

static void
put_event(struct perfetto_packets *packets, int64_t at_ps, bool needs_names)
{
    wire_put_integer(&packets->packet, PACKET_TIMESTAMP, ns_of(at_ps));
    wire_put_message(&packets->packet, PACKET_TRACK_EVENT, &packets->event);
    put_packet(packets, needs_names);
}

static void
put_note(struct perfetto_packets *packets, const struct perfetto_note *note)
{
    uint8_t room[PERFETTO_TEXT_MAX + 64];
    struct wire inner = {.bytes = room, .room = sizeof room};
    wire_put_integer(&inner, NOTE_NAME_IID, intern(packets, INTERNED_NOTE_NAMES, note->name));
    if (note->kind == PERFETTO_TEXT)
        put_cut_text(&inner, NOTE_TEXT, note->text);
    else if (note->kind == PERFETTO_WHOLE)
        wire_put_integer(&inner, NOTE_INT, (uint64_t)note->whole);
    else
        wire_put_double(&inner, NOTE_DOUBLE, note->real);
    wire_put_message(&packets->event, EVENT_NOTE, &inner);
}

static void
put_arrows(struct wire *event, const struct perfetto_arrows *arrows)
{
    assert(arrows->start_count <= PERFETTO_ARROWS_MAX &&
           arrows->end_count <= PERFETTO_ARROWS_MAX);
    for (size_t i = 0; i < arrows->start_count; i++)
        wire_put_fixed64(event, EVENT_FLOW_IDS, arrows->starts[i]);
    for (size_t i = 0; i < arrows->end_count; i++)
        wire_put_fixed64(event, EVENT_ENDING_FLOW_IDS, arrows->ends[i]);
}

void
perfetto_put_slice(struct perfetto_packets *packets, const struct perfetto_slice *slice)
{
    assert(slice->note_count <= PERFETTO_NOTES_MAX);
    struct wire *event = &packets->event;
    wire_put_integer(event, EVENT_TYPE, TYPE_BEGIN);
    wire_put_integer(event, EVENT_TRACK, slice->track);
    wire_put_integer(event, EVENT_NAME_IID, intern(packets, INTERNED_NAMES, slice->name));
    wire_put_integer(event, EVENT_CATEGORY_IIDS,
                     intern(packets, INTERNED_CATEGORIES, slice->category));
    for (size_t i = 0; i < slice->note_count; i++)
        put_note(packets, &slice->notes[i]);
    put_arrows(event, &slice->arrows);
    put_event(packets, slice->start_ps, true);
    wire_put_integer(event, EVENT_TYPE, TYPE_END);
    wire_put_integer(event, EVENT_TRACK, slice->track);
    put_event(packets, slice->end_ps, false);
}

void
perfetto_put_counter(struct perfetto_packets *packets, uint64_t track, int64_t at_ps,
                     double value)
{
    wire_put_integer(&packets->event, EVENT_TYPE, TYPE_COUNTER);
    wire_put_integer(&packets->event, EVENT_TRACK, track);
    wire_put_double(&packets->event, EVENT_DOUBLE_VALUE, value);
    put_event(packets, at_ps, false);
}
