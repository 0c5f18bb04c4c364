// Writing MCAP. Numbers are little-endian, as on the machines that Mayfly runs on; a text is its
// length (uint32) and its bytes. Opcodes and layouts: mcap.dev/spec.
//
// Nothing in the file depends on the clock: chunks are cut by size and simulated time.
#include "record/mcap.h"
#include "base/hash.h"
#include "base/inject.h"
#include "record/compress.h"

#include <mayfly/base.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADER = 0x01,
    FOOTER,
    SCHEMA,
    CHANNEL,
    MESSAGE,
    CHUNK,
    MESSAGE_INDEX,
    CHUNK_INDEX,
    ATTACHMENT,
    ATTACHMENT_INDEX,
    STATISTICS,
    METADATA,
    METADATA_INDEX,
    SUMMARY_OFFSET,
    DATA_END
};

enum { RECORD_HEAD = 9 };                    // [byte] opcode and length
enum { CHUNK_BYTES = 1 << 20 };              // [byte] from which on a chunk is written
#define CHUNK_TIME INT64_C(1000000000)       // [ns] likewise
static const char magic[] = "\x89MCAP0\r\n"; // at both ends of a file

// ---- values ------------------------------------------------------------------------------------

static void put16(mf_Text *out, uint32_t value) {
    const uint16_t narrow = (uint16_t)value;
    mf_text_put_bytes(out, (const char *)&narrow, sizeof narrow);
}
static void put32(mf_Text *out, uint32_t value) {
    mf_text_put_bytes(out, (const char *)&value, sizeof value);
}
static void put64(mf_Text *out, uint64_t value) {
    mf_text_put_bytes(out, (const char *)&value, sizeof value);
}
static void put_time(mf_Text *out, mf_Time time) {
    put64(out, (uint64_t)time);
}
static void put_text(mf_Text *out, const char *text) {
    put32(out, (uint32_t)strlen(text));
    mf_text_put(out, text);
}

static void put_pairs(mf_Text *out, const char *const *pairs) {
    size_t size = 0;
    for (size_t i = 0; pairs != NULL && pairs[i] != NULL; i++)
        size += 4 + strlen(pairs[i]);
    put32(out, (uint32_t)size);
    for (size_t i = 0; pairs != NULL && pairs[i] != NULL; i++)
        put_text(out, pairs[i]);
}

// Begins a record whose length mf_mcap's close fills in.
static size_t open_record(mf_Text *out, int opcode) {
    const char code = (char)opcode;
    mf_text_put_bytes(out, &code, 1);
    put64(out, 0);
    return out->size;
}

static void close_record(mf_Text *out, size_t opened) {
    const uint64_t length = out->size - opened;
    if (!out->failed)
        memcpy(out->data + opened - sizeof length, &length, sizeof length);
}

// ---- the file ----------------------------------------------------------------------------------

static void write_bytes(mf_Mcap *mcap, const char *bytes, size_t size) {
    mf_Output *output = mcap->output;
    mcap->offset += size;
    while (size > 0 && output->failure == 0) {
        ssize_t count = -1;
        errno = 0;
        if (mf_allow(output->context, "write"))
            count = write(output->descriptor, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            output->failure = errno != 0 ? errno : EIO;
            return;
        }
        bytes += count;
        size -= (size_t)count;
    }
}

static void write_text(mf_Mcap *mcap, const mf_Text *text) {
    if (text->size > 0 && !text->failed)
        write_bytes(mcap, text->data, text->size);
}

static void write_head(mf_Mcap *mcap) {
    write_text(mcap, &mcap->head);
    mcap->head.size = 0;
}

void mf_mcap_begin(mf_Mcap *mcap, mf_Output *output) {
    mf_Context *context = output->context;
    *mcap = (mf_Mcap){.output = output};
    mf_Text *const all[] = {&mcap->chunk,    &mcap->packed,   &mcap->head,   &mcap->entries,
                            &mcap->schemas,  &mcap->channels, &mcap->chunks, &mcap->attachments,
                            &mcap->metadata, &mcap->counts};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i] = mf_text_begin(context);
    mf_text_put_bytes(&mcap->head, magic, sizeof magic - 1);
    const size_t opened = open_record(&mcap->head, HEADER);
    put_text(&mcap->head, "");
    mf_text_put(&mcap->head, "");
    put_text(&mcap->head, "mayfly");
    close_record(&mcap->head, opened);
    write_head(mcap);
}

uint32_t mf_mcap_schema(mf_Mcap *mcap, const char *name, const mf_Text *descriptors) {
    const size_t opened = open_record(&mcap->schemas, SCHEMA);
    put16(&mcap->schemas, ++mcap->schema_count);
    put_text(&mcap->schemas, name);
    put_text(&mcap->schemas, "protobuf");
    put32(&mcap->schemas, (uint32_t)descriptors->size);
    mf_text_put_bytes(&mcap->schemas, descriptors->data, descriptors->size);
    close_record(&mcap->schemas, opened);
    return mcap->schema_count;
}

uint32_t mf_mcap_channel(mf_Mcap *mcap, const char *topic, uint32_t schema,
                         const char *const *metadata) {
    const size_t opened = open_record(&mcap->channels, CHANNEL);
    put16(&mcap->channels, mcap->channel_count);
    put16(&mcap->channels, schema);
    put_text(&mcap->channels, topic);
    put_text(&mcap->channels, "protobuf");
    put_pairs(&mcap->channels, metadata);
    close_record(&mcap->channels, opened);
    put64(&mcap->counts, 0);
    return mcap->channel_count++;
}

void mf_mcap_attach(mf_Mcap *mcap, const char *name, const char *media_type, const char *text) {
    mf_Text *head = &mcap->head;
    const uint64_t size = strlen(text), offset = mcap->offset;
    const size_t opened = open_record(head, ATTACHMENT);
    put64(head, 0); // log and creation time
    put64(head, 0);
    put_text(head, name);
    put_text(head, media_type);
    put64(head, size);
    mf_text_put(head, text);
    if (!head->failed)
        put32(head, mf_crc32(0, head->data + opened, head->size - opened));
    close_record(head, opened);
    const uint64_t length = head->size;
    write_head(mcap);
    mf_Text *index = &mcap->attachments;
    const size_t entry = open_record(index, ATTACHMENT_INDEX);
    put64(index, offset);
    put64(index, length);
    put64(index, 0);
    put64(index, 0);
    put64(index, size);
    put_text(index, name);
    put_text(index, media_type);
    close_record(index, entry);
    mcap->attachment_count++;
}

void mf_mcap_metadata(mf_Mcap *mcap, const char *name, const char *const *pairs) {
    const uint64_t offset = mcap->offset;
    const size_t opened = open_record(&mcap->head, METADATA);
    put_text(&mcap->head, name);
    put_pairs(&mcap->head, pairs);
    close_record(&mcap->head, opened);
    const uint64_t length = mcap->head.size;
    write_head(mcap);
    const size_t entry = open_record(&mcap->metadata, METADATA_INDEX);
    put64(&mcap->metadata, offset);
    put64(&mcap->metadata, length);
    put_text(&mcap->metadata, name);
    close_record(&mcap->metadata, entry);
    mcap->metadata_count++;
}

// ---- messages ----------------------------------------------------------------------------------

void mf_mcap_message(mf_Mcap *mcap, uint32_t channel, mf_Time time, const mf_Text *message) {
    mf_Text *chunk = &mcap->chunk;
    if (chunk->size == 0) {
        mcap->chunk_begin = time;
        if (mcap->chunk_count == 0) {
            mf_text_put_bytes(chunk, mcap->schemas.data, mcap->schemas.size);
            mf_text_put_bytes(chunk, mcap->channels.data, mcap->channels.size);
        }
    }
    if (chunk->failed || mcap->counts.failed || message->failed) {
        chunk->failed = true;
        return;
    }
    const mf_McapEntry entry = {(uint64_t)time, chunk->size, channel};
    mf_text_put_bytes(&mcap->entries, (const char *)&entry, sizeof entry);
    uint64_t number;
    char *count = mcap->counts.data + channel * sizeof number;
    memcpy(&number, count, sizeof number);
    const size_t opened = open_record(chunk, MESSAGE);
    put16(chunk, channel);
    put32(chunk, (uint32_t)number++);
    put_time(chunk, time);
    put_time(chunk, time);
    if (message->size > 0)
        mf_text_put_bytes(chunk, message->data, message->size);
    close_record(chunk, opened);
    memcpy(count, &number, sizeof number);
    mcap->begin = mcap->message_count++ == 0 ? time : mcap->begin;
    mcap->chunk_end = mcap->end = time;
}

// The times and places of one channel's messages in the chunk. False, and nothing appended: none.
static bool put_index(mf_Mcap *mcap, uint32_t channel) {
    const mf_McapEntry *entries = (const mf_McapEntry *)(const void *)mcap->entries.data;
    const size_t count = mcap->entries.size / sizeof *entries;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += entries[i].channel == channel;
    if (found == 0)
        return false;
    mf_Text *out = &mcap->head;
    const size_t opened = open_record(out, MESSAGE_INDEX);
    put16(out, channel);
    put32(out, found * 16);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].channel != channel)
            continue;
        put64(out, entries[i].time);
        put64(out, entries[i].offset);
    }
    close_record(out, opened);
    return true;
}

// The records of the chunk as they are written.
static const mf_Text *pack_chunk(mf_Mcap *mcap) {
    if (mf_compress_name()[0] == '\0')
        return &mcap->chunk;
    mf_compress(&mcap->packed, mcap->chunk.data, mcap->chunk.size);
    return &mcap->packed;
}

static void put_chunk_head(mf_Mcap *mcap, const mf_Text *packed) {
    mf_Text *head = &mcap->head;
    const mf_Text *chunk = &mcap->chunk;
    const size_t opened = open_record(head, CHUNK);
    put_time(head, mcap->chunk_begin);
    put_time(head, mcap->chunk_end);
    put64(head, chunk->size);
    put32(head, mf_crc32(0, chunk->data, chunk->size));
    put_text(head, mf_compress_name());
    put64(head, packed->size);
    if (head->failed)
        return;
    const uint64_t length = head->size - opened + packed->size;
    memcpy(head->data + opened - sizeof length, &length, sizeof length);
}

static void write_chunk(mf_Mcap *mcap) {
    mf_Text *index = &mcap->chunks;
    const uint64_t begin = mcap->offset;
    if (mcap->chunk.failed || mcap->entries.failed || mcap->chunk.size == 0)
        return;
    const mf_Text *packed = pack_chunk(mcap);
    if (packed->failed)
        return;
    put_chunk_head(mcap, packed);
    write_head(mcap);
    write_text(mcap, packed);
    const uint64_t end = mcap->offset;
    const size_t opened = open_record(index, CHUNK_INDEX);
    put_time(index, mcap->chunk_begin);
    put_time(index, mcap->chunk_end);
    put64(index, begin);
    put64(index, end - begin);
    const size_t map = index->size;
    put32(index, 0);
    for (uint32_t i = 0; i < mcap->channel_count; i++) {
        const uint64_t slot = end + mcap->head.size;
        if (!put_index(mcap, i))
            continue;
        put16(index, i);
        put64(index, slot);
    }
    const uint32_t size = (uint32_t)(index->size - map - sizeof size);
    if (!index->failed)
        memcpy(index->data + map, &size, sizeof size);
    put64(index, mcap->head.size);
    put_text(index, mf_compress_name());
    put64(index, packed->size);
    put64(index, mcap->chunk.size);
    close_record(index, opened);
    write_head(mcap);
    mcap->chunk.size = mcap->entries.size = 0;
    mcap->chunk_count++;
}

void mf_mcap_cut(mf_Mcap *mcap) {
    if (mcap->chunk.size >= CHUNK_BYTES || mcap->chunk_end - mcap->chunk_begin >= CHUNK_TIME)
        write_chunk(mcap);
}

// ---- the end -----------------------------------------------------------------------------------

static void put_statistics(mf_Mcap *mcap, mf_Text *out) {
    const size_t opened = open_record(out, STATISTICS);
    put64(out, mcap->message_count);
    put16(out, mcap->schema_count);
    put32(out, mcap->channel_count);
    put32(out, mcap->attachment_count);
    put32(out, mcap->metadata_count);
    put32(out, mcap->chunk_count);
    put_time(out, mcap->begin);
    put_time(out, mcap->end);
    put32(out, mcap->channel_count * 10);
    for (uint32_t i = 0; i < mcap->channel_count && !mcap->counts.failed; i++) {
        put16(out, i);
        mf_text_put_bytes(out, mcap->counts.data + (size_t)i * 8, 8);
    }
    close_record(out, opened);
}

static void put_offset(mf_Text *out, int opcode, uint64_t begin, uint64_t end) {
    const size_t opened = open_record(out, SUMMARY_OFFSET);
    const char code = (char)opcode;
    if (begin == end) {
        out->size = opened - RECORD_HEAD;
        return;
    }
    mf_text_put_bytes(out, &code, 1);
    put64(out, begin);
    put64(out, end - begin);
    close_record(out, opened);
}

void mf_mcap_end(mf_Mcap *mcap) {
    mf_Text *head = &mcap->head, statistics = mf_text_begin(mcap->output->context);
    mf_Text offsets = mf_text_begin(mcap->output->context);
    write_chunk(mcap);
    size_t opened = open_record(head, DATA_END);
    put32(head, 0); // no CRC of the whole: chunks have their own
    close_record(head, opened);
    write_head(mcap);
    const uint64_t begin = mcap->offset;
    put_statistics(mcap, &statistics);
    const struct {
        const mf_Text *text;
        int opcode;
    } parts[] = {{&mcap->schemas, SCHEMA},
                 {&mcap->channels, CHANNEL},
                 {&statistics, STATISTICS},
                 {&mcap->chunks, CHUNK_INDEX},
                 {&mcap->attachments, ATTACHMENT_INDEX},
                 {&mcap->metadata, METADATA_INDEX}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const uint64_t from = mcap->offset;
        write_text(mcap, parts[i].text);
        put_offset(&offsets, parts[i].opcode, from, mcap->offset);
        head->failed = head->failed || parts[i].text->failed;
    }
    const uint64_t offset_begin = mcap->offset;
    write_text(mcap, &offsets);
    opened = open_record(head, FOOTER);
    put64(head, begin);
    put64(head, offset_begin);
    put32(head, 0); // no CRC of the summary
    close_record(head, opened);
    mf_text_put_bytes(head, magic, sizeof magic - 1);
    write_head(mcap);
    head->failed = head->failed || offsets.failed;
    mf_text_free(&statistics);
    mf_text_free(&offsets);
}

void mf_mcap_free(mf_Mcap *mcap) {
    if (mcap->output == NULL)
        return;
    mf_Text *const all[] = {&mcap->chunk,    &mcap->packed,   &mcap->head,   &mcap->entries,
                            &mcap->schemas,  &mcap->channels, &mcap->chunks, &mcap->attachments,
                            &mcap->metadata, &mcap->counts};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mf_text_free(all[i]);
    *mcap = (mf_Mcap){.output = NULL};
}

mf_Status mf_mcap_status(const mf_Mcap *mcap, mf_Error *error) {
    if (mcap->output->failure != 0)
        return mf_output_fail(mcap->output, error);
    if (mcap->chunk.failed || mcap->packed.failed || mcap->head.failed || mcap->entries.failed ||
        mcap->schemas.failed || mcap->channels.failed || mcap->chunks.failed ||
        mcap->attachments.failed || mcap->metadata.failed || mcap->counts.failed)
        return mf_fail_at(error, MF_NO_MEMORY, mcap->output->path, 0, 0, "no memory to record");
    return MF_OK;
}
