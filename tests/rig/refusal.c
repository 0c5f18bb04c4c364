#include "rig/rig.h"

void check_fails(mf_Status found, mf_Status expected, const mf_Error *error, const char *text,
                 bool whole, const char *file, int line) {
    if (found != expected)
        fail_msg("%s:%d: expected %s, found %s: %s", file, line, mf_status_name(expected),
                 mf_status_name(found), error->message);
    if (whole ? strcmp(error->message, text) != 0 : strstr(error->message, text) == NULL)
        fail_msg("%s:%d: the message is \"%s\", not \"%s\"", file, line, error->message, text);
}
