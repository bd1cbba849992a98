/* An arena: a chain of blocks from malloc, filled from the front, freed together.
 *
 * Large requests get a block of their own, so that a growing array can be handed to realloc,
 * which moves pages instead of copying them. */
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

void
arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
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

/* A block of that capacity: `old` made larger, or a new one for NULL. A new one is in no list
 * yet, a moved one is to be linked anew; without memory the old one stays as it is. */
static struct block *
block_resize(struct arena *arena, struct block *old, size_t capacity_bytes)
{
    size_t old_bytes = old ? old->capacity_bytes : 0;
    size_t limit = arena->policy.limit_bytes;
    bool is_within = capacity_bytes < SIZE_MAX / 2 &&
                     (limit == 0 || arena->size_bytes - old_bytes + capacity_bytes <= limit);
    struct block *block = is_within ? realloc(old, sizeof *block + capacity_bytes) : NULL;
    if (!block)
        arena->policy.out_of_memory(arena->policy.context, capacity_bytes);
    assert(block && "out_of_memory must not return");
    block->capacity_bytes = capacity_bytes;
    arena->size_bytes += capacity_bytes - old_bytes;
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

void *
arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = request_bytes(arena, count, size);
    if (bytes >= LARGE_BYTES) {
        struct block *block = block_resize(arena, NULL, bytes);
        list_insert(arena, block);
        return memset(block->bytes, 0, bytes);
    }
    if (!arena->open || bytes > BLOCK_BYTES - arena->open_used_bytes) {
        arena->open = block_resize(arena, NULL, BLOCK_BYTES);
        arena->open_used_bytes = 0;
        list_insert(arena, arena->open);
    }
    void *place = arena->open->bytes + arena->open_used_bytes;
    arena->open_used_bytes += bytes;
    return memset(place, 0, bytes);
}

void *
arena_copy(struct arena *arena, const void *from, size_t size)
{
    return memcpy(arena_alloc(arena, 1, size), from, size);
}

/* A large array sits alone in its block, so the block itself can grow. */
static void *
grow_large(struct arena *arena, void *items, size_t old_bytes, size_t new_bytes)
{
    unsigned char *bytes = items;
    struct block *block = (struct block *)(void *)(bytes - offsetof(struct block, bytes));
    block = block_resize(arena, block, new_bytes);
    list_relink(arena, block);
    memset(block->bytes + old_bytes, 0, new_bytes - old_bytes);
    return block->bytes;
}

void *
arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
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
