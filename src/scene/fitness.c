// Fitness functions (docs/reference/scenes.md, Fitness). `distance` depends on the final state; the
// others need sums over an episode, which a system updates after the motion of every step:
//
//   fitness.forward [m]  sum of v . e dt, with v the velocity of the base and e the unit vector of
//                        its x axis in the horizontal plane
//   fitness.upright [s]  sum of max(0, c) dt, with c the cosine of the tilt
//   fitness.stance [s]   contact time of each contact sensor of the robot
//   fitness.work [J]     sum of max(0, t r) dt over the joints: torque t of the servo by its law at
//                        the end of the step (src/motion/articulated/drive.h) times rate r, without
//                        braking work, which no battery recovers (as in the cost of transport of
//                        Collins et al., Science 307, 2005)
//
// Invariant: a robot's sums depend only on its own fields, so they do not depend on the batch. They
// are state: restoring the initial snapshot sets them to 0.
#include "scene/builder.h"

#include "math/scalar.h"

#include <math.h>

// Inputs and outputs of the sums of one scene.
typedef struct Sums {
    const mf_Field *orientation, *velocity, *angle, *rate, *target;
    const mf_Field *contact;
    mf_Field *forward, *upright, *stance, *work;
    double step; // [s]
    uint32_t joints;
    mf_Servo servo[]; // of each joint; gain 0: none
} Sums;

static const mf_FieldInfo forward_info = {
    "fitness.forward",
    "m",
    "",
    MF_F64,
    MF_PER_INSTANCE,
    1,
    MF_FIELD_STATE,
    "displacement of the base along its own heading, backward is negative"};
static const mf_FieldInfo upright_info = {"fitness.upright",
                                          "s",
                                          "",
                                          MF_F64,
                                          MF_PER_INSTANCE,
                                          1,
                                          MF_FIELD_STATE,
                                          "time, weighted by the cosine of the base's tilt"};
static const mf_FieldInfo stance_info = {
    "fitness.stance",
    "s",
    "",
    MF_F64,
    MF_FIXED_COUNT,
    1,
    MF_FIELD_STATE,
    "time for which each foot with a contact sensor carried load"};
static const mf_FieldInfo work_info = {"fitness.work",
                                       "J",
                                       "",
                                       MF_F64,
                                       MF_PER_INSTANCE,
                                       1,
                                       MF_FIELD_STATE,
                                       "positive work of the servos"};

// ---- names -------------------------------------------------------------------------------------

const char *mf_fitness_unit(mf_Fitness fitness) {
    static const char *const units[] = {"m", "m/s", "m/J", "m", "m"};
    return units[fitness];
}

const char *mf_fitness_title(mf_Fitness fitness) {
    static const char *const titles[] = {"distance", "speed", "distance per energy",
                                         "upright distance", "stepped distance"};
    return titles[fitness];
}

// ---- sums over an episode ----------------------------------------------------------------------

// [W] mechanical power of the servos of one robot.
static double servo_power(const Sums *sums, uint32_t robot) {
    double power = 0.0;
    for (uint32_t j = 0; j < sums->joints; j++) {
        const mf_Servo *servo = &sums->servo[j];
        if (!(servo->gain > 0.0))
            continue;
        double rate = mf_field_get(sums->rate, robot, j);
        double error = mf_field_get(sums->target, robot, j) - mf_field_get(sums->angle, robot, j);
        double most = servo->damping * servo->speed, pull = servo->gain * error;
        if (servo->damping > 0.0) // a speed limits the pull only against damping
            pull = pull > most ? most : pull < -most ? -most : pull;
        double torque = pull - servo->damping * rate;
        torque = torque > servo->effort    ? servo->effort
                 : torque < -servo->effort ? -servo->effort
                                           : torque;
        double gain = torque * rate;
        power += gain > 0.0 ? gain : 0.0;
    }
    return power;
}

static void add(mf_Field *field, uint32_t robot, double amount) {
    mf_field_set(field, robot, 0, mf_field_get(field, robot, 0) + amount);
}

static void add_step(const Sums *sums, uint32_t robot) {
    double w = mf_field_get(sums->orientation, robot, 0);
    double x = mf_field_get(sums->orientation, robot, 1);
    double y = mf_field_get(sums->orientation, robot, 2);
    double z = mf_field_get(sums->orientation, robot, 3);
    if (sums->forward != NULL) {
        double ahead = 1.0 - 2.0 * (y * y + z * z), left = 2.0 * (x * y + w * z);
        double length = mf_sqrt(ahead * ahead + left * left);
        double along = ahead * mf_field_get(sums->velocity, robot, 0) +
                       left * mf_field_get(sums->velocity, robot, 1);
        if (length > 0.0) // a vertical base has no heading
            add(sums->forward, robot, along / length * sums->step);
    }
    if (sums->upright != NULL) {
        double cosine = 1.0 - 2.0 * (x * x + y * y);
        add(sums->upright, robot, cosine > 0.0 ? cosine * sums->step : 0.0);
    }
    for (uint32_t foot = 0; sums->stance != NULL && foot < sums->stance->components; foot++) {
        if (mf_field_get(sums->contact, robot, foot) != 0.0)
            mf_field_set(sums->stance, robot, foot,
                         mf_field_get(sums->stance, robot, foot) + sums->step);
    }
    if (sums->work != NULL)
        add(sums->work, robot, servo_power(sums, robot) * sums->step);
}

static void run_sums(const mf_SystemRun *run, void *user) {
    uint32_t first = run->first_block * MF_BLOCK, end = first + run->block_count * MF_BLOCK;
    uint32_t count = mf_group_count(run->group);
    for (uint32_t robot = first; robot < end && robot < count; robot++)
        if (mf_group_fault(run->group, robot) == 0)
            add_step(user, robot);
}

static void reset_sums(mf_Group *group, uint32_t robot, void *user) {
    const Sums *sums = user;
    (void)group;
    mf_Field *const fields[] = {sums->forward, sums->upright, sums->stance, sums->work};
    for (int i = 0; i < 4; i++)
        for (uint32_t c = 0; fields[i] != NULL && c < fields[i]->components; c++)
            mf_field_set(fields[i], robot, c, 0.0);
}

static void release_sums(mf_Context *context, void *user) {
    mf_release(context, user);
}

static mf_Status add_fields(mf_Fitness fitness, mf_Group *group, Sums *sums, mf_Error *error) {
    switch (fitness) {
    case MF_FITNESS_SPEED:
        return mf_group_add_field(group, &forward_info, 1, &sums->forward, error);
    case MF_FITNESS_ECONOMY:
        return mf_group_add_field(group, &work_info, 1, &sums->work, error);
    case MF_FITNESS_UPRIGHT:
        return mf_group_add_field(group, &upright_info, 1, &sums->upright, error);
    case MF_FITNESS_STEPS:
        sums->contact = mf_group_find_field(group, "sensor.contact");
        if (sums->contact == NULL)
            return mf_fail(error, MF_UNSUPPORTED,
                           "fitness: steps needs feet with contact sensors, the robot %.99s has "
                           "none",
                           mf_group_model(group)->name);
        return mf_group_add_field(group, &stance_info, sums->contact->components, &sums->stance,
                                  error);
    case MF_FITNESS_DISTANCE:
        break;
    }
    return MF_OK;
}

static mf_Status find_servos(const mf_Scene *scene, Sums *sums, mf_Error *error) {
    const mf_Model *model = scene->model;
    mf_Status status = MF_OK;
    for (uint32_t j = 0; j < model->joint_count && status == MF_OK; j++) {
        mf_Servo *servo = &sums->servo[j];
        status =
            mf_scene_servo(&scene->file->groups[0].servo, scene->stiffness, model, j, servo, error);
        servo->effort = fmin(servo->effort, model->joints[j].effort);
        servo->speed = fmin(servo->speed, model->joints[j].speed);
    }
    return status;
}

// Declares the fields that the sum of a fitness reads and writes.
static void declare(mf_Fitness fitness, mf_SystemConfig *system) {
    static const char *const forward[] = {"base.orientation", "base.linear_velocity", "fault.word",
                                          NULL};
    static const char *const upright[] = {"base.orientation", "fault.word", NULL};
    static const char *const stance[] = {"sensor.contact", "fault.word", NULL};
    static const char *const work[] = {"joint.angle", "joint.rate", "joint.target", "fault.word",
                                       NULL};
    static const char *const sums[][2] = {[MF_FITNESS_SPEED] = {"fitness.forward", NULL},
                                          [MF_FITNESS_ECONOMY] = {"fitness.work", NULL},
                                          [MF_FITNESS_UPRIGHT] = {"fitness.upright", NULL},
                                          [MF_FITNESS_STEPS] = {"fitness.stance", NULL}};
    system->reads = fitness == MF_FITNESS_SPEED     ? forward
                    : fitness == MF_FITNESS_ECONOMY ? work
                    : fitness == MF_FITNESS_UPRIGHT ? upright
                                                    : stance;
    system->writes = sums[fitness];
}

mf_Status mf_fitness_add(const mf_Scene *scene, mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Group *group = scene->group;
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    if (file->fitness == MF_FITNESS_DISTANCE || file->hooks.fitness != NULL)
        return MF_OK;
    if (file->fitness == MF_FITNESS_ECONOMY && scene->motion != MF_MOTION_ARTICULATED)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "fitness: economy needs the torques of joints, which only "
                          "motion: articulated has, found motion: %s",
                          mf_motion_name(scene->motion));
    Sums *sums = mf_allocate(context, 1, sizeof *sums + model->joint_count * sizeof(mf_Servo));
    if (sums == NULL)
        return mf_fail(error, MF_NO_MEMORY, "fitness: out of memory");
    sums->step = mf_time_to_seconds(scene->step);
    sums->joints = model->joint_count;
    sums->orientation = mf_group_find_field(group, "base.orientation");
    sums->velocity = mf_group_find_field(group, "base.linear_velocity");
    sums->angle = mf_group_find_field(group, "joint.angle");
    sums->rate = mf_group_find_field(group, "joint.rate");
    sums->target = mf_group_find_field(group, "joint.target");
    mf_SystemConfig system = mf_system_config();
    system.name = "fitness";
    system.phase = MF_PHASE_AFTER;
    system.run = run_sums;
    system.reset = reset_sums;
    system.destroy = release_sums;
    system.user = sums;
    declare(file->fitness, &system);
    mf_Status status =
        file->fitness == MF_FITNESS_ECONOMY ? find_servos(scene, sums, error) : MF_OK;
    if (status == MF_OK)
        status = add_fields(file->fitness, group, sums, error);
    if (status == MF_OK)
        status = mf_group_add_system(group, &system, error);
    if (status != MF_OK)
        mf_release(context, sums);
    return status;
}

// ---- at the end of an episode ------------------------------------------------------------------

static double sum_of(const mf_Scene *scene, const char *field, uint32_t robot) {
    return mf_field_get(mf_group_find_field(scene->group, field), robot, 0);
}

// The mean score of the feet's duty factors: 1 between 0.15 and 0.85, so that a foot is neither
// always in the air nor always on the ground; outside it falls linearly to 0 at 0 and 1.
static double stepping(const mf_Scene *scene, uint32_t robot, double time) {
    const double ends = 0.15; // [1] below the duty factors of walks, 0.5 .. 0.8, and of runs
    const mf_Field *stance = mf_group_find_field(scene->group, "fitness.stance");
    double sum = 0.0;
    for (uint32_t foot = 0; foot < stance->components; foot++) {
        double duty = mf_field_get(stance, robot, foot) / time;
        double least = duty < 1.0 - duty ? duty : 1.0 - duty;
        sum += least < 0.0 ? 0.0 : least < ends ? least / ends : 1.0;
    }
    return sum / stance->components;
}

double mf_fitness_of(const mf_Scene *scene, uint32_t robot) {
    double distance = mf_scene_distance(scene, robot);
    const mf_Time settled = (mf_Time)mf_scene_settle_steps(scene) * scene->step;
    double time = mf_time_to_seconds(mf_world_time(scene->world) - settled);
    switch (scene->file->fitness) {
    case MF_FITNESS_SPEED:
        return time > 0.0 ? sum_of(scene, "fitness.forward", robot) / time : 0.0;
    case MF_FITNESS_ECONOMY: {
        // Adds the work of lifting the robot by one meter on Earth, so that falling over without
        // work is not rewarded.
        const double lift = 9.80665; // [J/kg]
        return distance / (sum_of(scene, "fitness.work", robot) + scene->model->mass * lift);
    }
    case MF_FITNESS_UPRIGHT:
        return time > 0.0 ? distance * sum_of(scene, "fitness.upright", robot) / time : 0.0;
    case MF_FITNESS_STEPS:
        return time > 0.0 ? distance * stepping(scene, robot, time) : 0.0;
    case MF_FITNESS_DISTANCE:
        break;
    }
    return distance;
}
