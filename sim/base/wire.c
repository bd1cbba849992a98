/* Fields in order: a tag of number and kind, then the value. */
#include "sim/base/wire.h"

#include <assert.h>
#include <string.h>

enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void
put_varint(struct wire *wire, uint64_t value)
{
    assert(wire->length + 10 <= wire->room && "the room was made large enough");
    while (value >= 0x80) {
        wire->bytes[wire->length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    wire->bytes[wire->length++] = (uint8_t)value;
}

static void
put_tag(struct wire *wire, uint32_t field, enum wire_kind kind)
{
    put_varint(wire, (uint64_t)field << 3 | (uint64_t)kind);
}

void
wire_put_integer(struct wire *wire, uint32_t field, uint64_t value)
{
    put_tag(wire, field, WIRE_VARINT);
    put_varint(wire, value);
}

void
wire_put_fixed64(struct wire *wire, uint32_t field, uint64_t value)
{
    put_tag(wire, field, WIRE_FIXED64);
    assert(wire->length + 8 <= wire->room && "the room was made large enough");
    for (int i = 0; i < 8; i++)
        wire->bytes[wire->length++] = (uint8_t)(value >> (8 * i));
}

void
wire_put_double(struct wire *wire, uint32_t field, double value)
{
    uint64_t bits = 0;
    static_assert(sizeof bits == sizeof value, "a double of 64 bits");
    memcpy(&bits, &value, sizeof bits);
    wire_put_fixed64(wire, field, bits);
}

void
wire_put_bytes(struct wire *wire, uint32_t field, const void *bytes, size_t length)
{
    put_tag(wire, field, WIRE_BYTES);
    put_varint(wire, length);
    assert(wire->length + length <= wire->room && "the room was made large enough");
    if (length > 0)
        memcpy(wire->bytes + wire->length, bytes, length);
    wire->length += length;
}

void
wire_put_text(struct wire *wire, uint32_t field, const char *text)
{
    wire_put_bytes(wire, field, text, strlen(text));
}

void
wire_put_message(struct wire *wire, uint32_t field, const struct wire *message)
{
    wire_put_bytes(wire, field, message->bytes, message->length);
}
