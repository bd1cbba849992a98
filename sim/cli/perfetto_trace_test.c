/* Does a Perfetto trace, read back by a decoder of its own, hold the step and nothing wrong? */
#include "sim/cli/perfetto_trace.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

Suite *perfetto_trace_suite(void);

static struct arena *arena;

/* ---- A decoder of fields */

struct cursor {
    const uint8_t *at, *end;
};

struct field {
    uint32_t number;
    uint64_t value; /* of a varint or a fixed64 */
    struct cursor bytes;
};

static uint64_t
read_varint(struct cursor *cursor)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        CHECK_OFTEN(cursor->at < cursor->end);
        uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
    ck_abort_msg("a number of more than ten bytes");
    return 0;
}

static bool
read_field(struct cursor *cursor, struct field *field)
{
    if (cursor->at == cursor->end)
        return false;
    uint64_t tag = read_varint(cursor);
    *field = (struct field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case 0:
        field->value = read_varint(cursor);
        return true;
    case 1:
        CHECK_OFTEN(cursor->end - cursor->at >= 8);
        for (int i = 0; i < 8; i++)
            field->value |= (uint64_t)*cursor->at++ << (8 * i);
        return true;
    case 2: {
        uint64_t length = read_varint(cursor);
        CHECK_OFTEN(length <= (uint64_t)(cursor->end - cursor->at));
        field->bytes = (struct cursor){cursor->at, cursor->at + length};
        cursor->at += length;
        return true;
    }
    default:
        ck_abort_msg("kind %d of a field", (int)(tag & 7));
    }
    return false;
}

static double
real_of(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const char *
text_of(struct cursor bytes)
{
    return arena_format(arena, "%.*s", (int)(bytes.end - bytes.at), (const char *)bytes.at);
}

/* ---- What a trace holds */

enum { TRACKS_MAX = 512, NAMES_MAX = 1024 };

struct track {
    uint64_t uuid, parent;
    const char *name;
    bool is_open;
    uint64_t last_stamp; /* in nanoseconds */
    double value;        /* of a counter */
    double sum;          /* of a counter over nanoseconds */
};

struct content {
    struct track tracks[TRACKS_MAX];
    size_t track_count, last_track;
    const char *names[NAMES_MAX]; /* by number */
    const char *kinds[NAMES_MAX];
    int64_t account_ps[STEP_CLASS_COUNT]; /* of the representative rank's track */
    uint64_t *starts, *ends;              /* of arrows */
    size_t start_count, start_room, end_count, end_room;
    size_t slice_count, packet_count;
};

static struct content *content;
static uint64_t representative_account;

static struct track *
find_track(uint64_t uuid)
{
    for (size_t tried = 0; tried < content->track_count; tried++) {
        struct track *track = &content->tracks[content->last_track];
        if (track->uuid == uuid)
            return track;
        content->last_track = (content->last_track + 1) % content->track_count;
    }
    ck_abort_msg("an event of a track that was not said");
    return NULL;
}

static void
read_descriptor(struct cursor cursor)
{
    struct field field;
    ck_assert_uint_lt(content->track_count, TRACKS_MAX);
    struct track *track = &content->tracks[content->track_count];
    while (read_field(&cursor, &field)) {
        if (field.number == 1)
            track->uuid = field.value;
        if (field.number == 2)
            track->name = text_of(field.bytes);
        if (field.number == 5)
            track->parent = field.value;
    }
    for (size_t i = 0; i < content->track_count; i++)
        ck_assert_uint_ne(content->tracks[i].uuid, track->uuid);
    content->track_count++;
    if (track->parent != 0)
        find_track(track->parent);
}

static void
read_interned(struct cursor cursor)
{
    struct field field, inner;
    while (read_field(&cursor, &field)) {
        uint64_t iid = 0;
        const char *text = NULL;
        while (read_field(&field.bytes, &inner)) {
            iid = inner.number == 1 ? inner.value : iid;
            text = inner.number == 2 ? text_of(inner.bytes) : text;
        }
        ck_assert(iid > 0 && iid < NAMES_MAX && text && !content->names[iid]);
        content->names[iid] = text;
    }
}

static enum step_class
class_named(const char *key)
{
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (strcmp(step_class_key((enum step_class)i), key) == 0)
            return (enum step_class)i;
    ck_abort_msg("no class %s", key);
    return CLASS_BUBBLE;
}

struct event {
    uint64_t stamp, type, track, name_iid, value;
    int64_t duration_ps;
};

static void
keep(uint64_t **list, size_t *count, size_t *room, uint64_t value)
{
    *list = arena_grow(arena, *list, *count, room, sizeof **list);
    (*list)[(*count)++] = value;
}

/* A note must have a name that is known; of accounts it is the exact duration. */
static void
read_note(struct cursor cursor, struct event *event)
{
    struct field field;
    const char *name = NULL;
    while (read_field(&cursor, &field)) {
        if (field.number == 1)
            name = content->names[field.value];
        if (field.number == 4 && name && strcmp(name, "duration_ps") == 0)
            event->duration_ps = (int64_t)field.value;
    }
    CHECK_OFTEN(name);
}

static struct event
read_event(struct cursor cursor, uint64_t stamp)
{
    struct event event = {.stamp = stamp};
    struct field field;
    while (read_field(&cursor, &field)) {
        if (field.number == 9)
            event.type = field.value;
        if (field.number == 11)
            event.track = field.value;
        if (field.number == 10)
            event.name_iid = field.value;
        if (field.number == 44)
            event.value = field.value;
        if (field.number == 4)
            read_note(field.bytes, &event);
        if (field.number == 47)
            keep(&content->starts, &content->start_count, &content->start_room, field.value);
        if (field.number == 48)
            keep(&content->ends, &content->end_count, &content->end_room, field.value);
    }
    return event;
}

/* Slices of a track: opened, closed, and never one within or across another. */
static void
take_event(const struct event *event)
{
    struct track *track = find_track(event->track);
    CHECK_OFTEN(event->stamp >= track->last_stamp);
    if (event->type == 4)
        track->sum += track->value * (double)(event->stamp - track->last_stamp);
    if (event->type == 4)
        track->value = real_of(event->value);
    if (event->type == 1) {
        CHECK_OFTEN(!track->is_open);
        CHECK_OFTEN(content->names[event->name_iid]);
        track->is_open = true;
        content->slice_count++;
        if (event->track == representative_account)
            content->account_ps[class_named(content->names[event->name_iid])] +=
                event->duration_ps;
    }
    if (event->type == 2) {
        CHECK_OFTEN(track->is_open);
        track->is_open = false;
    }
    track->last_stamp = event->stamp;
}

static void
read_packet(struct cursor cursor)
{
    struct field field;
    struct cursor event = {NULL, NULL}, names = {NULL, NULL};
    uint64_t stamp = 0, sequence = 0, flags = 0;
    while (read_field(&cursor, &field)) {
        if (field.number == 8)
            stamp = field.value;
        if (field.number == 10)
            sequence = field.value;
        if (field.number == 11)
            event = field.bytes;
        if (field.number == 12)
            names = field.bytes;
        if (field.number == 13)
            flags = field.value;
        if (field.number == 60)
            read_descriptor(field.bytes);
    }
    CHECK_OFTEN(sequence == 1);
    CHECK_OFTEN((flags & 1) == (content->packet_count++ == 0));
    read_interned(names);
    if (!event.at)
        return;
    struct event read = read_event(event, stamp);
    CHECK_OFTEN(read.name_iid == 0 || (flags & 2)); /* what needs names says so */
    take_event(&read);
}

static void
put(void *context, const char *bytes, size_t length)
{
    text_append(context, bytes, length);
}

static const struct step *
trace(const char *file, const char *setting, enum program_ranks ranks)
{
    struct error_list errors = {0};
    struct run_request request = {
        .file = file, .settings = &setting, .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, ranks, arena, &errors);
    struct text text = text_new(arena);
    const struct trace_sink sink = {put, &text};
    uint64_t length = perfetto_trace_write(step, &sink, arena);
    ck_assert_uint_eq(length, text.length);
    uint32_t slot = lowered_slot(&step->lowered, step->lowered.representative);
    representative_account = 1 + (uint64_t)slot * (2 + STEP_LANE_COUNT + 1) + 1;
    content = arena_alloc(arena, 1, sizeof *content);
    struct cursor cursor = {(const uint8_t *)text.bytes,
                            (const uint8_t *)text.bytes + text.length};
    struct field field;
    while (read_field(&cursor, &field)) {
        CHECK_OFTEN(field.number == 1);
        read_packet(field.bytes);
    }
    return step;
}

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

/* ---- What must be so */

static int
compare_ids(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

static void
check_whole(const struct step *step)
{
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        ck_assert_int_eq(content->account_ps[i], step->class_ps[i]);
    for (size_t i = 0; i < content->track_count; i++)
        ck_assert(!content->tracks[i].is_open);
    ck_assert_uint_eq(content->start_count, content->end_count);
    if (content->start_count > 0) {
        qsort(content->starts, content->start_count, sizeof *content->starts, compare_ids);
        qsort(content->ends, content->end_count, sizeof *content->ends, compare_ids);
    }
    for (size_t i = 0; i < content->start_count; i++) {
        ck_assert_uint_eq(content->starts[i], content->ends[i]);
        ck_assert(i == 0 || content->starts[i] != content->starts[i - 1]);
    }
}

START_TEST(slices_never_overlap_and_accounts_are_the_breakdown_to_the_picosecond)
{
    check_whole(trace("configs/runs/zaya1-base-4k-1024.json", NULL, RANKS_FOLDED));
    ck_assert_uint_eq(content->start_count, 0); /* one rank has nobody to wait for */
    check_whole(trace("configs/runs/h200-eager-m1-dp8-ep4-skew.json", NULL, RANKS_FOLDED));
    ck_assert_uint_gt(content->start_count, 0);
}
END_TEST

/* Each of 3 boundaries passes 8 microbatches forward and back: an arrow each, on each of the two
 * expert ranks where these are told apart; the rest are collectives. */
START_TEST(messages_between_stages_have_arrows)
{
    const struct step *step =
        trace("configs/runs/h200-eager-m1-pp4-ep2.json", NULL, RANKS_FOLDED);
    size_t sent = 0;
    check_whole(step);
    for (size_t i = 0; i < content->track_count; i++)
        sent += strncmp(content->tracks[i].name, "activations to", 14) == 0 ||
                strncmp(content->tracks[i].name, "gradients to", 12) == 0;
    ck_assert_uint_eq(sent, 6 * (size_t)step->lowered.program->expert_places);
    ck_assert_uint_ge(content->start_count,
                      3 * 8 * 2 * (size_t)step->lowered.program->expert_places);
}
END_TEST

START_TEST(every_rank_has_its_tracks)
{
    const struct step *step = trace("configs/runs/h200-eager-m1-pp4-ep2.json", NULL, RANKS_ALL);
    size_t ranks = 0;
    check_whole(step);
    for (size_t i = 0; i < content->track_count; i++)
        ranks += strncmp(content->tracks[i].name, "rank ", 5) == 0;
    ck_assert_uint_eq(ranks, 8);
}
END_TEST

/* Work of the NICs over all rails' GPUs: nic_fraction times the seconds that the work takes alone,
 * which a counter in percent has as its area over the time. */
START_TEST(rails_are_in_use_as_long_as_the_work_takes)
{
    const struct step *step = trace("configs/runs/mixtral-8x7b-tp2-pp4-ep4.json",
                                    "plan.global_batch_sequences=64", RANKS_FOLDED);
    double wanted_s = 0, found_s = 0;
    for (uint32_t lane = 0; lane < (uint32_t)task_graph_lane_count(step->lowered.graph);
         lane++) {
        size_t count = 0;
        const uint32_t *tasks = trace_lane_tasks(step->trace, lane, &count);
        for (size_t i = 0; i < count && lane % STEP_LANE_COUNT >= LANE_DATA; i++) {
            const struct step_work *work = step_work_of(step, tasks[i]);
            wanted_s += work->nic_fraction * work->work_s / 4;
        }
    }
    for (size_t i = 0; i < content->track_count; i++)
        if (strncmp(content->tracks[i].name, "rail ", 5) == 0)
            found_s += content->tracks[i].sum * 1e-9 / 100 / 8;
    ck_assert_double_gt(found_s, 1e-3);
    CHECK_NEAR(found_s, wanted_s, 1e-4); /* both ends of each exchange are in whole ns */
}
END_TEST

Suite *
perfetto_trace_suite(void)
{
    Suite *suite = suite_create("perfetto_trace");
    TCase *tests = tcase_create("read back");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests,
                   slices_never_overlap_and_accounts_are_the_breakdown_to_the_picosecond);
    tcase_add_test(tests, messages_between_stages_have_arrows);
    tcase_add_test(tests, every_rank_has_its_tracks);
    tcase_add_test(tests, rails_are_in_use_as_long_as_the_work_takes);
    suite_add_tcase(suite, tests);
    return suite;
}
