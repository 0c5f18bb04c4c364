// Fuzzes the PGM reader (P2 and P5) from memory.
#include "fuzz/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_image(data, size);
}
