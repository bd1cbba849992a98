/* How the sections of a device file are read: what hw/device.c and its sections share. */
#ifndef HW_DEVICE_READING_H
#define HW_DEVICE_READING_H

#include <stddef.h>

#include "hw/device.h"

/* Wider than any machine's numbers, narrow enough that the cost's arithmetic stays finite. Rates
 * start at a megabyte or a million operations a second, a 30,000th of the slowest that is shipped
 * (PCIe 4.0 x16): what is below is a slip of unit, as 5300 for 5.3e12 bytes/s. */
#define RATE_MINIMUM    1e6
#define RATE_MAXIMUM    1e19
#define SECONDS_MAXIMUM 1.0
#define BYTES_MAXIMUM   1e15

#define FIELD_NUMBER(name, type_of, member, least, most)                                       \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_REAL, .offset = offsetof(struct type_of, member),    \
        .flags = JSON_SOURCED, .minimum = (least), .maximum = (most)                           \
    }
#define FIELD_COUNT(name, type_of, member, most)                                               \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_INTEGER, .offset = offsetof(struct type_of, member), \
        .flags = JSON_SOURCED, .minimum = 1, .maximum = (most)                                 \
    }
#define FIELD_RATE(name, type_of, member)                                                      \
    FIELD_NUMBER(name, type_of, member, RATE_MINIMUM, RATE_MAXIMUM)
#define FIELD_SECONDS(name, type_of, member)                                                   \
    FIELD_NUMBER(name, type_of, member, 0, SECONDS_MAXIMUM)
#define FIELD_FRACTION(name, type_of, member) FIELD_NUMBER(name, type_of, member, 1e-4, 1)
#define FIELD_NUMBER_IF_ANY(name, type_of, member, least, most)                                \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_REAL, .offset = offsetof(struct type_of, member),    \
        .flags = JSON_SOURCED | JSON_OPTIONAL, .minimum = (least), .maximum = (most)           \
    }
#define FIELD_FLAG(name, type_of, member)                                                      \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_BOOL, .offset = offsetof(struct type_of, member),    \
        .flags = JSON_OPTIONAL                                                                 \
    }
#define FIELD_VALUE(name, type_of, member)                                                     \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_VALUE, .offset = offsetof(struct type_of, member)    \
    }
#define FIELD_OPTIONAL(name, type_of, member)                                                  \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_VALUE, .offset = offsetof(struct type_of, member),   \
        .flags = JSON_OPTIONAL                                                                 \
    }
#define TYPE(words, table)                                                                     \
    (struct json_object_type)                                                                  \
    {                                                                                          \
        .noun = (words), .fields = (table), .field_count = sizeof(table) / sizeof((table)[0])  \
    }

/* One number a data type, each with its source; 0 for those left out. False: a fault is listed. */
bool device_read_by_dtype(const struct json *object, double numbers[DTYPE_COUNT],
                          double minimum, double maximum, struct error_list *errors);

/* The section of matrix products. False: a fault is listed. */
bool device_read_gemm(const struct json *object, struct device_gemm *gemm,
                      struct error_list *errors);

#endif
