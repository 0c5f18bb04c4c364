// Notes on targets of docked arms (arm.c) that are out of reach: farther from the root's
// dock than all modules together are long. A module is as long as the path from its back
// dock by its joints to its front dock, which no angles can exceed.
#include "scene/modules/modules.h"
#include "scene/modules/policies.h"

#include "math/scalar.h"

#include <math.h>

static uint32_t depth_of(const mf_Model *model, uint32_t link) {
    uint32_t depth = 0;
    for (; link != 0; link = model->joints[model->links[link].joint].parent)
        depth++;
    return depth;
}

static double between(const double a[3], const double b[3]) {
    double offset[3];
    mf_vec3_sub(offset, a, b);
    return mf_vec3_length(offset);
}

// Goes from a point of a link to its parent by the joint: the distance within the link and what a
// slide adds; `at` becomes the joint's position in the parent.
static double climb(const mf_Model *model, uint32_t *link, double at[3]) {
    const mf_Joint *joint = &model->joints[model->links[*link].joint];
    double distance = mf_vec3_length(at);
    if (joint->type == MF_JOINT_SLIDE)
        distance += fmax(mf_abs(joint->lower), mf_abs(joint->upper));
    mf_vec3_copy(at, joint->position);
    *link = joint->parent;
    return distance;
}

static double length_of(const mf_Model *model, uint32_t back, uint32_t front) {
    uint32_t ends[2] = {model->docks[back].frame.link, model->docks[front].frame.link};
    double at[2][3], distance = 0.0;
    mf_vec3_copy(at[0], model->docks[back].frame.position);
    mf_vec3_copy(at[1], model->docks[front].frame.position);
    while (ends[0] != ends[1]) {
        const int deeper = depth_of(model, ends[0]) < depth_of(model, ends[1]);
        distance += climb(model, &ends[deeper], at[deeper]);
    }
    return distance + between(at[0], at[1]);
}

typedef struct Modules {
    double length;  // [m] of all
    double jointed; // [1] those with joints
} Modules;

static bool has_targets(const mf_SceneGroup *group) {
    return group->behavior.kind == MF_BEHAVIOR_ARM && group->behavior.point_count > 0;
}

static Modules add_modules(const mf_SceneBuilder *builder) {
    Modules all = {0};
    for (uint32_t i = 0; i < builder->file->group_count; i++) {
        const mf_SceneGroup *group = &builder->file->groups[i];
        const mf_Model *model = builder->scene->models[i];
        const mf_PolicyBehavior *policy = &group->behavior.policy;
        const uint32_t back = mf_policy_dock(model, policy->back, 1),
                       front = mf_policy_dock(model, policy->front, 0);
        if (group->behavior.kind != MF_BEHAVIOR_ARM ||
            (model->joint_count == 0 && has_targets(group)) || back >= model->dock_count ||
            front >= model->dock_count)
            continue;
        all.length += mf_scene_group_count(builder, i) * length_of(model, back, front);
        all.jointed += model->joint_count > 0 ? mf_scene_group_count(builder, i) : 0;
    }
    return all;
}

static void note_root(mf_SceneBuilder *builder, uint32_t index, const Modules *all) {
    const mf_SceneGroup *group = &builder->file->groups[index];
    const mf_Model *model = builder->scene->models[index];
    const uint32_t front = mf_policy_dock(model, group->behavior.policy.front, 0);
    uint32_t beyond = 0;
    double farthest = 0.0;
    if (!has_targets(group) || model->joint_count > 0 || front >= model->dock_count)
        return;
    for (uint32_t p = 0; p < group->behavior.point_count; p++) {
        const double distance =
            between(group->behavior.points[p], model->docks[front].frame.position);
        beyond += distance > all->length;
        farthest = distance > farthest ? distance : farthest;
    }
    if (beyond > 0)
        mf_scene_note(builder->scene,
                      "group %.60s: arm: %u of %u targets are out of reach, up to %.3g m from the "
                      "root's dock; all modules are %.3g m long",
                      group->name, beyond, group->behavior.point_count, farthest, all->length);
    if (group->behavior.policy.length > all->jointed)
        mf_scene_note(
            builder->scene,
            "group %.60s: arm: length is %g, and only %g modules have joints: it stays in "
            "its posture",
            group->name, group->behavior.policy.length, all->jointed);
}

void mf_scene_note_arms(mf_SceneBuilder *builder) {
    const Modules all = add_modules(builder);
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        note_root(builder, i, &all);
}
