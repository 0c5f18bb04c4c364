// Features of a model that motions do not support: one table, a row for each feature that some
// motion ignores. Rows name the motions according to their code: kinematic/plan.c, points/plan.c,
// driven/ (rigid and prescribed), and articulated/notes.c for `articulated`, which depends on the
// settings.
#include "contact/collide.h"
#include "math/scalar.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMPARED = 1 << 20 }; // [1] pairs of shapes

// A motion with settings that decide what it follows.
typedef struct Case {
    const mf_Model *model;
    mf_Motion motion;
    bool contacts;                    // with the ground
    bool shapes;                      // meet the ground themselves
    bool limits;                      // of joints
    double spin_friction;             // [m] against turning; NAN: as the shapes say
    bool held;                        // the base, by the world
    mf_ArticulatedConfig articulated; // its contact law found
} Case;

static bool is_off(const Case *c, uint32_t bits) {
    return (c->model->physics.disabled & bits) != 0;
}

static bool turns_or_slides(const mf_Joint *joint) {
    return joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
}

static bool is_driven(mf_Motion motion) {
    return motion == MF_MOTION_RIGID || motion == MF_MOTION_PRESCRIBED;
}

// ---- joints -------------------------------------------------------------------------------------

typedef bool (*JointFn)(const Case *c, const mf_Joint *joint);

static uint32_t count_joints(const Case *c, JointFn counts) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < c->model->joint_count; j++)
        count += counts(c, &c->model->joints[j]);
    return count;
}

static bool has_effort(const Case *c, const mf_Joint *joint) {
    (void)c; // models made by hand have no range
    return turns_or_slides(joint) &&
           (mf_is_finite(joint->effort) ||
            (joint->force_lower < joint->force_upper &&
             (mf_is_finite(joint->force_lower) || mf_is_finite(joint->force_upper))));
}
static bool has_spring(const Case *c, const mf_Joint *joint) {
    return joint->stiffness > 0.0 && !is_off(c, MF_DISABLE_SPRING);
}
static bool has_damping(const Case *c, const mf_Joint *joint) {
    return joint->damping > 0.0 && !is_off(c, MF_DISABLE_DAMPER);
}
static bool has_friction(const Case *c, const mf_Joint *joint) {
    return joint->friction > 0.0 && !is_off(c, MF_DISABLE_FRICTION_LOSS | MF_DISABLE_CONSTRAINT);
}
static bool has_armature(const Case *c, const mf_Joint *joint) {
    (void)c;
    return joint->armature > 0.0;
}
static bool has_range(const Case *c, const mf_Joint *joint) {
    (void)c;
    return turns_or_slides(joint) && (mf_is_finite(joint->lower) || mf_is_finite(joint->upper));
}
static bool has_soft_range(const Case *c, const mf_Joint *joint) {
    return c->model->body_count > 0 && has_range(c, joint) &&
           (mf_art_is_said(&joint->limit_softness) || joint->limit_margin > 0.0);
}
static bool has_speed(const Case *c, const mf_Joint *joint) {
    (void)c;
    return turns_or_slides(joint) && mf_is_finite(joint->speed);
}
static bool is_ball(const Case *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_BALL;
}
static bool is_floating(const Case *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_FLOATING;
}
static bool is_planar(const Case *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_PLANAR;
}

static uint32_t efforts(const Case *c) {
    return count_joints(c, has_effort);
}
static uint32_t springs(const Case *c) {
    return count_joints(c, has_spring);
}
static uint32_t dampers(const Case *c) {
    return count_joints(c, has_damping);
}
static uint32_t frictions(const Case *c) {
    return count_joints(c, has_friction);
}
static uint32_t armatures(const Case *c) {
    return count_joints(c, has_armature);
}
static uint32_t speeds(const Case *c) {
    return count_joints(c, has_speed);
}
static uint32_t balls(const Case *c) {
    return count_joints(c, is_ball);
}
static uint32_t floating(const Case *c) {
    return count_joints(c, is_floating);
}
static uint32_t planars(const Case *c) {
    return count_joints(c, is_planar);
}
static bool limits_off(const Case *c) {
    return is_off(c, MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT);
}
static uint32_t soft_ranges(const Case *c) {
    return limits_off(c) ? 0 : count_joints(c, has_soft_range);
}
// That the file switches off and the motion keeps.
static uint32_t kept_ranges(const Case *c) {
    return c->limits && limits_off(c) ? count_joints(c, has_range) : 0;
}
static uint32_t base_joint(const Case *c) {
    const mf_Joint *root = c->model->root;
    return root != NULL && (has_damping(c, root) || has_friction(c, root) || root->armature > 0.0);
}

// ---- forces -------------------------------------------------------------------------------------

static uint32_t actuators(const Case *c) {
    return is_off(c, MF_DISABLE_ACTUATION) ? 0 : c->model->actuator_count;
}

static uint32_t tendons(const Case *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->tendon_count; i++)
        count += mf_art_tendon_held(c->model, i);
    return count;
}

static uint32_t equalities(const Case *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->equality_count; i++)
        count += c->model->equalities[i].active;
    return is_off(c, MF_DISABLE_EQUALITY | MF_DISABLE_CONSTRAINT) ? 0 : count;
}

static bool no_passive(const Case *c) {
    return is_off(c, MF_DISABLE_SPRING) && is_off(c, MF_DISABLE_DAMPER);
}

static uint32_t lifts(const Case *c) {
    uint32_t count = 0;
    for (uint32_t l = 0; l < c->model->link_count; l++)
        count += mf_abs(c->model->links[l].lift_mass) > 0.0;
    return no_passive(c) ? 0 : count;
}

static uint32_t medium(const Case *c) {
    const mf_Physics *physics = &c->model->physics;
    return (physics->density > 0.0 || physics->viscosity > 0.0) && !no_passive(c);
}

static uint32_t integrator(const Case *c) {
    return c->model->body_count > 0 && c->model->physics.integrator != MF_PHYSICS_EULER;
}

// ---- contacts -----------------------------------------------------------------------------------

static bool contacts_off(const Case *c) {
    return is_off(c, MF_DISABLE_CONTACT | MF_DISABLE_CONSTRAINT);
}

static bool of_robot(const mf_Shape *shape) {
    return shape->collides && shape->link != MF_NONE;
}

typedef bool (*ShapeFn)(const Case *c, uint32_t shape);

// Of those that may touch the ground; `counts` NULL: all.
static uint32_t count_touching(const Case *c, ShapeFn counts) {
    uint32_t count = 0;
    if (!c->contacts || contacts_off(c) || (c->held && c->motion != MF_MOTION_ARTICULATED))
        return 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++)
        count += of_robot(&c->model->shapes[i]) && (counts == NULL || counts(c, i));
    return count;
}

static bool is_solid(const Case *c, uint32_t i) {
    return c->model->shapes[i].type != MF_SHAPE_POINT;
}
static bool is_kept_off(const Case *c, uint32_t i) {
    mf_CollidePair pair;
    return !mf_art_ground_pair(c->model, i, &pair);
}
// Shapes made by hand have no dimension and say nothing.
static bool has_surface(const Case *c, uint32_t i) {
    return c->model->shapes[i].dimension > 0;
}
static bool is_soft(const Case *c, uint32_t i) {
    const mf_Shape *shape = &c->model->shapes[i];
    return shape->dimension > 0 && mf_art_is_said(&shape->softness);
}
static bool is_turning(const Case *c, uint32_t i) {
    return c->model->shapes[i].dimension >= 4;
}

static bool is_of_base(const Case *c, uint32_t i) {
    return c->model->shapes[i].link == 0;
}

static uint32_t base_shapes(const Case *c) {
    return count_touching(c, is_of_base);
}
static uint32_t points_instead(const Case *c) {
    return c->shapes ? 0 : count_touching(c, is_solid);
}
static uint32_t kept_off(const Case *c) {
    return c->shapes ? 0 : count_touching(c, is_kept_off);
}
static uint32_t softnesses(const Case *c) {
    return count_touching(c, is_soft);
}
static uint32_t turning(const Case *c) {
    return isnan(c->spin_friction) ? 0 : count_touching(c, is_turning);
}
static uint32_t own_law(const Case *c) {
    return c->model->body_count > 0 ? count_touching(c, has_surface) : 0;
}
static uint32_t impratio(const Case *c) {
    const double ratio = c->model->physics.friction_impedance_ratio;
    return (ratio < 1.0 || ratio > 1.0) && own_law(c) > 0;
}

// A level plane or height field of the world.
static bool is_floor(const mf_Shape *shape) {
    const double x = shape->rotation[1], y = shape->rotation[2];
    return shape->link == MF_NONE && shape->collides && x * x + y * y < 1e-12 &&
           (shape->type == MF_SHAPE_PLANE || shape->type == MF_SHAPE_HEIGHTS);
}

// Shapes of a robot that the world holds, above a floor of the file.
static uint32_t held_shapes(const Case *c) {
    bool floor = false;
    uint32_t count = 0;
    if (!c->held || contacts_off(c))
        return 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++) {
        floor = floor || is_floor(&c->model->shapes[i]);
        count += of_robot(&c->model->shapes[i]);
    }
    return floor ? count : 0;
}

static uint32_t obstacles(const Case *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++) {
        const mf_Shape *shape = &c->model->shapes[i];
        count += shape->collides && shape->link == MF_NONE && !is_floor(shape);
    }
    return contacts_off(c) ? 0 : count;
}

// Whether two links may touch each other. Of a very large robot the first pairs are looked at.
static uint32_t links_touch(const Case *c) {
    const mf_Model *model = c->model;
    mf_CollidePair pair;
    uint32_t compared = 0;
    for (uint32_t i = 0; i < model->shape_count && !contacts_off(c); i++) {
        if (!of_robot(&model->shapes[i]))
            continue;
        for (uint32_t k = 0; k < i; k++) {
            if (!of_robot(&model->shapes[k]) || model->shapes[i].link == model->shapes[k].link)
                continue;
            if (mf_collide_match(model, i, k, &pair) || ++compared == MOST_COMPARED)
                return 1;
        }
    }
    return 0;
}

// That articulated settings leave out.
static uint32_t alone_links(const Case *c) {
    return c->articulated.self_contacts ? 0 : links_touch(c);
}
static uint32_t alone_obstacles(const Case *c) {
    return c->articulated.self_contacts ? 0 : obstacles(c);
}

static uint32_t kept_contacts(const Case *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++)
        count += of_robot(&c->model->shapes[i]);
    return c->contacts && contacts_off(c) ? count : 0;
}

// ---- the table ----------------------------------------------------------------------------------

enum {
    K = 1 << MF_MOTION_KINEMATIC,
    P = 1 << MF_MOTION_POINTS,
    R = 1 << MF_MOTION_RIGID,
    S = 1 << MF_MOTION_PRESCRIBED,
    A = 1 << MF_MOTION_ARTICULATED,
    ALL_BUT_A = K | P | R | S
};

static const struct Row {
    unsigned motions;
    uint32_t (*count)(const Case *c); // 0: the model has nothing of it
    const char *text;                 // "(#)" stands for that number
} rows[] = {
    {ALL_BUT_A, actuators, "actuators (#) have no effect; joints track joint.target"},
    {ALL_BUT_A, efforts,
     "effort limits of joints (#) have no effect; motors have unlimited torque"},
    {ALL_BUT_A, springs, "springs of joints (#) have no effect"},
    {ALL_BUT_A, dampers, "damping of joints (#) has no effect"},
    {ALL_BUT_A, frictions, "dry friction of joints (#) has no effect"},
    {ALL_BUT_A, armatures, "armature of joints (#) has no effect"},
    {ALL_BUT_A, base_joint, "damping, dry friction and armature of the free joint have no effect"},
    {ALL_BUT_A, soft_ranges,
     "solreflimit, solimplimit and margin of joints (#) have no effect; limits are hard"},
    {ALL_BUT_A, kept_ranges, "flag limit: limits of joints (#) apply nevertheless"},
    {K, speeds, "speed limits of joints (#) have no effect; a joint is at its target after a step"},
    {ALL_BUT_A, balls, "ball joints (#) are fixed in their initial state"},
    {K | P, floating, "floating joints (#) are fixed in their initial state"},
    {ALL_BUT_A | A, planars, "planar joints (#) are fixed in their initial state"},
    {ALL_BUT_A, tendons, "limits, springs, damping, friction of tendons (#) have no effect"},
    {ALL_BUT_A, equalities, "equality constraints (#) have no effect"},
    {ALL_BUT_A, lifts, "weight compensation (gravcomp) of links (#) has no effect"},
    {ALL_BUT_A, medium, "density, viscosity and wind of the medium have no effect"},
    {ALL_BUT_A, integrator, "integrator: the motion uses its own"},
    {ALL_BUT_A, links_touch, "links do not touch each other"},
    {A, alone_links, "self_contacts: links do not touch each other"},
    {A, alone_obstacles, "self_contacts: obstacles (#) fixed in the world do not collide"},
    {K, base_shapes, "shapes (#) of the base pass through the ground; only feet stand on it"},
    {ALL_BUT_A, obstacles, "obstacles (#) fixed in the world do not collide"},
    {K | R | S, held_shapes,
     "shapes (#) of a robot that is fixed to the world do not touch the floor"},
    {ALL_BUT_A | A, points_instead, "shapes (#) touch the ground by contact points instead"},
    {ALL_BUT_A | A, kept_off,
     "shapes (#) that contype, conaffinity or exclusions keep off the ground touch it by their "
     "points"},
    {K | P, own_law,
     "contacts of shapes (#) use the law of the motion, not MuJoCo's: friction, condim, margin, "
     "solref and solimp have no effect"},
    {R, own_law, "contacts of shapes (#) use the law of the motion, not MuJoCo's"},
    {S, own_law, "contacts of shapes (#) use the law of the motion, not MuJoCo's"},
    {R, softnesses, "solref and solimp of shapes (#): only their stiffness is used"},
    {S, softnesses, "solref and solimp of shapes (#): the impedance is its mean over the depth"},
    {R, turning, "torsional friction of shapes (#): rigid.spin_friction is used instead"},
    {R | S, impratio, "impratio has no effect"},
    {ALL_BUT_A | A, kept_contacts, "flag contact: shapes (#) collide nevertheless"},
};

static void write_text(const char *text, uint32_t count, mf_Motion motion, char *out) {
    const char *mark = strstr(text, "(#)");
    char prefix[40] = "";
    if (motion != MF_MOTION_ARTICULATED)
        snprintf(prefix, sizeof prefix, "motion %s: ", mf_motion_name(motion));
    if (mark == NULL)
        snprintf(out, MF_MOTION_NOTE, "%s%s", prefix, text);
    else
        snprintf(out, MF_MOTION_NOTE, "%s%.*s(%u)%s", prefix, (int)(mark - text), text, count,
                 mark + 3);
}

// The note of that index, which is counted down.
static bool note_of(const Case *c, uint32_t *index, char *out) {
    const char *own;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t count = rows[i].motions >> c->motion & 1 ? rows[i].count(c) : 0;
        if (count == 0 || (*index)-- > 0)
            continue;
        write_text(rows[i].text, count, c->motion, out);
        return true;
    }
    if (c->motion != MF_MOTION_ARTICULATED)
        return false;
    for (uint32_t i = 0; (own = mf_art_note(c->model, &c->articulated, i)) != NULL; i++)
        if ((*index)-- == 0) {
            write_text(own, 0, c->motion, out);
            return true;
        }
    return false;
}

// ---- models and groups --------------------------------------------------------------------------

// With the settings that mayfly run chooses for a file.
static Case case_of(const mf_Model *model, mf_Motion motion) {
    const uint32_t off = model->physics.disabled;
    Case c = {.model = model,
              .motion = motion,
              .contacts = !(off & (MF_DISABLE_CONTACT | MF_DISABLE_CONSTRAINT)),
              .shapes = motion != MF_MOTION_POINTS,
              .limits = !is_driven(motion),
              .spin_friction = mf_rigid_config().spin_friction,
              .held = model->base == MF_BASE_FIXED,
              .articulated = mf_articulated_config()};
    if (motion == MF_MOTION_KINEMATIC || motion == MF_MOTION_POINTS)
        c.contacts = true;
    c.articulated.contact_law = mf_art_law(model, &c.articulated);
    if (model->physics.integrator == MF_PHYSICS_RK4 && model->body_count > 0)
        c.articulated.integrator = MF_ARTICULATED_RK4;
    return c;
}

static bool is_held(const mf_Model *model, mf_ArticulatedBase base) {
    return base == MF_ARTICULATED_FIXED ||
           (base == MF_ARTICULATED_AS_MODEL && model->base == MF_BASE_FIXED);
}

static Case case_in(const mf_Group *group, mf_Motion motion) {
    const mf_Model *model = mf_group_model(group);
    Case c = case_of(model, motion);
    if (motion == MF_MOTION_KINEMATIC) {
        const mf_KinematicConfig *config = mf_kinematic_settings(group);
        c.shapes = config->shapes;
        c.held = is_held(model, config->base);
    } else if (motion == MF_MOTION_RIGID) {
        const mf_RigidConfig *config = mf_rigid_settings(group);
        c.contacts = config->contacts;
        c.shapes = config->shapes;
        c.limits = config->limits;
        c.spin_friction = config->spin_friction;
        c.held = is_held(model, config->base);
    } else if (motion == MF_MOTION_PRESCRIBED) {
        const mf_PrescribedConfig *config = mf_prescribed_settings(group);
        c.contacts = config->contacts;
        c.shapes = config->shapes;
        c.limits = config->limits;
        c.held = is_held(model, config->base);
    } else if (motion == MF_MOTION_ARTICULATED) {
        c.articulated = *mf_articulated_settings(group);
        c.contacts = c.articulated.contacts;
        c.shapes = c.articulated.shapes;
        c.held = is_held(model, c.articulated.base);
    }
    return c;
}

bool mf_motion_note(const mf_Model *model, mf_Motion motion, uint32_t index, char *text) {
    if (model == NULL || text == NULL || (unsigned)motion >= MF_MOTION_LEVELS)
        return false;
    const Case c = case_of(model, motion);
    return note_of(&c, &index, text);
}

bool mf_motion_group_note(const mf_Group *group, uint32_t index, char *text) {
    if (group == NULL || text == NULL)
        return false;
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        if (!mf_motion_in(group, (mf_Motion)i))
            continue;
        const Case c = case_in(group, (mf_Motion)i);
        if (note_of(&c, &index, text))
            return true;
    }
    return false;
}
