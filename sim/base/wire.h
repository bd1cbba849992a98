/* Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding): a message is a row of
 * fields, each a number of its own and a value. Enough to write it; nothing is allocated. */
#ifndef SIM_BASE_WIRE_H
#define SIM_BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes in the room of the caller, who has made it large enough: more asserts. */
struct wire {
    uint8_t *bytes;
    size_t length;
    size_t room;
};

enum { WIRE_FIELD_MAX = 20 }; /* bytes that a number takes at most, with its field */

/* uint64, int64 that is not negative, bool and enum. */
void wire_put_integer(struct wire *wire, uint32_t field, uint64_t value);
void wire_put_fixed64(struct wire *wire, uint32_t field, uint64_t value);
void wire_put_double(struct wire *wire, uint32_t field, double value);
/* A string, or a message that has been written. */
void wire_put_bytes(struct wire *wire, uint32_t field, const void *bytes, size_t length);
void wire_put_text(struct wire *wire, uint32_t field, const char *text);
void wire_put_message(struct wire *wire, uint32_t field, const struct wire *message);

#endif
