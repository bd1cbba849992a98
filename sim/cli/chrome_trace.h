/* A step as a Chrome trace (Trace Event Format), for Perfetto and the trace tools of PyTorch. */
#ifndef SIM_CLI_CHROME_TRACE_H
#define SIM_CLI_CHROME_TRACE_H

#include "models/step.h"
#include "sim/base/text.h"

/* The lanes of the representative rank, one thread a lane; names, categories and arguments as
 * PyTorch's profiler (Kineto) writes them, of one rank as trace readers want it. Times in
 * microseconds with three decimals. The thread "account" says what each moment counts for in the
 * breakdown; its duration_ps add up to that exactly. */
void chrome_trace_write(const struct step *step, struct text *out);

#endif
