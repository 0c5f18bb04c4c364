// Adds the policies that ship: finds what their settings name, and commands joints for them.
#include "scene/modules/policies.h"
#include "model/points.h"
#include <mayfly/model_fields.h>
#include "agent/modules/messages.h"

#include "base/hash.h"
#include "base/text.h"
#include "math/scalar.h"

#include <string.h>

static const mf_PolicyKind *const kinds[] = {
    &mf_policy_snake, &mf_policy_phase,  &mf_policy_track,  &mf_policy_unroll,
    &mf_policy_count, &mf_policy_leader, &mf_policy_spin,   &mf_policy_wheels,
    &mf_policy_car,   &mf_policy_arm,    &mf_policy_hormone};
_Static_assert(sizeof kinds / sizeof *kinds == MF_BEHAVIOR_LAST - MF_BEHAVIOR_POLICIES + 1,
               "kinds are in the order of mf_BehaviorKind");

// ---- for policies ------------------------------------------------------------------------------

double mf_policy_wrap(double angle) {
    const double half = 3.141592653589793;
    return angle - 2.0 * half * mf_floor((angle + half) / (2.0 * half));
}

bool mf_policy_pose(mf_Policy *policy, const mf_PolicyPlan *plan, double position) {
    bool done = true;
    for (uint32_t i = 0; i < plan->joint_count; i++)
        done = mf_policy_act(policy, 0, plan->joints[i].joint, position) && done;
    return done;
}

static const double most_ahead = 1.0; // [rad]

bool mf_policy_drive(mf_Policy *policy, const mf_PolicyPlan *plan, double speed, double right) {
    bool done = true;
    for (uint32_t i = 0; i < plan->joint_count; i++) {
        const mf_PolicyJoint *joint = &plan->joints[i];
        const double own = joint->side < 0.0 ? right : speed;
        const double angle = mf_policy_percept(policy, MF_POLICY_ANGLE, joint->joint);
        const double next = mf_policy_percept(policy, MF_POLICY_TARGET, joint->joint) +
                            own * mf_policy_period(policy);
        const double target = angle + mf_clamp(next - angle, -most_ahead, most_ahead);
        done = (plan->by_actuator ? mf_policy_act(policy, 0, joint->actuator, own)
                                  : mf_policy_act(policy, 0, joint->joint, target)) &&
               done;
    }
    return done;
}

// ---- names --------------------------------------------------------------------------------------

static uint32_t words_of(const char *list) {
    uint32_t words = 0;
    for (const char *at = list; *at != '\0'; at++)
        words += *at != ' ' && (at == list || at[-1] == ' ');
    return words;
}

static const char *text_of(const char *text) {
    return text != NULL ? text : "";
}

// A velocity actuator: its force is proportional to the control less the joint's rate.
static uint32_t actuator_of(const mf_Model *model, uint32_t joint) {
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        const mf_Actuator *actuator = &model->actuators[a];
        if (actuator->joint == joint && actuator->gain[0] > 0.0 && actuator->bias[2] < 0.0 &&
            !(actuator->bias[1] < 0.0))
            return a;
    }
    return MF_NONE;
}

uint32_t mf_policy_dock(const mf_Model *model, const char *name, uint32_t usual) {
    return text_of(name)[0] == '\0' ? usual : mf_model_find(model, MF_ITEM_DOCK, name);
}

static mf_Status find_dock(const mf_Model *model, const char *what, const char *name,
                           uint32_t usual, uint32_t *out, mf_Error *error) {
    *out = mf_policy_dock(model, name, usual);
    return *out < model->dock_count ? MF_OK
                                    : mf_fail(error, MF_NOT_FOUND, "%s: %s has no dock '%.80s'",
                                              what, model->name, name);
}

static mf_Status find_sensor(const mf_Model *model, const mf_PolicyKind *kind, const char *name,
                             uint32_t *out, mf_Error *error) {
    for (uint32_t s = 0; s < model->sensor_count; s++) {
        const mf_Sensor *sensor = &model->sensors[s];
        if ((name[0] != '\0' && strcmp(name, sensor->name) != 0) ||
            (sensor->type != kind->sensor && sensor->type != kind->other))
            continue;
        *out = sensor->address;
        return MF_OK;
    }
    return mf_fail(error, MF_NOT_FOUND, "%s: %s has no %s '%.80s'", kind->name, model->name,
                   kind->sensor == MF_SENSOR_ACCELEROMETER ? "accelerometer" : "range sensor",
                   name);
}

static mf_Status find_joints(const mf_Model *model, const mf_PolicyKind *kind,
                             const mf_PolicyBehavior *settings, mf_PolicyPlan *plan,
                             mf_Error *error) {
    const char *left = text_of(kind->sides ? settings->left : settings->joint);
    const char *right = text_of(kind->sides ? settings->right : NULL);
    const bool all = !kind->sides && left[0] == '\0';
    uint32_t driven = 0;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        const bool on_right = mf_name_in_text(right, joint->name);
        if (!mf_joint_has_motor(joint) ||
            (!all && !on_right && !mf_name_in_text(left, joint->name)))
            continue;
        const uint32_t actuator = actuator_of(model, j);
        plan->joints[plan->joint_count++] = (mf_PolicyJoint){j, actuator, on_right ? -1.0 : 1.0};
        driven += actuator != MF_NONE;
    }
    MF_CHECK(all || plan->joint_count == words_of(left) + words_of(right), error, MF_NOT_FOUND,
             "%s: expected names of hinges or slides of %s, found '%.80s' and '%.80s'", kind->name,
             model->name, left, right);
    MF_CHECK(plan->joint_count != 0, error, MF_NOT_FOUND, "%s: %s has no hinge or slide",
             kind->name, model->name);
    if (driven != 0 && driven != plan->joint_count)
        return mf_fail(error, MF_UNSUPPORTED,
                       "%s: some of the joints of %s have velocity actuators, some have not",
                       kind->name, model->name);
    plan->by_actuator = driven > 0;
    return MF_OK;
}

// ---- adding one ---------------------------------------------------------------------------------

// Serial numbers of modules: through all groups with docks.
static void number_modules(mf_Group *group, mf_PolicyPlan *plan) {
    mf_World *world = mf_group_world(group);
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const mf_Group *other = mf_world_group(world, g);
        if (other == group)
            plan->first_id = plan->robots;
        if (other == group ||
            (mf_group_model(other)->dock_count > 0 && !mf_group_config_of(other)->isolated))
            plan->robots += mf_group_count(other);
    }
}

static mf_Status check_messages(mf_Group *group, const mf_PolicyKind *kind, mf_PolicyPlan *plan,
                                mf_Error *error) {
    const mf_MessagesConfig *messages =
        mf_messages_config_of(mf_messages_of(mf_group_world(group)));
    MF_NEED(messages != NULL && mf_group_find_field(group, "message.out") != NULL, error,
            "%s: group %s has no messages", kind->name, mf_group_config_of(group)->name);
    plan->words = messages->size / 4;
    return plan->words >= kind->words
               ? MF_OK
               : mf_fail(error, MF_BAD_ARGUMENT, "%s: messages.size is %u, need at least %u bytes",
                         kind->name, messages->size, 4 * kind->words);
}

// Other modules without joints lengthen what they are part of.
static bool is_root(const mf_Model *model, const mf_PolicyKind *kind, const mf_PolicyPlan *plan) {
    return kind->may_be_root && model->joint_count == 0 &&
           (plan->point_count > 0 || model->dock_count < 2);
}

static mf_Status find_ends(const mf_Model *model, const mf_PolicyKind *kind,
                           const mf_PolicyBehavior *settings, mf_PolicyPlan *plan,
                           mf_Error *error) {
    const char *front = text_of(settings->front), *back = text_of(settings->back);
    const bool root = is_root(model, kind, plan);
    plan->front = plan->back = MF_NONE;
    if (kind->ends || kind->may_be_root || (kind->some_ends && front[0] != '\0'))
        MF_TRY(find_dock(model, kind->name, front, 0, &plan->front, error));
    if (kind->ends || (kind->may_be_root && !root) || (kind->some_ends && back[0] != '\0'))
        MF_TRY(find_dock(model, kind->name, back, 1, &plan->back, error));
    return MF_OK;
}

static mf_Status fill(mf_Group *group, const mf_PolicyKind *kind, const mf_PolicyBehavior *settings,
                      mf_PolicyPlan *plan, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    number_modules(group, plan);
    plan->seed = mf_world_config_of(mf_group_world(group))->seed;
    plan->model = model;
    if (kind->words > 0)
        MF_TRY(check_messages(group, kind, plan, error));
    MF_TRY(find_ends(model, kind, settings, plan, error));
    if (kind->sensor != MF_SENSOR_CONTACTS)
        MF_TRY(find_sensor(model, kind, text_of(settings->sensor), &plan->sensor, error));
    if (kind->joints && !(kind->may_be_root && model->joint_count == 0))
        MF_TRY(find_joints(model, kind, settings, plan, error));
    return kind->check != NULL ? kind->check(plan, error) : MF_OK;
}

static uint64_t hash_of(const mf_PolicyBehavior *settings, const mf_PolicyPlan *plan) {
    const double values[] = {settings->amplitude, settings->frequency, settings->offset,
                             settings->lag,       settings->coupling,  settings->scatter,
                             settings->speed,     settings->distance,  settings->pivot_time,
                             settings->stretch,   settings->lean,      settings->open,
                             settings->together,  settings->apart,     settings->wait,
                             settings->length,    settings->posture,   settings->damping};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, values, sizeof values / sizeof *values);
    if (plan->point_count > 0)
        hash = mf_hash_doubles(hash, plan->points[0], 3 * (size_t)plan->point_count);
    const char *const texts[] = {settings->front, settings->back,  settings->joint,
                                 settings->left,  settings->right, settings->sensor};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = mf_hash_bytes(hash, text_of(texts[i]), strlen(text_of(texts[i])) + 1);
    return hash;
}

static mf_Status add(mf_Group *group, const mf_PolicyKind *kind, const mf_Behavior *behavior,
                     mf_PolicyPlan *plan, mf_Error *error) {
    const bool moves = plan->joint_count > 0;
    // Of docks and of joints each kind of module has at least one.
    const char *percepts[5] = {"dock.state", "dock.state", "joint.target", NULL, NULL};
    const char *actions[3] = {NULL, NULL, NULL};
    if (moves) {
        percepts[MF_POLICY_TARGET] = "joint.target";
        percepts[MF_POLICY_ANGLE] = "joint.angle";
    }
    if (kind->words > 0)
        percepts[MF_POLICY_DOCK_STATE] = "dock.state";
    if (kind->sensor != MF_SENSOR_CONTACTS)
        percepts[MF_POLICY_SENSOR] = "sensor.value";
    if (moves)
        actions[MF_POLICY_JOINTS] = plan->by_actuator ? "actuator.control" : "joint.target";
    if (kind->parts)
        actions[MF_POLICY_DOCKS] = "dock.enabled";
    mf_PolicyConfig config = mf_policy_config();
    config.name = kind->name;
    if (!kind->drives || plan->by_actuator)
        config.rate = behavior->rate; // targets that move on do so smoothly
    config.percepts = percepts;
    config.actions = actions;
    config.memory = kind->memory;
    config.messages = kind->words > 0;
    config.function = kind->think;
    config.user = plan;
    config.settings_hash = hash_of(&behavior->policy, plan);
    return mf_policy_add(group, &config, error);
}

mf_Status mf_policy_behavior_add(mf_Group *group, const mf_Behavior *behavior, mf_Error *error) {
    const mf_PolicyKind *kind = kinds[behavior->kind - MF_BEHAVIOR_POLICIES];
    mf_Context *context = mf_world_context(mf_group_world(group));
    const size_t joints = mf_group_model(group)->joint_count;
    const size_t points = behavior->point_count;
    mf_PolicyPlan *plan = mf_allocate(
        context, 1, sizeof *plan + joints * sizeof plan->joints[0] + points * sizeof *plan->points);
    MF_NEED_MEMORY(plan != NULL, error, kind->name);
    plan->settings = behavior->policy;
    plan->points = (double(*)[3])(void *)(plan->joints + joints);
    plan->point_count = (uint32_t)points;
    if (points > 0)
        memcpy(plan->points, behavior->points, points * sizeof *plan->points);
    mf_Status status = fill(group, kind, &behavior->policy, plan, error);
    MF_THEN(status, add(group, kind, behavior, plan, error));
    plan->settings.front = plan->settings.back = plan->settings.joint = NULL;
    plan->settings.left = plan->settings.right = plan->settings.sensor = NULL;
    if (status == MF_OK)
        mf_attach_keep(group, &plan->kept);
    else
        mf_release(context, plan);
    return status;
}
