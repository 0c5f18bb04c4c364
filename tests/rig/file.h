// Whole files; a test fails where one cannot be read or written.
#pragma once

#include <stddef.h>

void file_put(const char *path, const void *data, size_t size);
void file_put_text(const char *path, const char *text);

// What a file holds, and a zero byte behind it; the caller frees it. `size` may be NULL.
char *file_get(const char *path, size_t *size);

// What a folder holds, without itself and the one above it.
unsigned count_files(const char *folder);
