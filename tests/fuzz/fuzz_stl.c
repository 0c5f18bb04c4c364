// Fuzzes the STL reader (binary and ASCII) from memory.
#include "fuzz/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_mesh(mf_stl_parse, data, size);
}
