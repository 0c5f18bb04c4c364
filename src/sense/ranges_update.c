// What range sensors see, read from the models and, in each step that measures, from the state.
#include "model/points.h"
#include "sense/ranges.h"
#include "world/attach.h"
#include "base/context.h"
#include "base/sort.h"

#include "math/kernel_table.h"
#include "math/scalar.h"
#include "model/sensor_kind.h"
#include "model/shape_kinds.h"

#include <mayfly/particles.h>

#include <math.h>

enum { POSITION = 3, ROTATION = 4, VELOCITY = 6, ROWS = 13 }; // [1] rows per link

// Positions beyond this [m] are nowhere.
static const double farthest = 1e6;

// ---- models -------------------------------------------------------------------------------------

// Planes and height fields are ground, which the world has from them.
static bool is_seen(const mf_Shape *shape) {
    return shape->collides && mf_shape_is_solid(shape->type) && shape->type != MF_SHAPE_PLANE;
}

static mf_RangeSolid solid_of(const mf_Model *model, const mf_Shape *shape) {
    const mf_Mesh *mesh = shape->type == MF_SHAPE_MESH ? &model->meshes[shape->mesh] : NULL;
    mf_RangeSolid out = {.frame = mf_shape_frame(model, shape),
                         .shape = mf_ray_solid(shape->type, shape->size, mesh)};
    mf_vec3_copy(out.position, shape->position);
    memcpy(out.rotation, shape->rotation, sizeof out.rotation);
    out.radius = mf_shape_radius(shape->type, shape->size, mesh) * (1.0 + 1e-6) + 1e-9;
    return out;
}

static uint32_t count_seen(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shape_count; i++)
        count += is_seen(&model->shapes[i]);
    return count;
}

// Sorted by link, those of the world last; frames are links until they are numbered.
static void put_solids(mf_RangeGroup *group, const mf_Model *model) {
    for (uint32_t l = 0; l <= model->link_count; l++) {
        const uint32_t link = l < model->link_count ? l : MF_NONE;
        for (uint32_t i = 0; i < model->shape_count; i++)
            if (is_seen(&model->shapes[i]) && mf_shape_frame(model, &model->shapes[i]) == link)
                group->solids[group->solid_count++] = solid_of(model, &model->shapes[i]);
        group->moving_count = link != MF_NONE ? group->solid_count : group->moving_count;
    }
}

// Sensors that can see what others are.
static bool is_ranging(const mf_SenseItem *own) {
    return (mf_sensor_kind(own->type)->flags & MF_SENSES_RANGE) && !own->dead && !own->copied;
}

static void put_rays(mf_RangeGroup *group) {
    static const double ahead[3] = {0, 0, 1};
    const mf_SensePlan *plan = group->plan;
    for (uint32_t i = 0; plan != NULL && i < plan->image->item_count; i++) {
        const mf_SenseItem *own = &mf_sense_items(plan->image)[i];
        if (!is_ranging(own))
            continue;
        mf_RangeRay *ray = &group->rays[group->ray_count++];
        *ray =
            (mf_RangeRay){.item = i, .frame = own->frame.body > 0 ? own->frame.body - 1 : MF_NONE};
        mf_vec3_copy(ray->start, own->frame.position);
        mf_quat_rotate(ray->direction, own->frame.rotation,
                       own->type == MF_SENSOR_RAY ? own->axis : ahead);
        mf_vec3_normalize(ray->direction);
    }
}

// The sensors of a group, if they are measured when all robots have moved.
static mf_SensePlan *late_plan_of(const mf_Group *group) {
    mf_SensePlan *plan = mf_sense_plan_of(group);
    return plan != NULL && !plan->before_control ? plan : NULL;
}

static uint32_t count_rays(const mf_SensePlan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; plan != NULL && i < plan->image->item_count; i++)
        count += is_ranging(&mf_sense_items(plan->image)[i]);
    return count;
}

static bool bears_frame(const mf_RangeGroup *group, uint32_t link) {
    for (uint32_t s = 0; s < group->moving_count; s++)
        if (group->solids[s].frame == link)
            return true;
    for (uint32_t r = 0; r < group->ray_count; r++)
        if (group->rays[r].frame == link)
            return true;
    return false;
}

// Lists frames and the links on the way to them.
static void list_frames(mf_RangeGroup *group, const mf_Model *model) {
    for (uint32_t l = 0; l < model->link_count; l++)
        if (bears_frame(group, l))
            group->frames[group->frame_count++] = l;
    for (uint32_t f = 0; f < group->frame_count; f++)
        for (uint32_t l = group->frames[f]; l > 0; l = model->links[l].parent)
            group->links[l] = 1; // a flag first
    for (uint32_t l = 1; l < model->link_count; l++)
        if (group->links[l])
            group->links[group->link_count++] = l;
}

static void number_frame(const mf_RangeGroup *group, uint32_t *frame) {
    for (uint32_t f = 0; f < group->frame_count; f++)
        if (group->frames[f] == *frame) {
            *frame = f;
            return;
        }
}

static mf_Status fill_group(mf_Ranges *all, mf_RangeGroup *group, mf_Error *error) {
    static const mf_TreeMotionFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_tree_motion);
    const mf_Model *model = mf_group_model(group->group);
    mf_Context *context = all->context;
    group->wide = mf_group_config_of(group->group)->double_precision;
    group->move = kernels[mf_kernel_row(mf_world_isa(all->world))][group->wide];
    group->fields = mf_tree_fields(group->group);
    group->fault = mf_group_find_field(group->group, "fault.word")->data;
    group->links = mf_allocate(context, model->link_count, sizeof *group->links);
    group->frames = mf_allocate(context, model->link_count, sizeof *group->frames);
    group->solids = mf_allocate(context, count_seen(model) + 1, sizeof *group->solids);
    group->rays = mf_allocate(context, count_rays(group->plan) + 1, sizeof *group->rays);
    MF_NEED_MEMORY(group->links && group->frames && group->solids && group->rays, error, "ranges");
    put_solids(group, model);
    put_rays(group);
    list_frames(group, model);
    for (uint32_t s = 0; s < group->moving_count; s++)
        number_frame(group, &group->solids[s].frame);
    for (uint32_t r = 0; r < group->ray_count; r++)
        if (group->rays[r].frame != MF_NONE)
            number_frame(group, &group->rays[r].frame);
    group->poses =
        mf_allocate(context, (size_t)group->count * group->frame_count + 1, sizeof *group->poses);
    group->centers = mf_allocate(context, (size_t)group->count * group->moving_count + 1,
                                 sizeof *group->centers);
    MF_NEED_MEMORY(group->poses != NULL && group->centers != NULL, error, "ranges");
    return mf_tree_create(context, model, MF_TREE_FIELDS, model->base == MF_BASE_FREE, NULL,
                          &group->tree, error);
}

// ---- groups -------------------------------------------------------------------------------------

static void take_group(mf_Ranges *all, mf_Group *own) {
    mf_RangeGroup *group = &all->groups[all->group_count++];
    *group = (mf_RangeGroup){.group = own,
                             .plan = late_plan_of(own),
                             .count = mf_group_count(own),
                             .first_block = all->block_count,
                             .block_count = mf_group_block_count(own),
                             .first_item = all->item_count};
    group->item_count = group->count + 1;
    all->block_count += group->block_count;
    all->item_count += group->item_count;
}

static mf_Status make_memory(mf_Ranges *all, mf_Error *error) {
    const size_t items = (size_t)all->item_count + 1;
    uint32_t links = 1;
    all->boxes = mf_allocate(all->context, items, sizeof *all->boxes);
    all->group_of = mf_allocate(all->context, items, sizeof *all->group_of);
    all->order = mf_allocate(all->context, items, sizeof *all->order);
    all->nodes = mf_allocate(all->context, 2 * items, sizeof *all->nodes);
    MF_NEED_MEMORY(all->boxes && all->group_of && all->order && all->nodes, error, "ranges");
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_RangeGroup *group = &all->groups[g];
        const uint32_t own = mf_group_model(group->group)->link_count;
        for (uint32_t i = 0; i < group->item_count; i++)
            all->group_of[group->first_item + i] = g;
        links = own > links ? own : links;
    }
    return mf_scratch_create(all->context, (size_t)links * ROWS * MF_BLOCK * sizeof(double),
                             all->block_count, &all->scratch, error);
}

mf_Status mf_ranges_take_groups(mf_Ranges *all, mf_Error *error) {
    mf_Status status = MF_OK;
    const uint32_t count = mf_world_group_count(all->world);
    all->groups = mf_allocate(all->context, count, sizeof *all->groups);
    MF_NEED_MEMORY(all->groups != NULL, error, "ranges");
    for (uint32_t g = 0; g < count; g++) {
        mf_Group *group = mf_world_group(all->world, g);
        const uint32_t seen = count_seen(mf_group_model(group));
        if (!mf_group_config_of(group)->isolated && !(mf_particles_spacing(group) > 0.0) &&
            seen + count_rays(late_plan_of(group)) > 0)
            take_group(all, group);
    }
    for (uint32_t g = 0; g < all->group_count && status == MF_OK; g++)
        status = fill_group(all, &all->groups[g], error);
    return status == MF_OK ? make_memory(all, error) : status;
}

void mf_ranges_destroy(mf_Context *context, void *user) {
    mf_Ranges *all = user;
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_RangeGroup *group = &all->groups[g];
        mf_release(context, group->tree);
        mf_release(context, group->links);
        mf_release(context, group->frames);
        mf_release(context, group->solids);
        mf_release(context, group->rays);
        mf_release(context, group->poses);
        mf_release(context, group->centers);
    }
    mf_scratch_destroy(context, all->scratch);
    mf_release(context, all->groups);
    mf_release(context, all->boxes);
    mf_release(context, all->group_of);
    mf_release(context, all->order);
    mf_release(context, all->nodes);
    mf_release(context, all);
}

// ---- the state ----------------------------------------------------------------------------------

static double value_at(const void *rows, bool wide, size_t row, uint32_t lane) {
    const size_t at = row * MF_BLOCK + lane;
    return wide ? ((const double *)rows)[at] : (double)((const float *)rows)[at];
}

static size_t size_of(const mf_RangeGroup *group) {
    return group->wide ? sizeof(double) : sizeof(float);
}

// Larger than what it holds by far more than roundings.
static void put_sphere(double box[6], const double center[3], double radius) {
    for (int i = 0; i < 3; i++) {
        const double more = radius + 1e-9 * mf_abs(center[i]);
        box[i] = center[i] - more < box[i] ? center[i] - more : box[i];
        box[3 + i] = center[i] + more > box[3 + i] ? center[i] + more : box[3 + i];
    }
}

static void clear_box(double box[6]) {
    mf_vec3_set(box, (double)INFINITY, (double)INFINITY, (double)INFINITY);
    mf_vec3_set(box + 3, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY);
}

// Poses of the frames of one robot; false: it is nowhere.
static bool take_poses(const mf_RangeGroup *group, uint32_t robot, const char *rows,
                       mf_RangePose *poses) {
    const size_t links = mf_group_model(group->group)->link_count * (size_t)MF_BLOCK;
    const char *rotations = rows + POSITION * links * size_of(group);
    const uint32_t lane = robot % MF_BLOCK;
    double base[3];
    bool fine = group->fault[robot] == 0;
    mf_field_read(group->fields.position, robot, 0, 3, base);
    for (uint32_t f = 0; f < group->frame_count; f++) {
        const size_t link = group->frames[f];
        mf_RangePose *pose = &poses[f];
        for (size_t c = 0; c < 3; c++)
            pose->position[c] = base[c] + value_at(rows, group->wide, POSITION * link + c, lane);
        for (size_t c = 0; c < 4; c++)
            pose->rotation[c] = value_at(rotations, group->wide, ROTATION * link + c, lane);
        for (int c = 0; c < 3; c++)
            fine = fine && mf_abs(pose->position[c]) < farthest;
        fine = fine && mf_all_finite(pose->rotation, 4);
        mf_quat_normalize(pose->rotation);
    }
    return fine;
}

static void put_robot(const mf_Ranges *all, const mf_RangeGroup *group, uint32_t robot,
                      const char *rows) {
    mf_RangePose *poses = &group->poses[(size_t)robot * group->frame_count];
    double *box = all->boxes[group->first_item + robot];
    clear_box(box);
    if (!take_poses(group, robot, rows, poses))
        return;
    for (uint32_t s = 0; s < group->moving_count; s++) {
        const mf_RangeSolid *solid = &group->solids[s];
        double *center = group->centers[(size_t)robot * group->moving_count + s];
        mf_quat_rotate(center, poses[solid->frame].rotation, solid->position);
        mf_vec3_add(center, center, poses[solid->frame].position);
        put_sphere(box, center, solid->radius);
    }
}

static void update_block(const mf_Ranges *all, const mf_RangeGroup *group, uint32_t block,
                         char *rows) {
    const size_t links = mf_group_model(group->group)->link_count * (size_t)MF_BLOCK;
    const mf_TreeState state = mf_tree_state(&group->fields, block);
    const mf_TreeMotion motion = {.position = rows,
                                  .rotation = rows + POSITION * links * size_of(group),
                                  .velocity = rows + (POSITION + ROTATION) * links * size_of(group),
                                  .position_rows = POSITION,
                                  .rotation_rows = ROTATION,
                                  .velocity_rows = VELOCITY,
                                  .links = group->links,
                                  .link_count = group->link_count,
                                  .lane_count = MF_BLOCK};
    group->move(group->tree, &state, &motion);
    for (uint32_t i = block * MF_BLOCK; i < (block + 1) * MF_BLOCK && i < group->count; i++)
        put_robot(all, group, i, rows);
}

static void update_task(void *user, uint32_t index) {
    const mf_Ranges *all = user;
    const uint32_t g =
        mf_find_part(&all->groups[0].first_block, sizeof *all->groups, all->group_count, index);
    char *rows = mf_scratch_borrow(all->scratch);
    update_block(all, &all->groups[g], index - all->groups[g].first_block, rows);
    mf_scratch_return(all->scratch, rows);
}

void mf_ranges_update(mf_Ranges *all, bool alone) {
    if (!alone && all->block_count > 1 && mf_context_threads(all->context) > 1)
        mf_parallel_for(all->context, all->block_count, update_task, all);
    else
        for (uint32_t i = 0; i < all->block_count; i++)
            update_task(all, i);
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_RangeGroup *group = &all->groups[g];
        double *box = all->boxes[group->first_item + group->count];
        clear_box(box);
        for (uint32_t s = group->moving_count; s < group->solid_count; s++)
            put_sphere(box, group->solids[s].position, group->solids[s].radius);
    }
    mf_ranges_grow(all);
}
