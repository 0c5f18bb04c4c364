// One robot and one gait at every level: the same start, the same targets, one world after the
// other; then differences to the dearest level, and the price of a step in a batch.
#include "ladder/stage.h"

#include <mayfly/compare.h>

#include "math/scalar.h"

#include <math.h>
#include <string.h>

#define SAMPLE (10 * MF_MILLISECOND) // [ns]
#define FALLEN 1.0                   // [rad]

mf_CompareConfig mf_compare_config(void) {
    mf_CompareConfig config = {.struct_size = sizeof config,
                               .duration = 10.0,
                               .settle = 0.5,
                               .step = MF_MILLISECOND,
                               .control_interval = 10 * MF_MILLISECOND,
                               .friction = (double)NAN,
                               .price_robots = 256};
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        config.wanted[i] = true;
    return config;
}

const char *mf_motion_blind_spot(mf_Motion motion) {
    static const char *const spots[] = {
        "falls, pushes, slipping, any force: feet hold, joints are where they are told",
        "what limbs do to the body as they swing; weak motors; feet with edges that roll",
        "what limbs do to the body as they swing, so balancing; weak motors",
        "weak motors, give of joints: joints are where they are told",
        "bending links, heat of motors, cables",
    };
    return (unsigned)motion < MF_MOTION_LEVELS ? spots[motion] : "";
}

// ---- one level ---------------------------------------------------------------------------------

static double wrap(double angle) {
    return angle - 2.0 * MF_PI * mf_floor((angle + MF_PI) / (2.0 * MF_PI));
}

static void take_sample(mf_LadderStage *stage, double time, mf_CompareRow *row) {
    mf_CompareSample *sample = &row->samples[row->sample_count];
    double q[4];
    mf_ladder_look(stage, sample->position, q, &sample->penetration, &sample->slip);
    sample->time = time;
    sample->heading =
        mf_atan2(2.0 * (q[1] * q[2] + q[0] * q[3]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
    sample->tilt = mf_acos(1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]));
    sample->energy = mf_ladder_energy(stage);
    if (row->sample_count > 0) {
        double before = row->samples[row->sample_count - 1].heading;
        sample->heading = before + wrap(sample->heading - before);
    }
    if (sample->tilt > FALLEN && !(row->fell >= 0.0))
        row->fell = time;
    row->sample_count++;
}

static void sum_up(mf_CompareRow *row) {
    const mf_CompareSample *first = row->samples, *last = first + row->sample_count - 1;
    double x = last->position[0] - first->position[0], y = last->position[1] - first->position[1];
    double sine, cosine;
    mf_sin_cos(first->heading, &sine, &cosine);
    row->distance = mf_sqrt(x * x + y * y);
    row->forward = x * cosine + y * sine;
    row->turned = last->heading - first->heading;
    for (const mf_CompareSample *s = first; s <= last; s++) {
        row->height += s->position[2] / row->sample_count;
        row->slip += s->slip / row->sample_count;
        row->tilt = s->tilt > row->tilt ? s->tilt : row->tilt;
        row->penetration = s->penetration > row->penetration ? s->penetration : row->penetration;
    }
}

static mf_Status run_level(mf_Context *context, const mf_Model *model,
                           const mf_CompareConfig *config, mf_CompareRow *row, mf_Error *error) {
    mf_LadderStage stage;
    mf_Error cause = {0};
    mf_Status checked = mf_motion_check(model, row->motion, &cause);
    if (checked == MF_NO_MEMORY) // says nothing about the model
        return mf_fail(error, checked, "%s", cause.message);
    row->possible = checked == MF_OK;
    if (!row->possible) {
        memcpy(row->reason, cause.message, sizeof row->reason - 1);
        row->reason[sizeof row->reason - 1] = '\0';
        return MF_OK;
    }
    uint64_t every = SAMPLE / config->step > 0 ? (uint64_t)(SAMPLE / config->step) : 1;
    double period = (double)every * mf_time_to_seconds(config->step);
    uint32_t count = (uint32_t)(config->duration / period + 0.5) + 1;
    row->samples = mf_allocate(context, count, sizeof *row->samples);
    if (row->samples == NULL)
        return mf_fail(error, MF_NO_MEMORY, "compare: out of memory");
    mf_Status status = mf_ladder_raise(context, model, config, row->motion, 1, &stage, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            mf_world_step(stage.world, every);
        take_sample(&stage, i * period, row);
    }
    row->fault = mf_group_fault(stage.group, 0);
    row->finished = row->fault == 0;
    sum_up(row);
    mf_ladder_clear(&stage);
    return MF_OK;
}

// ---- all levels --------------------------------------------------------------------------------

static double square(double x) {
    return x * x;
}

static void find_errors(const mf_CompareRow *reference, mf_CompareRow *row) {
    double place = 0.0, heading = 0.0, height = 0.0, tilt = 0.0, energy = 0.0;
    uint32_t count = row->sample_count;
    for (uint32_t i = 0; i < count; i++) {
        const mf_CompareSample *a = &row->samples[i], *b = &reference->samples[i];
        place += square(a->position[0] - b->position[0]) + square(a->position[1] - b->position[1]);
        heading += square(a->heading - b->heading);
        height += square(a->position[2] - b->position[2]);
        tilt += square(a->tilt - b->tilt);
        energy += square(a->energy - b->energy);
    }
    row->position_error = mf_sqrt(place / count);
    row->heading_error = mf_sqrt(heading / count);
    row->height_error = mf_sqrt(height / count);
    row->tilt_error = mf_sqrt(tilt / count);
    row->energy_error = mf_sqrt(energy / count);
}

static void forget(mf_CompareRow *row) {
    row->fell = row->seconds = (double)NAN;
    row->position_error = row->heading_error = row->height_error = (double)NAN;
    row->tilt_error = row->energy_error = (double)NAN;
}

static mf_Status check(const mf_Model *model, const mf_CompareConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "compare: start from mf_compare_config()");
    if (!mf_all_finite(config->command, 3))
        return mf_fail(error, MF_BAD_ARGUMENT, "compare.command: need finite numbers");
    if (!(config->duration > 0.0) || !(config->duration <= 1e5) || !(config->settle >= 0.0) ||
        !(config->settle <= 1e5))
        return mf_fail(error, MF_BAD_ARGUMENT, "compare: expected times from 0 to 1e5 s");
    if (config->step < 1000 || config->control_interval < config->step ||
        config->control_interval % config->step != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "compare: expected a control interval that is a multiple of the step");
    return config->gait != NULL ? mf_gait_check(config->gait, model, error) : MF_OK;
}

static mf_Status run_all(mf_Context *context, const mf_Model *model, const mf_CompareConfig *config,
                         mf_Comparison *all, mf_Error *error) {
    mf_CompareRow *reference = NULL;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < MF_MOTION_LEVELS && status == MF_OK; i++) {
        mf_CompareRow *row = &all->rows[i];
        row->motion = (mf_Motion)i;
        forget(row);
        if (!config->wanted[i])
            continue;
        status = run_level(context, model, config, row, error);
        if (status == MF_OK && row->possible && config->price_robots > 0)
            status = mf_ladder_price(context, model, config, row->motion, &row->seconds, error);
        reference = row->possible ? row : reference;
    }
    if (status != MF_OK)
        return status;
    if (reference == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                          "the robot can move at none of the levels asked for");
    all->reference = reference->motion;
    for (uint32_t i = 0; i < MF_MOTION_LEVELS; i++)
        if (all->rows[i].sample_count > 0 && &all->rows[i] != reference)
            find_errors(reference, &all->rows[i]);
    return MF_OK;
}

mf_Status mf_compare(mf_Context *context, const mf_Model *model, const mf_CompareConfig *config,
                     mf_Comparison **out, mf_Error *error) {
    mf_CompareConfig settings = config != NULL ? *config : mf_compare_config();
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "compare: out is NULL");
    *out = NULL;
    if (context == NULL || model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "compare: context or model is NULL");
    mf_Status status = check(model, &settings, error);
    if (status != MF_OK)
        return status;
    mf_Comparison *all = mf_allocate(context, 1, sizeof *all);
    if (all == NULL)
        return mf_fail(error, MF_NO_MEMORY, "compare: out of memory");
    all->context = context;
    all->model = model->name;
    all->gait = settings.gait != NULL ? settings.gait->name : "standing";
    all->duration = settings.duration;
    all->price_robots = settings.price_robots;
    all->threads = mf_context_threads(context);
    memcpy(all->command, settings.command, sizeof all->command);
    status = mf_isa_detect(&all->isa, error);
    if (status == MF_OK)
        status = run_all(context, model, &settings, all, error);
    if (status != MF_OK) {
        mf_comparison_destroy(all);
        return status;
    }
    *out = all;
    return MF_OK;
}

void mf_comparison_destroy(mf_Comparison *comparison) {
    if (comparison == NULL)
        return;
    for (uint32_t i = 0; i < MF_MOTION_LEVELS; i++)
        mf_release(comparison->context, comparison->rows[i].samples);
    mf_release(comparison->context, comparison);
}
