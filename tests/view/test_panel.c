// What the panel of a live page shows: parts by name, units of slides and sensors, limits of
// inputs, targets that nothing tracks, a link's pose; what no robot has; without memory.
#include "rig/rig.h"

#include <jansson.h>
#include <mayfly/dynamics.h>
#include <mayfly/film.h>
#include <mayfly/sensor.h>
#include <string.h>

#define ROBOT                                                                                      \
    "<mujoco><compiler autolimits='true'/><worldbody><body name='box' pos='0 0 1'>"                \
    "<freejoint/><geom name='hull' size='.1'/><site name='eye'/>"                                  \
    "<body name='arm' pos='.2 0 0'><joint name='elbow' axis='0 1 0' range='-30 60'/>"              \
    "<geom size='.05'/>"                                                                           \
    "<body name='hand' pos='.1 0 0'><joint name='reach' type='slide' axis='1 0 0' "                \
    "range='-.02 .1'/><geom size='.04'/></body></body></body></worldbody>"                         \
    "<actuator><position name='bend' joint='elbow' kp='5'/>"                                       \
    "<motor joint='reach' ctrlrange='-2 3'/></actuator>"                                           \
    "<sensor><gyro name='turning' site='eye'/><jointpos name='out' joint='reach'/></sensor>"       \
    "</mujoco>"

static void end_json(json_t **json) {
    json_decref(*json);
}

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

static Rig open_rig(mf_Context *context) {
    Rig rig = {.model = load_text(context, ROBOT)};
    rig.world = open_world(context, NULL);
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = rig.model, .count = 2));
    mf_MotionsConfig config = mf_motions_config();
    config.has[MF_MOTION_PRESCRIBED] = true;
    MUST(mf_motions_add(rig.group, &config, &error));
    MUST(mf_sensors_add(rig.group, NULL, &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

// The object of a text, which is released.
static json_t *parsed(mf_Context *context, char *text) {
    json_t *out = json_loads(text, 0, NULL);
    assert_non_null(out);
    mf_release(context, text);
    return out;
}

static json_t *about_of(const Rig *rig, uint32_t instance) {
    char *text;
    MUST(mf_film_viewer_about(rig->group, instance, &text, &error));
    return parsed(mf_world_context(rig->world), text);
}

static const json_t *named(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0)
            return item;
    }
    return NULL;
}

// The row of a field that belongs to a part: [first, count, part, unit, low, high].
static const json_t *row_of(const json_t *about, const char *field, const char *part) {
    const json_t *found = named(json_object_get(about, "fields"), field);
    const char *of = json_string_value(json_object_get(found, "of"));
    const json_t *parts = json_object_get(json_object_get(about, "parts"), of != NULL ? of : "");
    const json_t *rows = json_object_get(found, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *own =
            json_array_get(parts, (size_t)json_integer_value(json_array_get(row, 2)));
        if (strcmp(json_string_value(json_object_get(own, "name")), part) == 0)
            return row;
    }
    return NULL;
}

static void assert_row(const json_t *about, const char *field, const char *part, int first,
                       int count, const char *unit, double low, double high) {
    const json_t *row = row_of(about, field, part);
    assert_non_null(row);
    assert_int_equal(json_integer_value(json_array_get(row, 0)), first);
    assert_int_equal(json_integer_value(json_array_get(row, 1)), count);
    assert_string_equal(json_string_value(json_array_get(row, 3)), unit);
    assert_near(json_number_value(json_array_get(row, 4)), low, 1e-6);
    assert_near(json_number_value(json_array_get(row, 5)), high, 1e-6);
}

TEST_WITH(parts_have_names_units_and_limits, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    AUTO(end_json) json_t *about = about_of(&rig, 0);
    const double deg = 3.14159265358979 / 180.0;
    assert_row(about, "joint.angle", "elbow", 0, 1, "rad", -30.0 * deg, 60.0 * deg);
    assert_row(about, "joint.angle", "reach", 1, 1, "m", -0.02, 0.1);
    // A servo takes the joint's unit and, without limits of its own, its range.
    assert_row(about, "actuator.control", "bend", 0, 1, "rad", -30.0 * deg, 60.0 * deg);
    assert_row(about, "actuator.control", "reach", 1, 1, "1", -2.0, 3.0);
    assert_string_equal(json_string_value(json_array_get(row_of(about, "sensor.value", "out"), 3)),
                        "m");
    const json_t *gyro = row_of(about, "sensor.value", "turning");
    assert_int_equal(json_integer_value(json_array_get(gyro, 1)), 3);
    assert_string_equal(json_string_value(json_array_get(gyro, 3)), "rad/s");
    const json_t *load = row_of(about, "contact.load", "hand");
    assert_non_null(load);
    const json_t *links = json_object_get(json_object_get(about, "parts"), "link");
    assert_int_equal(json_array_size(links), 3);
    assert_int_equal(json_integer_value(json_object_get(named(links, "hand"), "parent")), 1);
}

TEST_WITH(targets_that_nothing_tracks_are_of_no_joint, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    MUST(mf_motion_switch(rig.group, 1, MF_MOTION_PRESCRIBED, &error));
    AUTO(end_json) json_t *without = about_of(&rig, 0);
    AUTO(end_json) json_t *with = about_of(&rig, 1);
    assert_null(row_of(without, "joint.target", "elbow"));
    assert_row(with, "joint.target", "reach", 1, 1, "m", -0.02, 0.1);
}

TEST_WITH(a_reading_has_what_was_asked_for, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    const uint32_t fields[] = {4, 100000};
    mf_ViewerReading request = {
        .robot = 7, .instance = 1, .link = 2, .fields = fields, .field_count = 2};
    char *text;
    MUST(mf_film_viewer_read(rig.group, &request, &text, &error));
    AUTO(end_json) json_t *reading = parsed(*state, text);
    assert_int_equal(json_integer_value(json_object_get(reading, "robot")), 7);
    assert_string_equal(json_string_value(json_object_get(reading, "motion")), "articulated");
    assert_int_equal(json_array_size(json_object_get(reading, "motions")), 2);
    const json_t *values = json_object_get(reading, "fields");
    assert_int_equal(json_array_size(values), 1);
    assert_non_null(named(values, mf_group_field(rig.group, 4)->info.name));
    const json_t *link = json_object_get(reading, "link");
    double positions[9], rotations[12];
    MUST(mf_group_link_poses(rig.group, 1, 1, positions, rotations, &error));
    for (size_t c = 0; c < 3; c++)
        assert_near(json_number_value(json_array_get(json_object_get(link, "position"), c)),
                    positions[6 + c], 1e-6);
    request = (mf_ViewerReading){.link = MF_NONE};
    MUST(mf_film_viewer_read(rig.group, &request, &text, &error));
    AUTO(end_json) json_t *all = parsed(*state, text);
    assert_int_equal(json_array_size(json_object_get(all, "fields")),
                     mf_group_field_count(rig.group));
    assert_null(json_object_get(all, "link"));
}

TEST_WITH(robots_that_do_not_exist, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    const mf_ViewerReading request = {.instance = 2, .link = MF_NONE};
    char *text;
    MUST_FAIL(mf_film_viewer_about(rig.group, 2, &text, &error), MF_BAD_ARGUMENT, "robots");
    assert_null(text);
    MUST_FAIL(mf_film_viewer_read(rig.group, &request, &text, &error), MF_BAD_ARGUMENT, "robots");
    assert_null(text);
}

TEST_WITH(without_memory, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    const mf_ViewerReading request = {.instance = 0, .link = 1};
    mf_Status status = MF_NO_MEMORY;
    uint64_t tries = 0;
    for (int kind = 0; kind < 2; kind++, status = MF_NO_MEMORY)
        for (uint64_t after = 1; status != MF_OK; after++, tries++) {
            char *text;
            mf_context_fail_after(*state, after);
            status = kind == 0 ? mf_film_viewer_about(rig.group, 0, &text, NULL)
                               : mf_film_viewer_read(rig.group, &request, &text, NULL);
            mf_context_fail_after(*state, 0);
            assert_true(status == MF_OK || (status == MF_NO_MEMORY && text == NULL));
            mf_release(*state, text);
        }
    assert_true(tries > 5);
}
