// Cloths of shared groups among the links of robots: one system of the world, which steps the
// cloths with all threads. Solids of links go on with the twist that they have when the step
// begins; what vertices get from them, the links get back in this step, through the fields
// wrench.link, opposite to the rounding of sums. Groups without these fields touch the cloth
// and are not pushed.
//
// Invariants: robots are listed by group, instance and solid, so results depend on the state only;
// one thread adds the wrenches; a step allocates nothing.
#include "interaction/cloths.h"
#include "base/floats.h"

#include "base/hash.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

// [1] vertices of a cloth that one thread steps: sharing it out would take longer.
enum { SMALL = 2048 };

// ---- links -------------------------------------------------------------------------------------

static void find_links(mf_Cloths *all) {
    for (uint32_t g = 0; g < all->robot_count; g++) {
        mf_ClothRobots *robots = &all->robots[g];
        const uint32_t blocks = mf_group_block_count(robots->group);
        for (uint32_t block = 0; block < blocks; block++) {
            const mf_LinkChoice choice = {NULL, mf_group_model(robots->group)->link_count, 0,
                                          MF_BLOCK};
            mf_link_motions_find(&robots->motions, block, &choice,
                                 robots->values + block * robots->stride);
        }
    }
}

static mf_LinkMotion link_of(const mf_ClothRobots *robots, uint32_t instance, uint32_t link) {
    mf_LinkMotion motion;
    mf_link_motion(&motion, robots->values + instance / MF_BLOCK * robots->stride,
                   instance % MF_BLOCK, link, robots->compound->still);
    return motion;
}

static double get(const mf_Field *field, uint32_t instance, uint32_t c) {
    return mf_field_get(field, instance, c);
}

// The solid of a link as vertices see it.
static void make_obstacle(const mf_ClothRobots *robots, uint32_t instance, uint32_t solid,
                          const mf_LinkMotion *link, mf_ClothObstacle *out) {
    const mf_Compound *compound = robots->compound;
    const double *values = compound->values_f64 + (size_t)solid * MF_COLLIDE_SHAPE_VALUES;
    double rotation[9];
    *out = (mf_ClothObstacle){.kind = compound->solids[solid].kind,
                              .faces = robots->faces[solid],
                              .face_count = robots->face_counts[solid],
                              .radius = values[MF_COLLIDE_RADIUS]};
    memcpy(out->half, values + MF_COLLIDE_HALF, sizeof out->half);
    mf_quat_to_matrix(rotation, link->orientation);
    mf_mat3_multiply(out->rotation, rotation, values + MF_COLLIDE_ROTATION);
    mf_link_point(link, values + MF_COLLIDE_POSITION, out->position, out->velocity);
    mf_vec3_copy(out->rate, link->rate);
    for (uint32_t c = 0; c < 3; c++)
        out->reference[c] = get(robots->position, instance, c);
}

static bool is_near(const mf_ClothObstacle *obstacle, double step, const double low[3],
                    const double high[3]) {
    const double distance = obstacle->radius + step * (mf_vec3_length(obstacle->velocity));
    for (int c = 0; c < 3; c++)
        if (!(obstacle->position[c] + distance >= low[c] &&
              obstacle->position[c] - distance <= high[c]))
            return false;
    return true;
}

// Whether a solid can be touched: hulls need faces.
static bool is_solid(const mf_ClothRobots *robots, uint32_t solid) {
    const mf_CollideKind kind = robots->compound->solids[solid].kind;
    return kind != MF_COLLIDE_PLANE && (kind != MF_COLLIDE_HULL || robots->face_counts[solid] > 0);
}

static uint32_t find_obstacles(void *user, const double low[3], const double high[3],
                               mf_ClothObstacle *out) {
    mf_Cloths *all = user;
    uint32_t count = 0;
    for (uint32_t g = 0; g < all->robot_count; g++) {
        const mf_ClothRobots *robots = &all->robots[g];
        for (uint32_t i = 0; i < mf_group_count(robots->group); i++) {
            if (((const uint32_t *)robots->fault->data)[i] != 0)
                continue;
            for (uint32_t s = 0; s < robots->compound->solid_count; s++) {
                const uint32_t link = robots->compound->solids[s].link;
                const mf_LinkMotion motion = link_of(robots, i, link);
                mf_ClothObstacle obstacle;
                make_obstacle(robots, i, s, &motion, &obstacle);
                if (!is_solid(robots, s) || !is_near(&obstacle, all->step, low, high))
                    continue;
                if (count < MF_CLOTH_OBSTACLES) {
                    out[count] = obstacle;
                    all->owners[count] = (mf_ClothOwner){g, i, link};
                }
                count++;
            }
        }
    }
    return count;
}

// ---- wrenches ----------------------------------------------------------------------------------

static void add_value(mf_Field *field, uint32_t instance, uint32_t c, double value) {
    mf_field_set(field, instance, c, mf_field_get(field, instance, c) + value);
}

static void push_link(const mf_Cloths *all, mf_ClothOwner owner, const double push[MF_CLOTH_PUSH]) {
    const mf_ClothRobots *robots = &all->robots[owner.robots];
    if (robots->wrench == NULL)
        return;
    for (uint32_t i = 0; i < MF_CLOTH_PUSH; i++)
        add_value(robots->wrench, owner.instance, MF_CLOTH_PUSH * owner.link + i,
                  push[i] / all->step);
    ((uint32_t *)robots->wrench_count->data)[owner.instance]++;
}

static void push_obstacle(void *user, uint32_t index, const double push[MF_CLOTH_PUSH]) {
    const mf_Cloths *all = user;
    push_link(all, all->owners[index], push);
}

// ---- pins --------------------------------------------------------------------------------------

typedef struct Pins { // of one cloth
    const mf_Cloths *all;
    const mf_ClothMotion *motion;
    uint32_t instance;
} Pins;

static double pin_value(const Pins *pins, int row, uint32_t pin, uint32_t c) {
    return mf_field_get(pins->motion->rows[row], pins->instance, 3 * pin + c);
}

// The link that a pin moves with; a link that there is not is a fault of the cloth. False: none.
static bool find_link(const Pins *pins, uint32_t pin, mf_ClothOwner *out) {
    const double group = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 0);
    const double robot = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 1);
    const double link = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 2);
    if (group == 0.0)
        return false;
    for (uint32_t g = 0; g < pins->all->robot_count; g++) {
        const mf_ClothRobots *robots = &pins->all->robots[g];
        *out = (mf_ClothOwner){g, (uint32_t)robot, (uint32_t)link};
        if (group == robots->number + 1.0 && robot < mf_group_count(robots->group) &&
            link < mf_group_model(robots->group)->link_count)
            return true;
    }
    ((uint32_t *)pins->motion->fault->data)[pins->instance] |= MF_FAULT_INPUT;
    return false;
}

// The anchors at the end of the step, if links go on with their twist.
static void move_pins(const Pins *pins) {
    const double step = pins->all->step;
    for (uint32_t pin = 0; pin < pins->motion->plan->pin_count; pin++) {
        mf_ClothOwner owner;
        double rotate[4], rotation[4], position[3], at[3];
        if (!find_link(pins, pin, &owner))
            continue;
        const mf_LinkMotion link =
            link_of(&pins->all->robots[owner.robots], owner.instance, owner.link);
        for (uint32_t c = 0; c < 3; c++)
            position[c] = pin_value(pins, MF_CLOTH_ROW_PIN_POSITION, pin, c);
        mf_quat_from_axis_angle(rotate, link.rate, mf_vec3_length(link.rate) * step);
        mf_quat_multiply(rotation, rotate, link.orientation);
        mf_quat_rotate(at, rotation, position);
        mf_vec3_add(at, at, link.position);
        mf_vec3_add_scaled(at, at, step, link.velocity);
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(pins->motion->rows[MF_CLOTH_ROW_ANCHOR], pins->instance, 3 * pin + c,
                         at[c]);
    }
}

// The links get what the cloth pulls with.
static void pull_links(const Pins *pins) {
    for (uint32_t pin = 0; pin < pins->motion->plan->pin_count; pin++) {
        mf_ClothOwner owner;
        double push[MF_CLOTH_PUSH], arm[3];
        if (!find_link(pins, pin, &owner))
            continue;
        for (uint32_t c = 0; c < 3; c++) {
            push[c] = pin_value(pins, MF_CLOTH_ROW_FORCE, pin, c) * pins->all->step;
            arm[c] = pin_value(pins, MF_CLOTH_ROW_ANCHOR, pin, c) -
                     get(pins->all->robots[owner.robots].position, owner.instance, c);
        }
        mf_vec3_cross(push + 3, arm, push);
        push_link(pins->all, owner, push);
    }
}

// Without collisions nobody else clears the wrenches of the last step.
static void clear_wrenches(const mf_Cloths *all) {
    for (uint32_t g = 0; g < all->robot_count; g++) {
        const mf_ClothRobots *robots = &all->robots[g];
        for (uint32_t i = 0; robots->wrench != NULL && i < mf_group_count(robots->group); i++) {
            if (((const uint32_t *)robots->wrench_count->data)[i] == 0)
                continue;
            ((uint32_t *)robots->wrench_count->data)[i] = 0;
            for (uint32_t c = 0; c < robots->wrench->components; c++)
                mf_field_set(robots->wrench, i, c, 0.0);
        }
    }
}

static void step_cloth(const mf_Cloths *all, const mf_ClothMotion *motion,
                       const mf_ClothSurroundings *around, uint32_t instance) {
    const Pins pins = {all, motion, instance};
    const uint32_t *fault = motion->fault->data;
    move_pins(&pins);
    if (fault[instance] == 0)
        mf_cloth_step(motion, motion->plan->vertex_count < SMALL ? NULL : all->context, around,
                      instance);
    if (fault[instance] == 0)
        pull_links(&pins);
}

static void run(const mf_WorldRun *run, void *user) {
    mf_Cloths *all = user;
    (void)run;
    if (all->clears)
        clear_wrenches(all);
    find_links(all);
    const mf_ClothSurroundings around = {all, find_obstacles, push_obstacle};
    for (uint32_t c = 0; c < all->cloth_count; c++) {
        const mf_ClothMotion *motion = all->cloths[c];
        const uint32_t *fault = motion->fault->data;
        for (uint32_t i = 0; i < mf_group_count(all->cloth_groups[c]); i++)
            if (fault[i] == 0)
                step_cloth(all, motion, &around, i);
    }
}

// ---- adding ------------------------------------------------------------------------------------

static void release_robots(mf_Context *context, mf_ClothRobots *robots) {
    for (uint32_t s = 0; robots->faces != NULL && s < robots->compound->solid_count; s++)
        mf_release(context, robots->faces[s]);
    mf_release(context, (void *)robots->faces);
    mf_release(context, robots->face_counts);
    mf_release(context, robots->values);
    mf_link_motions_release(context, &robots->motions);
    mf_compound_destroy(robots->compound);
}

static void destroy(mf_Context *context, void *user) {
    mf_Cloths *all = user;
    for (uint32_t g = 0; g < all->robot_count; g++)
        release_robots(context, &all->robots[g]);
    for (uint32_t c = 0; c < all->cloth_count; c++)
        all->cloths[c]->driven = false;
    mf_release(context, all);
}

// Planes of the faces of a hull about its center, one for each corner that lists it.
static double *list_faces(mf_Context *context, const mf_ConvexHull *hull, uint32_t *count) {
    double *out = mf_allocate(context, 4 * (size_t)hull->face_count, sizeof *out);
    *count = 0;
    for (uint32_t f = 0; out != NULL && f < hull->face_count; f++) {
        const double *normal = mf_hull_normals_f64(hull) + 3 * (size_t)f;
        const double *corner =
            mf_hull_vertices_f64(hull) + 3 * (size_t)mf_hull_faces(hull)[f].corners[0];
        double *to = out + 4 * (size_t)*count;
        bool same = false;
        mf_vec3_copy(to, normal);
        to[3] = mf_vec3_dot(normal, corner);
        for (uint32_t i = 0; i < *count && !same; i++)
            same = memcmp(out + 4 * (size_t)i, to, 3 * sizeof *to) == 0;
        *count += !same;
    }
    return out;
}

static mf_Status describe_solids(mf_Context *context, mf_ClothRobots *robots, mf_Error *error) {
    const mf_Compound *compound = robots->compound;
    const size_t solids = compound->solid_count;
    robots->faces = mf_allocate(context, solids + 1, sizeof *robots->faces);
    robots->face_counts = mf_allocate(context, solids + 1, sizeof *robots->face_counts);
    bool fine = robots->faces != NULL && robots->face_counts != NULL;
    for (uint32_t s = 0; fine && s < solids; s++) {
        const mf_CompoundSolid *solid = &compound->solids[s];
        if (solid->kind != MF_COLLIDE_HULL)
            continue;
        robots->faces[s] =
            list_faces(context, mf_hull_of(compound->hulls, solid->hull), &robots->face_counts[s]);
        fine = robots->faces[s] != NULL;
    }
    return fine ? MF_OK : mf_fail(error, MF_NO_MEMORY, "cloths: out of memory");
}

static mf_Status add_robots(mf_Cloths *all, mf_Group *group, uint32_t number, mf_Error *error) {
    mf_ClothRobots *robots = &all->robots[all->robot_count];
    *robots = (mf_ClothRobots){.group = group,
                               .number = number,
                               .position = mf_group_find_field(group, "base.position"),
                               .fault = mf_group_find_field(group, "fault.word"),
                               .wrench = mf_group_find_field(group, "wrench.link"),
                               .wrench_count = mf_group_find_field(group, "wrench.count")};
    mf_Status status =
        mf_compound_create(all->context, mf_group_model(group), false, &robots->compound, error);
    if (status != MF_OK)
        return status;
    all->robot_count++;
    status = describe_solids(all->context, robots, error);
    if (status == MF_OK)
        status = mf_link_motions_create(&robots->motions, group, error);
    if (status != MF_OK)
        return status;
    if (robots->compound->still)
        robots->wrench = NULL;
    robots->stride = (mf_link_motions_size(&robots->motions) + 7) / 8 * 8;
    robots->values = mf_allocate(all->context, mf_group_block_count(group),
                                 robots->stride * sizeof *robots->values);
    return robots->values != NULL ? MF_OK : mf_fail(error, MF_NO_MEMORY, "cloths: out of memory");
}

static mf_Status take_groups(mf_Cloths *all, mf_World *world, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < mf_world_group_count(world) && status == MF_OK; i++) {
        mf_Group *group = mf_world_group(world, i);
        mf_ClothMotion *motion = mf_cloth_motion_of(group);
        if (mf_group_config_of(group)->isolated)
            continue;
        if (all->cloth_count == MF_CLOTHS_GROUPS || all->robot_count == MF_CLOTHS_GROUPS)
            return mf_fail(error, MF_LIMIT, "cloths: more than %d groups", MF_CLOTHS_GROUPS);
        if (motion == NULL) {
            status = add_robots(all, group, i, error);
            continue;
        }
        all->cloth_groups[all->cloth_count] = group;
        all->cloths[all->cloth_count++] = motion;
    }
    if (status == MF_OK && all->cloth_count == 0)
        status = mf_fail(error, MF_BAD_ARGUMENT, "cloths: no shared group moves by cloth");
    return status;
}

mf_Status mf_cloths_add(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const char *const reads[] = {
        "base.position", "base.orientation", "joint.angle", "joint.rate",
        "pin.vertex",    "pin.anchor",       NULL};
    static const char *const writes[] = {"vertex.position",
                                         "vertex.velocity",
                                         "cloth.contacts",
                                         "pin.force",
                                         "wrench.link",
                                         "wrench.count",
                                         NULL};
    if (world == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "cloths: world is NULL");
    if (mf_world_has_system(world, "cloths"))
        return mf_fail(error, MF_BAD_ARGUMENT, "cloths: the world already has them");
    mf_Context *context = mf_world_context(world);
    mf_Cloths *all = mf_allocate(context, 1, sizeof *all);
    if (all == NULL)
        return mf_fail(error, MF_NO_MEMORY, "cloths: out of memory");
    all->context = context;
    all->clears = !mf_world_has_system(world, "collisions");
    all->step = mf_time_to_seconds(mf_world_config_of(world)->step);
    mf_Status status = take_groups(all, world, error);
    mf_WorldSystemConfig system = mf_world_system_config();
    system.name = "cloths";
    system.phase = MF_PHASE_MOTION;
    system.run = run;
    system.destroy = destroy;
    system.user = all;
    system.reads = reads;
    system.writes = writes;
    if (status == MF_OK)
        status = mf_world_add_system(world, &system, error);
    for (uint32_t c = 0; c < all->cloth_count; c++)
        all->cloths[c]->driven = status == MF_OK;
    if (status != MF_OK)
        destroy(context, all);
    return status;
}
