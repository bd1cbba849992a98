/* What a timeline shows as a table: a row a span or a moment of its curve. */
#ifndef PLOTS_TIMELINE_CSV_H
#define PLOTS_TIMELINE_CSV_H

#include "plots/timeline.h"
#include "sim/base/text.h"

/* row,kind,label,start_s,end_s,is_critical,value: spans have no value; of the curve, `kind` is the
 * layer and both ends are the moment. */
void timeline_csv(const struct timeline *timeline, struct text *out);

#endif
