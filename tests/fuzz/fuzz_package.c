// Fuzzes the files that a page sends: no path leaves its folder, and no file leaves the bytes.
#include "io/package.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Package package = {.at = data, .end = data + size};
    mf_PackageFile file;
    mf_Error error;
    unsigned sum = 0;
    memset(&error, 0, sizeof error);
    while (mf_package_next(&package, &file, &error)) {
        if (file.path[0] == '/' || file.path[0] == '\0' || strstr(file.path, "..") == file.path ||
            strstr(file.path, "/.") != NULL || file.data < data || file.size > size ||
            file.data + file.size > data + size)
            abort();
        for (size_t i = 0; i < file.size; i++)
            sum += file.data[i];
    }
    if ((error.status != MF_OK) != (package.at != package.end) || package.count > MF_PACKAGE_FILES)
        abort();
    return sum == 1 ? -1 : 0; // what was read is used
}
