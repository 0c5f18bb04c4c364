// The broad phase over arrays; compiled once per instruction set and precision.
#include "broad_cases.h"

#include "contact/narrow.h"

size_t MF_KERNEL(mf_broad_memory)(const mf_CollidePlan *plan) {
    mf_Carver carver = {NULL, 0};
    NearSearch search;
    near_carve(plan, &carver, &search);
    return carver.used;
}

static void notify(const BroadRun *run, uint32_t at, const NearSearch *search, uint32_t found) {
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t lane = 0; lane < MF_LANES; lane++)
            run->near[(size_t)(at + lane) * run->pair_most + search->near[i]]++;
}

uint32_t MF_KERNEL(mf_broad_run)(const BroadRun *run) {
    mf_lane frames[BROAD_FRAMES * BROAD_FRAME];
    const Frames all = {frames, BROAD_FRAME, NULL};
    const mf_real reach = (mf_real)run->reach;
    mf_Carver carver = {(char *)run->memory, 0};
    NearSearch search;
    bool ordered = true;
    near_carve(run->plan, &carver, &search);
    for (uint32_t at = 0; at < run->count; at += MF_LANES) {
        for (uint32_t i = 0; i < run->frame_count * BROAD_FRAME; i++)
            frames[i] = mf_load((const mf_real *)run->frames + (size_t)i * run->count + at);
        uint32_t found = MF_KERNEL(mf_collide_near)(run->plan, &all, reach, &search), last = 0;
        notify(run, at, &search, found);
        while ((found = MF_KERNEL(mf_collide_near_more)(run->plan, &all, reach, &search)) > 0) {
            notify(run, at, &search, found);
            for (uint32_t i = 0; i < found; i++) {
                ordered = ordered && search.near[i] > last;
                last = search.near[i];
            }
        }
    }
    return ordered ? MF_LANES : 0;
}
