// Fuzzes the files that a page sends: no path leaves its folder, and no file leaves the bytes.
#include "fuzz.h"
#include "io/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Package package = {.at = data, .end = data + size};
    mf_PackageFile file;
    mf_Error error = {0};
    unsigned sum = 0;
    while (mf_package_next(&package, &file, &error)) {
        require(file.path[0] != '/' && file.path[0] != '\0' && strncmp(file.path, "..", 2) != 0 &&
                strstr(file.path, "/.") == NULL);
        require(file.data >= data && file.size <= size && file.data + file.size <= data + size);
        for (size_t i = 0; i < file.size; i++)
            sum += file.data[i];
    }
    require((error.status != MF_OK) == (package.at != package.end));
    require(package.count <= MF_PACKAGE_FILES);
    return sum == 1 ? -1 : 0; // what was read is used
}
