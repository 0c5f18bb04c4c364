// Building a plan: frames rotated so that every joint's axis is z, joints that follow others
// resolved to their leader, settings and constants in both precisions.
#include "motion/points/build.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

typedef struct Build {
    const mf_Model *model;
    mf_PointsPlan *plan;
    int32_t *plan_link; // per model link, -1 = base
    double (*frame)[4]; // per model link: plan frame to link frame
    mf_Context *context;
} Build;

static bool moves(const mf_Joint *joint) {
    return joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
}

// The shortest rotation that takes z to `axis`.
static void rotation_from_z(const double axis[3], double out[4]) {
    if (axis[2] < -1.0 + 1e-12) { // half a turn about x
        out[0] = out[2] = out[3] = 0.0;
        out[1] = 1.0;
        return;
    }
    double q[4] = {1.0 + axis[2], -axis[1], axis[0], 0.0};
    memcpy(out, q, sizeof q);
    mf_quat_normalize(out);
}

static void parent_frame(const Build *b, const mf_Joint *joint, double out[4]) {
    memcpy(out, b->frame[joint->parent], 4 * sizeof(double));
}

// Chooses the plan frame of a link; parallel axes in a chain share one, which makes the joint's
// fixed rotation the identity.
static void choose_frame(Build *b, const mf_Joint *joint, bool *aligned) {
    double parent[4], axis[3], parent_axis[3] = {0, 0, 1}, z[3] = {0, 0, 1};
    parent_frame(b, joint, parent);
    mf_quat_rotate(axis, joint->rotation, joint->axis);
    mf_quat_rotate(parent_axis, parent, z);
    double distance = 0.0;
    for (int i = 0; i < 3; i++)
        distance += (axis[i] - parent_axis[i]) * (axis[i] - parent_axis[i]);
    double back[4];
    *aligned = b->plan_link[joint->parent] >= 0 && distance < 1e-24;
    if (*aligned) {
        mf_quat_conjugate(back, joint->rotation);
        mf_quat_multiply(b->frame[joint->child], back, parent);
    } else if (moves(joint)) {
        rotation_from_z(joint->axis, b->frame[joint->child]);
    } else {
        memcpy(b->frame[joint->child], (double[4]){1, 0, 0, 0}, 4 * sizeof(double));
    }
}

static double *link_constants(const mf_PointsPlan *plan, uint32_t link) {
    return plan->constants_f64 + plan->link_offset + (size_t)link * MF_PLAN_LINK_VALUES;
}

// A joint that follows another follows that one's leader in the end (the model has no cycles).
static void resolve_mimic(const Build *b, uint32_t joint, uint32_t *leader, double *multiplier,
                          double *offset) {
    *leader = joint;
    *multiplier = 1.0;
    *offset = 0.0;
    while (b->model->joints[*leader].mimic != MF_NONE) {
        const mf_Joint *follower = &b->model->joints[*leader];
        *offset += *multiplier * follower->offset;
        *multiplier *= follower->multiplier;
        *leader = follower->mimic;
    }
}

static void build_link(Build *b, uint32_t model_link) {
    mf_PointsPlan *plan = b->plan;
    uint32_t index = plan->link_count++;
    b->plan_link[model_link] = (int32_t)index;
    const mf_Joint *joint = &b->model->joints[b->model->links[model_link].joint];
    mf_PlanLink *link = &plan->links[index];
    link->parent = b->plan_link[joint->parent];
    link->joint = b->model->links[model_link].joint;
    link->kind = joint->type == MF_JOINT_HINGE   ? MF_PLAN_HINGE
                 : joint->type == MF_JOINT_SLIDE ? MF_PLAN_SLIDE
                                                 : MF_PLAN_FIXED;
    choose_frame(b, joint, &link->aligned);
    double parent[4], back[4], rotation[4], half[4];
    parent_frame(b, joint, parent);
    mf_quat_conjugate(back, parent);
    mf_quat_multiply(half, back, joint->rotation);
    mf_quat_multiply(rotation, half, b->frame[model_link]);
    double *c = link_constants(plan, index);
    mf_quat_to_matrix(c + MF_PLAN_LINK_ROTATION, rotation);
    mf_quat_rotate(c + MF_PLAN_LINK_POSITION, back, joint->position);
    c[MF_PLAN_LINK_LOWER] = joint->lower;
    c[MF_PLAN_LINK_UPPER] = joint->upper;
    c[MF_PLAN_LINK_REACH] = joint->speed * mf_time_to_seconds(plan->config.joint_interval);
    uint32_t leader;
    resolve_mimic(b, link->joint, &leader, &c[MF_PLAN_LINK_MULTIPLIER], &c[MF_PLAN_LINK_OFFSET]);
    link->mimic = leader == link->joint ? -1 : (int32_t)b->model->joints[leader].child;
}

static void build_points(Build *b) {
    mf_PointsPlan *plan = b->plan;
    uint32_t next = 0;
    for (uint32_t l = 0; l < b->model->link_count; l++) {
        uint32_t first = next;
        int32_t contact = 0;
        for (uint32_t i = 0; i < b->model->point_count; i++) {
            const mf_Point *point = &b->model->points[i];
            bool collides = (point->flags & MF_POINT_COLLIDES) != 0;
            if (point->link == l) {
                double *c =
                    plan->constants_f64 + plan->point_offset + (size_t)next * MF_PLAN_POINT_VALUES;
                mf_quat_rotate_inverse(c, b->frame[l], point->position);
                c[3] = point->flags & MF_POINT_HAS_MASS ? point->mass : 0.0;
                plan->contact[next++] = collides ? contact : -1;
            }
            contact += collides;
        }
        if (b->plan_link[l] < 0) {
            plan->base_points = next;
        } else {
            plan->links[b->plan_link[l]].first_point = first;
            plan->links[b->plan_link[l]].point_count = next - first;
        }
    }
}

static void build_settings(mf_PointsPlan *plan, const mf_WorldConfig *world, double mass) {
    double *c = plan->constants_f64;
    const mf_Terrain *terrain = plan->terrain;
    double step = mf_time_to_seconds(world->step);
    double interval = mf_time_to_seconds(plan->config.joint_interval);
    c[MF_PLAN_STEP] = step;
    c[MF_PLAN_INVERSE_STEP] = 1.0 / step;
    c[MF_PLAN_FALL] = world->gravity * step;
    c[MF_PLAN_MASS] = mass;
    c[MF_PLAN_INVERSE_MASS] = 1.0 / mass;
    c[MF_PLAN_WEIGHT] = mass * world->gravity;
    c[MF_PLAN_COMPLIANCE] = plan->config.compliance;
    c[MF_PLAN_STIFFNESS] = mass / (plan->config.compliance * step * step);
    c[MF_PLAN_SOFTNESS] = 1.0 / c[MF_PLAN_STIFFNESS];
    c[MF_PLAN_MARGIN] = plan->config.contact_margin;
    c[MF_PLAN_FRICTION] = plan->config.friction_coefficient;
    c[MF_PLAN_INTERVAL] = interval;
    c[MF_PLAN_INVERSE_INTERVAL] = 1.0 / interval;
    c[MF_PLAN_HIGHEST] = terrain->highest;
    c[MF_PLAN_ORIGIN_X] = terrain->origin[0];
    c[MF_PLAN_ORIGIN_Y] = terrain->origin[1];
    c[MF_PLAN_INVERSE_CELL] = 1.0 / terrain->cell;
    c[MF_PLAN_LAST_COLUMN] = terrain->columns - 1;
    c[MF_PLAN_LAST_ROW] = terrain->rows - 1;
}

static mf_Status check_plan(const mf_Group *group, const mf_PointsConfig *config, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    uint32_t contacts = 0;
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "points: start from mf_points_config()");
    if (config->joint_interval < world->step || config->joint_interval % world->step != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "points.joint_interval: need a multiple of the step (%lld ns), got %lld ns",
                       (long long)world->step, (long long)config->joint_interval);
    if (!(config->friction_coefficient > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "points.friction_coefficient: need > 0");
    if (!(config->compliance >= 1e-4 && config->compliance <= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "points.compliance: need 1e-4 .. 1");
    if (!(config->contact_margin >= 0.0 && config->contact_margin <= 0.1))
        return mf_fail(error, MF_BAD_ARGUMENT, "points.contact_margin: need 0 .. 0.1 m");
    for (uint32_t i = 0; i < model->point_count; i++)
        contacts += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
    if (contacts > MF_POINTS_MAX_CONTACTS || model->link_count > MF_POINTS_MAX_LINKS)
        return mf_fail(error, MF_LIMIT,
                       "points: model %s has %u contact points and %u links, at most %d and %d",
                       model->name, contacts, model->link_count, MF_POINTS_MAX_CONTACTS,
                       MF_POINTS_MAX_LINKS);
    if (!(model->mass > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "points: model %s has no mass", model->name);
    return MF_OK;
}

static mf_Status allocate_plan(Build *b, mf_Error *error) {
    mf_PointsPlan *plan = b->plan;
    const mf_Model *model = b->model;
    plan->link_offset = MF_PLAN_SETTINGS;
    plan->point_offset = plan->link_offset + model->link_count * MF_PLAN_LINK_VALUES;
    size_t values = plan->point_offset + (size_t)model->point_count * MF_PLAN_POINT_VALUES;
    plan->links = mf_allocate(b->context, model->link_count, sizeof *plan->links);
    plan->contact = mf_allocate(b->context, model->point_count, sizeof *plan->contact);
    plan->constants_f64 = mf_allocate(b->context, values, sizeof(double));
    plan->constants_f32 = mf_allocate(b->context, values, sizeof(float));
    b->plan_link = mf_allocate(b->context, model->link_count, sizeof *b->plan_link);
    b->frame = mf_allocate(b->context, model->link_count, sizeof *b->frame);
    if (plan->links == NULL || plan->contact == NULL || plan->constants_f64 == NULL ||
        plan->constants_f32 == NULL || b->plan_link == NULL || b->frame == NULL)
        return mf_fail(error, MF_NO_MEMORY, "points: out of memory");
    return MF_OK;
}

void mf_points_plan_destroy(mf_Context *context, mf_PointsPlan *plan) {
    if (plan == NULL)
        return;
    mf_scratch_destroy(context, plan->dispatch.scratch);
    mf_release(context, plan->links);
    mf_release(context, plan->contact);
    mf_release(context, plan->constants_f64);
    mf_release(context, plan->constants_f32);
    mf_release(context, plan);
}

mf_Status mf_points_plan_create(mf_Group *group, const mf_PointsConfig *config, mf_PointsPlan **out,
                                mf_Error *error) {
    *out = NULL;
    mf_Status status = check_plan(group, config, error);
    if (status != MF_OK)
        return status;
    mf_World *world = mf_group_world(group);
    Build b = {.model = mf_group_model(group), .context = mf_world_context(world)};
    b.plan = mf_allocate(b.context, 1, sizeof *b.plan);
    if (b.plan == NULL)
        return mf_fail(error, MF_NO_MEMORY, "points: out of memory");
    b.plan->config = *config;
    b.plan->terrain = mf_world_config_of(world)->terrain;
    b.plan->level = b.plan->terrain->lowest == b.plan->terrain->highest;
    b.plan->interval = (uint32_t)(config->joint_interval / mf_world_config_of(world)->step);
    status = allocate_plan(&b, error);
    if (status == MF_OK) {
        build_settings(b.plan, mf_world_config_of(world), b.model->mass);
        b.plan_link[0] = -1;
        b.frame[0][0] = 1.0;
        for (uint32_t l = 1; l < b.model->link_count; l++)
            build_link(&b, l);
        for (uint32_t l = 0; l < b.plan->link_count; l++)
            if (b.plan->links[l].mimic >= 0)
                b.plan->links[l].mimic = b.plan_link[b.plan->links[l].mimic];
        build_points(&b);
        b.plan->point_count = b.model->point_count;
        for (uint32_t i = 0; i < b.plan->point_count; i++)
            b.plan->contact_count += b.plan->contact[i] >= 0;
        size_t values = b.plan->point_offset + (size_t)b.plan->point_count * MF_PLAN_POINT_VALUES;
        for (size_t i = 0; i < values; i++)
            b.plan->constants_f32[i] = (float)b.plan->constants_f64[i];
    }
    mf_release(b.context, b.plan_link);
    mf_release(b.context, b.frame);
    if (status != MF_OK) {
        mf_points_plan_destroy(b.context, b.plan);
        return status;
    }
    *out = b.plan;
    return MF_OK;
}
