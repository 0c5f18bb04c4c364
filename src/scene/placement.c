// Initial positions: lines, grids, circles, and random positions without overlap (dart throwing: a
// position that would overlap is drawn again; Cook 1986). Random numbers are keyed by seed, agent
// and try, so that the positions of the first agents do not depend on the number of others.
#include "math/scalar.h"
#include "body/kind.h"
#include "io/document.h"
#include "base/floats.h"
#include "scene/builder.h"

#include <math.h>
#include <stdio.h>

#define PLACEMENT_STREAM 0x706c6163u // separates these random numbers from all others
#define TRIES 2000u                  // [1] for one agent

static const double two_pi = 6.283185307179586;

// State of the placement.
typedef struct Layout {
    const mf_Placement *placement;
    const mf_Terrain *terrain;
    uint32_t count;
    double radius;    // [m]
    double clearance; // [m]
    bool flies;       // heights are above the ground, else above the standing height
    mf_OverlapGrid overlaps;
    double *positions, *headings;
    mf_Error *error;
} Layout;

// Raises a position that would be in the ground.
static void settle(const Layout *layout, double position[3]) {
    double ground = layout->terrain == NULL
                        ? 0.0
                        : mf_terrain_height(layout->terrain, position[0], position[1], NULL);
    double above = position[2] + layout->placement->height;
    if (!layout->flies)
        above += layout->clearance;
    else if (above < layout->clearance)
        above = layout->clearance;
    position[2] = ground + above;
}

static void place_in_line(const Layout *layout, uint32_t index, double position[3]) {
    position[0] = position[2] = 0.0;
    position[1] = layout->placement->distance * (index - 0.5 * (layout->count - 1.0));
}

static void place_at_pose(const Layout *layout, uint32_t index, double position[3],
                          double *heading) {
    const double *pose = layout->placement->poses[index];
    position[0] = pose[0];
    position[1] = pose[1];
    position[2] = 0.0;
    *heading = pose[2];
}

static void place_in_grid(const Layout *layout, uint32_t index, double position[3]) {
    const mf_Placement *p = layout->placement;
    uint32_t layers = p->layers < 1 ? 1 : p->layers, columns = p->columns;
    uint32_t in_layer = (layout->count + layers - 1) / layers;
    while (p->columns == 0 && (uint64_t)columns * columns < in_layer)
        columns++;
    uint32_t rows = (in_layer + columns - 1) / columns;
    uint32_t layer = index / in_layer, in = index % in_layer;
    position[0] = p->center[0] + p->spacing[0] * ((double)(in % columns) - 0.5 * (columns - 1));
    position[1] = p->center[1] + p->spacing[1] * ((double)(in / columns) - 0.5 * (rows - 1));
    position[2] = p->center[2] + p->spacing[2] * layer;
}

static void place_on_circle(const Layout *layout, uint32_t index, double position[3],
                            double *heading) {
    const mf_Placement *p = layout->placement;
    double angle = two_pi * index / layout->count, sine, cosine;
    mf_sin_cos(angle, &sine, &cosine);
    position[0] = p->center[0] + p->radius * cosine;
    position[1] = p->center[1] + p->radius * sine;
    position[2] = p->center[2];
    if (p->along)
        *heading = angle + 0.25 * two_pi;
}

static mf_Status place_anywhere(const Layout *layout, uint32_t index, double position[3]) {
    const mf_Placement *p = layout->placement;
    double apart = 0.5 * p->distance > layout->radius ? 0.5 * p->distance : layout->radius;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t words[8];
        mf_random(p->seed, index, PLACEMENT_STREAM, 2 * (uint64_t)i, words);
        mf_random(p->seed, index, PLACEMENT_STREAM, 2 * (uint64_t)i + 1, words + 4);
        for (uint32_t c = 0; c < 3; c++)
            position[c] = p->lower[c] + (p->upper[c] - p->lower[c]) *
                                            mf_random_unit_double(words[2 * c], words[2 * c + 1]);
        settle(layout, position);
        if (mf_overlap_test(&layout->overlaps, position, apart) == UINT32_MAX)
            return MF_OK;
    }
    return mf_fail(layout->error, MF_BAD_ARGUMENT,
                   "random: after %u of %u agents no free position was found for the next; use a "
                   "larger box, a smaller distance or fewer agents",
                   index, layout->count);
}

static mf_Status place_all(Layout *layout) {
    const mf_Placement *p = layout->placement;
    double apart = 0.5 * p->distance > layout->radius ? 0.5 * p->distance : layout->radius;
    for (uint32_t i = 0; i < layout->count; i++) {
        double *position = layout->positions + 3 * (size_t)i;
        layout->headings[i] = p->heading;
        if (p->kind == MF_PLACEMENT_RANDOM)
            MF_TRY(place_anywhere(layout, i, position));
        else if (p->kind == MF_PLACEMENT_CIRCLE)
            place_on_circle(layout, i, position, &layout->headings[i]);
        else if (p->kind == MF_PLACEMENT_LINE)
            place_in_line(layout, i, position);
        else if (p->kind == MF_PLACEMENT_POSES)
            place_at_pose(layout, i, position, &layout->headings[i]);
        else
            place_in_grid(layout, i, position);
        if (p->kind == MF_PLACEMENT_RANDOM)
            mf_overlap_add(&layout->overlaps, position, apart);
        else
            settle(layout, position);
    }
    return MF_OK;
}

mf_Status mf_placement_positions(mf_Context *context, const mf_Placement *placement,
                                 const mf_Terrain *terrain, uint32_t count, double radius,
                                 double clearance, bool flies, const double (*taken)[4],
                                 uint32_t taken_count, double *positions, double *headings,
                                 mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || placement == NULL || positions == NULL || headings == NULL ||
        (taken == NULL && taken_count != 0) || !(radius > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "placement: something is NULL or radius not > 0");
    if (placement->kind == MF_PLACEMENT_POSES && placement->pose_count < count)
        return mf_fail(error, MF_BAD_ARGUMENT, "placement: expected %u poses, found %u", count,
                       placement->pose_count);
    Layout layout = {.placement = placement,
                     .terrain = terrain,
                     .count = count,
                     .radius = radius,
                     .clearance = clearance,
                     .flies = flies,
                     .positions = positions,
                     .headings = headings,
                     .error = error};
    bool random = placement->kind == MF_PLACEMENT_RANDOM;
    double largest = 0.5 * placement->distance > radius ? 0.5 * placement->distance : radius;
    for (uint32_t i = 0; i < taken_count; i++)
        largest = taken[i][3] > largest ? taken[i][3] : largest;
    mf_Status status = mf_overlap_create(context, random ? count + taken_count : 1, largest,
                                         &layout.overlaps, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < taken_count && random; i++)
        mf_overlap_add(&layout.overlaps, taken[i], taken[i][3]);
    status = place_all(&layout);
    mf_overlap_free(&layout.overlaps);
    return status;
}

// ---- groups of a scene -------------------------------------------------------------------------

static mf_Status refuse_placement(const mf_SceneBuilder *builder, uint32_t index, mf_Status status,
                                  const char *message) {
    const mf_SceneGroup *group = &builder->file->groups[index];
    return mf_fail_at(builder->error, status, builder->file->file, group->placement.line,
                      group->placement.column, "groups.%s.placement: %s", group->name, message);
}

// Reports the vehicle that is in the way.
static mf_Status refuse_overlap(const mf_SceneBuilder *builder, uint32_t index, uint32_t robot,
                                uint32_t other) {
    uint32_t owner = index;
    char message[200];
    for (uint32_t i = 0; i < builder->file->group_count; i++) {
        uint32_t first = builder->first_in_grid[i], count = mf_scene_group_count(builder, i);
        if (builder->placed[i] && other >= first && other < first + count)
            owner = i;
    }
    snprintf(message, sizeof message, "agent %u would overlap agent %u of %.80s at the start",
             robot, other - builder->first_in_grid[owner], builder->file->groups[owner].name);
    return refuse_placement(builder, index, MF_BAD_FILE, message);
}

// Those that join a running world do not start when the others do.
static bool in_grid(const mf_SceneBuilder *builder, uint32_t index) {
    const uint32_t joins = builder->config.joins;
    return mf_group_vehicle(&builder->file->groups[index]) != NULL &&
           (joins == 0 || index < joins) && !mf_scene_group_isolated(builder, index);
}

static mf_Status put_robots(mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *start,
                            const double *positions, const double *headings) {
    const mf_Vehicle *vehicle = mf_group_vehicle(&builder->file->groups[index]);
    const double radius = mf_vehicle_radius(vehicle);
    builder->first_in_grid[index] = builder->overlaps.count;
    builder->placed[index] = in_grid(builder, index);
    for (uint32_t i = 0; i < mf_scene_group_count(builder, index); i++) {
        const double *position = positions + 3 * (size_t)i;
        if (in_grid(builder, index)) {
            uint32_t other = mf_overlap_test(&builder->overlaps, position, radius);
            if (other != UINT32_MAX)
                return refuse_overlap(builder, index, i, other);
            mf_overlap_add(&builder->overlaps, position, radius);
        }
        MF_TRY(mf_robot_start_at(builder, index, i, start, position, headings[i]));
    }
    return MF_OK;
}

// Standing height of a robot, and whether heights are relative to it or to the ground.
static double clearance_of(const mf_SceneBuilder *builder, uint32_t index,
                           const mf_RobotStart *start, bool *flies) {
    const mf_Vehicle *vehicle = mf_group_vehicle(&builder->file->groups[index]);
    *flies = vehicle != NULL && vehicle->kind != MF_VEHICLE_CAR;
    if (vehicle == NULL)
        return -start->lowest;
    return vehicle->kind == MF_VEHICLE_QUADROTOR    ? vehicle->quadrotor.clearance
           : vehicle->kind == MF_VEHICLE_FIXED_WING ? vehicle->fixed_wing.clearance
                                                    : vehicle->car.height;
}

// Heights do not apply to cars.
static mf_Placement placement_of(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Vehicle *vehicle = mf_group_vehicle(from);
    mf_Placement placement = from->placement;
    if (vehicle != NULL && vehicle->kind == MF_VEHICLE_CAR) {
        placement.center[2] = placement.spacing[2] = placement.height = 0.0;
        placement.lower[2] = placement.upper[2] = 0.0;
    }
    return placement;
}

static mf_Status find_positions(mf_SceneBuilder *builder, uint32_t index,
                                const mf_RobotStart *start, double *positions, double *headings) {
    const mf_Placement placement = placement_of(builder, index);
    const mf_Vehicle *vehicle = mf_group_vehicle(&builder->file->groups[index]);
    const bool scenery = mf_scene_is_scenery(builder->scene->models[index]);
    // Scenery keeps the heights of its file: above the ground where it is placed, else in the
    // world.
    const bool above = !scenery || placement.kind != MF_PLACEMENT_LINE;
    bool flies;
    double clearance = clearance_of(builder, index, start, &flies);
    double radius = vehicle != NULL ? mf_vehicle_radius(vehicle) : start->reach;
    mf_Error cause = {0};
    mf_Status status = mf_placement_positions(
        builder->context, &placement, above ? builder->scene->terrain : NULL,
        mf_scene_group_count(builder, index), radius > 0.0 ? radius : 1.0,
        scenery ? 0.0 : clearance, flies, (const double(*)[4])builder->overlaps.spheres,
        builder->overlaps.count, positions, headings, &cause);
    if (status == MF_BAD_ARGUMENT)
        return refuse_placement(builder, index, MF_BAD_FILE, cause.message);
    if (status != MF_OK && builder->error != NULL)
        *builder->error = cause;
    return status;
}

// A single robot and isolated robots begin in the pose of their file.
static bool at_origin(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const bool alone =
        mf_scene_group_isolated(builder, index) || mf_scene_group_count(builder, index) == 1;
    return alone && mf_group_vehicle(from) == NULL && from->placement.kind == MF_PLACEMENT_LINE &&
           from->placement.heading == 0.0 && from->placement.speed == 0.0 &&
           !mf_scene_is_scenery(builder->scene->models[index]);
}

static mf_Status place_group(mf_SceneBuilder *builder, uint32_t index) {
    const uint32_t count = mf_scene_group_count(builder, index);
    mf_RobotStart start = {0};
    mf_Status status = mf_robot_start_make(builder, index, &start);
    builder->scene->keyframes[index] = start.key;
    if (status == MF_OK && at_origin(builder, index)) {
        status = mf_robot_start_at_origin(builder, index, &start);
        mf_robot_start_free(builder->context, &start);
        return status;
    }
    double *positions = mf_allocate(builder->context, count, 3 * sizeof *positions);
    double *headings = mf_allocate(builder->context, count, sizeof *headings);
    if (status == MF_OK && (positions == NULL || headings == NULL))
        status = mf_fail(builder->error, MF_NO_MEMORY, "scene: out of memory");
    const mf_Placement *placement = &builder->file->groups[index].placement;
    if (status == MF_OK && placement->kind != MF_PLACEMENT_FILL)
        status = find_positions(builder, index, &start, positions, headings);
    for (uint32_t i = 0; status == MF_OK && placement->kind == MF_PLACEMENT_FILL && i < count; i++)
        mf_scene_place_particle(builder, index, i, positions + 3 * (size_t)i);
    MF_THEN(status, put_robots(builder, index, &start, positions, headings));
    mf_release(builder->context, positions);
    mf_release(builder->context, headings);
    mf_robot_start_free(builder->context, &start);
    return status;
}

mf_Status mf_scene_place_groups(mf_SceneBuilder *builder) {
    const mf_SceneFile *file = builder->file;
    double largest = 0.0;
    uint32_t vehicles = 1;
    for (uint32_t i = 0; i < file->group_count; i++) {
        largest = fmax(largest, mf_vehicle_radius(mf_group_vehicle(&file->groups[i])));
        vehicles += in_grid(builder, i) ? mf_scene_group_count(builder, i) : 0;
    }
    mf_Status status = mf_overlap_create(builder->context, vehicles, largest > 0.0 ? largest : 1.0,
                                         &builder->overlaps, builder->error);
    for (int random = 0; random < 2; random++)
        for (uint32_t i = 0; i < file->group_count && status == MF_OK; i++)
            if ((file->groups[i].placement.kind == MF_PLACEMENT_RANDOM) == (random == 1))
                status = place_group(builder, i);
    return status;
}
