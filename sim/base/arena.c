/* An arena: a chain of blocks from malloc, filled from the front, freed together.
 *
 * Large requests get a block of their own, so that a growing array can be handed to realloc,
 * which moves pages instead of copying them. A cleared arena keeps its blocks, by size, for the
 * requests that come next. */
#include "sim/base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 64 * 1024,
    LARGE_BYTES = BLOCK_BYTES / 4, /* from here on a request has its own block */
    ALIGNMENT = _Alignof(max_align_t),
    SPARE_SIZES = 65, /* a list for each power of two */
};

struct block {
    struct block *next;
    struct block *previous;
    size_t capacity_bytes;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct arena_policy policy;
    struct block *blocks; /* a list in no particular order */
    struct block *open;   /* the one that small requests are cut from; NULL at first */
    size_t open_used_bytes;
    size_t size_bytes;
    struct block *spares[SPARE_SIZES]; /* lists by `next` alone: of capacities from 2^i on */
};

struct arena *
arena_new(const struct arena_policy *policy)
{
    assert(policy->out_of_memory && "an arena needs to know what to do when memory ends");
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        policy->out_of_memory(policy->context, sizeof *arena);
    assert(arena && "out_of_memory must not return");
    arena->policy = *policy;
    return arena;
}

struct arena *
arena_new_beside(const struct arena *arena)
{
    return arena_new(&arena->policy);
}

static void
free_list(struct arena *arena, struct block *first)
{
    for (struct block *block = first, *next; block; block = next) {
        next = block->next;
        arena->size_bytes -= block->capacity_bytes;
        free(block);
    }
}

static void
free_spares(struct arena *arena)
{
    for (int i = 0; i < SPARE_SIZES; i++) {
        free_list(arena, arena->spares[i]);
        arena->spares[i] = NULL;
    }
}

void
arena_free(struct arena *arena)
{
    if (!arena)
        return;
    free_list(arena, arena->blocks);
    free_spares(arena);
    free(arena);
}

/* The power of two that a size is not below. */
static int
size_class(size_t bytes)
{
    int class = 0;
    while (bytes >>= 1)
        class ++;
    return class;
}

static void
keep_spare(struct arena *arena, struct block *block)
{
    struct block **spares = &arena->spares[size_class(block->capacity_bytes)];
    block->next = *spares;
    *spares = block;
}

void
arena_clear(struct arena *arena)
{
    for (struct block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        keep_spare(arena, block);
    }
    arena->blocks = NULL;
    arena->open = NULL;
    arena->open_used_bytes = 0;
}

/* A spare block that holds so much, and less than four times as much; NULL: none at hand. */
static struct block *
take_spare(struct arena *arena, size_t bytes)
{
    enum { LOOKED_AT_MOST = 8 }; /* of the same power of two: the others are large enough */
    struct block **place = &arena->spares[size_class(bytes)];
    int looked_at = 0;
    while (*place && (*place)->capacity_bytes < bytes && looked_at++ < LOOKED_AT_MOST)
        place = &(*place)->next;
    if (!*place || (*place)->capacity_bytes < bytes)
        place = &arena->spares[size_class(bytes) + 1];
    struct block *found = *place;
    if (found)
        *place = found->next;
    return found;
}

static void
list_insert(struct arena *arena, struct block *block)
{
    block->previous = NULL;
    block->next = arena->blocks;
    if (block->next)
        block->next->previous = block;
    arena->blocks = block;
}

static void
list_remove(struct arena *arena, const struct block *block)
{
    if (block->previous)
        block->previous->next = block->next;
    else
        arena->blocks = block->next;
    if (block->next)
        block->next->previous = block->previous;
}

/* The neighbours of a block that may have moved. */
static void
list_relink(struct arena *arena, struct block *block)
{
    if (block->previous)
        block->previous->next = block;
    else
        arena->blocks = block;
    if (block->next)
        block->next->previous = block;
}

/* A block of that capacity: `old` made larger, or a new one for NULL; NULL where memory ends. */
static struct block *
block_try(const struct arena *arena, struct block *old, size_t capacity_bytes)
{
    size_t old_bytes = old ? old->capacity_bytes : 0;
    size_t limit = arena->policy.limit_bytes;
    bool is_within = capacity_bytes < SIZE_MAX / 2 &&
                     (limit == 0 || arena->size_bytes - old_bytes + capacity_bytes <= limit);
    return is_within ? realloc(old, sizeof *old + capacity_bytes) : NULL;
}

/* The same, spares given up for it if need be, or the end of memory. A new one is in no list yet, a
 * moved one is to be linked anew; without memory the old one stays as it is. */
static struct block *
block_resize(struct arena *arena, struct block *old, size_t capacity_bytes)
{
    size_t old_bytes = old ? old->capacity_bytes : 0;
    struct block *block = block_try(arena, old, capacity_bytes);
    if (!block) {
        free_spares(arena);
        block = block_try(arena, old, capacity_bytes);
    }
    if (!block)
        arena->policy.out_of_memory(arena->policy.context, capacity_bytes);
    assert(block && "out_of_memory must not return");
    block->capacity_bytes = capacity_bytes;
    arena->size_bytes += capacity_bytes - old_bytes;
    return block;
}

static struct block *
block_new(struct arena *arena, size_t capacity_bytes)
{
    struct block *spare = take_spare(arena, capacity_bytes);
    struct block *block = spare ? spare : block_resize(arena, NULL, capacity_bytes);
    list_insert(arena, block);
    return block;
}

static size_t
round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t
request_bytes(struct arena *arena, size_t count, size_t size)
{
    bool is_countable = !size || count <= SIZE_MAX / 4 / size;
    if (!is_countable)
        arena->policy.out_of_memory(arena->policy.context, SIZE_MAX);
    assert(is_countable && "out_of_memory must not return");
    return round_up(count * size);
}

static void *
take_bytes(struct arena *arena, size_t bytes)
{
    if (bytes >= LARGE_BYTES)
        return block_new(arena, bytes)->bytes;
    if (!arena->open || bytes > BLOCK_BYTES - arena->open_used_bytes) {
        arena->open = block_new(arena, BLOCK_BYTES);
        arena->open_used_bytes = 0;
    }
    void *place = arena->open->bytes + arena->open_used_bytes;
    arena->open_used_bytes += bytes;
    return place;
}

void *
arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = request_bytes(arena, count, size);
    return memset(take_bytes(arena, bytes), 0, bytes);
}

void *
arena_alloc_unset(struct arena *arena, size_t count, size_t size)
{
    return take_bytes(arena, request_bytes(arena, count, size));
}

void *
arena_copy(struct arena *arena, const void *from, size_t size)
{
    return memcpy(arena_alloc_unset(arena, 1, size), from, size);
}

/* What the block holds in a spare one, the block being spare from now on. */
static struct block *
block_move(struct arena *arena, struct block *block, struct block *spare, size_t used_bytes)
{
    memcpy(spare->bytes, block->bytes, used_bytes);
    list_remove(arena, block);
    keep_spare(arena, block);
    list_insert(arena, spare);
    return spare;
}

/* A large array sits alone in its block, so the block itself can grow. */
static void *
grow_large(struct arena *arena, void *items, size_t old_bytes, size_t new_bytes)
{
    unsigned char *bytes = items;
    struct block *block = (struct block *)(void *)(bytes - offsetof(struct block, bytes));
    bool has_room = block->capacity_bytes >= new_bytes;
    struct block *spare = has_room ? NULL : take_spare(arena, new_bytes);
    if (spare) {
        block = block_move(arena, block, spare, old_bytes);
    } else if (!has_room) {
        block = block_resize(arena, block, new_bytes);
        list_relink(arena, block);
    }
    memset(block->bytes + old_bytes, 0, new_bytes - old_bytes);
    return block->bytes;
}

void *
arena_enlarge(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity * 2;
    if (wanted <= count)
        wanted = count + 1;
    size_t old_bytes = request_bytes(arena, *capacity, size);
    size_t new_bytes = request_bytes(arena, wanted, size);
    void *grown = NULL;
    if (items && old_bytes >= LARGE_BYTES) {
        grown = grow_large(arena, items, old_bytes, new_bytes);
    } else {
        grown = arena_alloc(arena, wanted, size);
        if (items)
            memcpy(grown, items, *capacity * size);
    }
    *capacity = wanted;
    return grown;
}

char *
arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(length >= 0 && "a format that printf knows");
    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

size_t
arena_size_bytes(const struct arena *arena)
{
    return arena->size_bytes;
}
