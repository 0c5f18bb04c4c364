// Fuzz target: a whole recording in MCAP, compressed or not.
#include "fuzz/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return size < 8 || memcmp(data, "\x89MCAP0\r\n", 8) != 0 ? 0 : fuzz_recording(data, size);
}
