// No key of a group is without effect in silence: generated from the table of keys. Each number,
// flag and word of the table is set in a small scene of every kind of group and of behavior. Then
// the scene is refused, or moves otherwise than without, or something is noted, or the key is in
// the list of those that do not change motion, with the reason.
#include "rig/rig.h"
#include "support.h"

#include "base/hash.h"
#include "io/keys.h"
#include "scene/keys.h"

GROUP_FIXTURE(make_context, drop_context);

enum { STEPS = 30, ROBOTS = 2 };

// ---- scenes -------------------------------------------------------------------------------------

typedef struct Kind {
    const char *name, *model, *settings;
} Kind;

static const Kind kinds[] = {
    {"kinematic", "hexapod.urdf", "    motion: kinematic\n"},
    {"points", "hexapod.urdf", "    motion: points\n"},
    {"rigid", "hexapod.urdf", "    motion: rigid\n"},
    {"prescribed", "hexapod.urdf", "    motion: prescribed\n"},
    {"articulated", "hexapod.urdf", "    motion: articulated\n"},
    {"quadrotor", "crazyflie.yaml", "    height: 2\n"},
    {"aircraft", "aerosonde.yaml", "    height: 100\n"},
    {"car", "car_full_size.yaml", ""},
    {"quasistatic", "cantilever.truss.yaml", "    motion: quasistatic\n"},
    {"elastic", "cantilever.truss.yaml", "    motion: elastic\n"},
    {"cloth", "blanket.cloth.yaml", "    height: 0.5\n"},
    {"grains", "grain.xml", "    motion: grains\n"},
    {"debris", "grain.xml",
     "    motion: debris\n    height: 0.001\n"
     "    initial: [{property: base.linear_velocity.y, values: [1]}]\n"},
    {"fluid", "drop.xml", "    motion: fluid\n"},
};

static const char *const behaviors[] = {"", "hold", "orbit", "formation", "flock", NULL};

static void scene_text(char *out, size_t size, const Kind *kind, const char *behavior) {
    char chosen[100] = "";
    if (behavior[0] != '\0')
        snprintf(chosen, sizeof chosen, "    behavior: %s\n", behavior);
    snprintf(out, size,
             "world: {step: 0.002}\n"
             "air: {wind: [1, 0.5, 0]}\n"
             "proximity: {neighbors: {radius: 50}}\n"
             "groups:\n  - name: a\n    model: ../models/%s\n    count: %d\n"
             "    placement: {grid: {spacing: [12, 12, 12], center: [0, 0, 0]}}\n%s%s",
             kind->model, ROBOTS, kind->settings, chosen);
}

// ---- what a scene does --------------------------------------------------------------------------

typedef struct Outcome {
    bool refused;
    uint64_t motion, notes; // hashes
} Outcome;

static uint64_t hash_text(uint64_t hash, const char *text) {
    return mf_hash_bytes(hash, text, strlen(text));
}

static Outcome outcome_of(mf_Context *context, const char *text, const mf_Override *override) {
    Outcome out = {.motion = MF_HASH_START, .notes = MF_HASH_START};
    AUTO_SCENE_FILE *file = NULL;
    AUTO(mf_scene_destroy) mf_Scene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_scene_file_parse(context, SCENE_PATH, text, strlen(text), override,
                                           override != NULL, &file, &error);
    if (status == MF_OK)
        status = mf_scene_create(context, file, NULL, &scene, &error);
    out.refused = status != MF_OK;
    if (status == MF_OK) {
        mf_Group *group = mf_world_group(scene.world, 0);
        char note[MF_MOTION_NOTE];
        mf_world_step(scene.world, STEPS);
        for (uint32_t f = 0; f < mf_group_field_count(group); f++) {
            const mf_Field *field = mf_group_field(group, f);
            for (uint32_t i = 0; i < mf_group_count(group); i++)
                for (uint32_t c = 0; c < field->components; c++) {
                    const double value = mf_field_get(field, i, c);
                    out.motion = mf_hash_doubles(out.motion, &value, 1);
                }
        }
        for (uint32_t i = 0; i < scene.note_count; i++)
            out.notes = hash_text(out.notes, scene.notes[i]);
        for (uint32_t i = 0; mf_motion_group_note(group, i, note); i++)
            out.notes = hash_text(out.notes, note);
    }
    return out;
}

// ---- values -------------------------------------------------------------------------------------

// The n-th value to try of a key, other than its default; false: there is none.
static bool value_of(const mf_Key *key, uint32_t n, char *out, size_t size) {
    const double fallback = key->fallback != NULL ? strtod(key->fallback, NULL) : 0.0;
    switch (key->kind) {
    case MF_KEY_FLAG:
        snprintf(out, size, "%s",
                 key->fallback != NULL && strcmp(key->fallback, "true") == 0 ? "false" : "true");
        return n == 0;
    case MF_KEY_CHOICE:
    case MF_KEY_DOUBLE: {
        uint32_t count = 0;
        while (key->choices[count] != NULL)
            count++;
        if (n >= count)
            return false;
        snprintf(out, size, "%s", key->choices[n]);
        return true;
    }
    case MF_KEY_REAL:
    case MF_KEY_TIME:
    case MF_KEY_COUNT: {
        const double tries[] = {1.5 * fallback + 0.3, 0.5 * fallback + 0.04, 3.0};
        double value = 0.0;
        if (n >= sizeof tries / sizeof *tries)
            return false;
        value = fmin(fmax(tries[n], key->lower), key->upper);
        if (key->kind == MF_KEY_COUNT)
            value = fmin(fmax(floor(fallback) + 1.0 + n, key->lower), key->upper);
        if (key->kind == MF_KEY_TIME)
            value = fmax(0.002 * floor(value / 0.002 + 0.5), 0.002);
        snprintf(out, size, "%.9g", value);
        return true;
    }
    default:
        return false;
    }
}

// ---- what does not change motion ----------------------------------------------------------------

typedef struct Excuse {
    const char *path, *kind; // of keys that begin so; "": of every kind
    const char *reason;
} Excuse;

static const Excuse excuses[] = {
    {"import.", "", "of files of another format, which the model notes"},
    {"color", "", "for pictures"},
    {"contact.others", "", "acts where robots meet"},
    {"control_interval", "", "of commands, of which robots without a gait have none"},
    {"settle", "", "time, not motion"},
    {"behavior.flock.separation", "", "acts where robots are near"},
    {"behavior.formation.separation", "", "acts where robots are near"},
    {"contact.friction", "points", "acts where feet slip"},
    {"motion.points.", "points", "acts where feet slip or joints move"},
    {"motion.car.", "car", "acts where a car skids"},
    {"precision", "car", "standing is exact in both"},
    {"motion.quasistatic.vertices", "", "space for what grows"},
    {"motion.quasistatic.bars", "", "space for what grows"},
    {"motion.quasistatic.samples", "", "acts where bars touch"},
    {"motion.quasistatic.reach", "", "acts where bars touch"},
    {"motion.quasistatic.actuator_speed", "", "acts where actuators move"},
    {"motion.quasistatic.iterations", "", "acts where they do not suffice"},
    {"motion.elastic.vertices", "", "space for what grows"},
    {"motion.elastic.bars", "", "space for what grows"},
    {"motion.elastic.samples", "", "acts where bars touch"},
    {"motion.elastic.reach", "", "acts where bars touch"},
    {"motion.elastic.actuator_speed", "", "acts where actuators move"},
    {"motion.elastic.iterations", "", "acts where they do not suffice"},
    {"motion.quasistatic.strengthening", "", "acts where bars bend"},
    {"motion.quasistatic.jump", "", "a bound of a fault"},
    {"motion.cloth.self_distance", "", "acts where a cloth touches itself"},
    {"motion.grains.friction", "", "acts where grains touch"},
    {"motion.grains.wall_friction", "", "acts where grains touch"},
    {"motion.grains.rolling", "", "acts where grains touch"},
};

static bool is_excused(const char *path, const char *kind) {
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (strncmp(path, excuses[i].path, strlen(excuses[i].path)) == 0 &&
            (excuses[i].kind[0] == '\0' || strcmp(excuses[i].kind, kind) == 0))
            return true;
    return false;
}

// Whether some value of the key is refused, noted, or changes what moves.
static bool has_effect(mf_Context *context, const char *text, const mf_Key *key,
                       const Outcome *without) {
    char value[64], path[200];
    bool any = false;
    snprintf(path, sizeof path, "groups.a.%s", key->path);
    for (uint32_t n = 0; value_of(key, n, value, sizeof value); n++) {
        const mf_Override override = {.path = path, .value = value};
        const Outcome with = outcome_of(context, text, &override);
        any = true;
        if (with.refused || with.motion != without->motion || with.notes != without->notes)
            return true;
    }
    return !any;
}

TEST(nothing_is_without_effect) {
    uint32_t silent = 0, tried = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (const char *const *behavior = behaviors; *behavior != NULL; behavior++) {
            char text[1000];
            scene_text(text, sizeof text, &kinds[k], *behavior);
            const Outcome without = outcome_of(*state, text, NULL);
            if (without.refused)
                continue;
            for (uint32_t i = 0; i < mf_keys_count(&mf_scene_group_table); i++) {
                const mf_Key *key = mf_keys_at(&mf_scene_group_table, i);
                const bool of_behavior = strncmp(key->path, "behavior.", 9) == 0;
                const char *own = formatted("behavior.%s.", *behavior);
                // Without a behavior: what is not of one. With one: its own keys.
                if (((*behavior)[0] == '\0') == of_behavior ||
                    (of_behavior && strncmp(key->path, own, strlen(own)) != 0) ||
                    is_excused(key->path, kinds[k].name))
                    continue;
                tried++;
                if (!has_effect(*state, text, key, &without)) {
                    print_error("%s%s%s: %s has no effect and nothing says so\n", kinds[k].name,
                                (*behavior)[0] != '\0' ? ", " : "", *behavior, key->path);
                    silent++;
                }
            }
        }
    print_message("%u keys tried\n", tried);
    assert_true(tried > 200);
    assert_int_equal(silent, 0);
}
