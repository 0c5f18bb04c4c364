// mayfly replay --ancestry: the line of an individual, itself first.
#include "ancestry.h"

#include <math.h>
#include <stdio.h>

#include "app.h"

static bool print_json(const mf_Ancestor *line, uint32_t count) {
    json_t *ancestors = json_array();
    for (uint32_t i = 0; i < count; i++) {
        bool root = line[i].parent == UINT64_MAX;
        json_array_append_new(
            ancestors,
            json_pack("{s:I, s:o, s:I, s:o, s:I, s:I}", "id", (json_int_t)line[i].id, "parent",
                      root ? json_null() : json_integer((json_int_t)line[i].parent), "generation",
                      (json_int_t)line[i].generation, "fitness", mf_json_real(line[i].fitness),
                      "bytes", (json_int_t)line[i].bytes, "changed", (json_int_t)line[i].changed));
    }
    return mf_app_print(
        json_pack("{s:I, s:o}", "individual", (json_int_t)line[0].id, "ancestors", ancestors));
}

static bool print_text(const mf_Ancestor *line, uint32_t count) {
    printf("%10s  %10s  %12s  %12s  change from its parent\n", "individual", "generation",
           "fitness", "genome");
    for (uint32_t i = 0; i < count; i++) {
        printf("%10llu  %10u  %12.6g  %6u bytes  ", (unsigned long long)line[i].id,
               line[i].generation, line[i].fitness, line[i].bytes);
        if (line[i].parent == UINT64_MAX)
            printf("no parent\n");
        else
            printf("%u byte%s; child of %llu\n", line[i].changed, line[i].changed == 1 ? "" : "s",
                   (unsigned long long)line[i].parent);
    }
    return mf_app_flush();
}

int mf_ancestry_print(mf_Context *context, mf_Archive *archive, uint64_t id, bool json,
                      mf_Error *error) {
    mf_Ancestor *line;
    uint32_t count;
    if (mf_archive_ancestry(archive, id, &line, &count, error) != MF_OK)
        return mf_app_fail(error);
    bool printed = json ? print_json(line, count) : print_text(line, count);
    mf_release(context, line);
    return printed ? MF_EXIT_DONE : MF_EXIT_FAILED;
}
