// The text output of mayfly run.
#include <stdio.h>
#include <stdlib.h>

#include "run_facts.h"
#include "moment.h"
#include "plugins.h"
#include "run_end.h"
#include "notes.h"
#include "run_modules.h"
#include "contact/compound.h"
#include "math/scalar.h"
#include "model/points.h"
#include "motion/table.h"

#define MOST_GROUPS 64u            // [1] that have a line each; of more
#define GROUPS_SHOWN 16u           // [1] these, and some with faults
#define EVENTS_SHOWN 5u            // [1] lines of first events
#define JOINTS_SHOWN 8u            // [1] lines of first run-time joints
#define DEGREES 57.295779513082321 // [deg/rad]

// ---- the start ---------------------------------------------------------------------------------

static void print_distance(const mf_Scene *scene) {
    const mf_SceneGroup *from = &scene->file->groups[0];
    const mf_Model *model = scene->model;
    const mf_Field *command = mf_group_find_field(scene->group, "gait.command");
    if (from->behavior.kind == MF_BEHAVIOR_GAIT)
        printf("stands for %g s, then follows %s with the command %g m/s forward, %g m/s left, %g "
               "rad/s\n",
               from->settle, scene->gaits[0][0]->name, mf_field_get(command, 0, 0),
               mf_field_get(command, 0, 1), mf_field_get(command, 0, 2));
    else if (scene->keyframes[0] != MF_NONE)
        printf("starts in keyframe %u '%s'\n", scene->keyframes[0],
               model->keyframes[scene->keyframes[0]].name);
    else if (model->base == MF_BASE_FREE && model->body_count > 0)
        puts("starts in the pose of the file");
    else if (model->base == MF_BASE_FREE)
        puts("starts in its rest pose, lowest point on the ground");
    else
        puts("starts in its rest pose, fixed to the world");
}

static void print_robot(const mf_Scene *scene) {
    const mf_ArticulatedConfig *full = mf_articulated_config_of(scene->group);
    bool rk4 = full != NULL && full->integrator == MF_ARTICULATED_RK4;
    const char *detail = scene->motion != MF_MOTION_ARTICULATED ? ""
                         : rk4                                  ? " (RK4)"
                                                                : " (implicit)";
    const mf_WorldConfig *settings = mf_world_config_of(scene->world);
    const double *direction = settings->gravity_direction;
    const mf_Field *counts = mf_motion_counts(scene->group);
    printf("%s: ", scene->model->name);
    if (counts != NULL)
        printf("%g bars, %g actuators", mf_field_get(counts, 0, 1), mf_field_get(counts, 0, 2));
    else
        printf("%u joints", scene->model->joint_count);
    printf(", %.6g kg; %s%s, steps of %g ms, gravity %g m/s^2", mf_moment_mass(scene->group, 0),
           mf_motion_name(scene->motion), detail, 1e3 * mf_time_to_seconds(settings->step),
           settings->gravity);
    if (settings->gravity > 0.0 &&
        (direction[0] != 0.0 || direction[1] != 0.0 || direction[2] > 0.0))
        printf(" along (%.4g %.4g %.4g)", direction[0], direction[1], direction[2]);
    puts("");
}

void mf_run_print_start(const mf_Run *run) {
    if (run->alone)
        print_robot(&run->scene);
    mf_start_report_print(&run->report);
    if (!run->alone)
        return;
    print_distance(&run->scene);
    mf_moment_print_head();
}

// ---- one group of robots -----------------------------------------------------------------------

static void print_state(const mf_Group *group, const mf_Moment *mean) {
    const char *state = mean->speed > 0.01 ? "still moving"
                        : mean->load > 0.5 ? "at rest"
                                           : "still";
    printf("end       %s: ", state);
    if (!mf_moment_is_kept(group))
        printf("base at %.4g m, ", mean->height);
    printf("center of mass at %.4g m, %.3g m/s, ground carries %.3g of the weight\n", mean->center,
           mean->speed, mean->load);
}

static void print_tilt(const mf_Group *group, const mf_OutcomeSum *sum, uint32_t count) {
    printf("tilt      %.3g° from the initial tilt", sum->tilt * DEGREES);
    if (!mf_model_can_fall(mf_group_model(group)))
        puts(count > 1 ? " on average" : "");
    else if (count > 1)
        printf(" on average; %u of %u robots fell\n", sum->falls, mf_outcome_requested(group));
    else
        printf("; it %s\n", sum->falls > 0 ? "fell" : "did not fall");
}

// Distance, tilt and penetration.
static void print_sum(const mf_Group *group, const mf_Outcome *outcome) {
    const mf_OutcomeSum sum = mf_outcome_sum(outcome);
    if (!mf_moment_is_kept(group)) {
        printf("distance  %.4g m", sum.distance);
        if (outcome->count > 1)
            printf(" on average, at most %.4g m (robot %u)", sum.farthest, sum.farthest_robot);
        putchar('\n');
        if (mf_robot_has_rotation(group))
            print_tilt(group, &sum, outcome->count);
    }
    printf("deepest   %.3g mm of penetration\n", 1e3 * outcome->deepest);
}

static void print_alone(const mf_Run *run) {
    mf_Group *group = run->scene.group;
    char faults[MF_FAULT_TEXT];
    uint32_t count = mf_group_count(group), alive;
    const mf_Moment mean = mf_moment_mean(group, &alive);
    if (mf_outcome_requested(group) < count)
        printf("means     over the first %u robots\n", mf_outcome_requested(group));
    if (alive > 0)
        print_state(group, &mean);
    print_sum(group, &run->outcomes[0]);
    printf("energy    %.4g J kinetic, %.4g J potential\nfaults    %u%s\n", mean.kinetic,
           mean.potential, mf_group_fault_total(group), mf_fault_summary(group, faults));
}

// ---- several groups ----------------------------------------------------------------------------

static void print_census(const char *name, const mf_Census *census) {
    char levels[120];
    printf("%-16s %9u %9u %8u %8u %8u %8u %8u %8llu  %s\n", name, census->robots, census->alive,
           census->collided, census->crashed, census->fenced, census->faulty, census->lying,
           (unsigned long long)census->refused, mf_census_levels(census, levels, sizeof levels));
}

// Of many groups the first ones and those with a fault have a line each, the others one together.
static void print_groups(const mf_Scene *scene) {
    const bool many = scene->group_count > MOST_GROUPS;
    uint32_t lines = 0, left = 0;
    mf_Census others = {0};
    char name[32];
    printf("%-16s %9s %9s %8s %8s %8s %8s %8s %8s  %s\n", "group", "robots", "alive", "collided",
           "crashed", "fenced", "faulty", "lying", "refused", "motion");
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_Census census = mf_census_of(mf_world_group(scene->world, g));
        if (many && g >= GROUPS_SHOWN && (census.alive == census.robots || lines >= MOST_GROUPS)) {
            mf_census_add(&others, &census);
            left++;
            continue;
        }
        print_census(scene->file->groups[g].name, &census);
        lines++;
    }
    snprintf(name, sizeof name, "%u more", left);
    if (left > 0)
        print_census(name, &others);
}

// Sums of the file's own values.
static void print_values(const mf_Scene *scene) {
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_SceneGroup *from = &scene->file->groups[g];
        if (from->value_count > 0)
            printf("%-16s ", from->name);
        for (uint32_t i = 0; i < from->value_count; i++)
            printf("%s%s %.9g", i > 0 ? ", " : "", from->values[i],
                   mf_moment_value(mf_world_group(scene->world, g), from->values[i]));
        if (from->value_count > 0)
            puts("");
    }
}

static void print_contact(const mf_Scene *scene) {
    if (scene->collisions == NULL)
        return;
    mf_CollisionsStatistics s = mf_collisions_statistics(scene->collisions);
    double steps = s.steps > 0 ? (double)s.steps : 1.0;
    printf(
        "contact between robots, per step: %.1f tests of volumes (%s), %.1f of shapes (of %.0f), "
        "%.2f contacts\n",
        (double)(s.robot_tests + s.bound_tests) / steps,
        mf_bounds_names[scene->file->contact_bounds], (double)s.shape_tests / steps,
        (double)s.without / steps, (double)s.contacts / steps);
    if (s.lost_pairs + s.lost_contacts > 0)
        printf("dropped, buffers full: %llu pairs and %llu contacts\n",
               (unsigned long long)s.lost_pairs, (unsigned long long)s.lost_contacts);
    if (s.too_large > 0)
        printf(
            "heaps of robots that found no space to be solved as one file, over all steps: %llu\n",
            (unsigned long long)s.too_large);
}

// Contacts between robots that were deeper than their forces increase.
static void print_overlap(const mf_Scene *scene) {
    const double deep =
        scene->collisions == NULL ? 0.0 : mf_collisions_statistics(scene->collisions).deepest;
    const double most = mf_collisions_config().depth;
    if (deep > most)
        printf(
            "robots overlapped by up to %.3g mm; forces between them, but those of MuJoCo's law, "
            "do not increase beyond %g mm%s\n",
            1e3 * deep, 1e3 * most,
            scene->file->contact_law == MF_COLLISION_EXPLICIT
                ? " (contact.law: compliant is stiffer)"
                : " (a smaller world.step helps)");
}

static void put_agent(const mf_Scene *scene, uint32_t agent) {
    mf_Group *group;
    uint32_t instance;
    if (mf_interaction_locate(scene->interaction, agent, &group, &instance))
        printf("%s %u", mf_group_config_of(group)->name, instance);
}

static void print_event(const mf_Scene *scene, const mf_InteractionEvent *event) {
    printf("  %8.3f s  ", mf_time_to_seconds(event->time));
    put_agent(scene, event->agent);
    if (event->kind == MF_EVENT_COLLISION) {
        printf(" hit ");
        put_agent(scene, event->partner);
    } else {
        printf(event->kind == MF_EVENT_TERRAIN ? " hit the ground" : " left the fence");
    }
    printf(" at %.5g, %.5g, %.5g m\n", event->position[0], event->position[1], event->position[2]);
}

static void print_events(const mf_Scene *scene) {
    const mf_InteractionEvent *events;
    uint64_t lost = 0;
    if (scene->interaction == NULL)
        return;
    uint32_t count = mf_interaction_events(scene->interaction, &events, &lost);
    uint32_t shown = count < EVENTS_SHOWN ? count : EVENTS_SHOWN;
    for (uint32_t i = 0; i < shown; i++)
        print_event(scene, &events[i]);
    if (count > shown || lost > 0)
        printf("  ... and %llu more\n", (unsigned long long)(count - shown + lost));
}

// Robots that the ground did not carry have no fault: each step is finite.
static void print_sunk(const mf_Run *run) {
    const mf_Scene *scene = &run->scene;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_Outcome *outcome = &run->outcomes[g];
        if (run->observed[g] && mf_particles_spacing(mf_world_group(scene->world, g)) == 0.0 &&
            mf_outcome_sank(outcome))
            printf("warning   %s%sdepth: a robot was %.3g mm deep in the ground, %.0f %% of its "
                   "height; a smaller step or stiffer contacts help\n",
                   scene->group_count > 1 ? scene->file->groups[g].name : "",
                   scene->group_count > 1 ? ", " : "", 1e3 * outcome->deepest,
                   100.0 * outcome->deepest / outcome->tall);
    }
}

// The border value goes on outside of a map, unless its key or its file says that it ends.
static void print_left(const mf_Run *run) {
    const mf_Scene *scene = &run->scene;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_Terrain *terrain = mf_world_config_of(scene->world)->terrain;
        if (run->observed[g] && run->outcomes[g].left > 0)
            printf(
                "note      %s%s%u of %u outside of the map, where %s\n",
                scene->group_count > 1 ? scene->file->groups[g].name : "",
                scene->group_count > 1 ? ", " : "", run->outcomes[g].left, run->outcomes[g].count,
                terrain->border == MF_BORDER_ENDS ? "there is no ground (ground.border)"
                                                  : "its border value continues (ground.border)");
    }
}

// ---- run-time joints ---------------------------------------------------------------------------

static void put_side(const mf_WorldJointSide *side) {
    if (side->group == NULL) {
        printf("world");
        return;
    }
    const mf_Model *model = mf_group_model(side->group);
    printf("%s", mf_group_config_of(side->group)->name);
    if (mf_group_count(side->group) > 1)
        printf(" %u", side->instance);
    if (model->link_count > 1)
        printf("/%s", model->links[side->link].name);
}

static void print_joint(const mf_WorldJoints *joints, mf_WorldJointId id) {
    mf_WorldJointState now;
    mf_WorldJointConfig config;
    if (mf_world_joint_state(joints, id, &now, NULL) != MF_OK ||
        mf_world_joint_config_of(joints, id, &config, NULL) != MF_OK)
        return;
    printf("joint     ");
    put_side(&config.sides[0]);
    printf(" - ");
    put_side(&config.sides[1]);
    printf(": %s %.3g N, %.3g N m\n",
           now.broken    ? "broke at"
           : now.enabled ? "carries"
                         : "switched off,",
           mf_vec3_length(now.force), mf_vec3_length(now.moment));
}

static void print_joints(const mf_WorldJoints *joints) {
    mf_WorldJointId id = MF_WORLD_JOINT_NONE;
    uint32_t count = 0;
    if (joints == NULL)
        return;
    for (; (id = mf_world_joint_next(joints, id)) != MF_WORLD_JOINT_NONE; count++)
        if (count < JOINTS_SHOWN)
            print_joint(joints, id);
    if (count > JOINTS_SHOWN)
        printf("  ... and %u more joints\n", count - JOINTS_SHOWN);
}

// ---- the end -----------------------------------------------------------------------------------

static void print_first_line(const mf_Run *run) {
    const mf_Simulation *simulation = &run->simulation;
    char lifetime[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER], robots[MF_APP_NUMBER];
    const char *factor = mf_app_count(simulation->simulated / simulation->seconds, speed);
    mf_app_duration(simulation->simulated, lifetime);
    mf_app_duration(simulation->seconds, time);
    if (run->alone)
        printf("%s robot%s: %s in %s, %s x real time\n", mf_app_count(simulation->agents, robots),
               simulation->agents == 1.0 ? "" : "s", lifetime, time, factor);
    else
        printf("%s: %s robots, %s in %s, %s x real time\n", run->scene.file->name,
               mf_app_count(simulation->agents, robots), lifetime, time, factor);
}

bool mf_run_print_end(mf_Run *run) {
    const mf_Scene *scene = &run->scene;
    const bool several = scene->group_count > 1;
    print_first_line(run);
    if (run->alone)
        print_alone(run);
    else
        print_groups(scene);
    print_values(scene);
    print_contact(scene);
    print_overlap(scene);
    print_events(scene);
    mf_run_print_assemblies(scene->world);
    print_joints(scene->joints);
    mf_run_print_messages(scene->world);
    printf("hash      %016llx\n", (unsigned long long)mf_world_hash(scene->world));
    for (uint32_t g = 0; g < scene->group_count; g++)
        mf_tears_print(mf_world_group(scene->world, g),
                       several ? scene->file->groups[g].name : NULL);
    for (uint32_t g = 0; g < scene->group_count; g++)
        mf_warnings_print(mf_world_group(scene->world, g),
                          several ? scene->file->groups[g].name : NULL);
    print_sunk(run);
    print_left(run);
    mf_app_plugins_print(scene);
    for (uint32_t g = 0; g < scene->group_count; g++)
        mf_readings_print(mf_world_group(scene->world, g),
                          several ? scene->file->groups[g].name : "sensors");
    return mf_app_flush();
}
