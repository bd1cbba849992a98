/* A timeline as a table. */
#include "plots/timeline_csv.h"

#include "sim/base/csv.h"
#include "sim/base/units.h"

static void
write_text(struct text *out, const char *text)
{
    csv_write_text(out, text != NULL ? text : "");
    text_append(out, ",", 1);
}

static void
write_time(struct text *out, int64_t at_ps)
{
    csv_write_real(out, units_s_from_ps(at_ps));
    text_append(out, ",", 1);
}

/* A strip under a row has that one's name. */
static const char *
row_name(const struct timeline *timeline, uint32_t row)
{
    while (row > 0 && timeline->rows[row].is_attached)
        row--;
    return timeline->rows[row].label;
}

void
timeline_csv(const struct timeline *timeline, struct text *out)
{
    const struct timeline_curve *curve = timeline->curve;
    text_format(out, "row,kind,label,start_s,end_s,is_critical,value\n");
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        write_text(out, row_name(timeline, span->row));
        write_text(out, style_slot_name(span->slot));
        write_text(out, span->label);
        write_time(out, span->start_ps);
        write_time(out, span->end_ps);
        text_format(out, "%d,\n", span->is_critical);
    }
    for (size_t layer = 0; curve != NULL && layer < curve->layer_count; layer++)
        for (size_t i = 0; i < curve->count; i++) {
            write_text(out, curve->label);
            write_text(out, curve->layers[layer].name);
            write_text(out, NULL);
            write_time(out, curve->at_ps[i]);
            write_time(out, curve->at_ps[i]);
            text_append(out, "0,", 2);
            csv_write_real(out, curve->layers[layer].values[i]);
            text_append(out, "\n", 1);
        }
}
