// Every attribute of MJCF that changes a model also changes how it moves, under each level, or a
// note of that level says that it does not: MuJoCo's schema in a robot where all of it has a
// meaning.
#include "motion/table.h"
#include "rig/rig.h"
#include "world/group.h"
#include "import/mjcf_keys.h"

GROUP_FIXTURE(make_context, drop_context);

enum { LOOKS = 3, FIELDS = 5, VALUES = 64 };
static const uint32_t steps[LOOKS] = {10, 40, 250}; // [1] until each look
static const char *const compared[FIELDS] = {"base.position", "base.linear_velocity",
                                             "base.angular_velocity", "joint.angle", "joint.rate"};

// What a note about an attribute contains; "": of any element, or all attributes.
typedef struct NoteText {
    const char *element, *attribute, *word;
} NoteText;

static const NoteText texts[] = {
    {"joint", "stiffness", "springs"},
    {"joint", "springref", "springs"},
    {"joint", "springdamper", "springs"},
    {"joint", "class", "springs"},
    {"body", "childclass", "springs"},
    {"joint", "damping", "damping of joints"},
    {"joint", "frictionloss", "dry friction"},
    {"joint", "solreffriction", "dry friction"},
    {"joint", "solimpfriction", "dry friction"},
    {"joint", "armature", "armature"},
    {"joint", "solreflimit", "solreflimit"},
    {"joint", "solimplimit", "solimplimit"},
    {"joint", "margin", "margin of joints"},
    {"joint", "actuatorfrcrange", "effort limits"},
    {"joint", "actuatorfrclimited", "effort limits"},
    {"joint", "actuatorgravcomp", "effort limits"},
    {"joint", "actuatorgravcomp", "actuatorgravcomp"},
    {"", "actuatorfrcrange", "actuatorfrcrange of tendons"},
    {"", "actuatorfrclimited", "actuatorfrcrange of tendons"},
    {"body", "gravcomp", "gravcomp"},
    {"option", "density", "density"},
    {"option", "viscosity", "viscosity"},
    {"option", "wind", "wind"},
    {"option", "integrator", "integrator"},
    {"option", "impratio", "impratio"},
    {"option", "impratio", "law of the motion"},
    {"option", "cone", "law of the motion"},
    {"option", "iterations", "iterations"},
    {"option", "tolerance", "tolerance"},
    {"option", "noslip_iterations", "noslip"},
    {"option", "noslip_tolerance", "noslip"},
    {"option", "o_friction", "law of the motion"},
    {"option", "o_margin", "law of the motion"},
    {"option", "o_solref", "law of the motion"},
    {"option", "o_solimp", "law of the motion"},
    {"flag", "actuation", "actuators"},
    {"flag", "clampctrl", "actuators"},
    {"flag", "constraint", "equality constraints"},
    {"flag", "contact", "flag contact"},
    {"flag", "damper", "damping of joints"},
    {"flag", "equality", "equality constraints"},
    {"flag", "eulerdamp", "damping of joints"},
    {"flag", "filterparent", "links do not touch"},
    {"flag", "frictionloss", "dry friction"},
    {"flag", "limit", "solreflimit"},
    {"flag", "limit", "flag limit"},
    {"flag", "override", "law of the motion"},
    {"flag", "refsafe", "law of the motion"},
    {"flag", "spring", "springs"},
    {"geom", "fluidshape", "medium"},
    {"geom", "fluidcoef", "medium"},
    {"geom", "class", "law of the motion"},
    {"geom", "friction", "law of the motion"},
    {"geom", "condim", "law of the motion"},
    {"geom", "margin", "law of the motion"},
    {"geom", "priority", "law of the motion"},
    {"geom", "solmix", "law of the motion"},
    {"geom", "solref", "law of the motion"},
    {"geom", "solimp", "law of the motion"},
    {"geom", "contype", "keep off the ground"},
    {"geom", "conaffinity", "keep off the ground"},
};

// Sections of which a level may have nothing at all.
static const NoteText sections[] = {
    {"/tendon/", "", "tendons"},
    {"/equality/", "", "equality constraints"},
    {"/actuator/", "", "actuators"},
    {"/contact/exclude", "", "links do not touch"},
    {"/contact/pair", "", "law of the motion"},
    {"/site", "", "tendons"},
};

// What no motion depends on, but sensors, pictures, the start and the hash of a model.
static const NoteText apart[] = {
    {"/sensor/", "", NULL},
    {"/keyframe/", "", NULL},
    {"/texture", "", NULL},
    {"/material", "", NULL},
    {"/camera", "", NULL},
    {"/default*", "", NULL}, // as the elements themselves
    {"/mesh", "texcoord", NULL},
    {"/geom", "material", NULL},
    {"/compiler", "discardvisual", NULL},
    {"/option", "magnetic", NULL},
    {"/flag", "sensor", NULL},
    {"/geom", "gap", NULL}, // which contacts are listed; those in the gap have no force
    {"/pair", "gap", NULL},
    {"/site", "fromto", NULL},        // the size of what senses
    {"/muscle", "fvmax", NULL},       // none is stretched by force here
    {"/muscle", "ctrllimited", NULL}, // controls of muscles are within 0 .. 1 in any case
};

// The lowest level has no forces: nothing but places is asked of it (test_notes.c).
enum { FIRST = MF_MOTION_POINTS };

typedef struct Moved {
    double values[LOOKS][FIELDS][VALUES];
    bool refused;
} Moved;

static void set_all(mf_Field *field, double value) {
    for (uint32_t i = 0; field != NULL && i < field->components; i++)
        mf_field_set(field, 0, i, value);
}

static bool moves_alike(const Moved *a, const Moved *b, uint32_t looks) {
    return a->refused == b->refused && memcmp(a->values, b->values, looks * sizeof *a->values) == 0;
}

// Until it moves otherwise than `plain`, unless that is NULL.
static void move(mf_Context *context, const mf_Model *model, mf_Motion motion, const Moved *plain,
                 Moved *out) {
    mf_World *world = NULL;
    mf_Group *group = NULL;
    mf_Error error = {0};
    mf_MotionsConfig motions = mf_motions_config();
    memset(out, 0, sizeof *out);
    const uint32_t off = model->physics.disabled;
    mf_Terrain *terrain = NULL;
    must(mf_terrain_from_model(context, model, &terrain, &error), &error);
    world = open_world(context, &WITH(mf_world_config_for(model), .terrain = terrain));
    group = add_group(world, &WITH(mf_group_config(), .model = model, .double_precision = true));
    // As scenes set them.
    mf_motions_set_shapes(&motions, true);
    mf_motions_set_contacts(&motions, mf_group_touches_ground(group));
    mf_motions_set_limits(&motions, !(off & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT)));
    if (mf_motion_add(group, motion, &motions, &error) != MF_OK) {
        out->refused = true;
        mf_world_destroy(world);
        mf_terrain_destroy(terrain);
        return;
    }
    set_all(mf_group_find_field(group, "actuator.control"), 6.0);
    if (motion != MF_MOTION_ARTICULATED) // there servos of the file hold them instead of controls
        set_all(mf_group_find_field(group, "joint.target"), 0.6);
    for (uint32_t k = 0; k < LOOKS && (plain == NULL || moves_alike(out, plain, k)); k++) {
        mf_world_step(world, steps[k] - (k > 0 ? steps[k - 1] : 0));
        for (uint32_t f = 0; f < FIELDS; f++) {
            const mf_Field *field = mf_group_find_field(group, compared[f]);
            for (uint32_t i = 0; field != NULL && i < VALUES && i < field->components; i++)
                out->values[k][f][i] = mf_field_get(field, 0, i);
        }
    }
    mf_world_destroy(world);
    mf_terrain_destroy(terrain);
}

static bool is_said(const mf_Model *model, mf_Motion motion, const char *name) {
    char text[MF_MOTION_NOTE];
    for (uint32_t i = 0; mf_motion_note(model, motion, i, text); i++)
        if (strstr(text, name) != NULL)
            return true;
    return false;
}

// Whether a note of the motion is about this attribute.
static bool is_noted(const mf_Model *model, mf_Motion motion, const char *path,
                     const char *attribute) {
    const char *element = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if ((texts[i].element[0] == '\0' ||
             strncmp(texts[i].element, element, strcspn(element, "*")) == 0) &&
            strcmp(texts[i].attribute, attribute) == 0 && is_said(model, motion, texts[i].word))
            return true;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strstr(path, sections[i].element) != NULL && is_said(model, motion, sections[i].word))
            return true;
    return false;
}

typedef struct Keys {
    mf_Context *context;
    char *text, *edited, *changed;
    uint32_t crc;                  // of the text that `plain` is of
    Moved plain[MF_MOTION_LEVELS]; // of the edited text
    uint32_t moved, noted, wrong;
    mf_Error error;
} Keys;

// For each level: 0 nothing, 1 a note, 2 another motion.
static void try_model(Keys *keys, const mf_Model *plain, const mf_Model *model, const char *path,
                      const char *attribute, uint8_t found[MF_MOTION_LEVELS]) {
    for (uint32_t level = FIRST; level < MF_MOTION_LEVELS; level++) {
        Moved now;
        if (found[level] == 2)
            continue;
        move(keys->context, model, (mf_Motion)level, &keys->plain[level], &now);
        if (!moves_alike(&now, &keys->plain[level], LOOKS))
            found[level] = 2;
        else if (is_noted(model, (mf_Motion)level, path, attribute) ||
                 is_noted(plain, (mf_Motion)level, path, attribute))
            found[level] = 1;
    }
}

// False: no value changes the model.
static bool try_nodes(Keys *keys, const KeyNodes *nodes, const mf_Model *plain, const char *path,
                      const char *attribute, uint8_t found[MF_MOTION_LEVELS]) {
    bool any = false;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const char *element = strrchr(path, '/') + 1, *value;
        for (uint32_t k = 0; (value = key_value(element, attribute, k)) != NULL; k++) {
            mf_Status status;
            set_attribute(keys->changed, keys->edited, nodes->list[i], attribute,
                          value + (value[0] == '?' || value[0] == '!'));
            mf_Model *model =
                parse_keys(keys->context, keys->changed, false, &status, &keys->error);
            const bool differs = model && mf_model_hash(model) != mf_model_hash(plain);
            if (differs)
                try_model(keys, plain, model, path, attribute, found);
            any = any || differs;
            mf_model_destroy(model);
        }
    }
    return any;
}

static void try_attribute(Keys *keys, const char *path, const char *attribute) {
    const char *element = strrchr(path, '/') + 1;
    uint8_t found[MF_MOTION_LEVELS] = {0};
    KeyNodes nodes = {.count = 0};
    mf_Status status;
    mf_Xml xml;
    edit_text(keys->edited, keys->text, element, attribute);
    mf_Model *plain = parse_keys(keys->context, keys->edited, false, &status, &keys->error);
    if (plain == NULL)
        return; // only with the attribute is it a model
    MUST(mf_xml_parse(keys->context, "keys.xml", keys->edited, strlen(keys->edited), &xml, &error));
    find_nodes(xml.root, path, &nodes);
    const uint32_t crc = mf_crc32(0, keys->edited, strlen(keys->edited));
    for (uint32_t level = FIRST; level < MF_MOTION_LEVELS && crc != keys->crc; level++) {
        move(keys->context, plain, (mf_Motion)level, NULL, &keys->plain[level]);
        assert_false(keys->plain[level].refused);
    }
    keys->crc = crc;
    if (try_nodes(keys, &nodes, plain, path, attribute, found))
        for (uint32_t level = FIRST; level < MF_MOTION_LEVELS; level++) {
            keys->moved += found[level] == 2;
            keys->noted += found[level] == 1;
            if (found[level] > 0)
                continue;
            keys->wrong++;
            print_message("%s %s: no effect under %s, and no note\n", path, attribute,
                          mf_motion_name((mf_Motion)level));
        }
    mf_model_destroy(plain);
    mf_xml_release(&xml);
}

static bool is_apart(const char *path, const char *attribute) {
    bool found = strchr(path, '/') == NULL;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        found = found ||
                (strstr(path, apart[i].element) != NULL &&
                 (apart[i].attribute[0] == '\0' || strcmp(apart[i].attribute, attribute) == 0));
    return found;
}

TEST(test_levels) {
    Keys keys = {.context = *state,
                 .text = calloc(1, KEYS_TEXT),
                 .edited = malloc(KEYS_TEXT),
                 .changed = malloc(KEYS_TEXT)};
    char line[4096];
    FILE *file = fopen(MAYFLY_SOURCE_DIR "/tests/import/mjcf_keys.xml", "r");
    assert_non_null(file);
    assert_true(fread(keys.text, 1, KEYS_TEXT / 2, file) > 0);
    fclose(file);
    file = fopen(MAYFLY_SOURCE_DIR "/tests/import/mjcf_schema.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *attributes = strchr(line, ':');
        if (line[0] == '#' || attributes == NULL)
            continue;
        *attributes++ = '\0';
        for (char *name = strtok(attributes, " \n"); name; name = strtok(NULL, " \n"))
            if (!is_apart(line, name))
                try_attribute(&keys, line, name);
    }
    fclose(file);
    print_message("%u attributes move robots of a level, %u are noted, %u wrong\n", keys.moved,
                  keys.noted, keys.wrong);
    free(keys.text);
    free(keys.edited);
    free(keys.changed);
    assert_true(keys.moved > 500);
    assert_int_equal(keys.wrong, 0);
}
