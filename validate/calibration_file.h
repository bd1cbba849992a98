/* A calibration as a device file: the file it began with, fitted numbers and their sources changed,
 * a record of the fit added, every other byte as it was. */
#ifndef VALIDATE_CALIBRATION_FILE_H
#define VALIDATE_CALIBRATION_FILE_H

#include "sim/base/text.h"
#include "validate/calibration.h"

struct calibration_list {
    const char *name; /* as it was given */
    size_t row_count;
    uint64_t hash; /* of its bytes: sim/base/hash.h */
};

struct calibration_record {
    const char *date; /* "2026-11-21" */
    const struct calibration_list *lists;
    size_t list_count;
};

void calibration_file_write(const struct calibration *calibration,
                            const struct calibration_record *record, struct text *out);

#endif
