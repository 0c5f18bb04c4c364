// The table of a sweep. CSV as RFC 4180 describes it, with line ends of Unix; an empty field: no
// value. Each key that differs between settings is a column.
#include "sweep_table.h"

#include "base/text.h"
#include "run_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- CSV ---------------------------------------------------------------------------------------

static void put_text(mf_Text *text, const char *field) {
    const bool quoted = strpbrk(field, ",\"\n\r") != NULL;
    if (!quoted) {
        mf_text_put(text, field);
        return;
    }
    mf_text_put(text, "\"");
    for (; *field != '\0'; field++)
        mf_text_format(text, "%s%c", *field == '"' ? "\"" : "", *field);
    mf_text_put(text, "\"");
}

static void put_number(mf_Text *text, double value) {
    mf_text_put(text, ",");
    if (isfinite(value))
        mf_text_format(text, "%.17g", value);
}

static const mf_SweepValue *find(const mf_SweepSetting *setting, const char *path) {
    for (uint32_t i = 0; i < setting->count; i++)
        if (strcmp(setting->values[i].path, path) == 0)
            return &setting->values[i];
    return NULL;
}

// The columns: keys that a setting has of its own, in the order of the file. NULL after the last.
static const char *column_at(const mf_SweepPlan *plan, uint32_t number) {
    for (uint32_t s = 0; s < plan->setting_count; s++) {
        const mf_SweepSetting *setting = &plan->settings[s];
        for (uint32_t i = setting->common; i < setting->count; i++) {
            const char *path = setting->values[i].path;
            bool known = false;
            for (uint32_t k = 0; k < s && !known; k++) {
                const mf_SweepValue *value = find(&plan->settings[k], path);
                known =
                    value != NULL && value >= plan->settings[k].values + plan->settings[k].common;
            }
            if (!known && number-- == 0)
                return path;
        }
    }
    return NULL;
}

static void put_setting(mf_Text *text, const mf_SweepPlan *plan, uint32_t index) {
    put_text(text, plan->settings[index].name);
    const char *path;
    for (uint32_t i = 0; (path = column_at(plan, i)) != NULL; i++) {
        const mf_SweepValue *value = find(&plan->settings[index], path);
        mf_text_put(text, ",");
        put_text(text, value != NULL ? value->value : "");
    }
}

static void put_head(mf_Text *text, const mf_SweepPlan *plan, const char *rest) {
    const char *path;
    mf_text_put(text, "setting");
    for (uint32_t i = 0; (path = column_at(plan, i)) != NULL; i++)
        mf_text_format(text, ",%s", path);
    mf_text_put(text, rest);
}

mf_Status mf_sweep_table_write(const mf_SweepPlan *plan, const mf_SweepResults *results,
                               const char *folder, mf_Error *error) {
    char path[MF_APP_PATH];
    MF_TRY(mf_folder_path(folder, "table.csv", path, error));
    mf_Text table = mf_text_begin(plan->context), searches = mf_text_begin(plan->context);
    put_head(&table, plan,
             ",searches,seeds,median,lower_quartile,upper_quartile,least,most,evaluations,"
             "wall_seconds\n");
    put_head(&searches, plan, ",seed,best,evaluations,wall_seconds,folder\n");
    for (uint32_t i = 0; i < results->count; i++) {
        const mf_SweepGroup *group = &results->groups[i];
        const double numbers[] = {group->best.median, group->best.lower, group->best.upper,
                                  group->best.least,  group->best.most,  group->evaluations,
                                  group->seconds};
        put_setting(&table, plan, i);
        mf_text_format(&table, ",%u,%u", group->count, group->expected);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            put_number(&table, numbers[k]);
        mf_text_put(&table, "\n");
        for (uint32_t k = 0; k < group->count; k++) {
            const mf_SweepSearch *search = &group->searches[k];
            put_setting(&searches, plan, i);
            mf_text_format(&searches, ",%llu", (unsigned long long)search->seed);
            put_number(&searches, search->best);
            put_number(&searches, search->evaluations);
            put_number(&searches, search->seconds);
            mf_text_put(&searches, ",");
            put_text(&searches, search->folder);
            mf_text_put(&searches, "\n");
        }
    }
    mf_Status status = mf_text_save(&table, path, "sweep", error);
    MF_THEN(status, mf_folder_path(folder, "searches.csv", path, error));
    if (status == MF_OK)
        return mf_text_save(&searches, path, "sweep", error);
    mf_text_free(&searches);
    return status;
}

// ---- the terminal ------------------------------------------------------------------------------

static const char *number(double value, char out[MF_APP_NUMBER]) {
    snprintf(out, MF_APP_NUMBER, isfinite(value) ? "%.4g" : "-", value);
    return out;
}

void mf_sweep_table_print(const mf_SweepResults *results) {
    int width = 7;
    for (uint32_t i = 0; i < results->count; i++) {
        const int length = (int)strlen(results->groups[i].name);
        width = length > width ? length : width;
    }
    printf("best %s%s%s%s, quartiles over seeds\n", results->title,
           results->unit[0] != '\0' ? " [" : "", results->unit,
           results->unit[0] != '\0' ? "]" : "");
    printf("%-*s %9s %10s %10s %10s %12s %12s\n", width, "setting", "searches", "lower", "median",
           "upper", "evaluations", "wall time");
    for (uint32_t i = 0; i < results->count; i++) {
        const mf_SweepGroup *group = &results->groups[i];
        char count[40], lower[MF_APP_NUMBER], median[MF_APP_NUMBER], upper[MF_APP_NUMBER];
        char evaluations[MF_APP_NUMBER] = "-", seconds[MF_APP_NUMBER] = "-";
        snprintf(count, sizeof count, "%u of %u", group->count, group->expected);
        if (group->count > 0) {
            mf_app_count(group->evaluations, evaluations);
            mf_app_duration(group->seconds, seconds);
        }
        printf("%-*s %9s %10s %10s %10s %12s %12s\n", width, group->name, count,
               number(group->best.lower, lower), number(group->best.median, median),
               number(group->best.upper, upper), evaluations, seconds);
    }
}
