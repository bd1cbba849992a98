/* Where a trace goes, piece by piece: it may be too long to be held. */
#ifndef SIM_CLI_TRACE_SINK_H
#define SIM_CLI_TRACE_SINK_H

#include <stddef.h>

struct trace_sink {
    void (*put)(void *context, const char *bytes, size_t length);
    void *context;
};

#endif
