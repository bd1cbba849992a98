/* Checks the record of a fit. */
#include "hw/calibration_record.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { HASH_DIGITS = 16 };

/* Wider than any fit's errors. */
static const double FRACTION_MAXIMUM = 1e6, COUNT_MAXIMUM = 1e12;

struct record {
    const char *date;
    int64_t split_seed;
    const struct json *lists, *residuals;
};

struct list_record {
    const char *name, *hash;
    int64_t rows_count;
};

/* The words may be "", which a field of strings would refuse: looked at as values. */
struct residual_record {
    const char *kind;
    const struct json *dtype;
    const char *size;
    int part;
    int64_t rows_count;
    double fractions[6];
};

/* As "2026-11-21", of which not every one need be a day. */
static bool
is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    size_t i = 0;
    for (; form[i] && text[i]; i++)
        if (form[i] == '-' ? text[i] != '-' : !isdigit((unsigned char)text[i]))
            return false;
    return form[i] == text[i];
}

static bool
check_list(const struct json *object, struct error_list *errors)
{
    struct list_record list;
    const struct json_field fields[] = {
        {.key = "name",
         .type = JSON_FIELD_STRING,
         .offset = offsetof(struct list_record, name)},
        {.key = "rows_count",
         .type = JSON_FIELD_INTEGER,
         .offset = offsetof(struct list_record, rows_count),
         .minimum = 1,
         .maximum = COUNT_MAXIMUM},
        {.key = "fnv1a_64",
         .type = JSON_FIELD_STRING,
         .offset = offsetof(struct list_record, hash)},
    };
    struct json_object_type type = {
        .noun = "a measured list", .fields = fields, .field_count = 3};
    if (!json_read_object(object, &type, &list, errors))
        return false;
    if (strlen(list.hash) != HASH_DIGITS ||
        strspn(list.hash, "0123456789abcdef") != HASH_DIGITS)
        return json_fail(json_member(object, "fnv1a_64"), errors,
                         "\"%.40s\", wanted %d hexadecimal digits", list.hash, HASH_DIGITS);
    return true;
}

static bool
check_residual(const struct json *object, struct error_list *errors)
{
    static const char *const parts[] = {"fit", "held-out", NULL};
    static const char *const keys[] = {"mape_before_fraction", "mape_after_fraction",
                                       "bias_before_fraction", "bias_after_fraction",
                                       "p90_before_fraction",  "p90_after_fraction"};
    enum { OTHERS = 5, FRACTIONS = sizeof keys / sizeof keys[0] };
    struct residual_record residual;
    struct json_field fields[OTHERS + FRACTIONS] = {
        {.key = "kind",
         .type = JSON_FIELD_STRING,
         .offset = offsetof(struct residual_record, kind)},
        {.key = "dtype",
         .type = JSON_FIELD_VALUE,
         .offset = offsetof(struct residual_record, dtype)},
        {.key = "size",
         .type = JSON_FIELD_STRING,
         .offset = offsetof(struct residual_record, size)},
        {.key = "part",
         .type = JSON_FIELD_CHOICE,
         .offset = offsetof(struct residual_record, part),
         .choices = parts},
        {.key = "rows_count",
         .type = JSON_FIELD_INTEGER,
         .offset = offsetof(struct residual_record, rows_count),
         .minimum = 1,
         .maximum = COUNT_MAXIMUM},
    };
    for (size_t i = 0; i < FRACTIONS; i++)
        fields[OTHERS + i] = (struct json_field){
            .key = keys[i],
            .type = JSON_FIELD_REAL,
            .offset = offsetof(struct residual_record, fractions) + i * sizeof(double),
            .minimum = -1,
            .maximum = FRACTION_MAXIMUM};
    struct json_object_type type = {
        .noun = "residuals", .fields = fields, .field_count = OTHERS + FRACTIONS};
    return json_read_object(object, &type, &residual, errors);
}

static bool
check_each(const struct json *array, const char *noun, struct error_list *errors,
           bool (*check)(const struct json *, struct error_list *))
{
    bool is_right = true;
    if (json_kind(array) != JSON_KIND_ARRAY || json_count(array) == 0)
        return json_fail(array, errors, "wanted an array of %s", noun);
    for (size_t i = 0; i < json_count(array); i++)
        is_right &= check(json_element(array, i), errors);
    return is_right;
}

bool
calibration_record_check(const struct json *object, struct error_list *errors)
{
    struct record record = {0};
    const struct json_field fields[] = {
        {.key = "date", .type = JSON_FIELD_STRING, .offset = offsetof(struct record, date)},
        {.key = "split_seed",
         .type = JSON_FIELD_INTEGER,
         .offset = offsetof(struct record, split_seed),
         .minimum = 0,
         .maximum = 1e15},
        {.key = "lists", .type = JSON_FIELD_VALUE, .offset = offsetof(struct record, lists)},
        {.key = "residuals",
         .type = JSON_FIELD_VALUE,
         .offset = offsetof(struct record, residuals)},
    };
    struct json_object_type type = {
        .noun = "the record of a calibration", .fields = fields, .field_count = 4};
    if (!json_read_object(object, &type, &record, errors))
        return false;
    bool is_right = check_each(record.lists, "measured lists", errors, check_list);
    is_right &= check_each(record.residuals, "residuals", errors, check_residual);
    if (!is_date(record.date))
        return json_fail(json_member(object, "date"), errors,
                         "\"%.40s\", wanted a date as 2026-11-21", record.date);
    return is_right;
}
