// The output of mayfly run --json: one object. For a scene with one group it also has the group's
// members.
#include <stdlib.h>

#include "run_facts.h"
#include "moment.h"
#include "run_modules.h"
#include "run_end.h"
#include "notes.h"
#include "contact/compound.h"
#include "model/points.h"

static void set(json_t *object, const char *name, json_t *value) {
    json_object_set_new(object, name, value);
}

static void set_count(json_t *object, const char *name, uint64_t value) {
    set(object, name, json_integer((json_int_t)value));
}

static void set_real(json_t *object, const char *name, double value) {
    set(object, name, mf_json_real(value));
}

static void set_census(json_t *object, const mf_Census *census) {
    set_count(object, "robots", census->robots);
    set_count(object, "alive", census->alive);
    set_count(object, "collided", census->collided);
    set_count(object, "crashed", census->crashed);
    set_count(object, "fenced", census->fenced);
    set_count(object, "faults", census->robots - census->alive);
    set_count(object, "lying", census->lying);
    set_count(object, "refused", census->refused);
}

// Results of robots with links.
static void set_fate(json_t *object, mf_Group *group, const mf_Outcome *outcome) {
    const mf_OutcomeSum sum = mf_outcome_sum(outcome);
    const bool rotates = mf_robot_has_rotation(group);
    const bool falls = rotates && mf_model_can_fall(mf_group_model(group));
    uint32_t alive;
    const mf_Moment mean = mf_moment_mean(group, &alive);
    set_real(object, "base_height", mean.height);
    set_real(object, "center_height", mean.center);
    set_real(object, "kinetic_energy", mean.kinetic);
    set_real(object, "potential_energy", mean.potential);
    set_real(object, "load", mean.load);
    set_real(object, "distance", sum.distance);
    set_real(object, "farthest", sum.farthest);
    set_count(object, "farthest_robot", sum.farthest_robot);
    set(object, "tilt", rotates ? mf_json_real(sum.tilt) : json_null());
    set(object, "falls", falls ? json_integer(sum.falls) : json_null());
    set_real(object, "penetration", outcome->deepest);
    set_count(object, "means_of", mf_outcome_requested(group));
    set(object, "sensors", mf_readings_pack(group));
}

static void set_values(json_t *object, const mf_SceneGroup *from, mf_Group *group) {
    json_t *values = from->value_count > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < from->value_count; i++)
        set_real(values, from->values[i], mf_moment_value(group, from->values[i]));
    if (values != NULL)
        set(object, "values", values);
}

static json_t *pack_group(mf_Run *run, uint32_t index) {
    const mf_Scene *scene = &run->scene;
    mf_Group *group = mf_world_group(scene->world, index);
    const mf_Census census = mf_census_of(group);
    json_t *object = json_object();
    if (object == NULL)
        return NULL;
    set(object, "name", json_string(scene->file->groups[index].name));
    set_census(object, &census);
    set(object, "fault_names", mf_fault_pack(group));
    set(object, "warnings", mf_warnings_pack(group));
    set(object, "torn", mf_tears_pack(group));
    set(object, "levels", mf_census_pack_levels(&census));
    if (run->observed[index])
        set_fate(object, group, &run->outcomes[index]);
    set_values(object, &scene->file->groups[index], group);
    return object;
}

// Sums over all groups.
static void set_sums(json_t *object, const mf_Scene *scene) {
    mf_Census sum = {0};
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_Census c = mf_census_of(mf_world_group(scene->world, g));
        sum.robots += c.robots;
        sum.alive += c.alive;
        sum.collided += c.collided;
        sum.crashed += c.crashed;
        sum.fenced += c.fenced;
        sum.lying += c.lying;
        sum.refused += c.refused;
    }
    set_census(object, &sum);
}

// What contact between robots took: means of a step.
static void set_contact(json_t *object, const mf_Scene *scene) {
    const mf_CollisionsStatistics s = mf_collisions_statistics(scene->collisions);
    const double steps = s.steps > 0 ? (double)s.steps : 1.0;
    json_t *tests = json_object();
    set_real(object, "deepest_overlap", s.deepest);
    set_real(object, "too_large_islands", (double)s.too_large);
    set(object, "contact_tests", tests);
    if (tests == NULL)
        return;
    set(tests, "bounds", json_string(mf_bounds_names[scene->file->contact_bounds]));
    set_real(tests, "robots", (double)s.robot_tests / steps);
    set_real(tests, "volumes", (double)s.bound_tests / steps);
    set_real(tests, "shapes", (double)s.shape_tests / steps);
    set_real(tests, "all_shapes", (double)s.without / steps);
    set_real(tests, "contacts", (double)s.contacts / steps);
}

static const char *motion_of(const mf_Scene *scene) {
    for (uint32_t g = 1; g < scene->group_count; g++)
        if (scene->file->groups[g].motion != scene->motion)
            return "mixed";
    return mf_motion_name(scene->motion);
}

bool mf_run_print_json(mf_Run *run) {
    const mf_Scene *scene = &run->scene;
    const mf_Simulation *simulation = &run->simulation;
    json_t *object = json_object(), *groups = json_array();
    if (object == NULL || groups == NULL)
        return mf_app_print(NULL);
    for (uint32_t g = 0; g < scene->group_count; g++)
        json_array_append_new(groups, pack_group(run, g));
    set(object, "motion", json_string(motion_of(scene)));
    set(object, "groups", groups);
    set_sums(object, scene);
    if (scene->group_count == 1)
        json_object_update_missing(object, json_array_get(groups, 0));
    if (scene->interaction != NULL)
        set_count(object, "collisions", mf_interaction_statistics(scene->interaction).collisions);
    if (scene->collisions != NULL)
        set_contact(object, scene);
    mf_run_set_modules(object, scene->world);
    set_real(object, "step", mf_time_to_seconds(scene->step));
    set_real(object, "simulated_seconds", simulation->simulated);
    set_real(object, "wall_seconds", simulation->seconds);
    set_real(object, "realtime_factor", simulation->simulated / simulation->seconds);
    set(object, "notes", mf_start_report_pack(&run->report));
    set(object, "hash", mf_app_hash(mf_world_hash(scene->world)));
    return mf_app_print(object);
}
