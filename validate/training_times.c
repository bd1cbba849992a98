/* How long each piece of work of a step took: a list that every step walks through. */
#include "validate/training_times.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct training_times
training_times_new(const struct training_marks *marks, struct arena *arena)
{
    return (struct training_times){.clock = measure_system_clock(),
                                   .core_clock = measure_core_clock(),
                                   .marks = marks,
                                   .arena = arena};
}

void
training_times_begin_step(struct training_times *times)
{
    times->next = 0;
    times->mark_count = 0;
    times->phase = TRAINING_PASSES;
    times->steps++;
}

double
training_times_now_s(const struct training_times *times)
{
    return times->clock.now_s(times->clock.context);
}

/* Where the work is now: the mark's number. */
static size_t
set_mark(struct training_times *times)
{
    times->marks->set(times->marks->context, times->mark_count);
    return times->mark_count++;
}

void
training_times_begin(struct training_times *times)
{
    if (times->marks)
        times->begin_mark = set_mark(times);
    else
        times->begin_s = times->core_clock.now_s(times->core_clock.context);
}

static bool
is_same(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static struct training_time *
next_item(struct training_times *times, const char *name, uint64_t peers)
{
    if (times->next == times->count) {
        times->items = arena_grow(times->arena, times->items, times->count, &times->capacity,
                                  sizeof *times->items);
        times->items[times->count++] = (struct training_time){
            .name = name, .phase = times->phase, .peers = peers, .least_s = INFINITY};
    }
    struct training_time *item = &times->items[times->next++];
    assert(is_same(item->name, name) && "every step runs the same work in the same order");
    return item;
}

static void
take(struct training_time *item, double seconds_s)
{
    item->last_s = seconds_s;
    item->least_s = fmin(item->least_s, seconds_s);
}

static void
end(struct training_times *times, const char *name, uint64_t peers)
{
    if (times->marks) {
        struct training_time *item = next_item(times, name, peers);
        item->from = times->begin_mark;
        item->to = times->begin_mark = set_mark(times);
        return;
    }
    double now_s = times->core_clock.now_s(times->core_clock.context);
    take(next_item(times, name, peers), now_s - times->begin_s);
    training_times_begin(times);
}

void
training_times_end_step(struct training_times *times)
{
    const struct training_marks *marks = times->marks;
    for (size_t i = 0; marks && i < times->next; i++) {
        struct training_time *item = &times->items[i];
        take(item, marks->between_s(marks->context, item->from, item->to));
    }
}

void
training_times_end(struct training_times *times, const char *name)
{
    end(times, name, 0);
}

void
training_times_end_exchange(struct training_times *times, const char *name, uint64_t peers)
{
    end(times, name, peers);
}

double
training_times_last_s(const struct training_times *times)
{
    double seconds_s = 0;
    for (size_t i = 0; i < times->count; i++)
        seconds_s += times->items[i].last_s;
    return seconds_s;
}

double
training_times_name_s(const struct training_times *times, const char *name, int64_t *runs)
{
    double seconds_s = 0;
    *runs = 0;
    for (size_t i = 0; i < times->count; i++) {
        if (!is_same(times->items[i].name, name))
            continue;
        seconds_s += times->items[i].least_s;
        (*runs)++;
    }
    return seconds_s;
}

bool
training_times_is_repeated(const struct training_times *times, size_t item)
{
    for (size_t i = 0; i < item; i++)
        if (is_same(times->items[i].name, times->items[item].name))
            return true;
    return false;
}
