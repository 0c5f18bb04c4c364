// mayfly run ROBOT: one robot, or many, dropped on flat ground as their file wishes, with the
// keyframe's controls or none. A few moments of the first robot are printed, then what became of
// all.
#include "run_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fate.h"
#include "find_gait.h"
#include "ladder/start.h"
#include "math/scalar.h"
#include "readings.h"
#include "simulate.h"
#include "end_check.h"
#include "start_report.h"
#include "warnings.h"

#define MOMENTS 10u // [1] printed beside the start
#define LIFE 3.0    // [s] unless told otherwise

// What a robot does at one moment.
typedef struct Moment {
    double height;             // [m] of the base's origin
    double center;             // [m] height of the centre of mass
    double speed;              // [m/s] of the centre of mass
    double tilt;               // [rad] between the base's z axis and the vertical
    double kinetic, potential; // [J]
    double load;               // [1] what the ground bears over the weight
} Moment;

static double ground_load(mf_Group *group, uint32_t robot) {
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    double weight = mf_group_model(group)->mass * mf_world_settings(mf_group_world(group))->gravity;
    double sum = 0.0;
    if (load == NULL)
        load = mf_group_find_field(group, "point.load");
    for (uint32_t i = 0; load != NULL && i < load->components; i++)
        sum += mf_field_get(load, robot, i);
    return weight > 0.0 ? sum / weight : 0.0;
}

static Moment look(mf_Group *group, uint32_t robot) {
    const mf_Field *turn = mf_group_find_field(group, "base.orientation");
    double x = mf_field_get(turn, robot, 1), y = mf_field_get(turn, robot, 2);
    double center[3], linear[3], angular[3];
    Moment moment = {.height = mf_field_get(mf_group_find_field(group, "base.position"), robot, 2),
                     .tilt = acos(fmax(-1.0, fmin(1.0, 1.0 - 2.0 * (x * x + y * y)))),
                     .load = ground_load(group, robot)};
    mf_MotionEnergy energy = mf_motion_energy(group, robot);
    mf_motion_momentum(group, robot, center, linear, angular);
    moment.kinetic = energy.kinetic;
    moment.potential = energy.potential + energy.elastic;
    moment.center = center[2];
    moment.speed = mf_vec3_length(linear) / mf_group_model(group)->mass;
    const mf_Field *velocity = mf_group_find_field(group, "base.linear_velocity");
    for (uint32_t c = 0; c < 3; c++)
        linear[c] = mf_field_get(velocity, robot, c);
    if (mf_motion_of(group, robot) >= MF_MOTION_OWN) // whose momentum nobody knows
        moment.speed = mf_vec3_length(linear);
    return moment;
}

// ---- for people --------------------------------------------------------------------------------

static void print_start(const mf_ModelStart *start, const mf_StartReport *report, mf_World *world) {
    const mf_Model *model = start->model;
    const mf_ArticulatedConfig *full = mf_articulated_settings(mf_world_group(world, 0));
    bool rk4 = full != NULL && full->integrator == MF_ARTICULATED_RK4;
    const char *detail = start->motion != MF_MOTION_ARTICULATED ? ""
                         : rk4                                  ? " (RK4)"
                                                                : " (implicit)";
    const mf_WorldConfig *settings = mf_world_settings(world);
    const double *way = settings->gravity_direction;
    printf("%s: %u joints, %.6g kg; %s%s, steps of %g ms, gravity %g m/s^2", model->name,
           model->joint_count, model->mass, mf_motion_name(start->motion), detail,
           1e3 * mf_time_to_seconds(settings->step), settings->gravity);
    if (settings->gravity > 0.0 && (way[0] != 0.0 || way[1] != 0.0 || way[2] > 0.0))
        printf(" along (%.4g %.4g %.4g)", way[0], way[1], way[2]);
    puts("");
    mf_start_report_print(report);
    if (start->gait != NULL)
        printf("stands for %g s, then follows %s, told %g m/s forward, %g m/s left, %g rad/s\n",
               start->settle, start->gait->name, start->command[0], start->command[1],
               start->command[2]);
    else if (start->key != MF_NONE)
        printf("starts at keyframe %u '%s'\n", start->key, model->keyframes[start->key].name);
    else if (model->base == MF_BASE_FREE && model->body_count > 0)
        puts("starts where the file has it");
    else if (model->base == MF_BASE_FREE)
        puts("starts in its rest pose, lowest point on the ground");
    else
        puts("starts in its rest pose, held by the world");
    printf("%8s %9s %9s %9s %7s %10s %10s %7s\n", "time s", "base m", "centre m", "speed m/s",
           "tilt", "kinetic J", "potent. J", "load");
}

// By the world, so that nothing can be said of the base.
static bool held(const mf_Group *group) {
    return mf_group_model(group)->base == MF_BASE_FIXED && mf_points_settings(group) == NULL;
}

static void print_moment(mf_Group *group, double time) {
    Moment moment = look(group, 0);
    if (mf_group_fault(group, 0) != 0) {
        char words[MF_FAULT_TEXT];
        printf("%8.3f  fault %s: frozen\n", time, mf_fault_words(mf_group_fault(group, 0), words));
        return;
    }
    if (held(group))
        printf("%8.3f %9s %9.4f %9.4f %7s", time, "-", moment.center, moment.speed, "-");
    else
        printf("%8.3f %9.4f %9.4f %9.4f %6.1f°", time, moment.height, moment.center, moment.speed,
               moment.tilt * 57.295779513082321);
    printf(" %10.4g %10.4g %7.2f\n", moment.kinetic, moment.potential, moment.load);
}

// Mean over the robots without a fault.
static Moment mean_moment(mf_Group *group, uint32_t *alive) {
    const uint32_t asked = mf_fate_asked(group);
    Moment sum = {0};
    *alive = 0;
    for (uint32_t i = 0; i < asked; i++) {
        if (mf_group_fault(group, i) != 0)
            continue;
        Moment one = look(group, i);
        ++*alive;
        sum.height += one.height;
        sum.center += one.center;
        sum.speed += one.speed;
        sum.tilt += one.tilt;
        sum.kinetic += one.kinetic;
        sum.potential += one.potential;
        sum.load += one.load;
    }
    double part = *alive > 0 ? 1.0 / *alive : 0.0;
    return (Moment){sum.height * part,  sum.center * part,    sum.speed * part, sum.tilt * part,
                    sum.kinetic * part, sum.potential * part, sum.load * part};
}

static void print_state(const mf_Group *group, const char *state, const Moment *mean) {
    printf("end       %s: ", state);
    if (!held(group))
        printf("base at %.4g m, ", mean->height);
    printf("centre of mass at %.4g m, %.3g m/s, ground bears %.3g of the weight\n", mean->center,
           mean->speed, mean->load);
}

// How far, how upright and how deep.
static void print_sum(const mf_Group *group, const mf_Fate *fate) {
    const mf_FateSum sum = mf_fate_sum(fate);
    if (!held(group)) {
        printf("distance  %.4g m", sum.distance);
        if (fate->count > 1)
            printf(" in the mean, at most %.4g m", sum.farthest);
        printf("\ntilt      %.3g° against the start", sum.tilt * 57.295779513082321);
        if (fate->count > 1)
            printf(" in the mean; %u of %u robots fell\n", sum.falls, mf_fate_asked(group));
        else
            printf("; it %s\n", sum.falls > 0 ? "fell" : "did not fall");
    }
    printf("deepest   %.3g mm in the ground\n", 1e3 * fate->deepest);
}

static bool print_end(mf_Group *group, const mf_Simulation *simulation, const mf_Fate *fate,
                      const mf_AppPlugins *plugins) {
    char faults[MF_FAULT_TEXT];
    char life[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    uint32_t count = mf_group_count(group), alive;
    Moment mean = mean_moment(group, &alive);
    double factor = simulation->simulated * count / simulation->seconds;
    printf("%u robot%s lived %s in %s, %s x real time\n", count, count == 1 ? "" : "s",
           mf_app_duration(simulation->simulated, life), mf_app_duration(simulation->seconds, time),
           mf_app_count(factor, speed));
    const char *state = mean.speed > 0.01 ? "still moving" : mean.load > 0.5 ? "at rest" : "still";
    if (mf_fate_asked(group) < count)
        printf("means     of the first %u robots\n", mf_fate_asked(group));
    if (alive > 0)
        print_state(group, state, &mean);
    print_sum(group, fate);
    printf("energy    %.4g J kinetic, %.4g J potential\nfaults    %u%s\nhash      %016llx\n",
           mean.kinetic, mean.potential, mf_group_fault_total(group),
           mf_fault_summary(group, faults), (unsigned long long)mf_world_hash(simulation->world));
    mf_warnings_print(group, NULL);
    mf_app_plugins_print(plugins);
    mf_readings_print(group, "sensors");
    return mf_app_flush();
}

// ---- for programs ------------------------------------------------------------------------------

static bool print_json(mf_Group *group, const mf_Simulation *simulation, const mf_Fate *fate,
                       const mf_StartReport *report, mf_Motion motion) {
    uint32_t count = mf_group_count(group), alive;
    Moment mean = mean_moment(group, &alive);
    const mf_FateSum sum = mf_fate_sum(fate);
    return mf_app_print(json_pack(
        "{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:o, "
        "s:o, s:o, s:o, s:o, s:I}",
        "motion", mf_motion_name(motion), "robots", (json_int_t)count, "simulated_seconds",
        mf_app_real(simulation->simulated), "wall_seconds", mf_app_real(simulation->seconds),
        "realtime_factor", mf_app_real(simulation->simulated * count / simulation->seconds),
        "base_height", mf_app_real(mean.height), "center_height", mf_app_real(mean.center),
        "kinetic_energy", mf_app_real(mean.kinetic), "potential_energy",
        mf_app_real(mean.potential), "load", mf_app_real(mean.load), "distance",
        mf_app_real(sum.distance), "farthest", mf_app_real(sum.farthest), "tilt",
        mf_app_real(sum.tilt), "falls", (json_int_t)sum.falls, "penetration",
        mf_app_real(fate->deepest), "faults", (json_int_t)mf_group_fault_total(group),
        "fault_names", mf_fault_pack(group), "warnings", mf_warnings_pack(group), "notes",
        mf_start_report_pack(report), "sensors", mf_readings_pack(group), "hash",
        mf_app_hash(mf_world_hash(simulation->world)), "means_of",
        (json_int_t)mf_fate_asked(group)));
}

// ---- the run -----------------------------------------------------------------------------------

static uint64_t whole_steps(const mf_World *world, double seconds) {
    mf_Time step = mf_world_settings(world)->step, life = mf_time_from_seconds(seconds);
    return (uint64_t)(life / step + (life % step != 0));
}

// In one go for a record, else from moment to moment.
static mf_Status simulate(mf_Group *group, mf_Simulation *simulation, bool talk, mf_Error *error) {
    uint64_t steps = simulation->steps, done = 0;
    double simulated = 0.0, seconds = 0.0;
    mf_Status status = MF_OK;
    if (talk)
        print_moment(group, 0.0);
    if (!talk || simulation->record != NULL) {
        status = mf_simulate(simulation, error);
        if (talk)
            print_moment(group, simulation->simulated);
        return status;
    }
    simulation->progress = NULL;
    for (uint32_t i = 1; i <= MOMENTS && status == MF_OK; i++) {
        simulation->steps = steps * i / MOMENTS - done;
        if (simulation->steps == 0)
            continue;
        status = mf_simulate(simulation, error);
        done += simulation->steps;
        simulation->first = done;
        simulated += simulation->simulated;
        seconds += simulation->seconds;
        print_moment(group, simulated);
    }
    simulation->simulated = simulated;
    simulation->seconds = seconds;
    return status;
}

// Often enough for falls and depths, not more than a few hundred times.
static double watch_period(double duration) {
    return duration > 5.0 ? duration / 500.0 : 0.01;
}

static int run_world(mf_World *world, const mf_ModelStart *start, const char *note,
                     const mf_Inputs *inputs, const mf_RunOptions *options,
                     const mf_AppPlugins *plugins, mf_Error *error) {
    mf_Group *group = mf_world_group(world, 0);
    const double duration = mf_option_real(inputs->duration, LIFE);
    mf_Fate fate;
    mf_StartReport report;
    mf_Error writing;
    mf_Status status = mf_fate_begin(mf_world_context(world), group, &fate, error);
    if (status != MF_OK)
        return mf_app_fail(error);
    mf_Simulation simulation = {.world = world,
                                .group = group,
                                .agents = start->count,
                                .steps = whole_steps(world, duration),
                                .realtime = mf_option_real(options->realtime, 0.0),
                                .record = options->record,
                                .fields = options->fields,
                                .record_period = mf_option_real(options->every, 0.1),
                                .watch = mf_fate_sample,
                                .watched = &fate,
                                .watch_period = watch_period(duration),
                                .progress = "step"};
    mf_start_report(start, group, &report);
    mf_start_report_add(&report, note);
    status = mf_simulation_film(&simulation, options->plot, error);
    if (status == MF_OK && !options->json)
        print_start(start, &report, world);
    if (status == MF_OK)
        status = simulate(group, &simulation, !options->json, error);
    bool ran = status == MF_OK || status == MF_STOPPED;
    bool filmed = mf_simulation_film_end(&simulation, options->plot, ran, &writing) == MF_OK;
    bool printed = false;
    if (ran) {
        mf_fate_sample(&fate);
        printed = options->json ? print_json(group, &simulation, &fate, &report, start->motion)
                                : print_end(group, &simulation, &fate, plugins);
    }
    mf_fate_end(&fate);
    if (ran && !filmed)
        return mf_app_fail(&writing);
    if (status != MF_OK)
        return mf_app_fail(error);
    return printed ? mf_end_check(world) : MF_EXIT_FAILED;
}

// With a gait a robot starts in the gait's first pose.
static mf_Status choose_key(const mf_Model *model, const char *name, bool gait, uint32_t *out,
                            mf_Error *error) {
    *out = model->keyframe_count > 0 && !gait ? 0 : MF_NONE;
    if (name == NULL)
        return MF_OK;
    *out = mf_model_find_keyframe(model, name);
    if (*out != MF_NONE)
        return MF_OK;
    char names[320] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < model->keyframe_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 model->keyframes[i].name);
    return mf_fail_at(error, MF_NOT_FOUND, model->file, 0, 0,
                      "--key: expected the name of a keyframe (%s), found '%.99s'", names, name);
}

static int refuse_options(const mf_Inputs *inputs, const mf_RunOptions *options) {
    if (inputs->model != NULL || inputs->terrain != NULL || inputs->settings.count > 0)
        return mf_app_usage("run", "--model, --terrain and --set change experiments, and this is a "
                                   "robot: give it to scenes/hexapod.yaml by --model");
    double command[3];
    if (!mf_app_command(options->command, command))
        return mf_app_usage("run", "--command: expected three numbers such as 0.1,0,0");
    if (options->plugins.files.count == 0 &&
        (options->plugins.settings.count > 0 || options->plugins.tick != NULL))
        return mf_app_usage("run", "--plugin-set and --plugin-tick need --plugin FILE");
    if (options->command != NULL && options->gait == NULL)
        return mf_app_usage("run", "--command is for a --gait");
    if (inputs->allow_plugins)
        return mf_app_usage("run",
                            "--allow-plugins is for plugins that a file names; a robot's own "
                            "file takes --plugin FILE");
    return MF_OPTIONS_GO_ON;
}

static mf_Status add_own_motion(mf_Group *group, const void *plugins, mf_Error *error) {
    return mf_app_plugins_add(plugins, group, MF_PLUGIN_MOTION, 0, error);
}

static mf_Status add_own_controllers(mf_Group *group, mf_Time interval, const void *user,
                                     mf_Error *error) {
    const mf_AppPlugins *plugins = user;
    const mf_Time step = mf_world_settings(mf_group_world(group))->step;
    const mf_Time tick = mf_time_from_seconds(plugins->tick);
    if (tick % step != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "--plugin-tick: expected a multiple of the step of %g s, found %g s",
                       mf_time_to_seconds(step), plugins->tick);
    return mf_app_plugins_add(plugins, group, MF_PLUGIN_CONTROL, tick > 0 ? tick : interval, error);
}

int mf_run_model(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                 const char *name) {
    char path[MF_APP_PATH], note[MF_GAIT_NOTE] = "";
    mf_Error error = {0};
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Gait *gait = NULL;
    mf_AppPlugins plugins = {.count = 0};
    mf_ImportConfig config = mf_import_config();
    int result = refuse_options(inputs, options);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    config.packages = inputs->packages.items;
    config.package_count = inputs->packages.count;
    config.lenient = !options->strict;
    config.root = options->root;
    mf_ModelStart start = mf_model_start_of(NULL, MF_MOTION_ARTICULATED);
    start.add_motion = add_own_motion;
    start.add_controllers = add_own_controllers;
    start.user = &plugins;
    start.instruments = true;
    start.count = (uint32_t)mf_option_count(inputs->robots, 1);
    start.seed = mf_option_count(inputs->seed, 1);
    start.step = mf_time_from_seconds(mf_option_real(options->step, 0.0));
    start.settle = options->gait != NULL ? MF_MODEL_SETTLE : 0.0;
    if (options->motion != NULL)
        mf_motion_find(options->motion, &start.motion);
    mf_Status status = mf_model_load(context, mf_app_find(name, path), &config, &model, &error);
    if (status == MF_OK)
        status = choose_key(model, options->key, options->gait != NULL, &start.key, &error);
    start.model = model;
    if (status == MF_OK)
        status = mf_app_plugins_load(context, &options->plugins, &plugins, &error);
    if (status == MF_OK && plugins.has_motion && options->motion != NULL)
        status = mf_fail(&error, MF_BAD_ARGUMENT,
                         "--motion: expected none beside a --plugin that is a motion");
    if (plugins.has_motion)
        start.motion = MF_MOTION_OWN;
    if (status == MF_OK && options->gait != NULL)
        status = mf_app_load_gait(context, path, options->gait, model, options->command, &gait,
                                  start.command, note, &error);
    start.gait = gait;
    if (status == MF_OK)
        status = mf_model_start(context, &start, &world, &error);
    if (status == MF_OK && options->strict)
        status = mf_start_report_refuse(&start, mf_world_group(world, 0), &error);
    result = status == MF_OK ? run_world(world, &start, note, inputs, options, &plugins, &error)
                             : mf_app_fail(&error);
    mf_world_destroy(world);
    mf_terrain_destroy(start.ground);
    mf_app_plugins_free(&plugins);
    mf_gait_destroy(gait);
    mf_model_destroy(model);
    return result;
}
