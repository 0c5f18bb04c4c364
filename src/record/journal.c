// Entries: where [byte], how many bytes, a checksum, and the bytes that stood there. The first
// entry has no bytes: where is the file's size. Entries are undone from the last to the first, so
// that of places that were kept twice the oldest bytes win. A last entry that is cut off was not
// needed yet: its place is overwritten only after it has been written.
#include "record/journal.h"
#include "base/hash.h"
#include "base/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define JOURNAL_MOST ((size_t)1 << 31) // [byte] that a reader takes

typedef struct Entry {
    uint64_t at;     // [byte]
    uint32_t size;   // [byte] that follow
    uint32_t before; // [byte] of the entry before this one, with its head
    uint32_t check;  // CRC of the members above and the bytes
    uint32_t unused; // 0
} Entry;

static uint32_t check_of(const Entry *entry, const void *bytes) {
    const uint32_t head = mf_crc32(0, entry, offsetof(Entry, check));
    return mf_crc32(head, bytes, entry->size);
}

static bool write_all(mf_Context *context, int file, const void *bytes, size_t size, uint64_t at) {
    const char *from = bytes;
    while (size > 0) {
        errno = EIO;
        const ssize_t count =
            mf_allow(context, "pwrite") ? pwrite(file, from, size, (off_t)at) : -1;
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        from += count;
        at += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

static bool read_all(mf_Context *context, int file, void *bytes, size_t size, uint64_t at) {
    char *to = bytes;
    while (size > 0) {
        errno = EIO;
        const ssize_t count = mf_allow(context, "pread") ? pread(file, to, size, (off_t)at) : -1;
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        to += count;
        at += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

static char *name_of(mf_Context *context, const char *path) {
    static const char ending[] = ".journal";
    const size_t length = strlen(path);
    char *name = mf_allocate(context, length + sizeof ending, 1);
    if (name != NULL) {
        memcpy(name, path, length);
        memcpy(name + length, ending, sizeof ending);
    }
    return name;
}

mf_Status mf_journal_begin(mf_Journal *journal, mf_Context *context, const char *path,
                           mf_Error *error) {
    *journal = (mf_Journal){.context = context, .descriptor = -1};
    journal->path = name_of(context, path);
    if (journal->path == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to record");
    unlink(journal->path); // of an older run, whose file this one replaces
    return MF_OK;
}

static bool put_entry(mf_Journal *journal, Entry entry, const void *bytes) {
    entry.before = journal->last;
    entry.check = check_of(&entry, bytes);
    if (!write_all(journal->context, journal->descriptor, &entry, sizeof entry, journal->size) ||
        !write_all(journal->context, journal->descriptor, bytes, entry.size,
                   journal->size + sizeof entry))
        return false;
    journal->last = (uint32_t)sizeof entry + entry.size;
    journal->size += journal->last;
    return true;
}

bool mf_journal_keep(mf_Journal *journal, int file, uint64_t at, size_t size) {
    char bytes[4096];
    if (journal->path == NULL)
        return true;
    if (journal->descriptor < 0) {
        errno = EIO;
        journal->size = journal->last = 0;
        if (mf_allow(journal->context, "open"))
            journal->descriptor = open(journal->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (journal->descriptor < 0 || !put_entry(journal, (Entry){.at = journal->whole}, ""))
            return false;
    }
    const uint64_t end = at + size < journal->whole ? at + size : journal->whole;
    for (uint64_t from = at; from < end;) {
        const size_t part = end - from < sizeof bytes ? (size_t)(end - from) : sizeof bytes;
        if (!read_all(journal->context, file, bytes, part, from) ||
            !put_entry(journal, (Entry){.at = from, .size = (uint32_t)part}, bytes))
            return false;
        from += part;
    }
    return true;
}

void mf_journal_whole(mf_Journal *journal, uint64_t size) {
    journal->whole = size;
    if (journal->descriptor < 0)
        return;
    close(journal->descriptor);
    journal->descriptor = -1;
    unlink(journal->path);
}

// Finds the end of the whole entries of a journal, and the length of the last one.
static size_t find_end(const char *data, size_t size, size_t *last) {
    size_t end = 0;
    Entry entry;
    *last = 0;
    while (size - end >= sizeof entry) {
        memcpy(&entry, data + end, sizeof entry);
        if (entry.size > size - end - sizeof entry || entry.before != *last ||
            entry.check != check_of(&entry, data + end + sizeof entry))
            break;
        *last = sizeof entry + entry.size;
        end += *last;
    }
    return end;
}

// Takes the last entry off; false: there is none.
static bool take_last(const char *data, size_t *end, size_t *last, Entry *out, const char **bytes) {
    if (*end == 0)
        return false;
    *end -= *last;
    memcpy(out, data + *end, sizeof *out);
    *bytes = data + *end + sizeof *out;
    *last = out->before;
    return true;
}

bool mf_journal_undo(mf_Journal *journal, int file) {
    size_t size = (size_t)journal->size, end, last;
    Entry entry = {.at = journal->whole};
    const char *bytes;
    if (journal->descriptor < 0)
        return ftruncate(file, (off_t)journal->whole) == 0;
    char *data = mf_allocate(journal->context, size + 1, 1);
    bool good = data != NULL && read_all(journal->context, journal->descriptor, data, size, 0);
    end = good ? find_end(data, size, &last) : 0;
    while (good && take_last(data, &end, &last, &entry, &bytes))
        good = entry.size == 0 ? ftruncate(file, (off_t)entry.at) == 0
                               : write_all(journal->context, file, bytes, entry.size, entry.at);
    mf_release(journal->context, data);
    if (good)
        mf_journal_whole(journal, journal->whole);
    return good;
}

void mf_journal_free(mf_Journal *journal) {
    if (journal->context == NULL)
        return;
    mf_journal_whole(journal, 0);
    mf_release(journal->context, journal->path);
    *journal = (mf_Journal){.descriptor = -1};
}

mf_Status mf_journal_apply(mf_Context *context, const char *path, char *data, size_t *size,
                           bool *found, mf_Error *error) {
    char *name = name_of(context, path), *text = NULL;
    const char *bytes;
    size_t length, end, last;
    Entry entry;
    *found = false;
    if (name == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to read it");
    mf_Status status = access(name, F_OK) == 0
                           ? mf_file_read(context, name, JOURNAL_MOST, &text, &length, error)
                           : MF_NOT_FOUND;
    end = status == MF_OK ? find_end(text, length, &last) : 0;
    while (status == MF_OK && take_last(text, &end, &last, &entry, &bytes)) {
        if (entry.at > *size || entry.size > *size - entry.at)
            break; // of another file
        *found = true;
        memcpy(data + entry.at, bytes, entry.size);
        *size = entry.size == 0 ? (size_t)entry.at : *size;
    }
    mf_release(context, text);
    mf_release(context, name);
    return status == MF_NOT_FOUND ? MF_OK : status;
}
