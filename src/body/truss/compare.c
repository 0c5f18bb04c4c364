// Trusses in comparisons. The default drive is the same at every level: the command of a step is
// the sine at the step's end, so frames and short steps follow the same curve.
#include "body/truss/row.h"
#include "motion/truss/motion.h"

#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <stdio.h>

#define SHARE 0.5   // [1] of the speed of actuators that the sine reaches
#define FASTEST 1.0 // [s] shortest period

typedef struct Sweep {
    const mf_Field *range;
    mf_Field *control;
    double period; // [s]
} Sweep;

static bool swept(const mf_SceneGroup *group) {
    const mf_Truss *truss = group->body;
    return group->controller == MF_CONTROLLER_NONE && truss->neuron_count == 0 &&
           truss->actuator_count > 0;
}

// A period in which no actuator needs more than a share of its speed, in whole tenths of a second.
static double period_of(const mf_SceneGroup *group) {
    const mf_Truss *truss = group->body;
    double longest = 0.0;
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const double half = 0.5 * (truss->actuators[a].upper - truss->actuators[a].lower);
        longest = half > longest ? half : longest;
    }
    const double speed = group->motions.quasistatic.actuator_speed;
    const double period = 2.0 * MF_PI * longest / (SHARE * speed);
    return period > FASTEST ? 0.1 * mf_floor(10.0 * period + 0.999) : FASTEST;
}

// Actuators are a quarter of a period apart.
static void run_sweep(const mf_SystemRun *run, void *user) {
    const Sweep *sweep = user;
    const double time = mf_time_to_seconds(run->time + run->step);
    const uint32_t count = mf_group_count(run->group), first = run->first_block * MF_BLOCK;
    const uint32_t end = first + run->block_count * MF_BLOCK;
    for (uint32_t a = 0; a < sweep->control->components; a++) {
        double sine, cosine;
        mf_sin_cos(2.0 * MF_PI * (time / sweep->period + 0.25 * (a % 4)), &sine, &cosine);
        for (uint32_t i = first; i < end && i < count; i++) {
            const double low = mf_field_get(sweep->range, i, 2 * a);
            const double high = mf_field_get(sweep->range, i, 2 * a + 1);
            mf_field_set(sweep->control, i, a, 0.5 * (low + high + (high - low) * sine));
        }
    }
}

mf_Status mf_truss_drive(const mf_SceneGroup *from, char name[96], mf_Group *group,
                         mf_Error *error) {
    static const char *const reads[] = {"actuator.range", NULL};
    static const char *const writes[] = {"actuator.control", NULL};
    const mf_Truss *truss = from->body;
    if (!swept(from)) {
        snprintf(name, 96, "%s",
                 truss->neuron_count > 0                        ? "neurons"
                 : from->controller == MF_CONTROLLER_OSCILLATOR ? "oscillators"
                                                                : "no actuators");
        return MF_OK;
    }
    const double period = period_of(from);
    snprintf(name, 96, "actuators on a sine of %.3g s through their ranges", period);
    if (group == NULL)
        return MF_OK;
    mf_Context *context = mf_world_context(mf_group_world(group));
    Sweep *sweep = mf_allocate(context, 1, sizeof *sweep);
    MF_NEED_MEMORY(sweep != NULL, error, "compare");
    sweep->range = mf_group_find_field(group, "actuator.range");
    sweep->control = mf_group_find_field(group, "actuator.control");
    sweep->period = period;
    mf_SystemConfig system = mf_attach_system("sweep", MF_PHASE_CONTROL, run_sweep, sweep);
    system.destroy = mf_attach_release;
    system.reads = reads;
    system.writes = writes;
    mf_Status status = mf_group_add_system(group, &system, error);
    if (status != MF_OK)
        mf_release(context, sweep);
    return status;
}

// ---- samples ------------------------------------------------------------------------------------

static double read(mf_Group *group, const char *name, uint32_t component) {
    return mf_field_get(mf_group_find_field(group, name), 0, component);
}

// The most loaded bar [N].
static double largest_force(mf_Group *group) {
    double most = 0.0;
    const uint32_t bars = (uint32_t)read(group, "truss.counts", 1);
    for (uint32_t b = 0; b < bars; b++) {
        const double force = mf_abs(read(group, "bar.force", b));
        most = force > most ? force : most;
    }
    return most;
}

// Depth [m] of a vertex in the ground.
static double depth_of(mf_Group *group, uint32_t vertex, const double at[3]) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    double normal[3] = {0.0, 0.0, 1.0};
    const double ground = terrain != NULL ? mf_terrain_height(terrain, at[0], at[1], normal) : 0.0;
    return ground + read(group, "vertex.radius", vertex) / normal[2] - at[2];
}

double mf_truss_sample(mf_Group *group, double (*vertices)[3], double since,
                       mf_CompareSample *sample) {
    const mf_QuasistaticConfig *config = &mf_truss_motion_of(group)->config;
    const uint32_t vertex_count = (uint32_t)read(group, "truss.counts", 0);
    double distance = 0.0;
    uint32_t count = 0;
    for (uint32_t c = 0; c < 3; c++)
        sample->position[c] = read(group, "base.position", c);
    for (uint32_t v = 0; v < vertex_count; v++) {
        double at[3], moved[3];
        for (uint32_t c = 0; c < 3; c++)
            at[c] = read(group, "vertex.position", 3 * v + c);
        mf_vec3_sub(moved, at, vertices[v]);
        mf_vec3_copy(vertices[v], at);
        if (!config->contacts || !(read(group, "contact.force", 3 * v + 2) > 0.0))
            continue;
        const double depth = depth_of(group, v, at);
        sample->penetration = depth > sample->penetration ? depth : sample->penetration;
        distance += mf_sqrt(moved[0] * moved[0] + moved[1] * moved[1]);
        count++;
    }
    if (since > 0.0 && count > 0)
        sample->slip = distance / count / since;
    return largest_force(group);
}
