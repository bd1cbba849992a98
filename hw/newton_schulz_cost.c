/* Newton-Schulz as its products: with s the shorter and l the longer side of X, each step forms
 *
 *     A = X X^T            (s, s) from depth l     symmetric
 *     B = b A + c A A      (s, s) from depth s     symmetric; b A is added as the product ends
 *     X = a X + B X        (s, l) from depth s     likewise a X
 *
 * (Jordan et al., "Muon", 2024). Before the first step X is divided by its norm: read, then
 * read and written. */
#include "hw/newton_schulz_cost.h"

#include <math.h>

#include "hw/gemm_cost.h"
#include "hw/memory_cost.h"

void
newton_schulz_cost(const struct device *device, const struct kernel *kernel,
                   struct kernel_cost *cost)
{
    const struct newton_schulz *ns = &kernel->newton_schulz;
    double s = fmin((double)ns->m, (double)ns->n), l = fmax((double)ns->m, (double)ns->n);
    double steps = (double)ns->steps, bytes = s * l * dtype_bytes(kernel->dtype);
    struct gemm_work gram = {.groups = 1,
                             .m = s,
                             .n = s,
                             .k = l,
                             .dtype = kernel->dtype,
                             .is_triangle = ns->is_symmetric,
                             .rate_fraction = 1,
                             .hbm_fraction = 1};
    struct gemm_work square = gram, update = gram;
    square.k = s;
    update.n = l;
    update.k = s;
    update.is_triangle = false;
    const struct gemm_work *const products[] = {&gram, &square, &update};
    const struct kernel pass = {.kind = KERNEL_ELEMENTWISE, .dtype = kernel->dtype};
    memory_kernel_cost(device, &pass, bytes, 0, cost);
    struct kernel_cost part;
    memory_kernel_cost(device, &pass, bytes, bytes, &part);
    kernel_cost_add(cost, &part, 1);
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        gemm_work_cost(device, products[i], &part);
        kernel_cost_add(cost, &part, steps);
    }
    cost->flop = kernel_flop(kernel);
}
