// Packets of Dynamixel protocol 2.0: header FF FF FD 00, id, length, instruction, parameters,
// CRC-16 (polynomial 0x8005). An FF FF FD in what follows the length is followed by another FD, the
// stuffing, so that it is no header.
#include "serve/dynamixel.h"

#include <string.h>

#define HEAD 7u        // [byte] before the instruction
#define PATIENCE 0.1   // [s] for the rest of a packet
#define BROADCAST 0xfe // id

uint16_t mf_dynamixel_crc(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000u ? 0x8005u : 0u)) & 0xffffu;
    }
    return (uint16_t)crc;
}

static bool is_mark(const uint8_t *at) {
    return at[0] == 0xff && at[1] == 0xff && at[2] == 0xfd;
}

// Copies bytes without their stuffing; returns how many are left.
static uint32_t unstuff(uint8_t *out, const uint8_t *bytes, uint32_t size) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++)
        if (bytes[i] != 0xfd || count < 3 || !is_mark(&out[count - 3]))
            out[count++] = bytes[i];
    return count;
}

// Bytes of the packet at `at`; 0: it is none, more than `size`: not all of it is here.
static uint32_t measure(const uint8_t *at, uint32_t size) {
    static const uint8_t header[4] = {0xff, 0xff, 0xfd, 0x00};
    if (memcmp(at, header, size < 4 ? size : 4) != 0)
        return 0;
    if (size < HEAD)
        return HEAD;
    const uint32_t total = HEAD + at[5] + 256u * at[6];
    const bool is_id = at[4] <= MF_DYNAMIXEL_SERVOS || at[4] == BROADCAST;
    return is_id && total >= HEAD + 3 && total <= MF_DYNAMIXEL_PACKET ? total : 0;
}

static bool take(mf_Dynamixel *bus, const uint8_t *at, uint32_t total) {
    uint8_t body[MF_DYNAMIXEL_PACKET];
    const uint16_t crc = (uint16_t)(at[total - 2] | at[total - 1] << 8);
    if (mf_dynamixel_crc(at, total - 2) != crc)
        return false;
    const uint32_t size = unstuff(body, at + HEAD, total - HEAD - 2);
    bus->packets++;
    mf_dynamixel_answer(bus, at[4], body[0], body + 1, size - 1);
    return true;
}

// Handles what is complete, and keeps the beginning of a packet.
static void scan(mf_Dynamixel *bus) {
    uint32_t at = 0;
    while (at < bus->in_size) {
        const uint32_t left = bus->in_size - at, total = measure(bus->in + at, left);
        if (total > left)
            break;
        if (total > 0 && take(bus, bus->in + at, total)) {
            at += total;
        } else {
            at++;
            bus->dropped++;
        }
    }
    bus->in_size -= at;
    memmove(bus->in, bus->in + at, bus->in_size);
}

void mf_dynamixel_feed(mf_Dynamixel *bus, const uint8_t *bytes, size_t size, double clock) {
    if (clock - bus->fed > PATIENCE) { // half a packet, whose sender is gone
        bus->dropped += bus->in_size;
        bus->in_size = 0;
    }
    bus->fed = clock;
    while (size > 0) {
        const uint32_t capacity = MF_DYNAMIXEL_PACKET - bus->in_size;
        const uint32_t some = size < capacity ? (uint32_t)size : capacity;
        memcpy(bus->in + bus->in_size, bytes, some);
        bus->in_size += some;
        bytes += some;
        size -= some;
        scan(bus); // leaves less than a whole packet, so that there is space
    }
}

void mf_dynamixel_status(mf_Dynamixel *bus, uint8_t id, uint8_t error, const uint8_t *data,
                         uint32_t size) {
    uint8_t *out = bus->out + bus->out_size;
    if (MF_DYNAMIXEL_ANSWERS - bus->out_size < HEAD + 4 + size + size / 3)
        return;
    const uint8_t head[HEAD + 1] = {0xff, 0xff, 0xfd, 0x00, id, 0, 0, 0x55};
    memcpy(out, head, sizeof head);
    uint32_t end = sizeof head;
    out[end++] = error;
    for (uint32_t i = 0; i < size; i++) {
        out[end++] = data[i];
        if (is_mark(&out[end - 3]))
            out[end++] = 0xfd;
    }
    out[5] = (uint8_t)(end + 2 - HEAD);
    out[6] = (uint8_t)((end + 2 - HEAD) >> 8);
    const uint16_t crc = mf_dynamixel_crc(out, end);
    out[end++] = (uint8_t)crc;
    out[end++] = (uint8_t)(crc >> 8);
    bus->out_size += end;
}

bool mf_dynamixel_fast_begin(mf_Dynamixel *bus, uint32_t size) {
    if (size > 0xffff - 1 || MF_DYNAMIXEL_ANSWERS - bus->out_size < HEAD + 1 + size)
        return false;
    const uint8_t head[HEAD + 1] = {
        0xff, 0xff, 0xfd, 0x00, BROADCAST, (uint8_t)(size + 1), (uint8_t)((size + 1) >> 8), 0x55};
    memcpy(bus->out + bus->out_size, head, sizeof head);
    bus->out_size += sizeof head;
    return true;
}

void mf_dynamixel_fast_append(mf_Dynamixel *bus, uint32_t begin, uint8_t id, uint8_t error,
                              const uint8_t *data, uint32_t size) {
    uint8_t *out = bus->out + bus->out_size;
    out[0] = error;
    out[1] = id;
    if (data != NULL)
        memcpy(out + 2, data, size);
    else
        memset(out + 2, 0, size);
    bus->out_size += 2 + size;
    const uint16_t crc = mf_dynamixel_crc(bus->out + begin, bus->out_size - begin);
    bus->out[bus->out_size++] = (uint8_t)crc;
    bus->out[bus->out_size++] = (uint8_t)(crc >> 8);
}
