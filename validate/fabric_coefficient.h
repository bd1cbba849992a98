/* Which numbers of a fabric file may be fitted to measured collectives, as coefficient.h has it for
 * devices: those that the file gives; all are one group. */
#ifndef VALIDATE_FABRIC_COEFFICIENT_H
#define VALIDATE_FABRIC_COEFFICIENT_H

#include "hw/cluster.h"
#include "validate/coefficient.h"
#include "validate/measured_list.h"

/* `file`: the fabric's. Values point into the cluster. */
struct coefficient_list fabric_coefficient_list_of(struct cluster *cluster,
                                                   const struct json *file,
                                                   struct arena *arena);

/* Of the fixed part, and of transfers within and between nodes. */
struct coefficient_sigma_list fabric_sigma_list_of(struct cluster *cluster,
                                                   struct arena *arena);

/* Whether it speaks of what the row spends most of its time on. */
bool fabric_sigma_covers(const struct coefficient_sigma *sigma, const struct cluster *cluster,
                         const struct measured *measured);

#endif
