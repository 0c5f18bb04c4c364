// Text with numbers under a locale whose decimal point is a comma: reading, writing, exported
// files.
#include "base/memory.h"
#include "base/plain.h"

#include "rig/rig.h"

#include <locale.h>

// Any locale that writes commas; made by localedef in a folder of its own where none is installed.
static bool choose_commas(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return true;
    char folder[] = "/tmp/mayfly-locale-XXXXXX", command[256];
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    const bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                      setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && made;
}

TEST(numbers_have_points) {
    char text[64], *end;
    mf_Error error = {0};
    if (!choose_commas())
        skip();
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5"); // or the test shows nothing
    mf_plain_format(text, sizeof text, "%g %.3f", 0.5, 1.25);
    assert_string_equal(text, "0.5 1.250");
    assert_true(mf_plain_number("2.5x", &end) == 2.5);
    assert_string_equal(end, "x");
    mf_fail(&error, MF_BAD_ARGUMENT, "found %g", 0.25);
    assert_string_equal(error.message, "found 0.25");
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5"); // the program's locale is as it was
    setlocale(LC_ALL, "C");
}

TEST(exported_files_have_points) {
    static const char robot[] =
        "<mujoco><worldbody><body pos='.1 .2 .35'><freejoint/>"
        "<geom type='box' size='.15 .25 .125'/></body></worldbody></mujoco>";
    char path[64], copy[80], *text = NULL;
    AUTO_CONTEXT *context;
    AUTO_MODEL *model, *again;
    size_t size;
    if (!choose_commas())
        skip();
    MUST(mf_context_create(NULL, &context, &error));
    write_temporary(path, "", robot);
    snprintf(copy, sizeof copy, "%s.xml", path);
    MUST(mf_model_load(context, path, NULL, &model, &error));
    MUST(mf_model_export_mjcf(model, copy, &error));
    MUST(mf_file_read(context, copy, 1 << 20, &text, &size, &error));
    assert_null(strstr(text, ","));
    MUST(mf_model_load(context, copy, NULL, &again, &error));
    assert_true(again->mass == model->mass);
    setlocale(LC_ALL, "C");
    unlink(path);
    unlink(copy);
    mf_release(context, text);
}

TEST(too_much_memory_is_said_before) {
    MUST(mf_memory_suffices(1, 1, "robots", &error));
    MUST_FAIL(mf_memory_suffices(1000000, UINT64_C(1) << 26, "robots", &error), MF_NO_MEMORY,
              "67108864 robots require 6.71e+04 GB (1000000 bytes each)");
}
