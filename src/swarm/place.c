// Start places: grids, circles, and random places apart from each other (dart throwing: a place
// that would overlap is drawn again; Cook 1986). Random numbers are keyed by seed, agent and try,
// so that the places of the first agents do not depend on how many follow.
#include "math/scalar.h"
#include "swarm/crowd.h"

#include <mayfly/swarm.h>

#include <math.h>

#define PLACE_STREAM 0x706c6163u // keeps these random numbers apart from all others
#define TRIES 2000u              // [1] for one agent

static const double full_turn = 6.283185307179586;

// What placing passes around.
typedef struct Places {
    const mf_Placement *placement;
    const mf_Terrain *terrain;
    uint32_t count;
    double radius, clearance; // [m]
    mf_Crowd crowd;
    double *positions, *headings;
    mf_Error *error;
} Places;

// Heights count from the ground; what has wheels stands on it.
static void settle(const Places *places, double position[3]) {
    double ground = places->terrain == NULL
                        ? 0.0
                        : mf_terrain_height(places->terrain, position[0], position[1], NULL);
    position[2] = ground + (places->clearance >= 0.0 ? places->clearance : position[2]);
}

static void place_in_grid(const Places *places, uint32_t index, double position[3]) {
    const mf_Placement *p = places->placement;
    uint32_t layers = p->layers < 1 ? 1 : p->layers, columns = p->columns;
    uint32_t in_layer = (places->count + layers - 1) / layers;
    while (p->columns == 0 && (uint64_t)columns * columns < in_layer)
        columns++;
    uint32_t rows = (in_layer + columns - 1) / columns;
    uint32_t layer = index / in_layer, in = index % in_layer;
    position[0] = p->center[0] + p->spacing[0] * ((double)(in % columns) - 0.5 * (columns - 1));
    position[1] = p->center[1] + p->spacing[1] * ((double)(in / columns) - 0.5 * (rows - 1));
    position[2] = p->center[2] + p->spacing[2] * layer;
}

static void place_on_circle(const Places *places, uint32_t index, double position[3],
                            double *heading) {
    const mf_Placement *p = places->placement;
    double angle = full_turn * index / places->count, sine, cosine;
    mf_sin_cos(angle, &sine, &cosine);
    position[0] = p->center[0] + p->radius * cosine;
    position[1] = p->center[1] + p->radius * sine;
    position[2] = p->center[2];
    if (p->along)
        *heading = angle + 0.25 * full_turn;
}

static mf_Status place_anywhere(const Places *places, uint32_t index, double position[3]) {
    const mf_Placement *p = places->placement;
    double apart = 0.5 * p->distance > places->radius ? 0.5 * p->distance : places->radius;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t words[8];
        mf_random(p->seed, index, PLACE_STREAM, 2 * (uint64_t)i, words);
        mf_random(p->seed, index, PLACE_STREAM, 2 * (uint64_t)i + 1, words + 4);
        for (uint32_t c = 0; c < 3; c++)
            position[c] = p->lower[c] + (p->upper[c] - p->lower[c]) *
                                            mf_random_unit_double(words[2 * c], words[2 * c + 1]);
        settle(places, position);
        if (mf_crowd_meets(&places->crowd, position, apart) == UINT32_MAX)
            return MF_OK;
    }
    return mf_fail(places->error, MF_BAD_ARGUMENT,
                   "random: after %u of %u agents no free place is found for the next; give a "
                   "larger box, a smaller distance or fewer agents",
                   index, places->count);
}

static mf_Status place_all(Places *places) {
    const mf_Placement *p = places->placement;
    double apart = 0.5 * p->distance > places->radius ? 0.5 * p->distance : places->radius;
    for (uint32_t i = 0; i < places->count; i++) {
        double *position = places->positions + 3 * (size_t)i;
        mf_Status status = MF_OK;
        places->headings[i] = p->heading;
        if (p->kind == MF_PLACEMENT_RANDOM)
            status = place_anywhere(places, i, position);
        else if (p->kind == MF_PLACEMENT_CIRCLE)
            place_on_circle(places, i, position, &places->headings[i]);
        else
            place_in_grid(places, i, position);
        if (status != MF_OK)
            return status;
        if (p->kind == MF_PLACEMENT_RANDOM)
            mf_crowd_add(&places->crowd, position, apart);
        else
            settle(places, position);
    }
    return MF_OK;
}

mf_Status mf_placement_places(mf_Context *context, const mf_Placement *placement,
                              const mf_Terrain *terrain, uint32_t count, double radius,
                              double clearance, const double (*taken)[4], uint32_t taken_count,
                              double *positions, double *headings, mf_Error *error) {
    if (context == NULL || placement == NULL || positions == NULL || headings == NULL ||
        (taken == NULL && taken_count != 0) || !(radius > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "placement: something is NULL or radius not > 0");
    Places places = {.placement = placement,
                     .terrain = terrain,
                     .count = count,
                     .radius = radius,
                     .clearance = clearance,
                     .positions = positions,
                     .headings = headings,
                     .error = error};
    bool random = placement->kind == MF_PLACEMENT_RANDOM;
    double largest = 0.5 * placement->distance > radius ? 0.5 * placement->distance : radius;
    for (uint32_t i = 0; i < taken_count; i++)
        largest = taken[i][3] > largest ? taken[i][3] : largest;
    mf_Status status =
        mf_crowd_create(context, random ? count + taken_count : 1, largest, &places.crowd, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < taken_count && random; i++)
        mf_crowd_add(&places.crowd, taken[i], taken[i][3]);
    status = place_all(&places);
    mf_crowd_free(&places.crowd);
    return status;
}
