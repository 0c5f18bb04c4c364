#include "rig/rig.h"

#include <dirent.h>

void file_put(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void file_put_text(const char *path, const char *text) {
    file_put(path, text, strlen(text));
}

// By pieces: files of /proc have no size.
char *file_get(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot read %s", path);
    size_t count = 0, capacity = 4096;
    char *data = malloc(capacity);
    for (size_t got = 1; got > 0; count += got) {
        if (count + 1 >= capacity)
            data = realloc(data, capacity *= 2);
        assert_non_null(data);
        got = fread(data + count, 1, capacity - count - 1, file);
    }
    fclose(file);
    data[count] = '\0';
    if (size != NULL)
        *size = count;
    return data;
}

unsigned count_files(const char *folder) {
    unsigned count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}
