// The broad phase over arrays; compiled once per instruction set and precision.
#include "broad_cases.h"

#include "contact/narrow.h"

uint32_t MF_KERNEL(mf_broad_run)(const BroadRun *run) {
    mf_lane frames[BROAD_FRAMES * BROAD_FRAME], spheres[7 * BROAD_NODES];
    uint32_t near[BROAD_PAIRS];
    const Frames all = {frames, BROAD_FRAME};
    for (uint32_t at = 0; at < run->count; at += MF_LANES) {
        for (uint32_t i = 0; i < run->frame_count * BROAD_FRAME; i++)
            frames[i] = mf_load((const mf_real *)run->frames + (size_t)i * run->count + at);
        uint32_t found =
            MF_KERNEL(mf_collide_near)(run->plan, &all, (mf_real)run->reach, spheres, near);
        for (uint32_t i = 0; i < found; i++) {
            for (uint32_t lane = 0; lane < MF_LANES; lane++)
                run->near[(size_t)(at + lane) * run->plan->pair_count + near[i]]++;
        }
    }
    return MF_LANES;
}
