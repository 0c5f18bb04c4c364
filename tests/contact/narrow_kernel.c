// The narrow phase over arrays; compiled once per instruction set and precision.
#include "narrow_cases.h"

#include "contact/narrow.h"

enum { FRAMES_MOST = 8 };

static void store_contacts(const NarrowRun *run, uint32_t at, const Manifold *manifold) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_real *out = (mf_real *)run->contacts + at;
    for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
        const ShapeContact *contact = &manifold->contact[c];
        bool set = c < manifold->count;
        mf_lane rows[NARROW_ROWS] = {zero, zero, zero, zero, zero, zero, zero, zero};
        if (set) {
            rows[0] = mf_select(contact->exists, one, zero);
            memcpy(rows + 1, &contact->point, 3 * sizeof *rows);
            memcpy(rows + 4, &contact->normal, 3 * sizeof *rows);
            rows[7] = contact->depth;
        }
        for (uint32_t r = 0; r < NARROW_ROWS; r++)
            mf_store(out + ((size_t)c * NARROW_ROWS + r) * run->count, rows[r]);
    }
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        run->contact_count[at + lane] = manifold->count;
}

void MF_KERNEL(mf_narrow_run)(const NarrowRun *run) {
    mf_lane frames[FRAMES_MOST * NARROW_FRAME];
    for (uint32_t at = 0; at < run->count; at += MF_LANES) {
        for (uint32_t i = 0; i < run->frame_count * NARROW_FRAME; i++)
            frames[i] = mf_load((const mf_real *)run->frames + (size_t)i * run->count + at);
        const Frames all = {frames, NARROW_FRAME, NULL};
        Manifold manifold;
        MF_KERNEL(mf_collide_pair)(run->plan, run->pair, &all, (mf_real)run->reach, &manifold);
        store_contacts(run, at, &manifold);
    }
}
