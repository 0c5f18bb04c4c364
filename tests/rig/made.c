#include "rig/rig.h"

void check_made_file(const char *path, const char *text) {
    if (getenv("MAYFLY_UPDATE") != NULL)
        file_put_text(path, text);
    AUTO(end_memory) char *found = file_get(path, NULL);
    if (strcmp(found, text) != 0)
        fail_msg("%s is out of date: run this test with MAYFLY_UPDATE=1", path);
}

void check_made_part(const char *path, const char *mark, const char *text) {
    const char *begin = formatted("<!-- %s: begin -->\n", mark);
    AUTO(end_memory) char *page = file_get(path, NULL);
    const char *start = strstr(page, begin);
    assert_non_null(start);
    start += strlen(begin);
    const char *stop = strstr(start, formatted("<!-- %s: end -->", mark));
    assert_non_null(stop);
    check_made_file(path, formatted("%.*s%s%s", (int)(start - page), page, text, stop));
}

void check_written_part(const char *path, const char *mark, void (*write)(FILE *out)) {
    AUTO(end_memory) char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write(out);
    fclose(out);
    check_made_part(path, mark, text);
}
