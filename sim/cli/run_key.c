/* Hashes of runs: SHA-256 over the files as compact JSON, in which no layout and no path stands. */
#include "sim/cli/run_key.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "sim/base/json_writer.h"
#include "sim/base/path.h"

/* In the order of struct run's paths: the run's own file only names the others. */
enum { FILE_MODEL = 1, FILE_CLUSTER = 2 };

static struct run_key
hash_text(const struct text *text)
{
    struct run_key key = {""};
    gchar *digits = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text->bytes,
                                                text->length);
    (void)snprintf(key.digits, sizeof key.digits, "%s", digits);
    g_free(digits);
    return key;
}

static struct run_key
hash_value(const struct json *value, struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_value(&writer, value);
    return hash_text(&text);
}

/* A cluster names files: its device stands in the run by itself, its fabric's contents here. */
static bool
hash_cluster(const struct json *cluster, struct run_key *key, struct arena *arena,
             struct error_list *errors)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_object(&writer);
    for (size_t i = 0; i < json_count(cluster); i++) {
        const struct json *value = json_value_at(cluster, i);
        if (strcmp(json_key(cluster, i), "device") == 0)
            continue;
        if (strcmp(json_key(cluster, i), "fabric") == 0 && json_kind(value) == JSON_KIND_STRING)
            value = json_read_file(
                arena, path_beside(json_file_name(value), json_as_string(value), arena),
                errors);
        if (!value)
            return false;
        json_write_key(&writer, json_key(cluster, i));
        json_write_value(&writer, value);
    }
    json_write_end_object(&writer);
    *key = hash_text(&text);
    return true;
}

static bool
hash_file(const struct run *run, int file, struct run_key *key, struct arena *arena,
          struct error_list *errors)
{
    if (file == FILE_CLUSTER)
        return hash_cluster(run->objects[file], key, arena, errors);
    *key = hash_value(run->objects[file], arena);
    return true;
}

bool
run_keys_of(const struct run *base, struct run_keys *keys, struct arena *arena,
            struct error_list *errors)
{
    keys->base = base;
    for (int file = FILE_MODEL; file < RUN_FILES; file++)
        if (!hash_file(base, file, &keys->files[file], arena, errors))
            return false;
    return true;
}

bool
run_key_find(const struct run_keys *keys, const struct run *run, const struct text *question,
             struct run_key *key, struct error_list *errors)
{
    struct text text = text_new(question->arena);
    for (int file = FILE_MODEL; file < RUN_FILES; file++) {
        struct run_key own = keys->files[file];
        if (run->objects[file] != keys->base->objects[file] &&
            !hash_file(run, file, &own, text.arena, errors))
            return false;
        text_format(&text, "%s\n", own.digits);
    }
    text_append(&text, question->bytes ? question->bytes : "", question->length);
    *key = hash_text(&text);
    return true;
}
