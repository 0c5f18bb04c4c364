// Fitness functions (docs/reference/scenes.md, Fitness). `distance` depends on the final state; the
// others need sums over an episode, which a system updates after the motion of every step:
//
//   fitness.forward [m]  sum of v . e dt, with v the velocity of the base and e the unit vector of
//                        its x axis in the horizontal plane
//   fitness.upright [s]  sum of max(0, c) dt, with c the cosine of the tilt
//   fitness.stance [s]   contact time of each contact sensor of the robot
//   fitness.fallen [s]   time for which the base is more than 60 degrees from its tilt at the start
//   fitness.work [J]     sum of max(0, t r) dt over the joints: torque t of the servo by its law at
//                        the end of the step (src/motion/articulated/actuator/drive.h) times rate
//                        r, without braking work, which no battery recovers (as in the cost of
//                        transport of Collins et al., Science 307, 2005)
//
// Invariant: a robot's sums depend only on its own fields, so they do not depend on the batch. They
// are state: restoring the initial snapshot sets them to 0.
#include "scene/evaluate.h"
#include "scene/machines.h"
#include "base/floats.h"
#include "base/text.h"
#include "world/attach.h"
#include "world/systems.h"

#include "math/scalar.h"
#include "model/points.h"
#include "model/sensor_kind.h"

#include <math.h>

// The sums, in the order of their fields.
enum { FORWARD, WORK, UPRIGHT, STANCE, FALLEN, SUMS };

enum { INPUTS = 8 };

static const struct {
    mf_Fitness fitness; // that needs it
    mf_FieldInfo info;
    const char *reads[4];
} table[SUMS] = {
    [FORWARD] = {MF_FITNESS_SPEED,
                 {"fitness.forward", "m", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "displacement of the base along its own heading, backward is negative"},
                 {"base.orientation", "base.linear_velocity"}},
    [WORK] = {MF_FITNESS_ECONOMY,
              {"fitness.work", "J", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
               "positive work of the servos"},
              {"joint.angle", "joint.rate", "joint.target"}},
    [UPRIGHT] = {MF_FITNESS_UPRIGHT,
                 {"fitness.upright", "s", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "time, weighted by the cosine of the base's tilt"},
                 {"base.orientation"}},
    [STANCE] = {MF_FITNESS_STEPS,
                {"fitness.stance", "s", "", MF_F64, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
                 "time for which each foot with a contact sensor carried load"},
                {"sensor.value"}},
    [FALLEN] = {MF_FITNESS_DISTANCE, // of all, where falls count
                {"fitness.fallen", "s", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                 "time for which the robot had fallen over"},
                {"base.orientation"}},
};

// Inputs and outputs of the sums of one scene.
typedef struct Sums {
    const mf_Field *orientation, *velocity, *angle, *rate, *target;
    const mf_Field *sensor;
    const mf_Model *model;
    mf_Field *rows[SUMS]; // NULL: not needed
    double step;          // [s]
    double up[3];         // [1] up at the start, base frame
    bool falls;           // the robot can fall
    uint32_t joints;
    const char *reads[INPUTS + 1], *writes[SUMS + 1]; // names of the fields, up to NULL
    mf_Servo servo[];                                 // of each joint; gain 0: none
} Sums;

// ---- names -------------------------------------------------------------------------------------

const char *mf_fitness_unit(mf_Fitness fitness) {
    static const char *const units[] = {"m", "m/s", "m/J", "m", "m"};
    return (size_t)fitness < sizeof units / sizeof *units ? units[fitness] : "";
}

const char *mf_fitness_title(mf_Fitness fitness) {
    static const char *const titles[] = {"distance", "speed", "distance per energy",
                                         "upright distance", "stepped distance"};
    return (size_t)fitness < sizeof titles / sizeof *titles ? titles[fitness] : "";
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

static void add_stance(const Sums *sums, uint32_t robot) {
    uint32_t foot = 0;
    for (uint32_t i = 0; i < sums->model->sensor_count; i++) {
        const mf_Sensor *sensor = &sums->model->sensors[i];
        if (sensor->type != MF_SENSOR_CONTACT)
            continue;
        if (mf_field_get(sums->sensor, robot, sensor->address) != 0.0)
            mf_field_set(sums->rows[STANCE], robot, foot,
                         mf_field_get(sums->rows[STANCE], robot, foot) + sums->step);
        foot++;
    }
}

static void add_step(const Sums *sums, uint32_t robot) {
    double w = mf_field_get(sums->orientation, robot, 0);
    double x = mf_field_get(sums->orientation, robot, 1);
    double y = mf_field_get(sums->orientation, robot, 2);
    double z = mf_field_get(sums->orientation, robot, 3);
    if (sums->rows[FORWARD] != NULL) {
        double ahead = 1.0 - 2.0 * (y * y + z * z), left = 2.0 * (x * y + w * z);
        double length = mf_sqrt(ahead * ahead + left * left);
        double along = ahead * mf_field_get(sums->velocity, robot, 0) +
                       left * mf_field_get(sums->velocity, robot, 1);
        if (length > 0.0) // a vertical base has no heading
            add(sums->rows[FORWARD], robot, along / length * sums->step);
    }
    if (sums->rows[UPRIGHT] != NULL) {
        double cosine = 1.0 - 2.0 * (x * x + y * y);
        add(sums->rows[UPRIGHT], robot, cosine > 0.0 ? cosine * sums->step : 0.0);
    }
    if (sums->rows[FALLEN] != NULL) {
        const double rotation[4] = {w, x, y, z};
        double up[3];
        mf_quat_rotate(up, rotation, sums->up);
        if (sums->falls && up[2] < 0.5) // 60 degrees from its start: it has fallen over
            add(sums->rows[FALLEN], robot, sums->step);
    }
    if (sums->rows[STANCE] != NULL)
        add_stance(sums, robot);
    if (sums->rows[WORK] != NULL)
        add(sums->rows[WORK], robot, servo_power(sums, robot) * sums->step);
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
    for (int i = 0; i < SUMS; i++)
        mf_field_clear(sums->rows[i], robot);
}

// ---- what a scene needs ------------------------------------------------------------------------

static bool falls_count(const mf_SceneFile *file) {
    return file->hooks.fitness == NULL && !mf_scene_has_machines(file) &&
           (file->falls == MF_FALLS_COUNT ||
            (file->falls == MF_FALLS_AUTO && file->fitness == MF_FITNESS_STEPS));
}

// Whether the sum of that fitness is needed, by the fitness or a descriptor of the search.
static bool is_requested(const mf_SceneFile *file, mf_Fitness sum) {
    static const int of_measure[] = {
        [MF_MEASURE_FORWARD] = MF_FITNESS_DISTANCE, [MF_MEASURE_SIDEWAYS] = MF_FITNESS_DISTANCE,
        [MF_MEASURE_HEIGHT] = MF_FITNESS_DISTANCE,  [MF_MEASURE_SPEED] = MF_FITNESS_SPEED,
        [MF_MEASURE_UPRIGHT] = MF_FITNESS_UPRIGHT,  [MF_MEASURE_DUTY] = MF_FITNESS_STEPS};
    if (file->hooks.fitness == NULL && file->fitness == sum)
        return true;
    const bool sums = file->hooks.describe == NULL && !mf_scene_has_machines(file);
    for (uint32_t i = 0; i < file->descriptor_count && sums; i++)
        if (of_measure[file->descriptors[i].measure] == (int)sum)
            return true;
    return false;
}

static mf_Status add_fields(const mf_SceneFile *file, mf_Group *group, Sums *sums,
                            mf_Error *error) {
    const uint32_t feet = mf_sensors_of_type(mf_group_model(group), MF_SENSOR_CONTACT);
    sums->sensor = mf_group_find_field(group, "sensor.value");
    for (int i = 0; i < SUMS; i++) {
        if (i == FALLEN ? !falls_count(file) : !is_requested(file, table[i].fitness))
            continue;
        if (i == STANCE && (sums->sensor == NULL || feet == 0))
            return mf_fail(error, MF_UNSUPPORTED,
                           "%s needs feet with contact sensors, the robot %.99s has none",
                           file->fitness == MF_FITNESS_STEPS ? "fitness: steps" : "descriptor duty",
                           mf_group_model(group)->name);
        MF_TRY(mf_group_add_field(group, &table[i].info, i == STANCE ? feet : 1, &sums->rows[i],
                                  error));
    }
    return MF_OK;
}

static mf_Status find_servos(const mf_Scene *scene, Sums *sums, mf_Error *error) {
    const mf_Model *model = scene->model;
    if (scene->file->groups[0].servo.inputs)
        return mf_fail(error, MF_UNSUPPORTED,
                       "fitness: economy does not know the gains of servo.inputs");
    for (uint32_t j = 0; j < model->joint_count; j++) {
        mf_Servo *servo = &sums->servo[j];
        MF_TRY(mf_scene_servo(&scene->file->groups[0].servo, scene->stiffness, model, j, servo,
                              error));
        servo->effort = fmin(servo->effort, model->joints[j].effort);
        servo->speed = fmin(servo->speed, model->joints[j].speed);
    }
    return MF_OK;
}

// Declares the fields that the sums read and write.
static void declare(Sums *sums, mf_SystemConfig *system) {
    uint32_t reads = 0, writes = 0;
    for (int i = 0; i < SUMS; i++) {
        if (sums->rows[i] == NULL)
            continue;
        sums->writes[writes++] = table[i].info.name;
        for (int k = 0; table[i].reads[k] != NULL; k++)
            if (!mf_name_listed(sums->reads, table[i].reads[k]))
                sums->reads[reads++] = table[i].reads[k];
    }
    sums->reads[reads] = "fault.word";
    system->reads = sums->reads;
    system->writes = sums->writes;
}

static Sums *make_sums(const mf_Scene *scene, mf_Context *context) {
    mf_Group *group = scene->group;
    uint32_t joints = mf_group_model(group)->joint_count;
    Sums *sums = mf_allocate(context, 1, sizeof *sums + joints * sizeof(mf_Servo));
    if (sums == NULL)
        return NULL;
    sums->step = mf_time_to_seconds(scene->step);
    sums->joints = joints;
    sums->model = mf_group_model(group);
    sums->orientation = mf_group_find_field(group, "base.orientation");
    sums->velocity = mf_group_find_field(group, "base.linear_velocity");
    sums->angle = mf_group_find_field(group, "joint.angle");
    sums->rate = mf_group_find_field(group, "joint.rate");
    sums->target = mf_group_find_field(group, "joint.target");
    const double vertical[3] = {0.0, 0.0, 1.0};
    double rotation[4]; // of the first robot
    for (uint32_t c = 0; c < 4; c++)
        rotation[c] = mf_field_get(sums->orientation, 0, c);
    mf_quat_rotate_inverse(sums->up, rotation, vertical);
    sums->falls = mf_model_can_fall(sums->model);
    return sums;
}

mf_Status mf_fitness_add(const mf_Scene *scene, mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Group *group = scene->group;
    mf_Context *context = mf_world_context(mf_group_world(group));
    bool any = falls_count(file);
    for (mf_Fitness sum = MF_FITNESS_SPEED; sum <= MF_FITNESS_STEPS; sum++)
        any = any || is_requested(file, sum);
    if (!any)
        return MF_OK;
    if (is_requested(file, MF_FITNESS_ECONOMY) && scene->motion != MF_MOTION_ARTICULATED)
        return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                          "fitness: economy needs the torques of joints, which only "
                          "motion: articulated has, found motion: %s",
                          mf_motion_name(scene->motion));
    Sums *sums = make_sums(scene, context);
    MF_NEED_MEMORY(sums != NULL, error, "fitness");
    mf_Status status =
        is_requested(file, MF_FITNESS_ECONOMY) ? find_servos(scene, sums, error) : MF_OK;
    MF_THEN(status, add_fields(file, group, sums, error));
    mf_SystemConfig system = mf_attach_system("fitness", MF_PHASE_AFTER, run_sums, sums);
    system.reset = reset_sums;
    system.destroy = mf_attach_release;
    declare(sums, &system);
    MF_THEN(status, mf_group_add_system(group, &system, error));
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

// [s] simulated since the robots had settled.
static double episode_time(const mf_Scene *scene) {
    const mf_Time settled = (mf_Time)mf_scene_settle_steps(scene) * scene->step;
    return mf_time_to_seconds(mf_world_time(scene->world) - settled);
}

// Before falls.
static double achieved(const mf_Scene *scene, uint32_t robot, double time) {
    double distance = mf_scene_distance(scene, robot);
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

double mf_fitness_of(const mf_Scene *scene, uint32_t robot) {
    if (mf_scene_has_machines(scene->file)) {
        const mf_MachineResult result = mf_machine_result(scene, robot);
        return mf_machine_fitness(&result);
    }
    const double time = episode_time(scene), fitness = achieved(scene, robot, time);
    if (!falls_count(scene->file) || !(time > 0.0) || !(fitness > 0.0))
        return fitness;
    const double fallen = sum_of(scene, "fitness.fallen", robot);
    return fallen > 0.0 ? fitness * fmax(0.0, 1.0 - fallen / time) : fitness;
}

// ---- descriptors -------------------------------------------------------------------------------

static double mean_duty(const mf_Scene *scene, uint32_t robot, double time) {
    const mf_Field *stance = mf_group_find_field(scene->group, "fitness.stance");
    double sum = 0.0;
    for (uint32_t foot = 0; foot < stance->components; foot++)
        sum += mf_field_get(stance, robot, foot);
    return sum / (stance->components * time);
}

static double measure_of(const mf_Scene *scene, uint32_t robot, mf_Measure measure) {
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    const mf_Field *start = mf_group_find_field(scene->group, "start.position");
    double time = episode_time(scene);
    switch (measure) {
    case MF_MEASURE_FORWARD:
        return mf_field_get(position, robot, 0) - mf_field_get(start, robot, 0);
    case MF_MEASURE_SIDEWAYS:
        return mf_field_get(position, robot, 1) - mf_field_get(start, robot, 1);
    case MF_MEASURE_HEIGHT:
        return mf_field_get(position, robot, 2);
    case MF_MEASURE_SPEED:
        return sum_of(scene, "fitness.forward", robot) / time;
    case MF_MEASURE_UPRIGHT:
        return sum_of(scene, "fitness.upright", robot) / time;
    case MF_MEASURE_DUTY:
        return mean_duty(scene, robot, time);
    case MF_MEASURE_BARS:
    case MF_MEASURE_ACTUATORS:
        break;
    }
    return NAN;
}

void mf_scene_describe_one(const mf_Scene *scene, uint32_t robot, uint32_t genome, double *values) {
    const mf_SceneFile *file = scene->file;
    for (uint32_t i = 0; i < file->search.descriptor_count; i++) {
        if (mf_scene_has_machines(file))
            values[i] = mf_machine_described(scene, genome, i);
        else if (mf_group_fault(scene->group, robot) != 0)
            values[i] = NAN;
        else if (file->hooks.describe != NULL)
            values[i] = file->hooks.describe(scene, robot, i, file->hooks.user);
        else
            values[i] = measure_of(scene, robot, file->descriptors[i].measure);
    }
}

mf_Status mf_scene_describe(void *user, const uint8_t *genomes, uint32_t count,
                            uint32_t genome_bytes, double *values, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Scene *scene = user;
    (void)genomes;
    (void)genome_bytes;
    MF_NEED(scene != NULL && values != NULL, error, "describe: scene or values is NULL");
    if (count > mf_group_count(scene->group) || scene->start == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "describe: the scene has not evaluated that many robots");
    for (uint32_t robot = 0; robot < count; robot++)
        mf_scene_describe_one(scene, robot, robot,
                              values + (size_t)robot * scene->file->search.descriptor_count);
    return MF_OK;
}
