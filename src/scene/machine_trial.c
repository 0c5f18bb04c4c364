// The trial of a machine: body and network of one instance, and a system that measures
// how far its center of mass comes.
//
// A machine is put on the ground with its lowest point and comes to rest for some time; then its
// network runs, and what it covers counts. A trial ends at the first frame that quasi-static motion
// cannot know (a jump), that is not relaxed, or that breaks the machine (yield, buckling): it then
// has the fault MF_FAULT_TRIAL, and what it covered before counts.
//
// In quasi-static motion a machine whose network and actuators have ended a cycle as they began it
// stands still from then on, and its trial ends, too: it has the distance of the whole time.
//
// Invariant: the result depends on the machine and the settings alone. Noise is drawn by the
// machine's hash, not by its instance.
#include "scene/machines.h"
#include "body/kind.h"

#include "base/hash.h"
#include "math/scalar.h"
#include "motion/table.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>

// Warnings that end a trial.
#define ENDING (MF_WARNING_JUMP | MF_WARNING_SOLVER | MF_WARNING_YIELD | MF_WARNING_BUCKLING)

bool mf_scene_has_machines(const mf_SceneFile *file) {
    return file->groups[0].controller == MF_CONTROLLER_MACHINE;
}

// ---- the group ---------------------------------------------------------------------------------

static void reserve(mf_QuasistaticConfig *motion) {
    motion->vertices = MF_MACHINE_VERTICES;
    motion->bars = MF_MACHINE_BARS;
    motion->actuators = MF_MACHINE_ACTUATORS;
}

void mf_machine_motions(const mf_SceneGroup *group, mf_MotionsConfig *config) {
    reserve(&config->quasistatic);
    reserve(&config->elastic);
    if (config->start != MF_MOTION_ELASTIC || group->machine.rest == 0)
        return;
    config->start = MF_MOTION_QUASISTATIC;
    config->has[MF_MOTION_QUASISTATIC] = config->has[MF_MOTION_ELASTIC] = true;
}

static uint32_t steps_in(const mf_Scene *scene, mf_Time time) {
    const mf_Time steps = (time + scene->step / 2) / scene->step;
    return steps < 1 ? 1 : (uint32_t)steps;
}

uint64_t mf_machine_rest_steps(const mf_Scene *scene) {
    const mf_Time rest = scene->file->groups[0].machine.rest;
    return rest > 0 ? steps_in(scene, rest) : 0;
}

// ---- machines ----------------------------------------------------------------------------------

void mf_machine_useful(const mf_Machine *m, bool useful[MF_MACHINE_NEURONS]) {
    memset(useful, 0, MF_MACHINE_NEURONS * sizeof *useful);
    for (uint32_t a = 0; a < m->actuator_count; a++)
        useful[m->actuators[a].neuron] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = 0; s < m->synapse_count; s++) {
            const mf_Synapse *synapse = &m->synapses[s];
            if (useful[synapse->to] && !useful[synapse->from])
                more = useful[synapse->from] = true;
        }
    }
}

// Without neurons from which no path leads to an actuator: these change no movement.
static void prune(mf_Machine *m) {
    bool useful[MF_MACHINE_NEURONS];
    uint32_t index[MF_MACHINE_NEURONS] = {0}, neurons = 0, synapses = 0;
    mf_machine_useful(m, useful);
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        index[n] = neurons;
        if (useful[n])
            m->neurons[neurons++] = m->neurons[n];
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        const mf_Synapse synapse = m->synapses[s];
        if (useful[synapse.to])
            m->synapses[synapses++] =
                (mf_Synapse){index[synapse.from], index[synapse.to], synapse.weight};
    }
    for (uint32_t a = 0; a < m->actuator_count; a++)
        m->actuators[a].neuron = index[m->actuators[a].neuron];
    m->neuron_count = neurons;
    m->synapse_count = synapses;
}

bool mf_machine_read(const uint8_t *genome, uint32_t genome_bytes, mf_Machine *machine,
                     uint64_t *hash) {
    uint8_t bytes[MF_MACHINE_BYTES];
    if (mf_machine_decode(genome, genome_bytes, machine, NULL) != MF_OK ||
        machine->vertex_count == 0)
        return false;
    prune(machine);
    mf_machine_stand(machine);
    if (mf_machine_encode(machine, bytes, sizeof bytes, NULL) != MF_OK)
        return false;
    *hash = mf_hash_bytes(MF_HASH_START, bytes, mf_machine_bytes(machine));
    return true;
}

static void end_trial(const mf_Scene *scene, uint32_t instance) {
    mf_Field *fault = mf_group_find_field(scene->group, "fault.word");
    const uint32_t word = (uint32_t)mf_field_get(fault, instance, 0);
    mf_field_set(fault, instance, 0, word | MF_FAULT_TRIAL);
}

mf_Status mf_machine_begin(const mf_Scene *scene, uint32_t instance, const mf_Machine *machine,
                           uint64_t hash, mf_Error *error) {
    mf_Group *group = scene->group;
    mf_Status status = MF_OK;
    if (machine != NULL && machine->actuator_count > 0) {
        status = mf_machine_put(group, instance, machine, error);
        mf_field_set(mf_group_find_field(group, "noise.stream"), instance, 0,
                     (double)(uint32_t)(hash ^ hash >> 32));
        if (status == MF_OK)
            return MF_OK;
    }
    mf_group_reset(group, instance);
    end_trial(scene, instance);
    return status;
}

// ---- the system --------------------------------------------------------------------------------

enum { DISTANCE, LENGTH, FRAMES, STEPS, WARNED, STANCE, PATTERN, ROWS };

static const mf_FieldInfo infos[ROWS] = {
    [DISTANCE] = {"trial.distance", "m", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "horizontal, of the center of mass, over the frames that count"},
    [LENGTH] = {"trial.length", "m", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                "longest distance of two vertices when the machine came to rest"},
    [FRAMES] = {"trial.frames", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                "steps that count"},
    [STEPS] = {"trial.steps", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
               "steps since its beginning"},
    [WARNED] = {"trial.warned", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                "steps with warnings that end trials, before it came to rest"},
    [STANCE] = {"trial.stance", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
                "steps that count, in which each vertex was on the ground"},
    [PATTERN] = {"trial.pattern", "1", "", MF_U32, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
                 "hash of network and actuators at the end of the last cycle"},
};

typedef struct Trial {
    mf_Field *rows[ROWS], *start, *fault;
    const mf_Field *base, *position, *counts, *contact, *warnings, *relaxation;
    const mf_Field *state, *command; // of neurons, of actuators
    mf_Group *group;
    mf_Motion motion;            // after coming to rest
    uint32_t rest, cycle, whole; // [1] steps: of coming to rest, of a cycle, that count
    bool strict;
    bool ends; // where the machine stands still for good
} Trial;

static uint32_t count_at(const mf_Field *field, uint32_t instance, uint32_t component) {
    return (uint32_t)mf_field_get(field, instance, component);
}

static uint32_t warned_steps(const Trial *trial, uint32_t instance) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++)
        if ((ENDING >> k & 1u) != 0)
            sum += count_at(trial->warnings, instance, k);
    return sum;
}

static double longest_distance(const Trial *trial, uint32_t instance) {
    const uint32_t vertices = count_at(trial->counts, instance, 0);
    double most = 0.0;
    for (uint32_t v = 0; v < vertices; v++) {
        for (uint32_t w = 0; w < v; w++) {
            double square = 0.0;
            for (uint32_t i = 0; i < 3; i++) {
                const double d = mf_field_get(trial->position, instance, 3 * v + i) -
                                 mf_field_get(trial->position, instance, 3 * w + i);
                square += d * d;
            }
            most = square > most ? square : most;
        }
    }
    return mf_sqrt(most);
}

// The machine is at rest: from here on distances count.
static void come_to_rest(const Trial *trial, uint32_t instance) {
    mf_field_set(trial->rows[LENGTH], instance, 0, longest_distance(trial, instance));
    mf_field_set(trial->rows[WARNED], instance, 0, warned_steps(trial, instance));
    for (uint32_t i = 0; i < 2; i++)
        mf_field_set(trial->start, instance, i, mf_field_get(trial->base, instance, i));
    if (mf_motion_in(trial->group, trial->motion)) // the instance has it already or switches
        (void)mf_motion_switch(trial->group, instance, trial->motion, NULL);
}

static void count_stance(const Trial *trial, uint32_t instance, uint32_t steps) {
    const uint32_t vertices = count_at(trial->counts, instance, 0);
    for (uint32_t v = 0; trial->contact != NULL && v < vertices; v++) {
        if (mf_field_get(trial->contact, instance, 3 * v + 2) > 0.0)
            mf_field_set(trial->rows[STANCE], instance, v,
                         count_at(trial->rows[STANCE], instance, v) + steps);
    }
}

// The hash of what decides the next cycle.
static uint64_t pattern_of(const Trial *trial, uint32_t instance) {
    uint64_t hash = MF_HASH_START;
    for (uint32_t n = 0; n < trial->state->components; n++) {
        const double state = mf_field_get(trial->state, instance, n);
        hash = mf_hash_doubles(hash, &state, 1);
    }
    const uint32_t actuators = count_at(trial->counts, instance, 2);
    for (uint32_t a = 0; a < actuators; a++) {
        const double command = mf_field_get(trial->command, instance, a);
        hash = mf_hash_doubles(hash, &command, 1);
    }
    return hash;
}

// Whether the cycle that ends with this step ended as it began, so that those to come do, too.
static bool keeps_pattern(const Trial *trial, uint32_t instance) {
    mf_Field *field = trial->rows[PATTERN];
    const uint64_t now = pattern_of(trial, instance);
    const bool same = count_at(field, instance, 0) == (uint32_t)now &&
                      count_at(field, instance, 1) == (uint32_t)(now >> 32);
    mf_field_set(field, instance, 0, (uint32_t)now);
    mf_field_set(field, instance, 1, (uint32_t)(now >> 32));
    return same;
}

// The time that is left counts as this step.
static void end_still(const Trial *trial, uint32_t instance) {
    const uint32_t left = trial->whole - count_at(trial->rows[FRAMES], instance, 0);
    count_stance(trial, instance, left);
    mf_field_set(trial->rows[FRAMES], instance, 0, trial->whole);
    mf_field_set(trial->fault, instance, 0, MF_FAULT_TRIAL);
}

static void measure(const Trial *trial, uint32_t instance) {
    if (trial->strict &&
        warned_steps(trial, instance) > count_at(trial->rows[WARNED], instance, 0)) {
        mf_field_set(trial->fault, instance, 0, MF_FAULT_TRIAL);
        return;
    }
    const double x =
        mf_field_get(trial->base, instance, 0) - mf_field_get(trial->start, instance, 0);
    const double y =
        mf_field_get(trial->base, instance, 1) - mf_field_get(trial->start, instance, 1);
    mf_field_set(trial->rows[DISTANCE], instance, 0, mf_sqrt(x * x + y * y));
    const uint32_t frames = count_at(trial->rows[FRAMES], instance, 0) + 1;
    mf_field_set(trial->rows[FRAMES], instance, 0, frames);
    count_stance(trial, instance, 1);
    if (trial->ends && frames % trial->cycle == 0 && keeps_pattern(trial, instance) &&
        mf_field_get(trial->relaxation, instance, 1) <= 1.0)
        end_still(trial, instance);
}

static void run_trials(const mf_SystemRun *run, void *user) {
    const Trial *trial = user;
    const uint32_t count = mf_group_count(run->group);
    const uint32_t first = run->first_block * MF_BLOCK, end = first + run->block_count * MF_BLOCK;
    for (uint32_t i = first; i < end && i < count; i++) {
        if (mf_field_get(trial->fault, i, 0) != 0.0)
            continue;
        const uint32_t steps = count_at(trial->rows[STEPS], i, 0) + 1;
        mf_field_set(trial->rows[STEPS], i, 0, steps);
        if (steps > trial->rest)
            measure(trial, i);
        else if (steps == trial->rest) {
            come_to_rest(trial, i);
            if (trial->ends)
                (void)keeps_pattern(trial, i);
        }
    }
}

static void reset_trial(mf_Group *group, uint32_t instance, void *user) {
    const Trial *trial = user;
    (void)group;
    for (int row = 0; row < ROWS; row++)
        mf_field_clear(trial->rows[row], instance);
    if (trial->rest == 0)
        come_to_rest(trial, instance);
}

mf_Status mf_machine_trial_add(const mf_Scene *scene, mf_Error *error) {
    static const char *const reads[] = {"base.position",    "vertex.position",  "truss.counts",
                                        "?contact.force",   "warning.steps",    "neuron.state",
                                        "actuator.control", "frame.relaxation", NULL};
    static const char *const writes[] = {
        "trial.distance", "trial.length",  "trial.frames",   "trial.steps", "trial.warned",
        "trial.stance",   "trial.pattern", "start.position", "fault.word",  NULL};
    mf_Group *group = scene->group;
    mf_Context *context = mf_world_context(scene->world);
    Trial *trial = mf_allocate(context, 1, sizeof *trial);
    MF_NEED_MEMORY(trial != NULL, error, "trial");
    mf_Status status = MF_OK;
    for (int row = 0; row < ROWS && status == MF_OK; row++)
        status = mf_group_add_field(group, &infos[row], row == PATTERN ? 2 : MF_MACHINE_VERTICES,
                                    &trial->rows[row], error);
    trial->start = mf_group_find_field(group, "start.position");
    trial->fault = mf_group_find_field(group, "fault.word");
    trial->base = mf_group_find_field(group, "base.position");
    trial->position = mf_group_find_field(group, "vertex.position");
    trial->counts = mf_motion_counts(group);
    trial->contact = mf_group_find_field(group, "contact.force");
    trial->warnings = mf_group_find_field(group, "warning.steps");
    trial->group = group;
    trial->motion = scene->motion;
    trial->relaxation = mf_group_find_field(group, "frame.relaxation");
    trial->state = mf_group_find_field(group, "neuron.state");
    trial->command = mf_group_find_field(group, "actuator.control");
    trial->rest = (uint32_t)mf_machine_rest_steps(scene);
    trial->cycle = steps_in(scene, scene->file->groups[0].machine.cycle);
    trial->whole = (uint32_t)mf_scene_steps(scene) - trial->rest;
    // At another level or with smaller steps the whole way is compared: more frames are more
    // chances that one of them ends the trial.
    const bool own = scene->divisor == 1 && scene->motion == scene->file->groups[0].motion;
    trial->strict = own && scene->file->groups[0].machine.strict;
    trial->ends = own && scene->motion == MF_MOTION_QUASISTATIC;
    mf_SystemConfig system = mf_attach_system("trial", MF_PHASE_AFTER, run_trials, trial);
    system.reset = reset_trial;
    system.destroy = mf_attach_release;
    system.reads = reads;
    system.writes = writes;
    MF_THEN(status, mf_group_add_system(group, &system, error));
    if (status != MF_OK)
        mf_release(context, trial);
    return status;
}

// ---- results -----------------------------------------------------------------------------------

static double value_of(const mf_Scene *scene, const char *field, uint32_t instance) {
    return mf_field_get(mf_group_find_field(scene->group, field), instance, 0);
}

static double mean_duty(const mf_Scene *scene, uint32_t instance, double frames) {
    const mf_Field *stance = mf_group_find_field(scene->group, "trial.stance");
    double sum = 0.0;
    uint32_t feet = 0;
    for (uint32_t v = 0; v < stance->components; v++) {
        const double steps = mf_field_get(stance, instance, v);
        sum += steps;
        feet += steps > 0.0;
    }
    return feet > 0 && frames > 0.0 ? sum / (feet * frames) : 0.0;
}

mf_MachineResult mf_machine_result(const mf_Scene *scene, uint32_t instance) {
    const mf_Field *counts = mf_motion_counts(scene->group);
    const mf_Field *base = mf_group_find_field(scene->group, "base.position");
    const double frames = value_of(scene, "trial.frames", instance);
    const double whole = (double)(mf_scene_steps(scene) - mf_machine_rest_steps(scene));
    const uint32_t steps = (uint32_t)value_of(scene, "trial.steps", instance);
    const bool still = frames == whole && steps < mf_scene_steps(scene);
    return (mf_MachineResult){.distance = value_of(scene, "trial.distance", instance),
                              .length = value_of(scene, "trial.length", instance),
                              .height = mf_field_get(base, instance, 2),
                              .duty = mean_duty(scene, instance, frames),
                              .share = whole > 0.0 ? frames / whole : 0.0,
                              .still = still ? steps : 0,
                              .resting = (uint32_t)value_of(scene, "trial.warned", instance),
                              .bars = count_at(counts, instance, 1),
                              .actuators = count_at(counts, instance, 2),
                              .fault = mf_group_fault(scene->group, instance) &
                                       ~(uint32_t)MF_FAULT_TRIAL};
}

double mf_machine_measure(const mf_MachineResult *result, mf_Measure measure) {
    switch (measure) {
    case MF_MEASURE_HEIGHT:
        return result->height;
    case MF_MEASURE_DUTY:
        return result->duty;
    case MF_MEASURE_BARS:
        return result->bars;
    case MF_MEASURE_ACTUATORS:
        return result->actuators;
    default:
        return (double)NAN;
    }
}

// One fall before an early end is worth little.
double mf_machine_fitness(const mf_MachineResult *result) {
    return result->distance * result->share;
}
