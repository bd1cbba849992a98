/* One kernel with a key that runs over values, priced at each, and what was measured of it. */
#ifndef SIM_CLI_KERNEL_SWEEP_H
#define SIM_CLI_KERNEL_SWEEP_H

#include "hw/kernel_cost.h"
#include "plots/line_chart.h"
#include "sim/cli/command.h"
#include "sim/cli/sweep.h"
#include "validate/measured_list.h"

struct kernel_sweep_point {
    struct kernel_cost cost;
    double measured_s; /* mean of what was measured here; 0: nothing was */
};

/* A measured kernel that agrees with a curve in all but the key that runs. */
struct kernel_sweep_measured {
    int64_t at;
    double measured_s;
    struct kernel_cost cost; /* as predicted */
    enum split_part part;
};

struct kernel_sweep_curve {
    const char *word;                  /* its value of the series' key; NULL without one */
    struct kernel kernel;              /* at the first value */
    struct kernel_sweep_point *points; /* one a value */
    struct kernel_sweep_measured *measured;
    size_t measured_count, measured_capacity;
};

struct kernel_sweep {
    const struct options *options; /* whose words say the kernel */
    const struct device *device;
    struct sweep sweep;
    struct sweep_words series; /* of count 0: one curve */
    bool has_panels;           /* in a picture, one a curve */
    const char *fixed;         /* what does not run: "gemm m=4096 k=4096 dtype=bf16" */
    struct kernel_sweep_curve *curves;
    size_t curve_count;
};

/* Fills `fixed` and the curves from what stands before them; false after adding the first fault. */
bool kernel_sweep_price(struct kernel_sweep *sweep, struct arena *arena,
                        struct error_list *errors);

/* Adds those of the list that lie on a curve; false after adding a fault. */
bool kernel_sweep_add_measured(struct kernel_sweep *sweep, const struct measured_list *list,
                               struct arena *arena, struct error_list *errors);

/* What a curve shows: FLOP/s, of a kernel that only moves bytes B/s of HBM. */
bool kernel_sweep_has_flop(const struct kernel_sweep *sweep);
double kernel_sweep_rate(const struct kernel_sweep *sweep, const struct kernel_cost *cost,
                         double seconds_s);
size_t kernel_sweep_measured_count(const struct kernel_sweep *sweep);
/* Mean of |predicted / measured - 1|; 0 when nothing was measured. */
double kernel_sweep_mape_fraction(const struct kernel_sweep *sweep);

void kernel_sweep_print(const struct kernel_sweep *sweep, struct text *out);
void kernel_sweep_write_csv(const struct kernel_sweep *sweep, struct text *out);
/* One answer a line, as `--list` gives them; "measured_s" where there is one. */
void kernel_sweep_write_lines(const struct kernel_sweep *sweep, struct text *out);
const struct line_chart *kernel_sweep_picture(const struct kernel_sweep *sweep,
                                              struct arena *arena);

#endif
