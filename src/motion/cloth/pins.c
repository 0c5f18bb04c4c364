// Pins: vertices that are fixed in a step of cloth, and what the cloth pulls them with.
#include "motion/cloth/step.h"

#include <string.h>

static uint32_t position_of_pin(const mf_ClothStep *step, uint32_t pin) {
    const uint32_t vertex = mf_cloth_pinned(step->motion, step->instance, pin);
    return vertex == MF_NONE ? MF_NONE : mf_cloth_slot_of(step->motion->plan)[vertex];
}

static bool batch_is_pinned(const mf_ClothStep *step, const mf_ClothBatch *batch) {
    const int32_t *slots = mf_cloth_slots(step->motion->plan);
    bool fixed = false;
    for (uint32_t node = 0; node < mf_cloth_nodes(batch->kind); node++) {
        if (batch->slots == MF_CLOTH_APART) {
            const uint32_t first = batch->at[node], last = first + MF_CLOTH_LANES - 1;
            fixed |=
                step->row_pinned[first / MF_CLOTH_LANES] || step->row_pinned[last / MF_CLOTH_LANES];
            continue;
        }
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            fixed |= step->row_pinned[slots[batch->slots + node * MF_CLOTH_LANES + lane] /
                                      MF_CLOTH_LANES] != 0;
    }
    return fixed;
}

// A pinned vertex has no inverse mass and the velocity that takes it to its anchor.
uint32_t mf_cloth_begin_pins(mf_ClothStep *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    const double rate = 1.0 / mf_time_to_seconds(step->motion->step);
    uint32_t fixed_count = 0;
    memset(step->job.pulls, 0, plan->batch_count);
    memset(step->row_pinned, 0, mf_cloth_rows(plan) + 2);
    for (uint32_t pin = 0; pin < plan->pin_count; pin++) {
        const uint32_t at = position_of_pin(step, pin);
        if (at == MF_NONE)
            continue;
        for (uint32_t c = 0; c < 3; c++) {
            const double anchor =
                mf_field_get(step->motion->rows[MF_CLOTH_ROW_ANCHOR], step->instance, 3 * pin + c);
            mf_cloth_put(step, MF_CLOTH_V + c, at,
                         (anchor - mf_cloth_get(step, MF_CLOTH_X + c, at)) * rate);
        }
        mf_cloth_put(step, MF_CLOTH_W, at, 0.0);
        step->row_pinned[at / MF_CLOTH_LANES] = 1;
        fixed_count++;
    }
    for (uint32_t i = 0; fixed_count > 0 && i < plan->batch_count; i++)
        step->job.pulls[i] = batch_is_pinned(step, &mf_cloth_batches(plan)[i]);
    return fixed_count;
}

// What the cloth pulls a pin with: the pushes of the constraints on its vertex, its weight, and the
// inertia of the vertex, whose velocity before the step is still in the field.
void mf_cloth_end_pins(const mf_ClothStep *step) {
    const mf_ClothMotion *motion = step->motion;
    const double rate = 1.0 / mf_time_to_seconds(motion->step);
    for (uint32_t pin = 0; pin < motion->plan->pin_count; pin++) {
        const uint32_t at = position_of_pin(step, pin);
        const uint32_t vertex = mf_cloth_pinned(motion, step->instance, pin);
        for (uint32_t c = 0; c < 3; c++) {
            double force = 0.0;
            if (at != MF_NONE) {
                const double mass = mf_cloth_masses_f64(motion->plan)[at];
                const double before = mf_field_get(motion->rows[MF_CLOTH_ROW_VELOCITY],
                                                   step->instance, 3 * vertex + c);
                const double change = mf_cloth_get(step, MF_CLOTH_V + c, at) - before;
                force = mf_cloth_get(step, MF_CLOTH_Q + c, at) / step->job.substep * rate +
                        mass * (motion->plan->gravity[c] - change * rate);
                mf_cloth_put(
                    step, MF_CLOTH_X + c, at,
                    mf_field_get(motion->rows[MF_CLOTH_ROW_ANCHOR], step->instance, 3 * pin + c));
            }
            mf_field_set(motion->rows[MF_CLOTH_ROW_FORCE], step->instance, 3 * pin + c, force);
        }
    }
}
