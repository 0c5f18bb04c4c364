// Fuzzes the OBJ reader from memory.
#include "fuzz/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_mesh(mf_obj_parse, data, size);
}
