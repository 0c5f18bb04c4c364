// Building a plan: frames rotated so that every joint's axis is z, joints that follow others
// resolved to their leader, settings and constants in both precisions.
#include "base/memory.h"
#include "base/plain.h"
#include "model/points.h"
#include "motion/points/motion.h"
#include "math/scalar.h"
#include "terrain/image.h"

#include <string.h>

typedef struct Build {
    const mf_Model *model;
    const mf_PointsConfig *config;
    mf_PointsPlan plan;
    // The arrays that the plan is packed with:
    mf_PlanLink *links;
    int32_t *contacts;
    double *constants;
    float *narrow;
    int32_t *plan_link; // per model link, -1 = base
    double (*frame)[4]; // per model link: plan frame to link frame
    mf_Context *context;
} Build;

// The shortest rotation that takes z to `axis`.
static void rotation_from_z(const double axis[3], double out[4]) {
    if (axis[2] < -1.0 + 1e-12) { // half a rotation about x
        out[0] = out[2] = out[3] = 0.0;
        out[1] = 1.0;
        return;
    }
    double q[4] = {1.0 + axis[2], -axis[1], axis[0], 0.0};
    memcpy(out, q, sizeof q);
    mf_quat_normalize(out);
}

// Chooses the plan frame of a link; parallel axes in a chain share one, which makes the joint's
// fixed rotation the identity.
static void choose_frame(Build *b, const mf_Joint *joint, bool *aligned) {
    const double *parent = b->frame[joint->parent];
    double axis[3], parent_axis[3], z[3] = {0, 0, 1};
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
    } else if (mf_joint_has_axis(joint)) {
        rotation_from_z(joint->axis, b->frame[joint->child]);
    } else {
        memcpy(b->frame[joint->child], (double[4]){1, 0, 0, 0}, 4 * sizeof(double));
    }
}

static double *link_constants(const Build *b, uint32_t link) {
    return b->constants + b->plan.link_offset + (size_t)link * MF_PLAN_LINK_VALUES;
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
    const uint32_t index = b->plan.link_count++;
    b->plan_link[model_link] = (int32_t)index;
    const mf_Joint *joint = &b->model->joints[b->model->links[model_link].joint];
    mf_PlanLink *link = &b->links[index];
    link->parent = b->plan_link[joint->parent];
    link->joint = b->model->links[model_link].joint;
    link->kind = joint->type == MF_JOINT_HINGE   ? MF_PLAN_HINGE
                 : joint->type == MF_JOINT_SLIDE ? MF_PLAN_SLIDE
                                                 : MF_PLAN_FIXED;
    choose_frame(b, joint, &link->aligned);
    double back[4], rotation[4], half[4];
    mf_quat_conjugate(back, b->frame[joint->parent]);
    mf_quat_multiply(half, back, joint->rotation);
    mf_quat_multiply(rotation, half, b->frame[model_link]);
    double *c = link_constants(b, index);
    mf_quat_to_matrix(c + MF_PLAN_LINK_ROTATION, rotation);
    mf_quat_rotate(c + MF_PLAN_LINK_POSITION, back, joint->position);
    c[MF_PLAN_LINK_LOWER] = joint->lower;
    c[MF_PLAN_LINK_UPPER] = joint->upper;
    c[MF_PLAN_LINK_REACH] = joint->speed * mf_time_to_seconds(b->config->joint_interval);
    uint32_t leader;
    resolve_mimic(b, link->joint, &leader, &c[MF_PLAN_LINK_MULTIPLIER], &c[MF_PLAN_LINK_OFFSET]);
    link->mimic = leader == link->joint ? -1 : (int32_t)b->model->joints[leader].child;
}

static void build_points(Build *b) {
    uint32_t next = 0;
    for (uint32_t l = 0; l < b->model->link_count; l++) {
        uint32_t first = next;
        int32_t contact = 0;
        for (uint32_t i = 0; i < b->model->point_count; i++) {
            const mf_Point *point = &b->model->points[i];
            bool collides = (point->flags & MF_POINT_COLLIDES) != 0;
            if (point->link == l) {
                double *c =
                    b->constants + b->plan.point_offset + (size_t)next * MF_PLAN_POINT_VALUES;
                mf_quat_rotate_inverse(c, b->frame[l], point->position);
                c[3] = point->flags & MF_POINT_HAS_MASS ? point->mass : 0.0;
                b->contacts[next++] = collides ? contact : -1;
            }
            contact += collides;
        }
        if (b->plan_link[l] < 0) {
            b->plan.base_points = next;
        } else {
            b->links[b->plan_link[l]].first_point = first;
            b->links[b->plan_link[l]].point_count = next - first;
        }
    }
}

static void build_settings(const Build *b, const mf_WorldConfig *world) {
    const mf_PointsConfig *config = b->config;
    const mf_Terrain *terrain = world->terrain;
    double *c = b->constants;
    const double mass = b->model->mass, step = mf_time_to_seconds(world->step);
    const double interval = mf_time_to_seconds(config->joint_interval);
    c[MF_PLAN_STEP] = step;
    c[MF_PLAN_INVERSE_STEP] = 1.0 / step;
    c[MF_PLAN_FALL] = world->gravity * step;
    c[MF_PLAN_MASS] = mass;
    c[MF_PLAN_INVERSE_MASS] = 1.0 / mass;
    c[MF_PLAN_WEIGHT] = mass * world->gravity;
    c[MF_PLAN_COMPLIANCE] = config->compliance;
    c[MF_PLAN_STIFFNESS] = mass / (config->compliance * step * step);
    c[MF_PLAN_SOFTNESS] = 1.0 / c[MF_PLAN_STIFFNESS];
    c[MF_PLAN_MARGIN] = config->contact_margin;
    c[MF_PLAN_FRICTION] = config->friction_coefficient;
    c[MF_PLAN_INTERVAL] = interval;
    c[MF_PLAN_INVERSE_INTERVAL] = 1.0 / interval;
    c[MF_PLAN_HIGHEST] = terrain->highest;
    c[MF_PLAN_ORIGIN_X] = terrain->origin[0];
    c[MF_PLAN_ORIGIN_Y] = terrain->origin[1];
    c[MF_PLAN_INVERSE_CELL] = 1.0 / terrain->cell;
    c[MF_PLAN_LAST_COLUMN] = terrain->columns - 1;
    c[MF_PLAN_LAST_ROW] = terrain->rows - 1;
}

mf_Status mf_points_check(const mf_Group *group, const mf_Model *model,
                          const mf_PointsConfig *config, mf_Error *error) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    uint32_t contacts = 0;
    MF_NEED(config->struct_size == sizeof *config, error, "points: start from mf_motions_config()");
    if (config->joint_interval < world->step || config->joint_interval % world->step != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "points.joint_interval: need a multiple of the step (%lld ns), got %lld ns",
                       (long long)world->step, (long long)config->joint_interval);
    MF_NEED(config->friction_coefficient > 0.0, error, "points.friction_coefficient: need > 0");
    const mf_Range ranges[] = {{"compliance", "", config->compliance, 1e-4, 1},
                               {"contact_margin", "m", config->contact_margin, 0, 0.1}};
    MF_TRY(mf_ranges_check("points", ranges, sizeof ranges / sizeof *ranges, error));
    for (uint32_t i = 0; i < model->point_count; i++)
        contacts += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
    if (contacts > MF_POINTS_MAX_CONTACTS || model->link_count > MF_POINTS_MAX_LINKS)
        return mf_fail(error, MF_LIMIT,
                       "points: model %s has %u contact points and %u links, at most %d and %d",
                       model->name, contacts, model->link_count, MF_POINTS_MAX_CONTACTS,
                       MF_POINTS_MAX_LINKS);
    if (!(model->mass > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "points: model %s has no mass%s", model->name,
                       model->body_count > 0 || model->file == NULL || model->file[0] == '\0'
                           ? ""
                           : " (URDF: import.density gives links one)");
    return MF_OK;
}

static mf_Status allocate(Build *b, mf_Error *error) {
    const mf_Model *model = b->model;
    mf_PointsPlan *plan = &b->plan;
    plan->link_offset = MF_PLAN_SETTINGS;
    plan->point_offset = plan->link_offset + model->link_count * MF_PLAN_LINK_VALUES;
    plan->constant_count = plan->point_offset + model->point_count * MF_PLAN_POINT_VALUES;
    const mf_Array arrays[] = {
        MF_ARRAY(b->constants, plan->constant_count), MF_ARRAY(b->frame, model->link_count),
        MF_ARRAY(b->narrow, plan->constant_count),    MF_ARRAY(b->links, model->link_count),
        MF_ARRAY(b->contacts, model->point_count),    MF_ARRAY(b->plan_link, model->link_count)};
    return mf_allocate_arrays(b->context, arrays, sizeof arrays / sizeof *arrays)
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "points: out of memory");
}

static void build_tree(Build *b) {
    b->plan_link[0] = -1;
    b->frame[0][0] = 1.0;
    for (uint32_t l = 1; l < b->model->link_count; l++)
        build_link(b, l);
    for (uint32_t l = 0; l < b->plan.link_count; l++) {
        mf_PlanLink *link = &b->links[l];
        if (link->joint >= b->plan.joint_count)
            b->plan.joint_count = link->joint + 1;
        if (link->mimic < 0)
            continue;
        link->mimic = b->plan_link[link->mimic];
        b->plan.mimics = true;
    }
    build_points(b);
    b->plan.point_count = b->model->point_count;
    for (uint32_t i = 0; i < b->plan.point_count; i++)
        b->plan.contact_count += b->contacts[i] >= 0;
}

static mf_Status pack(Build *b, const mf_PointsPlan **out, mf_Error *error) {
    mf_PointsPlan *plan = &b->plan;
    for (uint32_t i = 0; i < plan->constant_count; i++)
        b->narrow[i] = (float)b->constants[i];
    const mf_FlatPart parts[] = {
        MF_FLAT_PART(plan, links, b->links, plan->link_count),
        MF_FLAT_PART(plan, contacts, b->contacts, plan->point_count),
        MF_FLAT_PART(plan, constants_f64, b->constants, plan->constant_count),
        MF_FLAT_PART(plan, constants_f32, b->narrow, plan->constant_count)};
    void *image;
    mf_Status status = mf_flat_pack(b->context, plan, sizeof *plan, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

mf_Status mf_points_plan_create(mf_Group *group, const mf_Model *model,
                                const mf_PointsConfig *config, const mf_PointsPlan **out,
                                mf_Error *error) {
    mf_World *world = mf_group_world(group);
    const mf_Terrain *terrain = mf_world_config_of(world)->terrain;
    Build b = {.model = model,
               .config = config,
               .context = mf_world_context(world),
               .plan = {.level = mf_terrain_level(terrain),
                        .coupled = config->friction == MF_FRICTION_COUPLED,
                        .weighted = config->weighted,
                        .keep_momentum = config->keep_momentum}};
    b.plan.slopes = !b.plan.level && terrain->interpolation == MF_BILINEAR;
    b.plan.ends = terrain->border == MF_BORDER_ENDS;
    b.plan.columns = terrain->columns;
    *out = NULL;
    mf_Status status = allocate(&b, error);
    if (status == MF_OK) {
        build_settings(&b, mf_world_config_of(world));
        build_tree(&b);
        status = pack(&b, out, error);
    }
    mf_release(b.context, b.constants);
    return status;
}
