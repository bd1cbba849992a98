/* Runs of plans, each sorted: one in memory while all fit, else one after the other in a file.
 *
 *      file   | run 0 | run 1 | run 2 |       each as long as what is held
 *               ^       ^       ^
 *      held   |.......|.......|.......|       of each the next few: the least of the first is next
 */
#include "sim/cli/bound_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

enum { HELD_USUAL = 1 << 17, RUNS_MAX = 1 << 14 };

/* A sorted part of the file; what is in memory of it begins at `held`. */
struct bound_run {
    size_t first, count; /* in the file */
    size_t loaded;       /* of them, read so far */
    struct bounded_plan *held;
    size_t held_count, taken; /* of those held */
};

struct bound_order {
    struct arena *arena;
    struct bounded_plan *plans; /* what is held */
    size_t room, held_most, count;
    FILE *file; /* NULL while all fit */
    struct bound_run *runs;
    size_t run_count, run_room;
    size_t window; /* of each run, what is held */
};

struct bound_order *
bound_order_new(size_t held_count, struct arena *arena)
{
    struct bound_order *order = arena_alloc(arena, 1, sizeof *order);
    order->arena = arena;
    order->held_most = held_count > 0 ? held_count : HELD_USUAL;
    return order;
}

void
bound_order_free(struct bound_order *order)
{
    if (order->file)
        (void)fclose(order->file);
}

static int
compare_plans(const void *a, const void *b)
{
    const struct bounded_plan *one = a, *two = b;
    if (one->bound_s < two->bound_s || one->bound_s > two->bound_s)
        return one->bound_s < two->bound_s ? -1 : 1;
    return (one->place > two->place) - (one->place < two->place);
}

static bool
fail(struct error_list *errors, const char *what)
{
    return error_add(errors, ERROR_IO, "temporary file of bounds", "cannot be %s: %s", what,
                     strerror(errno));
}

/* All of the bytes: the file is this process's, so that only a full disk stands in the way. */
static bool
write_plans(const struct bound_order *order, size_t first, struct error_list *errors)
{
    const char *bytes = (const char *)order->plans;
    size_t left = order->count * sizeof *order->plans;
    off_t at = (off_t)(first * sizeof *order->plans);
    while (left > 0) {
        ssize_t written = pwrite(fileno(order->file), bytes, left, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail(errors, "written");
        bytes += written;
        at += written;
        left -= (size_t)written;
    }
    return true;
}

static bool
read_plans(const struct bound_order *order, struct bounded_plan *plans, size_t first,
           size_t count)
{
    char *bytes = (char *)plans;
    size_t left = count * sizeof *plans;
    off_t at = (off_t)(first * sizeof *plans);
    while (left > 0) {
        ssize_t length = pread(fileno(order->file), bytes, left, at);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return false;
        bytes += length;
        at += length;
        left -= (size_t)length;
    }
    return true;
}

static struct bound_run *
add_run(struct bound_order *order, const struct bound_run *run)
{
    order->runs = arena_grow(order->arena, order->runs, order->run_count, &order->run_room,
                             sizeof *order->runs);
    order->runs[order->run_count] = *run;
    return &order->runs[order->run_count++];
}

/* What is held becomes a run of the file. */
static bool
spill(struct bound_order *order, struct error_list *errors)
{
    struct bound_run run = {.count = order->count};
    if (order->run_count > 0)
        run.first =
            order->runs[order->run_count - 1].first + order->runs[order->run_count - 1].count;
    if (!order->file)
        order->file = tmpfile();
    if (!order->file)
        return fail(errors, "made");
    if (order->run_count == RUNS_MAX)
        return error_add(errors, ERROR_INPUT, "", "has more than %zu plans",
                         run.first + run.count);
    qsort(order->plans, order->count, sizeof *order->plans, compare_plans);
    if (!write_plans(order, run.first, errors))
        return false;
    add_run(order, &run);
    order->count = 0;
    return true;
}

bool
bound_order_add(struct bound_order *order, const struct bounded_plan *plan,
                struct error_list *errors)
{
    if (order->count == order->held_most && !spill(order, errors))
        return false;
    order->plans = arena_grow(order->arena, order->plans, order->count, &order->room,
                              sizeof *order->plans);
    order->plans[order->count++] = *plan;
    return true;
}

bool
bound_order_sort(struct bound_order *order, struct error_list *errors)
{
    if (!order->file) {
        if (order->count > 0)
            qsort(order->plans, order->count, sizeof *order->plans, compare_plans);
        add_run(order, &(struct bound_run){.count = order->count,
                                           .loaded = order->count,
                                           .held = order->plans,
                                           .held_count = order->count});
        return true;
    }
    if (order->count > 0 && !spill(order, errors))
        return false;
    order->window = order->held_most / order->run_count;
    order->window += order->window == 0;
    if (order->window * order->run_count > order->room)
        order->plans =
            arena_alloc(order->arena, order->window * order->run_count, sizeof *order->plans);
    for (size_t i = 0; i < order->run_count; i++)
        order->runs[i].held = order->plans + i * order->window;
    return true;
}

/* Whether the run has a next one in memory. */
static bool
load(const struct bound_order *order, struct bound_run *run, struct error_list *errors)
{
    size_t left = run->count - run->loaded;
    if (run->taken < run->held_count || left == 0)
        return true;
    run->held_count = left < order->window ? left : order->window;
    run->taken = 0;
    if (!read_plans(order, run->held, run->first + run->loaded, run->held_count))
        return fail(errors, "read");
    run->loaded += run->held_count;
    return true;
}

bool
bound_order_next(struct bound_order *order, struct bounded_plan *plan,
                 struct error_list *errors)
{
    struct bound_run *least = NULL;
    for (size_t i = 0; i < order->run_count; i++) {
        struct bound_run *run = &order->runs[i];
        if (!load(order, run, errors))
            return false;
        if (run->taken < run->held_count &&
            (!least || compare_plans(&run->held[run->taken], &least->held[least->taken]) < 0))
            least = run;
    }
    if (least)
        *plan = least->held[least->taken++];
    return least != NULL;
}

/* The run's place-th, from memory where all of it is there. */
static double
bound_at(const struct bound_order *order, const struct bound_run *run, size_t place)
{
    struct bounded_plan plan = {0};
    if (!order->file)
        return run->held[place].bound_s;
    return read_plans(order, &plan, run->first + place, 1) ? plan.bound_s : 0;
}

size_t
bound_order_below(const struct bound_order *order, double bound_s)
{
    size_t count = 0;
    for (size_t i = 0; i < order->run_count; i++) {
        const struct bound_run *run = &order->runs[i];
        size_t low = 0, high = run->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (bound_at(order, run, middle) < bound_s)
                low = middle + 1;
            else
                high = middle;
        }
        count += low;
    }
    return count;
}
