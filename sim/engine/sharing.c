/* Progressive filling: one heap of the levels at which something stops rising.
 *
 *   level of a taker      top_rate / weight: there it is at its top rate
 *   level of a resource   (capacity - sum of amount * rate over takers that stopped)
 *                         / (sum of amount * weight over takers that still rise): there it is
 * full
 *
 * A taker that stops at some level leaves more to the others than it would have taken above it,
 * so the levels of its resources only rise. Hence the heap may hold outdated levels of
 * resources: they are too low, and are corrected when they come to the top.
 *
 * Few takers ask the same again and again, as kernels of equal layers beside equal collectives do:
 * such questions are kept with their answers. */
#include "sim/engine/sharing.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static const double RISING = -1; /* the rate of a taker that has not stopped */

struct resource {
    double capacity_per_s;
    double taken_per_s;    /* by takers that stopped */
    double slope;          /* of those that still rise: sum of amount * weight */
    uint32_t rising_count; /* usages by those */
    uint32_t share_begin;  /* its first share; the next resource's is its end */
};

struct taker {
    double top_rate_per_s;
    double weight;
    double rate_per_s;
    uint32_t usage_begin;
};

struct usage {
    double amount;
    uint32_t resource;
};

/* A usage as its resource sees it. */
struct share {
    double amount;
    uint32_t taker;
};

struct stop {
    double level;
    uint32_t index; /* a taker, or resource + taker_count: takers come first on ties */
};

enum {
    KEPT_TAKERS = 4,
    KEPT_RESOURCES = 4,
    KEPT_USAGES = 8,
    KEPT_NUMBERS = 1 + 2 * KEPT_TAKERS + KEPT_RESOURCES + KEPT_USAGES,
    KEPT_PLACES = 64, /* a power of two */
};

/* Which usages are of which taker and resource, in octal digits: never 0; and all numbers. */
struct question {
    uint64_t shape;
    uint64_t hash;
    size_t number_count;
    double numbers[KEPT_NUMBERS];
};

struct kept {
    uint64_t shape; /* 0: nothing is kept here yet */
    double numbers[KEPT_NUMBERS];
    double rates_per_s[KEPT_TAKERS];
};

struct sharing {
    struct arena *arena;
    struct taker *takers; /* and one more that ends the last one's usages */
    size_t taker_count, taker_capacity;
    struct resource *resources; /* and one more that ends the last one's shares */
    size_t resource_count, resource_capacity;
    struct usage *usages;
    size_t usage_count, usage_capacity;
    struct share *shares; /* as many as usages */
    size_t share_capacity;
    struct stop *stops; /* a binary heap */
    size_t stop_count, stop_capacity;
    size_t rising_count; /* takers */
    double level;        /* reached so far */
    struct kept *kept;   /* by hash: the last such question */
};

struct sharing *
sharing_new(struct arena *arena)
{
    struct sharing *sharing = arena_alloc(arena, 1, sizeof *sharing);
    sharing->arena = arena;
    sharing->resources =
        arena_grow(arena, NULL, 0, &sharing->resource_capacity, sizeof *sharing->resources);
    sharing->kept = arena_alloc_unset(arena, KEPT_PLACES, sizeof *sharing->kept);
    for (int i = 0; i < KEPT_PLACES; i++)
        sharing->kept[i].shape = 0;
    return sharing;
}

void
sharing_clear(struct sharing *sharing, double level)
{
    sharing->level = level;
    sharing->taker_count = 0;
    sharing->resource_count = 0;
    sharing->usage_count = 0;
}

uint32_t
sharing_add_resource(struct sharing *sharing, double capacity_per_s)
{
    sharing->resources =
        arena_grow(sharing->arena, sharing->resources, sharing->resource_count + 1,
                   &sharing->resource_capacity, sizeof *sharing->resources);
    sharing->resources[sharing->resource_count] =
        (struct resource){.capacity_per_s = capacity_per_s};
    return (uint32_t)sharing->resource_count++;
}

void
sharing_set_capacity(struct sharing *sharing, uint32_t resource, double capacity_per_s)
{
    assert(resource < sharing->resource_count);
    sharing->resources[resource].capacity_per_s = capacity_per_s;
}

uint32_t
sharing_add_taker(struct sharing *sharing, double top_rate_per_s, double weight)
{
    assert(top_rate_per_s > 0 && weight > 0);
    if (sharing->taker_count + 1 >=
        sharing->taker_capacity) { /* asked here: a call costs more */
        sharing->takers = arena_grow(sharing->arena, sharing->takers, sharing->taker_count + 1,
                                     &sharing->taker_capacity, sizeof *sharing->takers);
    }
    sharing->takers[sharing->taker_count] = (struct taker){
        .top_rate_per_s = top_rate_per_s,
        .weight = weight,
        .rate_per_s = RISING,
        .usage_begin = (uint32_t)sharing->usage_count,
    };
    return (uint32_t)sharing->taker_count++;
}

void
sharing_add_usage(struct sharing *sharing, uint32_t resource, double amount)
{
    assert(sharing->taker_count > 0 && resource < sharing->resource_count && amount > 0);
    assert(sharing->usage_count < UINT32_MAX);
    if (sharing->usage_count == sharing->usage_capacity) {
        sharing->usages = arena_grow(sharing->arena, sharing->usages, sharing->usage_count,
                                     &sharing->usage_capacity, sizeof *sharing->usages);
    }
    sharing->usages[sharing->usage_count++] =
        (struct usage){.amount = amount, .resource = resource};
}

static void
make_room(struct sharing *sharing)
{
    size_t usages = sharing->usage_count;
    size_t stops = sharing->taker_count + sharing->resource_count;
    sharing->shares = arena_grow(sharing->arena, sharing->shares, usages,
                                 &sharing->share_capacity, sizeof *sharing->shares);
    sharing->stops = arena_grow(sharing->arena, sharing->stops, stops, &sharing->stop_capacity,
                                sizeof *sharing->stops);
}

static void
end_lists(struct sharing *sharing)
{
    uint32_t end = (uint32_t)sharing->usage_count;
    sharing->takers[sharing->taker_count].usage_begin = end;
    sharing->resources[sharing->resource_count].share_begin = end;
}

/* Sorts usages by resource and adds up the slopes. */
static void
fill_shares(struct sharing *sharing)
{
    for (size_t i = 0; i < sharing->usage_count; i++) {
        sharing->resources[sharing->usages[i].resource].rising_count++;
    }
    uint32_t end = 0;
    for (size_t i = 0; i < sharing->resource_count; i++) {
        end += sharing->resources[i].rising_count;
        sharing->resources[i].share_begin = end;
    }
    for (size_t i = sharing->taker_count; i-- > 0;) {
        const struct taker *taker = &sharing->takers[i];
        for (uint32_t u = taker[1].usage_begin; u-- > taker->usage_begin;) {
            const struct usage *usage = &sharing->usages[u];
            struct resource *resource = &sharing->resources[usage->resource];
            resource->slope += usage->amount * taker->weight;
            sharing->shares[--resource->share_begin] =
                (struct share){.amount = usage->amount, .taker = (uint32_t)i};
        }
    }
}

static bool
stop_is_before(const struct stop *a, const struct stop *b)
{
    return a->level < b->level || (a->level == b->level && a->index < b->index);
}

static void
descend(struct sharing *sharing, size_t at, struct stop stop)
{
    for (size_t child = 2 * at + 1; child < sharing->stop_count; child = 2 * at + 1) {
        if (child + 1 < sharing->stop_count &&
            stop_is_before(&sharing->stops[child + 1], &sharing->stops[child])) {
            child++;
        }
        if (!stop_is_before(&sharing->stops[child], &stop)) {
            break;
        }
        sharing->stops[at] = sharing->stops[child];
        at = child;
    }
    sharing->stops[at] = stop;
}

static void
drop_first_stop(struct sharing *sharing)
{
    sharing->stop_count--;
    if (sharing->stop_count > 0) {
        descend(sharing, 0, sharing->stops[sharing->stop_count]);
    }
}

static void
add_stop(struct sharing *sharing, double level, size_t index)
{
    sharing->stops[sharing->stop_count++] =
        (struct stop){.level = level, .index = (uint32_t)index};
}

static void
fill_stops(struct sharing *sharing)
{
    sharing->stop_count = 0;
    for (size_t i = 0; i < sharing->taker_count; i++) {
        add_stop(sharing, sharing->takers[i].top_rate_per_s / sharing->takers[i].weight, i);
    }
    for (size_t i = 0; i < sharing->resource_count; i++) {
        const struct resource *resource = &sharing->resources[i];
        if (resource->rising_count > 0) {
            add_stop(sharing, resource->capacity_per_s / resource->slope,
                     sharing->taker_count + i);
        }
    }
    for (size_t i = sharing->stop_count / 2; i-- > 0;) {
        descend(sharing, i, sharing->stops[i]);
    }
}

static void
stop_taker(struct sharing *sharing, struct taker *taker, double rate_per_s)
{
    taker->rate_per_s = rate_per_s;
    sharing->rising_count--;
    for (uint32_t u = taker->usage_begin; u < taker[1].usage_begin; u++) {
        const struct usage *usage = &sharing->usages[u];
        struct resource *resource = &sharing->resources[usage->resource];
        resource->taken_per_s += usage->amount * rate_per_s;
        resource->slope -= usage->amount * taker->weight;
        resource->rising_count--;
    }
}

/* From the running sums; low by rounding at most. */
static double
resource_level(const struct resource *resource, double at_least)
{
    if (resource->slope <= 0) {
        return at_least;
    }
    double level = (resource->capacity_per_s - resource->taken_per_s) / resource->slope;
    return level > at_least ? level : at_least;
}

/* The sums added up anew: subtraction has left rounding in the running ones. */
static void
add_up_anew(const struct sharing *sharing, struct resource *resource)
{
    resource->taken_per_s = 0;
    resource->slope = 0;
    for (uint32_t s = resource->share_begin; s < resource[1].share_begin; s++) {
        const struct share *share = &sharing->shares[s];
        const struct taker *taker = &sharing->takers[share->taker];
        if (taker->rate_per_s == RISING) {
            resource->slope += share->amount * taker->weight;
        } else {
            resource->taken_per_s += share->amount * taker->rate_per_s;
        }
    }
}

static double
rate_at_level(const struct taker *taker, double level)
{
    double rate_per_s = level * taker->weight;
    bool is_at_top = rate_per_s * (1 + SHARING_TOLERANCE) >= taker->top_rate_per_s;
    return is_at_top ? taker->top_rate_per_s : rate_per_s;
}

/* The resource is full: whoever still rises on it stops at the level. */
static void
stop_takers_of(struct sharing *sharing, struct resource *resource)
{
    for (uint32_t s = resource->share_begin; s < resource[1].share_begin; s++) {
        struct taker *taker = &sharing->takers[sharing->shares[s].taker];
        if (taker->rate_per_s == RISING) {
            stop_taker(sharing, taker, rate_at_level(taker, sharing->level));
        }
    }
}

/* The new level, or the old one if they agree but for rounding. */
static double
raised(double old_level, double new_level)
{
    return new_level > old_level * (1 + SHARING_TOLERANCE) ? new_level : old_level;
}

static void
fill_resource(struct sharing *sharing, struct resource *resource, struct stop stop)
{
    double level = resource_level(resource, sharing->level);
    if (level > stop.level * (1 + SHARING_TOLERANCE)) {
        stop.level = level;
        descend(sharing, 0, stop);
        return;
    }
    drop_first_stop(sharing);
    add_up_anew(sharing, resource);
    sharing->level = raised(sharing->level, resource_level(resource, sharing->level));
    stop_takers_of(sharing, resource);
}

static void
take_first_stop(struct sharing *sharing)
{
    struct stop stop = sharing->stops[0];
    if (stop.index >= sharing->taker_count) {
        struct resource *resource = &sharing->resources[stop.index - sharing->taker_count];
        if (resource->rising_count > 0) {
            fill_resource(sharing, resource, stop);
            return;
        }
    } else if (sharing->takers[stop.index].rate_per_s == RISING) {
        struct taker *taker = &sharing->takers[stop.index];
        sharing->level = raised(sharing->level, stop.level);
        stop_taker(sharing, taker, taker->top_rate_per_s);
    }
    drop_first_stop(sharing);
}

static void
fill(struct sharing *sharing)
{
    make_room(sharing);
    end_lists(sharing);
    fill_shares(sharing);
    fill_stops(sharing);
    sharing->rising_count = sharing->taker_count;
    while (sharing->rising_count > 0)
        take_first_stop(sharing);
}

static bool
is_kept(const struct sharing *sharing)
{
    return sharing->taker_count <= KEPT_TAKERS && sharing->resource_count <= KEPT_RESOURCES &&
           sharing->usage_count <= KEPT_USAGES;
}

static void
ask(struct question *question, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    question->hash = question->hash * 31 + bits;
    question->numbers[question->number_count++] = number;
}

/* What is asked, before anything of it is answered. */
static void
write_question(const struct sharing *sharing, struct question *question)
{
    enum { NEXT_TAKER = 7 };
    question->shape = 1 + sharing->resource_count;
    question->hash = question->number_count = 0;
    ask(question, sharing->level);
    for (size_t i = 0; i < sharing->resource_count; i++)
        ask(question, sharing->resources[i].capacity_per_s);
    size_t usage = 0;
    for (size_t i = 0; i < sharing->taker_count; i++) {
        const struct taker *taker = &sharing->takers[i];
        size_t end = i + 1 < sharing->taker_count ? taker[1].usage_begin : sharing->usage_count;
        question->shape = question->shape * 8 + NEXT_TAKER;
        ask(question, taker->top_rate_per_s);
        ask(question, taker->weight);
        for (; usage < end; usage++) {
            question->shape = question->shape * 8 + sharing->usages[usage].resource;
            ask(question, sharing->usages[usage].amount);
        }
    }
}

/* Answered from what is kept, or worked out and kept in place of what was. */
static void
look_up(struct sharing *sharing)
{
    struct question question;
    write_question(sharing, &question);
    uint64_t mixed = (question.hash ^ question.shape) * 0x9E3779B97F4A7C15u;
    struct kept *kept = &sharing->kept[mixed >> 32 & (KEPT_PLACES - 1)];
    size_t bytes = question.number_count * sizeof *question.numbers;
    if (kept->shape == question.shape && memcmp(kept->numbers, question.numbers, bytes) == 0) {
        for (size_t i = 0; i < sharing->taker_count; i++)
            sharing->takers[i].rate_per_s = kept->rates_per_s[i];
        return;
    }
    fill(sharing);
    kept->shape = question.shape;
    memcpy(kept->numbers, question.numbers, bytes);
    for (size_t i = 0; i < sharing->taker_count; i++)
        kept->rates_per_s[i] = sharing->takers[i].rate_per_s;
}

void
sharing_solve(struct sharing *sharing)
{
    if (sharing->taker_count == 0)
        return;
    if (is_kept(sharing))
        look_up(sharing);
    else
        fill(sharing);
}

double
sharing_rate_per_s(const struct sharing *sharing, uint32_t taker)
{
    assert(taker < sharing->taker_count);
    return sharing->takers[taker].rate_per_s;
}
