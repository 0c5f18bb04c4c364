#include "rig/rig.h"

void check_near(double found, double expected, double tolerance, const char *file, int line) {
    double error = found > expected ? found - expected : expected - found;
    if (!(error <= tolerance))
        fail_msg("%s:%d: expected %.17g within %g, found %.17g", file, line, expected, tolerance,
                 found);
}

void check_near3(const double found[3], double x, double y, double z, double tolerance,
                 const char *file, int line) {
    check_near(found[0], x, tolerance, file, line);
    check_near(found[1], y, tolerance, file, line);
    check_near(found[2], z, tolerance, file, line);
}

void check_must(mf_Status status, const mf_Error *error, const char *file, int line) {
    char text[1024];
    if (status != MF_OK)
        fail_msg("%s:%d: %s: %s", file, line, mf_status_name(status),
                 mf_error_format(error, text, sizeof text));
}

void check_contains(const char *text, const char *part, const char *file, int line) {
    if (strstr(text, part) == NULL)
        fail_msg("%s:%d: no \"%s\" in \"%s\"", file, line, part, text);
}
