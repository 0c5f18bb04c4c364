// Rules for switching the motion during a run: a system of the world, before all others of a step.
// A rule depends on time and positions only, so it needs no state.
#include "base/memory.h"
#include "scene/builder.h"
#include "world/attach.h"
#include "world/systems.h"

#include "math/scalar.h"

typedef struct Rules {
    const mf_SceneFile *file; // borrowed: outlives the world
    mf_Time interval;         // [ns]
    mf_Time settled;          // [ns] end of settling, time 0
    mf_World *world;
    mf_Field **position, **orientation; // per group
} Rules;

static bool is_near(const Rules *rules, const mf_SwitchRule *rule, uint32_t group, uint32_t robot) {
    const mf_Field *own = rules->position[group], *others = rules->position[rule->other];
    uint32_t count = mf_group_count(mf_world_group(rules->world, rule->other));
    for (uint32_t i = 0; i < count; i++) {
        double x = mf_field_get(others, i, 0) - mf_field_get(own, robot, 0);
        double y = mf_field_get(others, i, 1) - mf_field_get(own, robot, 1);
        bool self = rule->other == group && i == robot;
        if (!self && x * x + y * y < rule->distance * rule->distance)
            return true;
    }
    return false;
}

static bool is_tilted(const Rules *rules, const mf_SwitchRule *rule, uint32_t group,
                      uint32_t robot) {
    double x = mf_field_get(rules->orientation[group], robot, 1);
    double y = mf_field_get(rules->orientation[group], robot, 2);
    return mf_acos(1.0 - 2.0 * (x * x + y * y)) > rule->tilt;
}

static bool is_reached(const Rules *rules, const mf_SwitchRule *rule, mf_Time now, uint32_t group,
                       uint32_t robot) {
    double end = mf_time_to_seconds(now - rules->settled);
    switch (rule->event) {
    case MF_SWITCH_AT:
        return rule->time <= end &&
               rule->time > mf_time_to_seconds(now - rules->settled - rules->interval);
    case MF_SWITCH_NEAR:
        return is_near(rules, rule, group, robot);
    case MF_SWITCH_FAR:
        return !is_near(rules, rule, group, robot);
    case MF_SWITCH_TILTED:
        return is_tilted(rules, rule, group, robot);
    }
    return false;
}

// A robot with a fault keeps its motion.
static void check_robot(const Rules *rules, mf_Time now, uint32_t group, uint32_t robot) {
    const mf_SceneGroup *from = &rules->file->groups[group];
    mf_Group *own = mf_world_group(rules->world, group);
    if (mf_group_fault(own, robot) != 0)
        return;
    for (uint32_t i = 0; i < from->rule_count; i++)
        if (is_reached(rules, &from->rules[i], now, group, robot)) {
            if (mf_motion_of(own, robot) != from->rules[i].to)
                mf_motion_switch(own, robot, from->rules[i].to, NULL);
            return;
        }
}

static void run(const mf_WorldRun *run, void *user) {
    const Rules *rules = user;
    for (uint32_t g = 0; g < rules->file->group_count; g++)
        for (uint32_t i = 0; i < mf_group_count(mf_world_group(rules->world, g)); i++)
            if (rules->file->groups[g].rule_count > 0)
                check_robot(rules, run->time, g, i);
}

// Default: about 10 ms in whole steps.
static mf_Time interval_of(const mf_Scene *scene) {
    const mf_Time steps = 10 * MF_MILLISECOND / scene->step;
    return scene->file->switch_interval > 0 ? scene->file->switch_interval
                                            : scene->step * (steps > 0 ? steps : 1);
}

mf_Status mf_scene_add_rules(mf_Scene *scene, mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Context *context = mf_world_context(scene->world);
    uint32_t count = 0;
    for (uint32_t g = 0; g < file->group_count; g++)
        count += file->groups[g].rule_count;
    if (count == 0)
        return MF_OK;
    if (file->switch_interval % scene->step != 0) // not known to the reader
        return mf_fail_at(error, MF_BAD_FILE, file->file, 0, 0,
                          "world.switch_interval: expected a multiple of the step of %.9g s, found "
                          "%.9g s",
                          mf_time_to_seconds(scene->step),
                          mf_time_to_seconds(file->switch_interval));
    Rules *rules, own;
    const mf_Array arrays[] = {MF_ARRAY(rules, 1), MF_ARRAY(own.position, file->group_count),
                               MF_ARRAY(own.orientation, file->group_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, 3), error, "scene");
    rules->position = own.position;
    rules->orientation = own.orientation;
    rules->file = file;
    rules->interval = interval_of(scene);
    rules->settled = (mf_Time)mf_scene_settle_steps(scene) * scene->step;
    rules->world = scene->world;
    for (uint32_t g = 0; g < file->group_count; g++) {
        mf_Group *group = mf_world_group(scene->world, g);
        rules->position[g] = mf_group_find_field(group, "base.position");
        rules->orientation[g] = mf_group_find_field(group, "base.orientation");
    }
    mf_WorldSystemConfig system = mf_attach_world_system("rules", MF_PHASE_SENSE, run, rules);
    system.rate = mf_rate_from_period(rules->interval);
    system.destroy = mf_attach_release;
    mf_Status status = mf_world_add_system(scene->world, &system, error);
    if (status != MF_OK)
        mf_release(context, rules);
    return status;
}
