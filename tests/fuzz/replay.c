// Replays a corpus through a fuzz target: each argument is a file or a folder of files. Used where
// libFuzzer is not linked, so that every past input stays a regression test under any compiler.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot open\n", path);
        return 1;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)length + 1);
    size_t size = fread(data, 1, (size_t)length, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argument_count, char **arguments) {
    int failures = 0, replayed = 0;
    for (int i = 1; i < argument_count; i++) {
        struct stat info;
        if (stat(arguments[i], &info) != 0) {
            fprintf(stderr, "%s: not found\n", arguments[i]);
            return 1;
        }
        if (!S_ISDIR(info.st_mode)) {
            failures += replay_file(arguments[i]);
            replayed++;
            continue;
        }
        DIR *folder = opendir(arguments[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
            if (entry->d_name[0] == '.')
                continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", arguments[i], entry->d_name);
            failures += replay_file(path);
            replayed++;
        }
        if (folder)
            closedir(folder);
    }
    printf("replayed %d inputs\n", replayed);
    return failures != 0 || replayed == 0;
}
