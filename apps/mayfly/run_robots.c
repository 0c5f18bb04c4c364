// mayfly run for files of robots: simulates the file's world once and tells by which motion they
// moved, who lies on the ground, who scored, and what collisions cost.
#include "run_robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "find_gait.h"
#include "readings.h"
#include "simulate.h"
#include "end_check.h"
#include "warnings.h"

#define LYING 0.6 // [1] cosine of the tilt beyond which a robot lies

// What the robots of one group do at the end.
typedef struct Census {
    uint32_t levels[MF_MOTION_OWN_LAST + 1]; // [1] robots at each
    uint32_t lying, faulty;                  // [1]
} Census;

static Census count_group(mf_Group *group) {
    const mf_Field *turn = mf_group_find_field(group, "base.orientation");
    Census census = {.lying = 0};
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        double x = mf_field_get(turn, i, 1), y = mf_field_get(turn, i, 2);
        mf_Motion motion = mf_motion_of(group, i);
        census.faulty += mf_group_fault(group, i) != 0;
        census.lying +=
            mf_group_model(group)->joint_count > 0 && 1.0 - 2.0 * (x * x + y * y) < LYING;
        if (motion != MF_MOTION_COUNT)
            census.levels[motion]++;
    }
    return census;
}

// "3 rigid, 1 articulated"; "scenery" for what does not move.
static void put_levels(const Census *census, char *out, size_t size) {
    size_t used = 0;
    snprintf(out, size, "scenery");
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if (census->levels[i] > 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%u %s", used > 0 ? ", " : "",
                                     census->levels[i], mf_motion_name((mf_Motion)i));
}

static void print_collisions(const mf_RobotsScene *scene) {
    if (scene->collisions == NULL)
        return;
    mf_CollisionsStatistics s = mf_collisions_statistics(scene->collisions);
    double steps = s.steps > 0 ? (double)s.steps : 1.0;
    printf("collisions, per step: %.1f tests of spheres, %.1f of shapes (%.0f without trees), "
           "%.2f touches\n",
           (double)s.sphere_tests / steps, (double)s.shape_tests / steps, (double)s.without / steps,
           (double)s.touches / steps);
    if (s.lost_pairs + s.lost_touches > 0)
        printf("no room for %llu pairs and %llu touches\n", (unsigned long long)s.lost_pairs,
               (unsigned long long)s.lost_touches);
}

// What is not as the file asks: one line for each group, "" for most.
typedef struct Notes {
    char lines[MF_ROBOTS_GROUPS][MF_GAIT_NOTE];
} Notes;

// The gait that a group's behaviour gives commands to, NULL where it gives none, and the largest
// that the file asks for.
static const char *commanded_gait(const mf_RobotsBehaviour *behaviour, double command[3]) {
    const bool soccer = behaviour->kind == MF_ROBOTS_SOCCER;
    memcpy(command, behaviour->command, 3 * sizeof *command);
    if (soccer)
        command[0] = behaviour->speed;
    return soccer ? "walk" : behaviour->kind == MF_ROBOTS_GAIT ? behaviour->gait : NULL;
}

static mf_Status note_commands(mf_Context *context, const mf_RobotsScene *scene, Notes *notes,
                               mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t g = 0; g < scene->robots->group_count && status == MF_OK; g++) {
        const mf_RobotsGroup *from = &scene->robots->groups[g];
        double unused[3], command[3];
        mf_Gait *gait = NULL;
        const char *name = commanded_gait(&from->behaviour, command);
        notes->lines[g][0] = '\0';
        if (name == NULL)
            continue;
        status = mf_app_load_gait(context, from->model_path, name, scene->models[g], NULL, &gait,
                                  unused, notes->lines[g], error);
        if (status == MF_OK)
            mf_app_gait_cut(gait, command, notes->lines[g]);
        mf_gait_destroy(gait);
    }
    return status;
}

static bool print_page(const mf_RobotsScene *scene, const mf_Simulation *simulation,
                       const Notes *notes) {
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        if (notes->lines[g][0] != '\0')
            printf("note: group %s: %s\n", scene->robots->groups[g].name, notes->lines[g]);
    char life[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER], levels[120];
    printf("%s: %s in %s, %s x real time\n", scene->robots->name,
           mf_app_duration(simulation->simulated, life), mf_app_duration(simulation->seconds, time),
           mf_app_count(simulation->simulated / simulation->seconds, speed));
    printf("%-16s %7s %6s %7s %6s %6s %6s %6s  %s\n", "group", "robots", "lying", "faulty", "goals",
           "kicks", "falls", "dives", "motion");
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        mf_Group *group = mf_world_group(scene->world, g);
        const Census census = count_group(group);
        const mf_PlayCount play = mf_play_count(scene->play, g);
        put_levels(&census, levels, sizeof levels);
        printf("%-16s %7u %6u %7u %6u %6u %6u %6u  %s\n", mf_group_settings(group)->name,
               mf_group_count(group), census.lying, census.faulty, play.goals, play.kicks,
               play.falls, play.dives, levels);
    }
    print_collisions(scene);
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        mf_readings_print(mf_world_group(scene->world, g), scene->robots->groups[g].name);
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        mf_warnings_print(mf_world_group(scene->world, g), scene->robots->groups[g].name);
    printf("hash      %016llx\n", (unsigned long long)mf_world_hash(scene->world));
    return mf_app_flush();
}

static json_t *pack_group(const mf_RobotsScene *scene, uint32_t index, const char *note) {
    mf_Group *group = mf_world_group(scene->world, index);
    const Census census = count_group(group);
    const mf_PlayCount play = mf_play_count(scene->play, index);
    json_t *levels = json_object();
    for (int i = 0; levels != NULL && i <= MF_MOTION_OWN_LAST; i++)
        if (census.levels[i] > 0)
            json_object_set_new(levels, mf_motion_name((mf_Motion)i),
                                json_integer(census.levels[i]));
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "name",
                     mf_group_settings(group)->name, "robots", (json_int_t)mf_group_count(group),
                     "lying", (json_int_t)census.lying, "faults", (json_int_t)census.faulty,
                     "goals", (json_int_t)play.goals, "kicks", (json_int_t)play.kicks, "falls",
                     (json_int_t)play.falls, "dives", (json_int_t)play.dives, "levels", levels,
                     "sensors", mf_readings_pack(group), "warnings", mf_warnings_pack(group),
                     "notes", note[0] != '\0' ? json_pack("[s]", note) : json_array());
}

static bool print_json(const mf_RobotsScene *scene, const mf_Simulation *simulation,
                       const Notes *notes) {
    json_t *groups = json_array();
    uint32_t faults = 0;
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        json_array_append_new(groups, pack_group(scene, g, notes->lines[g]));
        faults += mf_group_fault_total(mf_world_group(scene->world, g));
    }
    return mf_app_print(json_pack("{s:s, s:I, s:o, s:I, s:o, s:o, s:o, s:o}", "motion", "robots",
                                  "robots", (json_int_t)simulation->agents, "groups", groups,
                                  "faults", (json_int_t)faults, "simulated_seconds",
                                  mf_app_real(simulation->simulated), "wall_seconds",
                                  mf_app_real(simulation->seconds), "realtime_factor",
                                  mf_app_real(simulation->simulated / simulation->seconds), "hash",
                                  mf_app_hash(mf_world_hash(scene->world))));
}

// The file's record, unless the command line asks for another; fields in one line, as --fields has
// them.
static mf_Status choose_record(const mf_Robots *robots, const mf_RunOptions *options,
                               mf_Simulation *simulation, char *fields, size_t size,
                               mf_Error *error) {
    size_t used = 0;
    simulation->record = options->record != NULL ? options->record : robots->record_path;
    simulation->record_period = mf_option_real(options->every, robots->record_every);
    simulation->fields = options->fields;
    if (options->fields != NULL || robots->record_field_count == 0)
        return MF_OK;
    for (uint32_t i = 0; i < robots->record_field_count && used < size; i++)
        used += (size_t)snprintf(fields + used, size - used, "%s%s", i > 0 ? "," : "",
                                 robots->record_fields[i]);
    simulation->fields = fields;
    return used < size ? MF_OK
                       : mf_fail_at(error, MF_LIMIT, robots->file, 0, 0,
                                    "record.fields: expected fewer than %zu letters", size);
}

static int run_scene(mf_Context *context, const mf_RobotsScene *scene, const mf_RunOptions *options,
                     mf_Error *error) {
    Notes notes;
    const mf_Robots *robots = scene->robots;
    mf_Time duration = mf_time_from_seconds(robots->duration);
    const char *colors[MF_ROBOTS_GROUPS];
    char fields[MF_APP_PATH];
    mf_robots_colors(scene, colors);
    mf_Simulation simulation = {
        .world = scene->world,
        .title = robots->name,
        .colors = colors,
        .agents = (double)mf_robots_count(robots),
        .steps = (uint64_t)(duration / robots->step + (duration % robots->step != 0)),
        .realtime = mf_option_real(options->realtime, 0.0),
        .progress = "step"};
    mf_Status status = choose_record(robots, options, &simulation, fields, sizeof fields, error);
    if (status == MF_OK)
        status = note_commands(context, scene, &notes, error);
    if (status == MF_OK)
        status = mf_simulate_filmed(&simulation, options->plot, error);
    if (status != MF_OK && status != MF_STOPPED)
        return mf_app_fail(error);
    bool printed = options->json ? print_json(scene, &simulation, &notes)
                                 : print_page(scene, &simulation, &notes);
    if (status == MF_STOPPED)
        return mf_app_fail(error);
    return printed ? mf_end_check(scene->world) : MF_EXIT_FAILED;
}

int mf_run_robots(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                  const char *name) {
    mf_Robots *robots = NULL;
    mf_RobotsScene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_inputs_load_robots(context, inputs, "run", name, &robots, &error);
    if (status == MF_OK && options->record == NULL && robots->record_path != NULL)
        status = mf_file_try(context, robots->record_path, &error);
    if (status == MF_OK)
        status = mf_robots_scene_create(context, robots, &scene, &error);
    int result =
        status == MF_OK ? run_scene(context, &scene, options, &error) : mf_inputs_fail(&error);
    mf_robots_scene_destroy(&scene);
    mf_robots_destroy(robots);
    return result;
}
