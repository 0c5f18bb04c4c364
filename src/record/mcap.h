// MCAP files (mcap.dev/spec), written front to back: the beginning, attachments, chunks with CRC
// and an index each, compressed by zstd where the build has it, the summary. A file that ends
// behind a chunk is read by tools up to there.
#pragma once

#include "base/text.h"
#include "record/output.h"
#include "record/proto.h"

// Where and when a message of the open chunk is.
typedef struct mf_McapEntry {
    uint64_t time, offset; // [ns], [byte]
    uint32_t channel;
} mf_McapEntry;

typedef struct mf_Mcap {
    mf_Output *output;
    uint64_t offset; // [byte] of the file's end
    mf_Text chunk;   // records of the open one
    mf_Text packed;  // the same, compressed; empty where the build compresses nothing
    mf_Text head;    // of a record, before it is written
    mf_Text entries; // mf_McapEntry of the messages of the open chunk
    mf_Time chunk_begin, chunk_end;
    // What the summary repeats.
    mf_Text schemas, channels, chunks, attachments, metadata;
    mf_Text counts; // [1] uint64_t of messages per channel
    uint32_t schema_count, channel_count, chunk_count, attachment_count, metadata_count;
    uint64_t message_count;
    mf_Time begin, end; // of all messages
} mf_Mcap;

// Begins the file. The output must not move in memory.
void mf_mcap_begin(mf_Mcap *mcap, mf_Output *output);
// Both return numbers: of schemas from 1 on, of channels from 0 on. Before the first message.
// `metadata` are pairs of names and texts, NULL-terminated, or NULL.
uint32_t mf_mcap_schema(mf_Mcap *mcap, const char *name, const mf_Text *descriptors);
uint32_t mf_mcap_channel(mf_Mcap *mcap, const char *topic, uint32_t schema,
                         const char *const *metadata);
void mf_mcap_attach(mf_Mcap *mcap, const char *name, const char *media_type, const char *text);
void mf_mcap_metadata(mf_Mcap *mcap, const char *name, const char *const *pairs);

// Times of messages do not go back.
void mf_mcap_message(mf_Mcap *mcap, uint32_t channel, mf_Time time, const mf_Text *message);
// Writes the open chunk if it is large or old enough: what a killed run loses at most.
void mf_mcap_cut(mf_Mcap *mcap);
// Writes the open chunk and the summary.
void mf_mcap_end(mf_Mcap *mcap);
void mf_mcap_free(mf_Mcap *mcap);

// The first failure: of a system call, or MF_NO_MEMORY.
mf_Status mf_mcap_status(const mf_Mcap *mcap, mf_Error *error);
