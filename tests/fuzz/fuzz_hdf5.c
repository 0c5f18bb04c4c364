// Fuzz target: a whole recording in HDF5. The library's own crashes end the child that reads first.
#include "fuzz/recording.h"

// What the library itself loses at a damaged file; what Mayfly loses is counted (fuzz/recording.h).
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return size < 8 || memcmp(data, "\x89HDF\r\n\x1a\n", 8) != 0 ? 0 : fuzz_recording(data, size);
}
