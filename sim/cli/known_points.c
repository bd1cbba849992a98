/* Points of sweeps and searches by one key, so that each finds what the other has simulated. */
#include "sim/cli/known_points.h"

#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/cli/version.h"

bool
known_points_open(struct known_points *known, const struct run *base, struct arena *arena,
                  struct error_list *errors)
{
    *known = (struct known_points){.base = base, .arena = arena};
    return run_keys_of(base, &known->keys, arena, errors);
}

const char *
known_points_identity(const struct known_points *known)
{
    struct run_key key = {""};
    struct error_list errors = {0};
    struct text nothing = text_new(known->arena);
    (void)run_key_find(&known->keys, known->base, &nothing, &key, &errors);
    return arena_format(known->arena, "%s %s", program_version, key.digits);
}

bool
known_points_key(const struct known_points *known, const struct run *run,
                 const struct run_settings *settings, const struct text *question,
                 struct run_key *key)
{
    struct error_list errors = {0};
    struct text asked = text_new(question->arena);
    text_append(&asked, question->bytes ? question->bytes : "", question->length);
    for (size_t i = 0; !run && i < settings->count; i++)
        text_format(&asked, "%s\n", settings->texts[i]);
    return run_key_find(&known->keys, run ? run : known->base, &asked, key, &errors);
}

/* What differs from the run's files: ["plan.tensor=2"]. */
static const char *
list_changes(const struct run *base, const struct run_settings *settings, struct arena *arena)
{
    struct text list = text_new(arena);
    struct json_writer writer = json_writer_new(&list, false);
    json_write_begin_array(&writer);
    for (size_t i = 0; i < base->change_count; i++)
        json_write_string(&writer, base->changes[i]);
    for (size_t i = 0; i < settings->count; i++)
        json_write_string(&writer, settings->texts[i]);
    json_write_end_array(&writer);
    return list.bytes;
}

bool
known_points_keep(const struct known_points *known, const struct run_key *key,
                  const struct run_settings *settings, const struct sweep_row *row,
                  struct error_list *errors)
{
    struct arena *arena = arena_new_beside(known->arena);
    struct store_label label = {key->digits, known->base->name,
                                list_changes(known->base, settings, arena)};
    bool is_kept = store_put(known->store, &label, row, errors);
    arena_free(arena);
    return is_kept;
}
