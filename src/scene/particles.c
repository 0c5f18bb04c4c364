// Groups of particles in scenes: how many of them `placement: fill` puts into its box, and where.
#include "math/scalar.h"
#include "motion/table.h"
#include "scene/builder.h"

#include <math.h>

bool mf_scene_group_particles(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_Motion motion = mf_scene_group_motion(builder, index);
    return mf_motion_has_particles(motion);
}

bool mf_scene_has_particles(const mf_SceneBuilder *builder) {
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        if (mf_scene_group_particles(builder, i))
            return true;
    return false;
}

// [m] That of the file, else of the particles at rest.
static double spacing_of(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Model *model = builder->scene->models[index];
    if (from->placement.distance > 0.0)
        return from->placement.distance;
    if (mf_scene_group_motion(builder, index) == MF_MOTION_FLUID)
        return model->link_count > 0 ? cbrt(model->links[0].mass / from->motions.fluid.density)
                                     : 0.0;
    for (uint32_t s = 0; s < model->shape_count; s++)
        if (model->shapes[s].type == MF_SHAPE_SPHERE)
            return 2.0 * model->shapes[s].size[0];
    return 0.0;
}

// [1] Particles along an axis of the box.
static uint32_t along(const mf_Placement *placement, double spacing, int axis) {
    const double count = (placement->upper[axis] - placement->lower[axis]) / spacing + 1e-6;
    return count < 1.0 ? 0 : count < 1e6 ? (uint32_t)count : 1000000u;
}

static uint64_t sites_of(const mf_Placement *placement, double spacing) {
    uint64_t sites = 1;
    for (int c = 0; c < 3; c++)
        sites *= along(placement, spacing, c);
    return sites;
}

static mf_Status refuse(const mf_SceneBuilder *builder, uint32_t index, const char *message,
                        uint64_t sites) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, from->placement.line,
                      from->placement.column, "groups.%.80s.placement: %s %llu of %u", from->name,
                      message, (unsigned long long)sites, mf_scene_group_count(builder, index));
}

mf_Status mf_scene_choose_placed(const mf_SceneBuilder *builder, uint32_t index,
                                 mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const uint32_t count = mf_scene_group_count(builder, index);
    const mf_Motion motion = mf_scene_group_motion(builder, index);
    const uint32_t emitters = motion == MF_MOTION_FLUID    ? config->fluid.emitter_count
                              : motion == MF_MOTION_GRAINS ? config->grains.emitter_count
                                                           : config->debris.emitter_count;
    uint32_t placed = count;
    if (from->placement.kind == MF_PLACEMENT_FILL) {
        const double spacing = spacing_of(builder, index);
        const uint64_t sites = spacing > 0.0 ? sites_of(&from->placement, spacing) : 0;
        if (sites < count && emitters == 0)
            return refuse(
                builder, index,
                "the box has no space for all particles and there are no emitters:", sites);
        placed = sites < count ? (uint32_t)sites : count;
        if (sites > count)
            mf_scene_note(builder->scene,
                          "group %.60s: the box has space for %llu particles, `count` is %u",
                          from->name, (unsigned long long)sites, count);
    } else if (emitters > 0) {
        placed = 0;
    }
    config->fluid.placed = config->grains.placed = config->debris.placed = placed;
    return MF_OK;
}

void mf_scene_place_particle(const mf_SceneBuilder *builder, uint32_t index, uint32_t particle,
                             double position[3]) {
    const mf_Placement *placement = &builder->file->groups[index].placement;
    const double spacing = spacing_of(builder, index);
    const uint32_t x = along(placement, spacing, 0), y = along(placement, spacing, 1);
    const uint32_t z = along(placement, spacing, 2);
    // Those that wait are in the first place.
    const uint32_t i = (uint64_t)x * y * z > particle ? particle : 0;
    const uint32_t at[3] = {x > 0 ? i % x : 0, x > 0 && y > 0 ? i / x % y : 0,
                            x > 0 && y > 0 ? i / x / y : 0};
    for (int c = 0; c < 3; c++)
        position[c] = placement->lower[c] + (at[c] + 0.5) * spacing;
}
