// Plans of the `kinematic` motion: the tree of the model, which contacts are feet, and the links
// that carry them.
#include "base/memory.h"
#include "model/points.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "motion/kinematic/motion.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

typedef struct Build {
    const mf_Model *model;
    const mf_WorldConfig *world;
    mf_Context *context;
    mf_KinMotion *motion;
    mf_ArtBody *bodies;     // of the tree in the start position, base axes, the base first
    double (*positions)[4]; // [m] per contact of the tree: position in its link's frame, radius
    bool *stands;           // per contact of the tree
    uint32_t *joints;       // per joint of the model: its place in the list, MF_NONE
    int32_t *links;         // per link of the tree: its place in the list, -1
    double size;            // [m] height of the contacts in the start position
} Build;

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_config(const mf_KinematicConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "kinematic: start from mf_motions_config()");
    if (!(config->margin >= 0.0 && config->margin <= 0.1))
        return mf_fail(error, MF_BAD_ARGUMENT, "kinematic.margin: need 0 .. 0.1 m");
    MF_NEED(isnan(config->settle_height) ||
                (config->settle_height >= 0.0 && config->settle_height < INFINITY),
            error, "kinematic.settle_height: need >= 0");
    if (!(config->settle_time >= 0.0 && config->settle_time < INFINITY))
        return mf_fail(error, MF_BAD_ARGUMENT, "kinematic.settle_time: need >= 0");
    return MF_OK;
}

static mf_Status no_feet(const mf_Model *model, mf_Error *error) {
    return mf_fail(error, MF_UNSUPPORTED,
                   "kinematic: model %s has no feet: no link that moves against its base has a "
                   "contact near the ground in the start position; name its feet in the settings",
                   model->name);
}

// ---- the tree -----------------------------------------------------------------------------------

static mf_Status make_tree(Build *b, mf_Error *error) {
    mf_ArtMotion *tree = b->motion->tree;
    const mf_KinematicConfig *config = &b->motion->config;
    tree->config = mf_motions_config().articulated;
    tree->config.shapes = config->shapes;
    tree->config.base = config->base;
    tree->plan->level = tree->terrain->lowest == tree->terrain->highest;
    tree->plan->fixed =
        config->base == MF_ARTICULATED_FIXED ||
        (config->base == MF_ARTICULATED_AS_MODEL && b->model->base == MF_BASE_FIXED);
    if (config->shapes)
        MF_TRY(mf_hulls_create(b->context, b->model, &tree->hulls, error));
    uint32_t contacts = mf_art_contact_count(tree, b->model);
    MF_TRY(mf_art_tree_build(tree, b->model, contacts, 0, b->context, error));
    MF_TRY(mf_art_queries_build(tree, b->context, error));
    const mf_Array arrays[] = {
        MF_ARRAY(b->bodies, tree->plan->link_count + 1), MF_ARRAY(b->positions, contacts),
        MF_ARRAY(b->joints, b->model->joint_count), MF_ARRAY(b->links, tree->plan->link_count),
        MF_ARRAY(b->stands, contacts)};
    tree->contacts = mf_allocate(b->context, contacts, sizeof *tree->contacts);
    if (tree->contacts == NULL ||
        !mf_allocate_arrays(b->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "kinematic: out of memory");
    mf_art_contacts_position(tree, b->model);
    for (size_t i = 0; i < tree->plan->value_count; i++)
        tree->constants_f32[i] = (float)tree->constants_f64[i];
    return mf_art_pack(tree, b->context, error);
}

// Where the links are in the start position, base upright at the origin.
static void find_bodies(Build *b) {
    const mf_ArtMotion *tree = b->motion->tree;
    const mf_Model *model = b->model;
    mf_ArtValues values;
    mf_art_values_borrow(tree, &values);
    values.position[3] = 1.0;
    for (uint32_t l = 0; l < tree->plan->link_count; l++) {
        const mf_ArtLink *link = &tree->links[l];
        const mf_Joint *joint = &model->joints[link->joint];
        double *value = values.joints + link->position;
        if (link->kind == MF_ART_BALL || link->inner) {
            uint32_t count = link->inner ? 1 : 4;
            uint32_t first = link->inner ? link->row % 3 : joint->type == MF_JOINT_FLOATING ? 3 : 0;
            for (uint32_t i = 0; i < count; i++)
                value[i] = model->start_position != NULL
                               ? model->start_position[joint->position_address + first + i]
                               : count == 4 && i == 0;
        } else {
            *value = model->start_angle[link->joint];
        }
    }
    mf_art_ask(tree, MF_ART_TASK_POSE, &values, NULL, b->bodies[0].rotation);
    mf_art_values_return(tree, &values);
}

// ---- feet ---------------------------------------------------------------------------------------

// Contacts become points and balls: a cylinder or hull the points where it touches in the start
// position, an oval the ball that reaches as deep there.
static void find_position(Build *b, uint32_t i) {
    const mf_ArtMotion *tree = b->motion->tree;
    const mf_ArtContact *contact = &tree->contacts[i];
    const double *c =
        tree->constants_f64 + tree->plan->contact_offset + (size_t)i * MF_ART_CONTACT_VALUES;
    const double *d = b->bodies[contact->link + 1].rotation + 6, *t = c + MF_ART_TOUCH_FRAME;
    double *position = b->positions[i];
    mf_vec3_copy(position, c);
    position[3] = contact->kind == MF_TOUCH_BALL ? c[3] : 0.0;
    if (contact->kind == MF_TOUCH_RIM || contact->kind == MF_TOUCH_HULL) {
        mf_art_contact_point(tree, i, d, position);
    } else if (contact->kind == MF_TOUCH_OVAL) {
        position[3] = mf_sqrt(t[0] * d[0] * d[0] + t[1] * d[1] * d[1] + t[2] * d[2] * d[2] +
                              2.0 * (t[3] * d[0] * d[1] + t[4] * d[0] * d[2] + t[5] * d[1] * d[2]));
    }
}

static double height_of(const Build *b, uint32_t i) {
    const mf_ArtBody *body = &b->bodies[b->motion->tree->contacts[i].link + 1];
    return mf_vec3_dot(body->rotation + 6, b->positions[i]) + body->position[2] -
           b->positions[i][3];
}

static bool link_moves(const mf_ArtMotion *tree, uint32_t i) {
    return tree->contacts[i].link >= 0;
}

static void find_size(Build *b, double *lowest) {
    const mf_ArtMotion *tree = b->motion->tree;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < tree->plan->contact_count; i++) {
        double z = height_of(b, i), top = z + 2.0 * b->positions[i][3];
        low = z < low ? z : low;
        high = top > high ? top : high;
    }
    *lowest = low;
    b->size = tree->plan->contact_count > 0 ? high - low : 0.0;
}

// A link is a foot when one of its contacts is low; all of its contacts can stand then.
static void choose_feet(Build *b, double lowest) {
    const mf_ArtMotion *tree = b->motion->tree;
    for (uint32_t i = 0; i < tree->plan->contact_count; i++) {
        if (!link_moves(tree, i) || height_of(b, i) > lowest + 0.05 * b->size)
            continue;
        for (uint32_t k = 0; k < tree->plan->contact_count; k++)
            b->stands[k] |= tree->contacts[k].link == tree->contacts[i].link;
    }
}

static mf_Status name_feet(Build *b, mf_Error *error) {
    const mf_ArtMotion *tree = b->motion->tree;
    for (const char *const *name = b->motion->config.feet; *name != NULL; name++) {
        uint32_t link = 0;
        while (link < b->model->link_count && strcmp(b->model->links[link].name, *name) != 0)
            link++;
        if (link == b->model->link_count)
            return mf_fail(error, MF_NOT_FOUND, "kinematic.feet: model %s has no link %s",
                           b->model->name, *name);
        bool any = false;
        for (uint32_t i = 0; i < tree->plan->contact_count; i++)
            if (tree->contacts[i].link == tree->frames[link].link)
                b->stands[i] = any = true;
        MF_CHECK(any, error, MF_UNSUPPORTED, "kinematic.feet: link %s of model %s has no contact",
                 *name, b->model->name);
    }
    return MF_OK;
}

// A contact under which another of its link lies, within 30 degrees of straight below, is never the
// lowest before the link tilts by 60 degrees.
static bool is_covered(const Build *b, uint32_t i) {
    const mf_ArtMotion *tree = b->motion->tree;
    const double cosine = 0.86602540378443864676;
    for (uint32_t k = 0; k < tree->plan->contact_count; k++) {
        double offset[3], depth;
        if (k == i || tree->contacts[k].link != tree->contacts[i].link ||
            b->positions[k][3] < b->positions[i][3])
            continue;
        mf_vec3_sub(offset, b->positions[k], b->positions[i]);
        depth = -mf_vec3_dot(b->bodies[tree->contacts[i].link + 1].rotation + 6, offset);
        if (depth > 1e-9 && depth >= cosine * mf_vec3_length(offset))
            return true;
    }
    return false;
}

static mf_Status find_feet(Build *b, mf_Error *error) {
    mf_KinMotion *motion = b->motion;
    const mf_ArtMotion *tree = motion->tree;
    double lowest;
    for (uint32_t i = 0; i < tree->plan->contact_count; i++)
        find_position(b, i);
    find_size(b, &lowest);
    if (tree->plan->fixed)
        return MF_OK;
    if (motion->config.feet != NULL)
        MF_TRY(name_feet(b, error));
    else
        choose_feet(b, lowest);
    for (uint32_t i = 0; i < tree->plan->contact_count; i++)
        motion->plan->foot_count += b->stands[i] && !is_covered(b, i);
    if (motion->plan->foot_count == 0)
        return no_feet(b->model, error);
    motion->feet = mf_allocate(b->context, motion->plan->foot_count, sizeof *motion->feet);
    MF_NEED_MEMORY(motion->feet != NULL, error, "kinematic");
    uint32_t next = 0;
    for (uint32_t i = 0; i < tree->plan->contact_count; i++)
        if (b->stands[i] && !is_covered(b, i))
            motion->feet[next++] = (mf_KinFoot){.link = tree->contacts[i].link, .row = i};
    return MF_OK;
}

// ---- joints and links ---------------------------------------------------------------------------

static void add_joint(Build *b, uint32_t number) {
    mf_KinMotion *motion = b->motion;
    const mf_Joint *joint = &b->model->joints[number];
    b->joints[number] = motion->plan->joint_count;
    motion->joints[motion->plan->joint_count++] = (mf_KinJoint){
        .row = number, .mimic = joint->mimic == MF_NONE ? MF_NONE : b->joints[joint->mimic]};
}

// Followers behind the joints that they follow.
static mf_Status find_joints(Build *b, mf_Error *error) {
    mf_KinMotion *motion = b->motion;
    const mf_Model *model = b->model;
    motion->joints = mf_allocate(b->context, model->joint_count, sizeof *motion->joints);
    MF_NEED_MEMORY(motion->joints != NULL, error, "kinematic");
    for (uint32_t j = 0; j < model->joint_count; j++)
        b->joints[j] = MF_NONE;
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t j = 0; j < model->joint_count; j++) {
            uint32_t leader = model->joints[j].mimic;
            if (!mf_joint_has_axis(&model->joints[j]) || b->joints[j] != MF_NONE ||
                (leader != MF_NONE && b->joints[leader] == MF_NONE))
                continue;
            add_joint(b, j);
            again = true;
        }
    }
    return MF_OK;
}

static mf_Status find_links(Build *b, mf_Error *error) {
    mf_KinMotion *motion = b->motion;
    const mf_ArtMotion *tree = motion->tree;
    for (uint32_t l = 0; l < tree->plan->link_count; l++)
        b->links[l] = -1;
    for (uint32_t i = 0; i < motion->plan->foot_count; i++)
        for (int32_t l = motion->feet[i].link; l >= 0; l = tree->links[l].parent)
            b->links[l] = 0;
    for (uint32_t l = 0; l < tree->plan->link_count; l++)
        if (b->links[l] >= 0)
            b->links[l] = (int32_t)motion->plan->link_count++;
    motion->links = mf_allocate(b->context, motion->plan->link_count, sizeof *motion->links);
    MF_NEED_MEMORY(motion->links != NULL, error, "kinematic");
    for (uint32_t l = 0; l < tree->plan->link_count; l++) {
        const mf_ArtLink *link = &tree->links[l];
        bool reported = link->kind != MF_ART_BALL && !link->inner;
        if (b->links[l] >= 0)
            motion->links[b->links[l]] =
                (mf_KinLink){.link = l,
                             .parent = link->parent >= 0 ? b->links[link->parent] : -1,
                             .joint = reported ? b->joints[link->joint] : MF_NONE};
    }
    for (uint32_t i = 0; i < motion->plan->foot_count; i++)
        if (motion->feet[i].link >= 0)
            motion->feet[i].link = b->links[motion->feet[i].link];
    return MF_OK;
}

// ---- constants ----------------------------------------------------------------------------------

// No foot is farther from the base's origin than all links on its way are long.
static double find_reach(const Build *b) {
    const mf_ArtMotion *tree = b->motion->tree;
    double most = b->size;
    for (uint32_t i = 0; i < b->motion->plan->foot_count; i++) {
        uint32_t row = b->motion->feet[i].row;
        double sum = mf_vec3_length(b->positions[row]) + b->positions[row][3];
        for (int32_t l = tree->contacts[row].link; l >= 0; l = tree->links[l].parent)
            sum += mf_vec3_length(mf_art_constants(tree, l) + MF_ART_POSITION);
        most = sum > most ? sum : most;
    }
    return most > 0.0 ? most : 1.0;
}

// A foot with three contacts or more can lie flat.
static bool has_soles(const mf_KinMotion *motion) {
    uint32_t row = 1; // [1] feet so far on the same link
    for (uint32_t i = 1; i < motion->plan->foot_count; i++) {
        row = motion->feet[i].link == motion->feet[i - 1].link ? row + 1 : 1;
        if (row == 3)
            return true;
    }
    return false;
}

// A robot with soles comes down onto the whole of one, from however far; one with feet that are
// points would tip over onto those that swing.
static void choose_settling(const Build *b) {
    mf_KinematicConfig *config = &b->motion->config;
    const bool soles = has_soles(b->motion);
    if (isnan(config->settle_height))
        config->settle_height = (soles ? 0.125 : 0.02) * b->size;
    if (!(config->settle_time > 0.0))
        config->settle_time = soles ? 0.005 : 0.02;
}

static void set_settings(Build *b, bool double_precision) {
    mf_KinMotion *motion = b->motion;
    const mf_Terrain *terrain = b->world->terrain;
    double *c = motion->constants_f64, step = mf_time_to_seconds(b->world->step);
    double reach = find_reach(b), scale = reach;
    scale += mf_abs(terrain->highest) > mf_abs(terrain->lowest) ? mf_abs(terrain->highest)
                                                                : mf_abs(terrain->lowest);
    // What heights are rounded by, with a margin.
    double rounded = 16.0 * scale * (double_precision ? 0x1p-52 : 0x1p-23);
    choose_settling(b);
    double settle = motion->config.settle_height;
    c[MF_KIN_STEP] = step;
    c[MF_KIN_INVERSE_STEP] = 1.0 / step;
    c[MF_KIN_FALL] = b->world->gravity * step;
    c[MF_KIN_REACH] = reach;
    c[MF_KIN_JOIN] = motion->config.margin > rounded ? motion->config.margin : rounded;
    // A foot goes as a whole, before the fit to those that stay has tilted its contacts apart.
    c[MF_KIN_LEAVE] = 2.0 * c[MF_KIN_JOIN];
    c[MF_KIN_PART] = 8.0 * c[MF_KIN_JOIN];
    c[MF_KIN_SETTLE] = settle > 0.0 ? 1.0 / settle : 0.0;
    c[MF_KIN_SETTLE_PART] = 1.0 - mf_exp(-step / motion->config.settle_time);
    c[MF_KIN_WEIGHT] = b->model->mass * b->world->gravity;
    c[MF_KIN_HIGHEST] = terrain->highest;
}

static mf_Status set_constants(Build *b, bool double_precision, mf_Error *error) {
    mf_KinMotion *motion = b->motion;
    motion->plan->joint_offset = MF_KIN_SETTINGS;
    motion->plan->foot_offset =
        motion->plan->joint_offset + motion->plan->joint_count * MF_KIN_JOINT_VALUES;
    motion->plan->value_count =
        motion->plan->foot_offset + motion->plan->foot_count * MF_KIN_FOOT_VALUES;
    motion->constants_f64 = mf_allocate(b->context, motion->plan->value_count, sizeof(double));
    motion->constants_f32 = mf_allocate(b->context, motion->plan->value_count, sizeof(float));
    if (motion->constants_f64 == NULL || motion->constants_f32 == NULL)
        return mf_fail(error, MF_NO_MEMORY, "kinematic: out of memory");
    set_settings(b, double_precision);
    for (uint32_t j = 0; j < motion->plan->joint_count; j++) {
        const mf_Joint *joint = &b->model->joints[motion->joints[j].row];
        double *c =
            motion->constants_f64 + motion->plan->joint_offset + (size_t)j * MF_KIN_JOINT_VALUES;
        c[MF_KIN_LOWER] = joint->lower;
        c[MF_KIN_UPPER] = joint->upper;
        c[MF_KIN_MULTIPLIER] = joint->multiplier;
        c[MF_KIN_OFFSET] = joint->offset;
    }
    for (uint32_t i = 0; i < motion->plan->foot_count; i++)
        memcpy(motion->constants_f64 + motion->plan->foot_offset + (size_t)i * MF_KIN_FOOT_VALUES,
               b->positions[motion->feet[i].row], sizeof *b->positions);
    for (size_t i = 0; i < motion->plan->value_count; i++)
        motion->constants_f32[i] = (float)motion->constants_f64[i];
    return MF_OK;
}

// ---- making -------------------------------------------------------------------------------------

static void release_arrays(const mf_KinMotion *motion, mf_Context *context) {
#define RELEASE(Type, name, count) mf_release(context, motion->name);
    MF_KIN_ARRAYS(RELEASE, )
#undef RELEASE
}

void mf_kin_bind_plan(mf_KinMotion *motion, mf_KinPlan *image) {
    motion->plan = image;
#define BIND(Type, name, count) motion->name = mf_flat_at(image, image->name##_at);
    MF_KIN_ARRAYS(BIND, )
#undef BIND
    mf_art_bind_plan(motion->tree, mf_flat_at(image, image->tree_at));
}

// One image of both plans, its own and the tree's.
static mf_Status pack(mf_KinMotion *motion, mf_Context *context, mf_Error *error) {
    mf_KinPlan *plan = motion->plan;
    mf_ArtPlan *tree = motion->tree->plan;
#define PART(Type, name, count) MF_FLAT_PART(plan, name, motion->name, count),
    const mf_FlatPart parts[] = {MF_KIN_ARRAYS(PART, plan) MF_FLAT_IMAGE(plan, tree, tree)};
#undef PART
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, plan, sizeof *plan, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    if (status != MF_OK) {
        plan->tree_at = 0; // still not packed
        return status;
    }
    release_arrays(motion, context);
    mf_release(context, plan);
    mf_release(context, tree);
    motion->tree->embedded = true;
    mf_kin_bind_plan(motion, image);
    return MF_OK;
}

static mf_Status fill_plan(Build *b, mf_Group *group, mf_Error *error) {
    b->motion->tree = mf_art_begin(group, error);
    if (b->motion->tree == NULL)
        return MF_NO_MEMORY;
    MF_TRY(make_tree(b, error));
    find_bodies(b);
    MF_TRY(find_feet(b, error));
    MF_TRY(find_joints(b, error));
    MF_TRY(find_links(b, error));
    MF_TRY(set_constants(b, mf_group_config_of(group)->double_precision, error));
    return pack(b->motion, b->context, error);
}

void mf_kin_destroy(mf_Context *context, void *user) {
    mf_KinMotion *motion = user;
    mf_art_destroy(context, motion->tree);
    if (motion->plan != NULL && motion->plan->tree_at == 0) // not packed
        release_arrays(motion, context);
    mf_release(context, motion->plan);
    mf_release(context, motion);
}

mf_Status mf_kin_make(mf_Group *group, const mf_KinematicConfig *config, mf_KinMotion *motion,
                      mf_Error *error) {
    mf_World *world = mf_group_world(group);
    Build b = {.model = mf_group_model(group),
               .world = mf_world_config_of(world),
               .context = mf_world_context(world),
               .motion = motion};
    MF_TRY(check_config(config, error));
    motion->plan = mf_allocate(b.context, 1, sizeof *motion->plan);
    MF_NEED_MEMORY(motion->plan != NULL, error, "kinematic");
    motion->config = *config;
    mf_Status status = fill_plan(&b, group, error);
    MF_THEN(status, mf_art_report_contacts(group, motion->tree, error));
    motion->config.feet = NULL; // the caller's, and used up
    mf_release(b.context, b.bodies);
    return status;
}
