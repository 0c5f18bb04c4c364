// Fuzzes the COLLADA reader from memory.
#include "fuzz/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_mesh(mf_dae_parse, data, size);
}
