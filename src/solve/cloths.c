// Cloths of shared groups among the links of robots: one system of the world, which steps the
// cloths with all threads. Solids of links go on with the twist that they have when the step
// begins; what vertices get from them, the links get back in this step, through the fields
// wrench.link, opposite to the rounding of sums. Groups without these fields touch the cloth
// and are not pushed.
//
// Invariants: robots are listed by group, instance and solid, so results depend on the state only;
// one thread adds the wrenches; a step allocates nothing.
#include "base/floats.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "motion/cloth/motion.h"
#include "solve/solids.h"
#include "world/attach.h"
#include "world/systems.h"

#include <string.h>

typedef struct mf_Cloths {
    mf_Context *context;
    double step;          // [s]
    uint32_t cloth_count; // [1] groups
    mf_Group **cloth_groups;
    mf_ClothMotion **cloths;
    mf_Solids solids;
    mf_SolidLink links[MF_CLOTH_OBSTACLES]; // of those that were found last
} mf_Cloths;

// [1] vertices of a cloth that one thread steps: sharing it out would take longer.
enum { SMALL = 2048 };

// ---- solids ------------------------------------------------------------------------------------

static bool is_near(const mf_Solid *solid, double step, const double low[3], const double high[3]) {
    const double distance = solid->radius + step * mf_vec3_length(solid->velocity);
    for (int c = 0; c < 3; c++)
        if (!(solid->center[c] + distance >= low[c] && solid->center[c] - distance <= high[c]))
            return false;
    return true;
}

static uint32_t find_obstacles(void *user, const double low[3], const double high[3],
                               mf_Solid *out) {
    mf_Cloths *all = user;
    uint32_t count = 0;
    for (uint32_t s = 0; s < all->solids.count; s++) {
        if (!is_near(&all->solids.solids[s], all->step, low, high))
            continue;
        if (count < MF_CLOTH_OBSTACLES) {
            out[count] = all->solids.solids[s];
            all->links[count] = all->solids.links[s];
        }
        count++;
    }
    return count;
}

static void push_link(const mf_Cloths *all, mf_SolidLink link, const double push[MF_CLOTH_PUSH]) {
    double wrench[MF_CLOTH_PUSH];
    for (uint32_t i = 0; i < MF_CLOTH_PUSH; i++)
        wrench[i] = push[i] / all->step;
    mf_solids_push(&all->solids, link, wrench);
}

static void push_obstacle(void *user, uint32_t index, const double push[MF_CLOTH_PUSH]) {
    const mf_Cloths *all = user;
    push_link(all, all->links[index], push);
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
static bool find_link(const Pins *pins, uint32_t pin, mf_SolidLink *out) {
    const double group = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 0);
    const double robot = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 1);
    const double link = pin_value(pins, MF_CLOTH_ROW_LINK, pin, 2);
    if (group == 0.0)
        return false;
    for (uint32_t o = 0; o < pins->all->solids.owner_count; o++) {
        const mf_SolidOwner *owner = &pins->all->solids.owners[o];
        *out = (mf_SolidLink){o, (uint32_t)robot, (uint32_t)link};
        if (group == owner->number + 1.0 && robot < mf_group_count(owner->group) &&
            link < mf_group_model(owner->group)->link_count)
            return true;
    }
    ((uint32_t *)pins->motion->fault->data)[pins->instance] |= MF_FAULT_INPUT;
    return false;
}

// The anchors at the end of the step, if links go on with their twist.
static void move_pins(const Pins *pins) {
    const double step = pins->all->step;
    for (uint32_t pin = 0; pin < pins->motion->plan->pin_count; pin++) {
        mf_SolidLink index;
        double rotate[4], rotation[4], position[3], at[3];
        if (!find_link(pins, pin, &index))
            continue;
        const mf_LinkMotion link = mf_solids_motion(&pins->all->solids, index);
        mf_field_read(pins->motion->rows[MF_CLOTH_ROW_PIN_POSITION], pins->instance, 3 * pin, 3,
                      position);
        mf_quat_from_axis_angle(rotate, link.rate, mf_vec3_length(link.rate) * step);
        mf_quat_multiply(rotation, rotate, link.orientation);
        mf_pose_point(at, link.position, rotation, position);
        mf_vec3_add_scaled(at, at, step, link.velocity);
        mf_field_write(pins->motion->rows[MF_CLOTH_ROW_ANCHOR], pins->instance, 3 * pin, 3, at);
    }
}

// The links get what the cloth pulls with.
static void pull_links(const Pins *pins) {
    for (uint32_t pin = 0; pin < pins->motion->plan->pin_count; pin++) {
        mf_SolidLink index;
        double push[MF_CLOTH_PUSH], arm[3];
        if (!find_link(pins, pin, &index))
            continue;
        const mf_SolidOwner *owner = &pins->all->solids.owners[index.owner];
        for (uint32_t c = 0; c < 3; c++) {
            push[c] = pin_value(pins, MF_CLOTH_ROW_FORCE, pin, c) * pins->all->step;
            arm[c] = pin_value(pins, MF_CLOTH_ROW_ANCHOR, pin, c) -
                     mf_field_get(owner->position, index.instance, c);
        }
        mf_vec3_cross(push + 3, arm, push);
        push_link(pins->all, index, push);
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
    mf_solids_clear(&all->solids);
    mf_solids_find(&all->solids, 0.0, all->step);
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

static void destroy(mf_Context *context, void *user) {
    mf_Cloths *all = user;
    mf_solids_release(&all->solids);
    for (uint32_t c = 0; c < all->cloth_count; c++)
        all->cloths[c]->driven = false;
    mf_release(context, all->cloths);
    mf_release(context, all);
}

static mf_Status take_groups(mf_Cloths *all, mf_World *world, mf_Error *error) {
    const uint32_t count = mf_world_group_count(world);
    const mf_Array arrays[] = {MF_ARRAY(all->cloths, count), MF_ARRAY(all->cloth_groups, count)};
    MF_NEED_MEMORY(mf_allocate_arrays(all->context, arrays, 2), error, "cloths");
    for (uint32_t i = 0; i < count; i++) {
        mf_Group *group = mf_world_group(world, i);
        mf_ClothMotion *motion = mf_cloth_motion_of(group);
        if (mf_group_config_of(group)->isolated || motion == NULL)
            continue;
        all->cloth_groups[all->cloth_count] = group;
        all->cloths[all->cloth_count++] = motion;
    }
    MF_NEED(all->cloth_count != 0, error, "cloths: no shared group moves by cloth");
    return mf_solids_create(&all->solids, world, true, "cloths", error);
}

mf_Status mf_cloths_add(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const char *const reads[] = {
        "base.position", "base.orientation", "joint.angle", "joint.rate",
        "pin.vertex",    "pin.anchor",       NULL};
    static const char *const writes[] =
        MF_NAMES("vertex.position", "vertex.velocity", "cloth.contacts", "pin.force", "wrench.link",
                 "wrench.count");
    MF_NEED(world != NULL, error, "cloths: world is NULL");
    if (mf_world_find_system(world, "cloths") != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "cloths: the world already has them");
    mf_Context *context = mf_world_context(world);
    mf_Cloths *all;
    MF_TRY(MF_ALLOCATE(context, "cloths", error, MF_ARRAY(all, 1)));
    all->context = context;
    all->step = mf_time_to_seconds(mf_world_config_of(world)->step);
    mf_Status status = take_groups(all, world, error);
    mf_WorldSystemConfig system = mf_attach_world_system("cloths", MF_PHASE_MOTION, run, all);
    system.destroy = destroy;
    system.reads = reads;
    system.writes = writes;
    MF_THEN(status, mf_world_add_system(world, &system, error));
    for (uint32_t c = 0; c < all->cloth_count; c++)
        all->cloths[c]->driven = status == MF_OK;
    if (status != MF_OK)
        destroy(context, all);
    return status;
}
