// docs/reference/environments.md contains the tables of tasks and their parameters between marks;
// MAYFLY_UPDATE=1 writes them.
#include "environment/support.h"

#include "environment/tasks.h"

enum { ROOM = 1 << 18 };

typedef struct Page {
    char *text;
    size_t length;
} Page;

static void put(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Page *page, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int more = vsnprintf(page->text + page->length, ROOM - page->length, format, list);
    va_end(list);
    assert_true(more >= 0 && page->length + (size_t)more < ROOM);
    page->length += (size_t)more;
}

static void put_range(Page *page, const mf_TaskParameter *parameter) {
    bool below = parameter->lower > -MF_TASK_MOST, above = parameter->upper < MF_TASK_MOST;
    if (below && above)
        put(page, "%g .. %g", parameter->lower, parameter->upper);
    else if (below)
        put(page, "at least %g", parameter->lower);
    else if (above)
        put(page, "at most %g", parameter->upper);
    else
        put(page, "any");
}

static void put_value(Page *page, double value) {
    if (value <= -MF_TASK_MOST || value >= MF_TASK_MOST)
        put(page, "none");
    else
        put(page, "%g", value);
}

static void put_tasks(Page *page) {
    put(page,
        "| task | model | | physics steps | episode | signals |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < mf_task_count(); i++) {
        const mf_TaskInfo *info = mf_task_info(i);
        const char *mark = info->model[0] != '\0' ? "`" : "";
        put(page, "| `%s` | %s%s%s | %s | ", info->name, mark,
            info->model[0] != '\0' ? info->model : "its own", mark, info->description);
        if (info->frame_skip > 0)
            put(page, "%u | %u | ", info->frame_skip, info->episode_steps);
        else
            put(page, "by the motion | %u | ", info->episode_steps);
        for (uint32_t s = 0; s < info->signal_count; s++)
            put(page, "%s%s", s > 0 ? ", " : "", info->signals[s]);
        put(page, " |\n");
    }
}

static bool same_parameter(const mf_TaskParameter *a, const mf_TaskParameter *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 &&
           strcmp(a->description, b->description) == 0 && a->lower == b->lower &&
           a->upper == b->upper && a->value == b->value;
}

static const mf_TaskParameter *find_parameter(const mf_TaskInfo *info,
                                              const mf_TaskParameter *other) {
    for (uint32_t p = 0; p < info->parameter_count; p++)
        if (same_parameter(&info->parameters[p], other))
            return &info->parameters[p];
    return NULL;
}

static uint32_t shared_parameters(const mf_TaskInfo *info, const mf_TaskInfo *earlier) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < info->parameter_count; p++)
        count += find_parameter(earlier, &info->parameters[p]) != NULL;
    return count;
}

// The earlier task that shares most parameters with task i, or NULL where a row of names does not
// pay.
static const mf_TaskInfo *most_similar(uint32_t i) {
    const mf_TaskInfo *best = NULL;
    uint32_t most = 2;
    for (uint32_t e = 0; e < i; e++) {
        uint32_t shared = shared_parameters(mf_task_info(i), mf_task_info(e));
        if (shared > most) {
            most = shared;
            best = mf_task_info(e);
        }
    }
    return best;
}

static void put_shared(Page *page, const mf_TaskInfo *info, const mf_TaskInfo *earlier) {
    bool first = true;
    put(page, "| `%s` | as `%s`: ", info->name, earlier->name);
    for (uint32_t p = 0; p < info->parameter_count; p++)
        if (find_parameter(earlier, &info->parameters[p]) != NULL) {
            put(page, "%s`%s`", first ? "" : ", ", info->parameters[p].name);
            first = false;
        }
    put(page, " | | | | |\n");
}

static void put_parameters(Page *page) {
    put(page, "| task | parameter | unit | range | default | |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < mf_task_count(); i++) {
        const mf_TaskInfo *info = mf_task_info(i), *earlier = most_similar(i);
        bool named = earlier != NULL;
        if (earlier != NULL)
            put_shared(page, info, earlier);
        for (uint32_t p = 0; p < info->parameter_count; p++) {
            const mf_TaskParameter *own = &info->parameters[p];
            if (earlier != NULL && find_parameter(earlier, own) != NULL)
                continue;
            put(page, "| %s%s%s | `%s` | %s | ", named ? "" : "`", named ? "" : info->name,
                named ? "" : "`", own->name, strcmp(own->unit, "1") == 0 ? "" : own->unit);
            named = true;
            put_range(page, own);
            put(page, " | ");
            put_value(page, own->value);
            put(page, " | %s |\n", own->description);
        }
    }
}

static void hold(const char *name, void (*write)(Page *page)) {
    static const char path[] = MAYFLY_SOURCE_DIR "/docs/reference/environments.md";
    AUTO_CONTEXT *context = open_context(1);
    char begin[64], end[64], *document;
    size_t size;
    Page page = {.text = zeros(ROOM, 1)};
    snprintf(begin, sizeof begin, "<!-- %s: begin -->\n", name);
    snprintf(end, sizeof end, "<!-- %s: end -->", name);
    assert_int_equal(mf_file_read(context, path, 1 << 20, &document, &size, NULL), MF_OK);
    write(&page);
    char *start = strstr(document, begin);
    assert_non_null(start);
    start += strlen(begin);
    char *stop = strstr(start, end);
    assert_non_null(stop);
    bool same = (size_t)(stop - start) == page.length && memcmp(start, page.text, page.length) == 0;
    if (getenv("MAYFLY_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(start - document), document, page.text, stop);
        fclose(file);
    } else if (!same) {
        fail_msg(
            "docs/reference/environments.md is out of date: run this test with MAYFLY_UPDATE=1");
    }
    free(page.text);
    mf_release(context, document);
}

TEST(tasks_are_in_the_document) {
    hold("tasks", put_tasks);
}

TEST(parameters_are_in_the_document) {
    hold("parameters", put_parameters);
}
