// Arrays in one block, and the memory of the machine. Operating systems overcommit and kill
// processes later, so a successful allocation proves nothing, and touching gigabytes until one
// fails takes minutes.
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALIGNMENT = 64 }; // [byte] of each array

bool mf_allocate_arrays(mf_Context *context, const mf_Array *arrays, size_t count) {
    size_t total = 0, bytes;
    bool fits = true;
    for (size_t i = 0; i < count; i++)
        fits = fits && !__builtin_mul_overflow(arrays[i].count, arrays[i].size, &bytes) &&
               !__builtin_add_overflow(total, bytes + ALIGNMENT, &total);
    char *block = mf_allocate(context, fits ? total : SIZE_MAX, 1), *at = block;
    for (size_t i = 0; i < count; i++) {
        memcpy(arrays[i].pointer, &at, sizeof at); // a pointer of another type
        if (block != NULL)
            at += (arrays[i].count * arrays[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return block != NULL;
}

mf_Status mf_allocate_each(mf_Context *context, const mf_Array *arrays, size_t count,
                           const char *who, mf_Error *error) {
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        void *array = mf_allocate(context, arrays[i].count, arrays[i].size);
        memcpy(arrays[i].pointer, &array, sizeof array); // a pointer of another type
        whole = whole && array != NULL;
    }
    return whole ? MF_OK : mf_fail(error, MF_NO_MEMORY, "%s: out of memory", who);
}

// [byte] available without evicting other processes; 0: unknown.
static double available_bytes(void) {
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return 1024.0 * (double)kilobytes;
}

// [byte] that one program should use; 0: unknown. A quarter is reserved for what is not counted.
static double machine_bytes(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    double bytes = available_bytes();
    if (bytes == 0.0 && pages > 0 && size > 0)
        bytes = (double)pages * (double)size;
    bytes *= 0.75;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (bytes == 0.0 || (double)limit.rlim_cur < bytes))
        bytes = (double)limit.rlim_cur;
    return bytes;
}

mf_Status mf_memory_suffices(size_t each, uint64_t count, const char *what, mf_Error *error) {
    const double machine = machine_bytes(), needed = (double)each * (double)count;
    if (machine == 0.0 || needed <= machine)
        return MF_OK;
    return mf_fail(error, MF_NO_MEMORY,
                   "%llu %s require %.3g GB (%zu bytes each), the machine has %.3g GB available",
                   (unsigned long long)count, what, 1e-9 * needed, each, 1e-9 * machine);
}
