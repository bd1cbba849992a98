/* The lines of the table of coefficients, before validate/coefficient.c spreads them. */
#ifndef VALIDATE_COEFFICIENT_TABLE_H
#define VALIDATE_COEFFICIENT_TABLE_H

#include <stddef.h>

#include "hw/device.h"
#include "hw/kernel.h"

/* Over what one line of the table is repeated; its name stands for "*" in the path. */
enum coefficient_span {
    SPAN_NONE,
    SPAN_CORE,      /* the same, of a core of a CPU alone */
    SPAN_DTYPE,     /* a double a data type */
    SPAN_RATE,      /* the same; `most` is a part of the datasheet's peak */
    SPAN_PASS,      /* of struct device_attention_pass: "0.forward" */
    SPAN_STREAM,    /* of struct device_stream: "rms_norm" */
    SPAN_OPERATION, /* of struct device_element_rate: "gelu" */
    SPAN_MACHINE,   /* of struct device_machine: by what its lists are called */
};

enum coefficient_scale { LINEAR, LOGARITHMIC };

struct coefficient_line {
    const char *path;
    enum coefficient_span span;
    size_t offset;         /* in struct device, or in the struct of the span */
    enum kernel_kind kind; /* whose kernels tell it; of a stream its own */
    enum coefficient_scale scale;
    double least, most;
    const char *least_reason, *most_reason;
};

/* In the order of the fits: memory first, as all others stand on it. */
extern const struct coefficient_line coefficient_lines[];
extern const size_t coefficient_line_count;

#endif
