// The end of a step of docks: what they carry, and what breaks.
//
// Loads are those of the joints in the step, in the frames of the docks where it began. All are
// compared with the limits before any joint is taken away, and that changes no velocity: breaks do
// not depend on an order and neither add momentum nor energy.
#include "solve/docks.h"
#include "math/scalar.h"

// [N], [N m] on the link of a side, in its dock's frame. The joint's frame is that of the second.
static void load_of(const mf_JointRecord *record, const mf_Dock *first, uint32_t side,
                    double out[6]) {
    double into[4], back[4];
    for (uint32_t c = 0; c < 6; c++)
        out[c] = side == 1 ? record->load[c] : -record->load[c];
    if (side == 1)
        return;
    mf_quat_conjugate(back, first->frame.rotation);
    mf_quat_multiply(into, back, record->orientation[0]);
    mf_quat_rotate(out, into, (double[3]){out[0], out[1], out[2]});
    mf_quat_rotate(out + 3, into, (double[3]){out[3], out[4], out[5]});
}

static bool is_over(const double load[6], const mf_Dock *a, const mf_Dock *b) {
    const double shear = mf_sqrt(load[1] * load[1] + load[2] * load[2]);
    const double bending = mf_sqrt(load[4] * load[4] + load[5] * load[5]);
    return load[0] > mf_smaller(b->tension, a->tension) || shear > mf_smaller(b->shear, a->shear) ||
           bending > mf_smaller(b->bending, a->bending) ||
           mf_abs(load[3]) > mf_smaller(b->torsion, a->torsion);
}

static void report(const mf_WorldDocks *docks, mf_JointRecord *record) {
    const mf_Dock *dock[2];
    mf_DockGroup *group[2];
    double load[2][6];
    for (uint32_t s = 0; s < 2; s++) {
        group[s] = mf_docks_group(docks, record->group[s]);
        dock[s] = &group[s]->model->docks[record->dock[s] - 1];
    }
    for (uint32_t s = 0; s < 2; s++) {
        load_of(record, dock[0], s, load[s]);
        for (uint32_t c = 0; c < 6; c++)
            mf_field_set(group[s]->load, record->instance[s], 6 * (record->dock[s] - 1) + c,
                         load[s][c]);
    }
    record->broken = is_over(load[1], dock[0], dock[1]);
}

void mf_docks_end(mf_WorldDocks *docks) {
    if (docks == NULL)
        return;
    mf_docks_unpull(docks);
    mf_WorldJoints *joints = docks->joints;
    for (uint32_t slot = 0; slot < joints->used; slot++)
        if (joints->records[slot].exists && joints->records[slot].dock[0] != 0)
            report(docks, &joints->records[slot]);
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        const mf_JointRecord *record = &joints->records[slot];
        if (!record->exists || record->dock[0] == 0 || !record->broken)
            continue;
        mf_docks_part(docks, slot, MF_DOCK_BROKEN);
        docks->statistics.broken++;
    }
}
