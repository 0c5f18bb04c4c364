// One individual simulated again in a batch of one, with samples of its path and contacts. Results
// do not depend on the batch size, so a trial with divisor 1 repeats the evaluation bit for bit.
#include <mayfly/report.h>

#include "scene/machines.h"
#include "scene/script/script.h"
#include "view/report_data.h"
#include "base/floats.h"
#include "model/sensor_kind.h"

#include <math.h>
#include <string.h>

// Steps of one trial, in whole numbers.
typedef struct Plan {
    uint64_t steps;        // [1] of the whole trial
    uint64_t sample_steps; // [1] from one sample to the next
    uint32_t samples;      // [1]
} Plan;

static mf_Status make_plan(const mf_Scene *scene, double period, Plan *plan, mf_Error *error) {
    mf_Time sample = mf_time_from_seconds(period);
    MF_NEED(sample > 0 && sample % scene->step == 0, error,
            "trial: need a sample period that is a multiple of the step (%lld ns), "
            "found %g s",
            (long long)scene->step, period);
    plan->steps = mf_scene_steps(scene); // the end does not depend on the divisor
    plan->sample_steps = (uint64_t)(sample / scene->step);
    uint64_t samples = plan->steps / plan->sample_steps + 1;
    if (samples > (UINT64_C(1) << 26))
        return mf_fail(error, MF_LIMIT, "trial: need at most 2^26 samples, found %llu",
                       (unsigned long long)samples);
    plan->samples = (uint32_t)samples;
    return MF_OK;
}

// Whether the feet touch, in the order of the model's contact sensors.
static void take_contacts(const mf_Scene *scene, uint8_t *out) {
    const mf_Field *values = mf_group_find_field(scene->group, "sensor.value");
    const mf_Model *model = mf_group_model(scene->group);
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == MF_SENSOR_CONTACT)
            *out++ = mf_field_get(values, 0, model->sensors[i].address) != 0.0;
}

static void take_sample(const mf_Scene *scene, mf_Trial *trial, uint32_t sample) {
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    for (uint32_t c = 0; c < 3; c++)
        trial->position[3 * (size_t)sample + c] = mf_field_get(position, 0, c);
    const mf_Field *orientation = mf_group_find_field(scene->group, "base.orientation");
    double x = mf_field_get(orientation, 0, 1), y = mf_field_get(orientation, 0, 2);
    double cosine = 1.0 - 2.0 * (x * x + y * y);
    trial->end_tilt = acos(fmax(-1.0, fmin(1.0, cosine)));
    trial->start_tilt = sample == 0 ? trial->end_tilt : trial->start_tilt;
    trial->tilt = fmax(trial->tilt, trial->end_tilt);
    if (trial->contact_count > 0)
        take_contacts(scene, trial->contact + (size_t)sample * trial->contact_count);
}

// That of a machine counts after it came to rest, and until its trial ended.
static void find_period(const mf_Scene *scene, mf_Trial *trial) {
    const bool machine = mf_scene_has_machines(scene->file);
    const uint64_t rest = machine ? mf_machine_rest_steps(scene) : 0;
    const mf_Field *frames = mf_group_find_field(scene->group, "trial.frames");
    const uint64_t end =
        machine ? rest + (uint64_t)mf_field_get(frames, 0, 0) : mf_scene_steps(scene);
    trial->begin = (double)rest * trial->step;
    trial->end = (double)end * trial->step;
}

static mf_Status simulate(mf_Scene *scene, const Plan *plan, mf_Trial *trial, mf_Error *error) {
    const bool senses = mf_group_find_field(scene->group, "sensor.value") != NULL;
    trial->sample_count = plan->samples;
    trial->contact_count =
        senses ? mf_sensors_of_type(mf_group_model(scene->group), MF_SENSOR_CONTACT) : 0;
    trial->position = mf_allocate(trial->context, plan->samples, 3 * sizeof(double));
    trial->contact = mf_allocate(trial->context, plan->samples, trial->contact_count);
    MF_NEED_MEMORY(trial->position != NULL && trial->contact != NULL, error, "trial");
    take_sample(scene, trial, 0);
    for (uint32_t sample = 1; sample < plan->samples; sample++) {
        MF_TRY(mf_scene_step(scene, plan->sample_steps, NULL, error));
        take_sample(scene, trial, sample);
    }
    const uint64_t left = plan->steps - (plan->samples - 1) * plan->sample_steps;
    MF_TRY(mf_scene_step(scene, left, NULL, error));
    find_period(scene, trial);
    trial->distance = mf_scene_distance(scene, 0);
    trial->fitness = mf_scene_fitness(scene, 0);
    trial->hash = mf_world_hash(scene->world);
    return MF_OK;
}

static mf_Status run(mf_Scene *scene, const uint8_t *genome, uint32_t genome_bytes, mf_Trial *trial,
                     mf_Error *error) {
    const uint32_t expected = mf_scene_genome_bytes(scene);
    Plan plan = {0};
    MF_TRY(make_plan(scene, trial->sample_period, &plan, error));
    MF_NEED(genome_bytes == expected, error, "trial: need a genome of %u bytes, found %u", expected,
            genome_bytes);
    trial->step = mf_time_to_seconds(scene->step);
    mf_scene_apply_genome(scene, 0, genome);
    return simulate(scene, &plan, trial, error);
}

mf_Status mf_trial_run(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                       const uint8_t *genome, uint32_t genome_bytes, double sample_period,
                       mf_Trial *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || file == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_trial_run: context, file or out is NULL");
    memset(out, 0, sizeof *out);
    mf_SceneConfig alone = config != NULL ? *config : mf_scene_config();
    mf_Scene scene;
    alone.count = 1;
    alone.evaluates = true;
    MF_TRY(mf_scene_create(context, file, &alone, &scene, error));
    mf_Trial trial = {.context = context, .sample_period = sample_period};
    mf_Status status = run(&scene, genome, genome_bytes, &trial, error);
    mf_scene_destroy(&scene);
    if (status != MF_OK)
        mf_trial_free(&trial);
    *out = trial;
    return status;
}

void mf_trial_free(mf_Trial *trial) {
    if (trial == NULL || trial->context == NULL)
        return;
    mf_release(trial->context, trial->position);
    mf_release(trial->context, trial->contact);
    memset(trial, 0, sizeof *trial);
}
