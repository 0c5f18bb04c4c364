// docs/reference/environments.md contains the tables of tasks and their parameters between marks;
// MAYFLY_UPDATE=1 writes them.
#include "environment/support.h"

#include "environment/tasks.h"

static void put_range(FILE *page, const mf_TaskParameter *parameter) {
    bool below = parameter->lower > -MF_TASK_MOST, above = parameter->upper < MF_TASK_MOST;
    if (below && above)
        fprintf(page, "%g .. %g", parameter->lower, parameter->upper);
    else if (below)
        fprintf(page, "at least %g", parameter->lower);
    else if (above)
        fprintf(page, "at most %g", parameter->upper);
    else
        fprintf(page, "any");
}

static void put_value(FILE *page, double value) {
    if (value <= -MF_TASK_MOST || value >= MF_TASK_MOST)
        fprintf(page, "none");
    else
        fprintf(page, "%g", value);
}

static void put_tasks(FILE *page) {
    fprintf(page,
            "| task | model | | physics steps | episode | signals |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < mf_task_count(); i++) {
        const mf_TaskInfo *info = mf_task_info(i);
        const char *mark = info->model[0] != '\0' ? "`" : "";
        fprintf(page, "| `%s` | %s%s%s | %s | ", info->name, mark,
                info->model[0] != '\0' ? info->model : "its own", mark, info->description);
        if (info->frame_skip > 0)
            fprintf(page, "%u | %u | ", info->frame_skip, info->episode_steps);
        else
            fprintf(page, "by the motion | %u | ", info->episode_steps);
        for (uint32_t s = 0; s < info->signal_count; s++)
            fprintf(page, "%s%s", s > 0 ? ", " : "", info->signals[s]);
        fprintf(page, " |\n");
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

static void put_shared(FILE *page, const mf_TaskInfo *info, const mf_TaskInfo *earlier) {
    bool first = true;
    fprintf(page, "| `%s` | as `%s`: ", info->name, earlier->name);
    for (uint32_t p = 0; p < info->parameter_count; p++)
        if (find_parameter(earlier, &info->parameters[p]) != NULL) {
            fprintf(page, "%s`%s`", first ? "" : ", ", info->parameters[p].name);
            first = false;
        }
    fprintf(page, " | | | | |\n");
}

static void put_parameters(FILE *page) {
    fprintf(page, "| task | parameter | unit | range | default | |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < mf_task_count(); i++) {
        const mf_TaskInfo *info = mf_task_info(i), *earlier = most_similar(i);
        bool named = earlier != NULL;
        if (earlier != NULL)
            put_shared(page, info, earlier);
        for (uint32_t p = 0; p < info->parameter_count; p++) {
            const mf_TaskParameter *own = &info->parameters[p];
            if (earlier != NULL && find_parameter(earlier, own) != NULL)
                continue;
            fprintf(page, "| %s%s%s | `%s` | %s | ", named ? "" : "`", named ? "" : info->name,
                    named ? "" : "`", own->name, strcmp(own->unit, "1") == 0 ? "" : own->unit);
            named = true;
            put_range(page, own);
            fprintf(page, " | ");
            put_value(page, own->value);
            fprintf(page, " | %s |\n", own->description);
        }
    }
}

TEST(tables_are_in_the_document) {
    static const char path[] = MAYFLY_SOURCE_DIR "/docs/reference/environments.md";
    check_written_part(path, "tasks", put_tasks);
    check_written_part(path, "parameters", put_parameters);
}
