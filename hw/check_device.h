/* For tests only: the shipped devices. */
#ifndef HW_CHECK_DEVICE_H
#define HW_CHECK_DEVICE_H

#include <check.h>

#include "hw/device.h"

/* configs/devices/NAME.json; ends the test when it is faulty. */
static inline const struct device *
check_device_read(struct arena *arena, const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/devices/%s.json", name);
    const struct json *object = json_read_file(arena, path, &errors);
    const struct device *device = object ? device_read(object, arena, &errors) : NULL;
    ck_assert_msg(device != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return device;
}

#endif
