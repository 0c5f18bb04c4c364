// docs/reference/sensors.md contains the table of the kinds of sensors between marks;
// MAYFLY_UPDATE=1 writes it.
#include "rig/rig.h"
#include "model/sensor_kind.h"

static const char *place_of(mf_SensorMount mount) {
    static const char *const places[] = {
        [MF_AT_LINK] = "link",         [MF_AT_OWN_JOINT] = "joint",
        [MF_AT_FIELD] = "field",       [MF_AT_SITE] = "site",
        [MF_AT_JOINT] = "joint",       [MF_AT_LIMITED_JOINT] = "joint with limits",
        [MF_AT_BALL] = "ball joint",   [MF_AT_TENDON] = "tendon",
        [MF_AT_ACTUATOR] = "actuator", [MF_AT_FRAME] = "object",
        [MF_AT_BODY] = "body",         [MF_AT_CONTACTS] = "two objects",
        [MF_AT_NOTHING] = ""};
    return places[mount];
}

// Without a word the cell is empty.
static void put_word(FILE *out, const char *word) {
    if (word != NULL)
        fprintf(out, "`%s`", word);
    fputs(" | ", out);
}

static void put_kinds(FILE *out) {
    fputs("| MJCF | URDF | at | values | unit | |\n|---|---|---|---|---|---|\n", out);
    for (mf_SensorType type = 0; mf_sensor_kind(type) != NULL; type++) {
        const mf_SensorKind *kind = mf_sensor_kind(type);
        fputs("| ", out);
        put_word(out, kind->mjcf);
        put_word(out, kind->urdf);
        fprintf(out, "%s | ", place_of(kind->mount));
        if (kind->count > 0)
            fprintf(out, "%u", kind->count);
        fprintf(out, " | %s | %s |\n", kind->unit, kind->description);
    }
}

TEST(kinds_are_in_the_document) {
    check_written_part(MAYFLY_SOURCE_DIR "/docs/reference/sensors.md", "kinds", put_kinds);
}
