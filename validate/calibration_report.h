/* A calibration for people and for programs. */
#ifndef VALIDATE_CALIBRATION_REPORT_H
#define VALIDATE_CALIBRATION_REPORT_H

#include "sim/base/json_writer.h"
#include "validate/calibration_file.h"

void calibration_report_print(const struct calibration *calibration,
                              const struct calibration_record *record, struct text *out);

void calibration_report_write(const struct calibration *calibration,
                              const struct calibration_record *record,
                              struct json_writer *writer);

#endif
