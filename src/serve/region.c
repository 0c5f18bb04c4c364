// Memory that the server shares with a client (region.h): a file without a name (memfd_create),
// whose size is sealed before anyone else has it.
#define _GNU_SOURCE // memfd_create, F_ADD_SEALS, MADV_REMOVE
#include "serve/region.h"

#include "client/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u // [byte] in front of the slots, and unit of the whole

// All of its pages exist afterwards, so that later none can be missing.
static int open_file(size_t size) {
    const int file = memfd_create("mayfly", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)size) == 0 && fallocate(file, 0, 0, (off_t)size) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    const int reason = errno;
    close(file);
    errno = reason;
    return -1;
}

static mf_Status map(mf_Region *region, int *file, mf_Error *error) {
    *file = open_file(region->size);
    void *memory = *file >= 0
                       ? mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0)
                       : MAP_FAILED;
    if (memory != MAP_FAILED) {
        region->memory = memory;
        return MF_OK;
    }
    mf_fail(error, MF_IO, "cannot make %zu bytes of shared memory: %s", region->size,
            strerror(errno));
    if (*file >= 0)
        close(*file);
    return MF_IO;
}

mf_Status mf_region_create(mf_Context *context, uint32_t slots, size_t slot_size, size_t most,
                           mf_Region **out, int *file, mf_Error *error) {
    const size_t stride = mf_wire_padded(slot_size, MF_PROTOCOL_COUNTER);
    *out = NULL;
    *file = -1;
    if (slot_size > UINT32_MAX / 2 || mf_wire_padded(PAGE + slots * stride, PAGE) > most)
        return mf_fail(error, MF_LIMIT, "expected at most %zu bytes of shared memory, found %zu",
                       most, mf_wire_padded(PAGE + slots * stride, PAGE));
    mf_Region *region = mf_allocate(context, 1, sizeof *region);
    MF_NEED_MEMORY(region != NULL, error, "serve");
    *region = (mf_Region){.size = mf_wire_padded(PAGE + slots * stride, PAGE),
                          .first = PAGE,
                          .stride = (uint32_t)stride,
                          .slots = slots};
    mf_Status status = map(region, file, error);
    if (status != MF_OK)
        mf_release(context, region);
    else
        *out = region;
    return status;
}

void mf_region_destroy(mf_Context *context, mf_Region *region, bool reclaims) {
    if (region == NULL)
        return;
    if (reclaims)
        madvise(region->memory, region->size, MADV_REMOVE);
    munmap(region->memory, region->size);
    mf_release(context, region);
}
