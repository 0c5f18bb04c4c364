// Trusses are independent of each other (batch.h), with and without inertia and noise.
#include "motion/batch.h"
#include "motion/trusses.h"

// Their crawlers, of which all have the same number of actuators.
static const uint32_t sizes[3][2] = {{7, 0}, {5, 2}, {8, 1}};

static mf_Status open(Batch *batch, mf_Error *error) {
    static Parts parts;
    mf_MotionsConfig *motions = &batch->motions;
    const bool elastic = batch->option >= 2;
    mf_QuasistaticConfig *config = elastic ? &motions->elastic : &motions->quasistatic;
    crawler(&parts, sizes[0][0], sizes[0][1]);
    config->truss = &parts.truss;
    config->vertices = 10;
    config->bars = 20;
    config->noise = batch->option % 2 == 1 ? 1e-4 : 0.0;
    if (batch->option == 3)
        config->damping = 1e-5;
    if (elastic)
        batch->world.step = MF_MILLISECOND;
    batch->motion = elastic ? MF_MOTION_ELASTIC : MF_MOTION_QUASISTATIC;
    batch->group.double_precision = true;
    MF_TRY(mf_truss_model(batch->rig.context, &parts.truss, &batch->rig.model, error));
    return batch_add(batch, error);
}

// Equal ones and different ones, with noise of their number; those with inertia are thrown.
static void place(const Batch *batch, uint32_t lane, uint32_t number) {
    Parts parts;
    const uint32_t *size = sizes[number < 8 ? 0 : number % 3];
    crawler(&parts, size[0], size[1]);
    MUST(mf_quasistatic_set(batch->rig.group, lane, &parts.truss, &error));
    set_field(batch->rig.group, "noise.stream", lane, 0, number);
    if (batch->motion == MF_MOTION_ELASTIC)
        throw(batch->rig.group, lane, number);
}

static void strokes(const Batch *batch, uint32_t lane, uint32_t number) {
    stroke(batch->rig.group, lane, number, batch->steps);
}

static const BatchPoison poisons[] = {{"vertex.load", 0, NAN, MF_FAULT_INPUT},
                                      {"vertex.velocity", 0, NAN, MF_FAULT_INPUT}};

static const BatchKind batch_kind = {.options = 4,
                                     .robots = 20,
                                     .steps = 60,
                                     .many = 40,
                                     .open = open,
                                     .place = place,
                                     .drive = strokes,
                                     .period = 1,
                                     .poisoned = 1 << 0 | 1 << 2,
                                     .poisons = poisons,
                                     .poison_count = sizeof poisons / sizeof *poisons};
