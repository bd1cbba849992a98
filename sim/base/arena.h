/* Memory that is built up, used and dropped together. No other module calls malloc. */
#ifndef SIM_BASE_ARENA_H
#define SIM_BASE_ARENA_H

#include <stddef.h>

/* Blocks from malloc, freed all at once; all of one arena by one thread. */
struct arena;

/* What to do when memory ends, or limit_bytes is passed: it must not return. So nobody who
 * allocates ever has to ask whether it worked. */
struct arena_policy {
    size_t limit_bytes; /* 0: as much as the machine has */
    void (*out_of_memory)(void *context, size_t wanted_bytes);
    void *context;
};

struct arena *arena_new(const struct arena_policy *policy);
/* Another one with the same policy, for what is to go sooner than the rest. */
struct arena *arena_new_beside(const struct arena *arena);
void arena_free(struct arena *arena);

/* Forgets all that was made in it, and keeps the memory for what comes next: of work that is done
 * over and over, each time in some megabytes, asking the system for them takes a third. */
void arena_clear(struct arena *arena);

/* count * size bytes, zeroed, aligned for any type; lives as long as the arena. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* The same, whatever was there before still in it: for large tables that are written before they
 * are read, of which zeroing takes a tenth of the time. */
void *arena_alloc_unset(struct arena *arena, size_t count, size_t size);

/* A copy of that many bytes. */
void *arena_copy(struct arena *arena, const void *from, size_t size);

/* A copy of an array with at least twice the room, and more than count (new room zeroed), and the
 * new *capacity. */
void *arena_enlarge(struct arena *arena, void *items, size_t count, size_t *capacity,
                    size_t size);

/* Makes room in a growing array: returns items itself while count < *capacity, else an enlarged
 * one. Start with NULL and 0. */
static inline void *
arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    return count < *capacity ? items : arena_enlarge(arena, items, count, capacity, size);
}

/* Text of its own, as printf makes it. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes taken from the system so far, those kept by arena_clear included. */
size_t arena_size_bytes(const struct arena *arena);

#endif
