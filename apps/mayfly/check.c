// mayfly check: runs the check cases and shows expected, got, tolerance and verdict of each
// quantity.
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define LISTED(name) mf_check_##name##_cases,
static const mf_CheckCase *const tables[] = {MF_CHECK_TABLES(LISTED)};
enum { TABLES = sizeof tables / sizeof *tables, FULL = TABLES - 1 }; // the last has the long cases

// ---- quantities --------------------------------------------------------------------------------

// Prints a quantity as a line of text, or `values` (expected, got and tolerance) as a line of JSON;
// releases `values`.
static void report(mf_CheckRun *run, const char *what, bool pass, const char *expected,
                   const char *got, const char *tolerance, json_t *values) {
    char name[1100];
    snprintf(name, sizeof name, "%s%s%s", run->variant, run->variant[0] != 0 ? ": " : "", what);
    run->failed = run->failed || !pass;
    if (run->json) {
        json_t *line = json_pack("{s:s, s:s, s:s}", "case", run->current->id, "title",
                                 run->current->title, "quantity", name);
        json_object_update(line, values);
        json_object_set_new(line, "verdict", json_string(pass ? "pass" : "FAIL"));
        run->unwritten |= !mf_app_print(line);
    } else {
        printf("  %-50s %-22s %-22s %-12s %s\n", name, expected, got, tolerance,
               pass ? "pass" : "FAIL");
    }
    json_decref(values);
}

static json_t *pack(json_t *expected, json_t *got, json_t *tolerance) {
    return json_pack("{s:o, s:o, s:o}", "expected", expected, "got", got, "tolerance", tolerance);
}

void mf_check_near(mf_CheckRun *run, const char *what, double expected, double got,
                   double tolerance) {
    char text[3][32];
    snprintf(text[0], sizeof text[0], "%.12g", expected);
    snprintf(text[1], sizeof text[1], "%.12g", got);
    snprintf(text[2], sizeof text[2], "+-%.2g", tolerance);
    report(run, what, fabs(got - expected) <= tolerance, text[0], text[1],
           tolerance == 0.0 ? "exact" : text[2],
           pack(mf_json_real(expected), mf_json_real(got), mf_json_real(tolerance)));
}

static void check_bound(mf_CheckRun *run, const char *what, double bound, double got, bool most) {
    char text[2][32];
    snprintf(text[0], sizeof text[0], "%s %.12g", most ? "<=" : ">=", bound);
    snprintf(text[1], sizeof text[1], "%.12g", got);
    report(
        run, what, most ? got <= bound : got >= bound, text[0], text[1], "",
        pack(mf_json_real(bound), mf_json_real(got), json_string(most ? "at most" : "at least")));
}

void mf_check_below(mf_CheckRun *run, const char *what, double bound, double got) {
    check_bound(run, what, bound, got, true);
}

void mf_check_above(mf_CheckRun *run, const char *what, double bound, double got) {
    check_bound(run, what, bound, got, false);
}

void mf_check_bits(mf_CheckRun *run, const char *what, uint64_t expected, uint64_t got) {
    char text[2][32];
    snprintf(text[0], sizeof text[0], "%016llx", (unsigned long long)expected);
    snprintf(text[1], sizeof text[1], "%016llx", (unsigned long long)got);
    report(run, what, expected == got, text[0], text[1], "exact",
           pack(mf_app_hash(expected), mf_app_hash(got), json_string("exact")));
}

// ---- failures ----------------------------------------------------------------------------------

void mf_check_must(mf_CheckRun *run, mf_Status status) {
    if (status != MF_OK)
        longjmp(run->failure, 1);
}

void mf_check_fail(mf_CheckRun *run, mf_Status status, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    mf_check_must(run, mf_fail(&run->error, status, "%s", text));
}

void mf_check_variant(mf_CheckRun *run, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(run->variant, sizeof run->variant, format, list);
    va_end(list);
}

const char *mf_check_name(mf_CheckRun *run, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(run->name, sizeof run->name, format, list);
    va_end(list);
    return run->name;
}

// ---- cases -------------------------------------------------------------------------------------

static void run_case(mf_CheckRun *run, const mf_CheckCase *check) {
    run->current = check;
    run->failed = false;
    run->error = (mf_Error){0};
    if (!run->json)
        printf("%s  %s\n", check->id, check->title);
    if (setjmp(run->failure) == 0) {
        check->run(run);
        mf_rig_start(run); // a fault of the last robot fails the case
    } else {
        char line[1024];
        mf_error_format(&run->error, line, sizeof line);
        run->abandoned = true;
        run->variant[0] = 0;
        report(run, line, false, "", "", "", pack(json_null(), json_null(), json_null()));
    }
    mf_rig_free(run);
    run->variant[0] = 0;
    if (run->failed)
        run->failed_cases++;
    else
        run->passed_cases++;
}

// "E4" selects E4 and E4-points, "E4-points" only itself; NULL selects all.
static bool is_named(const mf_CheckCase *check, const char *name) {
    size_t length = name == NULL ? 0 : strlen(name);
    return name == NULL || (strncmp(check->id, name, length) == 0 &&
                            (check->id[length] == 0 || check->id[length] == '-'));
}

// Runs the cases of that name (without a context only counts them); returns their number.
static uint32_t run_named(mf_CheckRun *run, const char *name, bool full) {
    uint32_t count = 0;
    for (size_t t = 0; t < (full ? TABLES : FULL); t++) {
        for (const mf_CheckCase *check = tables[t]; check->id != NULL; check++) {
            if (!is_named(check, name))
                continue;
            count++;
            if (run->context != NULL)
                run_case(run, check);
        }
    }
    return count;
}

static int finish(mf_CheckRun *run) {
    if (run->json)
        run->unwritten |= !mf_app_print(json_pack("{s:b, s:I, s:I}", "done", 1, "passed",
                                                  (json_int_t)run->passed_cases, "failed",
                                                  (json_int_t)run->failed_cases));
    else
        printf("%u cases passed, %u failed\n", run->passed_cases, run->failed_cases);
    bool written = !run->unwritten && mf_app_flush();
    return written && run->failed_cases == 0 ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- the command -------------------------------------------------------------------------------

typedef struct Options {
    bool full, json;
} Options;

static const char *case_name_at(const void *list, uint32_t index) {
    (void)list;
    for (size_t t = 0; t < TABLES; t++) {
        for (const mf_CheckCase *check = tables[t]; check->id != NULL; check++)
            if (index-- == 0)
                return check->id;
    }
    return NULL;
}

static const mf_Option table[] = {
    MF_OPT_FLAG("full", Options, full, "include the long cases"),
    MF_OPT_FLAG("json", Options, json, "one JSON object per quantity"), MF_OPT_END};

const mf_CommandHelp mf_help_check = {
    .name = "check",
    .arguments = "[NAME...]",
    .summary = "compare the physics with independent results",
    .text =
        "Runs the check cases (all, or those named by id) and prints, for each quantity, the\n"
        "expected value from a textbook or an independent computation, the measured value, the\n"
        "tolerance, and the verdict. Exit code 1 if any case fails. --json prints: case, title,\n"
        "quantity, expected, got, tolerance, verdict, and a last line with done, passed and\n"
        "failed. A name without the part after the dash selects all its cases: E4 includes\n"
        "E4-points.",
    .examples = "  mayfly check\n"
                "  mayfly check C7 C8 --json\n"
                "  mayfly check --full\n",
    .least = 0,
    .most = 1000,
    .options = table,
    .names = case_name_at};

int mf_command_check(int argc, char **argv) {
    Options options = {.full = false};
    char near[MF_SUGGESTION];
    int count, result = mf_options_parse(&mf_help_check, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    static mf_CheckRun run; // the hand model is large
    run.json = options.json;
    for (int i = 1; i <= count; i++) {
        if (run_named(&run, argv[i], true) == 0)
            return mf_app_usage("check", "unknown case '%.99s'%s", argv[i],
                                mf_suggest(argv[i], case_name_at, NULL, near));
    }
    if (mf_context_create(NULL, &run.context, &run.error) != MF_OK)
        return mf_app_fail(&run.error);
    for (int i = 1; i <= count; i++)
        run_named(&run, argv[i], true);
    if (count == 0)
        run_named(&run, NULL, options.full);
    if (!run.abandoned)
        mf_context_destroy(run.context);
    return finish(&run);
}
