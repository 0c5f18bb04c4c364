// Features of a model that motions do not support: how many of each feature a model has, and the
// note about it. Each motion lists the notes that apply to it in its own folder, according to its
// code; `articulated`, which depends on the settings, has more of its own (articulated/notes.c).
#include "contact/collide.h"
#include "contact/softness.h"
#include "model/draft.h"
#include "math/scalar.h"
#include "model/points.h"
#include "motion/articulated/build.h"
#include "motion/table.h"
#include "world/attach.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMPARED = 1 << 20 }; // [1] pairs of shapes

static bool is_off(const mf_NoteCase *c, uint32_t bits) {
    return (c->model->physics.disabled & bits) != 0;
}

// ---- joints -------------------------------------------------------------------------------------

static uint32_t count_joints(const mf_NoteCase *c, mf_NoteJointFn counts) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < c->model->joint_count; j++)
        count += counts(c, &c->model->joints[j]);
    return count;
}

static bool has_effort(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c; // models made by hand have no range
    return mf_joint_has_axis(joint) &&
           (mf_is_finite(joint->effort) ||
            (joint->force_lower < joint->force_upper &&
             (mf_is_finite(joint->force_lower) || mf_is_finite(joint->force_upper))));
}
static bool has_spring(const mf_NoteCase *c, const mf_Joint *joint) {
    return joint->stiffness > 0.0 && !is_off(c, MF_DISABLE_SPRING);
}
static bool has_damping(const mf_NoteCase *c, const mf_Joint *joint) {
    return joint->damping > 0.0 && !is_off(c, MF_DISABLE_DAMPER);
}
static bool has_friction(const mf_NoteCase *c, const mf_Joint *joint) {
    return joint->friction > 0.0 && !is_off(c, MF_DISABLE_FRICTION_LOSS | MF_DISABLE_CONSTRAINT);
}
static bool has_armature(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return joint->armature > 0.0;
}
static bool has_range(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return mf_joint_has_axis(joint) && (mf_is_finite(joint->lower) || mf_is_finite(joint->upper));
}
static bool has_soft_range(const mf_NoteCase *c, const mf_Joint *joint) {
    return c->model->body_count > 0 && has_range(c, joint) &&
           (mf_softness_is_stated(&joint->limit_softness) || joint->limit_margin > 0.0);
}
static bool has_speed(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return mf_joint_has_axis(joint) && mf_is_finite(joint->speed);
}
static bool is_ball(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_BALL;
}
static bool is_floating(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_FLOATING;
}
static bool is_planar(const mf_NoteCase *c, const mf_Joint *joint) {
    (void)c;
    return joint->type == MF_JOINT_PLANAR;
}

static bool limits_off(const mf_NoteCase *c) {
    return is_off(c, MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT);
}
static uint32_t soft_ranges(const mf_NoteCase *c) {
    return limits_off(c) ? 0 : count_joints(c, has_soft_range);
}
// That the file switches off and the motion keeps.
static uint32_t kept_ranges(const mf_NoteCase *c) {
    return c->limits && limits_off(c) ? count_joints(c, has_range) : 0;
}
static uint32_t base_joint(const mf_NoteCase *c) {
    const mf_Joint *root = c->model->root;
    return root != NULL && (has_damping(c, root) || has_friction(c, root) || root->armature > 0.0);
}

// ---- forces -------------------------------------------------------------------------------------

static uint32_t actuators(const mf_NoteCase *c) {
    return is_off(c, MF_DISABLE_ACTUATION) ? 0 : c->model->actuator_count;
}

static uint32_t tendons(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->tendon_count; i++)
        count += mf_art_tendon_fixed(c->model, i);
    return count;
}

static uint32_t equalities(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->equality_count; i++)
        count += c->model->equalities[i].active;
    return is_off(c, MF_DISABLE_EQUALITY | MF_DISABLE_CONSTRAINT) ? 0 : count;
}

// Of the sum of all actuators on a tendon.
static uint32_t tendon_efforts(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->tendon_count; i++)
        count += mf_is_finite(c->model->tendons[i].force_lower) ||
                 mf_is_finite(c->model->tendons[i].force_upper);
    return actuators(c) > 0 ? count : 0;
}

// Compensation of weight that would count as a force of the joint's actuators.
static bool is_lifted(const mf_NoteCase *c, const mf_Joint *joint) {
    return joint->lift_by_actuator && has_effort(c, joint);
}
static uint32_t solver(const mf_NoteCase *c) {
    const mf_Physics *own = &c->model->physics, plain = mf_physics();
    return own->solver_iterations != plain.solver_iterations || own->noslip_iterations > 0 ||
           own->solver_tolerance < plain.solver_tolerance ||
           own->solver_tolerance > plain.solver_tolerance;
}

static bool no_passive(const mf_NoteCase *c) {
    return is_off(c, MF_DISABLE_SPRING) && is_off(c, MF_DISABLE_DAMPER);
}

static uint32_t lifts(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t l = 0; l < c->model->link_count; l++)
        count += mf_abs(c->model->links[l].lift_mass) > 0.0;
    return no_passive(c) ? 0 : count;
}

static uint32_t medium(const mf_NoteCase *c) {
    const mf_Physics *physics = &c->model->physics;
    return (physics->density > 0.0 || physics->viscosity > 0.0) && !no_passive(c);
}

static uint32_t integrator(const mf_NoteCase *c) {
    return c->model->body_count > 0 && c->model->physics.integrator != MF_PHYSICS_EULER;
}

// ---- contacts -----------------------------------------------------------------------------------

static bool contacts_off(const mf_NoteCase *c) {
    return is_off(c, MF_DISABLE_CONTACT | MF_DISABLE_CONSTRAINT);
}

static bool of_robot(const mf_Shape *shape) {
    return shape->collides && shape->link != MF_NONE;
}

// Of those that may touch the ground.
static uint32_t count_touching(const mf_NoteCase *c, mf_NoteShapeFn counts) {
    uint32_t count = 0;
    if (!c->contacts || contacts_off(c) || (c->fixed && !c->fixed_touches))
        return 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++)
        count += of_robot(&c->model->shapes[i]) && counts(c, i);
    return count;
}

// Points touch instead of it.
static bool is_solid(const mf_NoteCase *c, uint32_t i) {
    return !c->shapes && c->model->shapes[i].type != MF_SHAPE_POINT;
}
static bool is_kept_off(const mf_NoteCase *c, uint32_t i) {
    const mf_ArtGround ground = {c->model, c->ground_first, c->ground_end};
    mf_CollideClass pair;
    return !c->shapes && !mf_art_ground_pair(&ground, i, &pair);
}
// Shapes made by hand have no dimension and say nothing.
static bool has_surface(const mf_NoteCase *c, uint32_t i) {
    return c->model->body_count > 0 && c->model->shapes[i].dimension > 0;
}
static bool is_soft(const mf_NoteCase *c, uint32_t i) {
    const mf_Shape *shape = &c->model->shapes[i];
    return shape->dimension > 0 && mf_softness_is_stated(&shape->softness);
}
static bool is_rotational(const mf_NoteCase *c, uint32_t i) {
    return !isnan(c->torsional_friction) && c->model->shapes[i].dimension >= 4;
}

static bool is_of_base(const mf_NoteCase *c, uint32_t i) {
    return c->model->shapes[i].link == 0;
}

static uint32_t impratio(const mf_NoteCase *c) {
    const double ratio = c->model->physics.friction_impedance_ratio;
    return (ratio < 1.0 || ratio > 1.0) && count_touching(c, has_surface) > 0;
}

// Shapes of a robot that the world holds, above a floor of the file.
static uint32_t fixed_shapes(const mf_NoteCase *c) {
    bool floor = false;
    uint32_t count = 0;
    if (!c->fixed || contacts_off(c))
        return 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++) {
        floor = floor || mf_art_is_ground(&c->model->shapes[i]);
        count += of_robot(&c->model->shapes[i]);
    }
    return floor ? count : 0;
}

static uint32_t obstacles(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++) {
        const mf_Shape *shape = &c->model->shapes[i];
        count += shape->collides && shape->link == MF_NONE && !mf_art_is_ground(shape);
    }
    return contacts_off(c) ? 0 : count;
}

// Whether two links may touch each other. Of a very large robot the first pairs are examined.
static uint32_t links_touch(const mf_NoteCase *c) {
    const mf_Model *model = c->model;
    mf_CollideClass pair;
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
static uint32_t alone_links(const mf_NoteCase *c) {
    return c->articulated.self_contacts ? 0 : links_touch(c);
}
static uint32_t alone_obstacles(const mf_NoteCase *c) {
    return c->articulated.self_contacts ? 0 : obstacles(c);
}

static uint32_t kept_contacts(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->model->shape_count; i++)
        count += of_robot(&c->model->shapes[i]);
    return c->contacts && contacts_off(c) ? count : 0;
}

// ---- what is around a group --------------------------------------------------------------------

static bool has_floor(const mf_Model *model) {
    bool any = false;
    for (uint32_t i = 0; i < model->shape_count; i++)
        any = any || mf_art_is_ground(&model->shapes[i]);
    return any;
}

// Of an MJCF robot whose world has a ground that nobody asked for, or none.
static bool is_groundless(const mf_NoteCase *c) {
    const bool given = c->group != NULL && mf_attach_ground_given(c->group);
    return c->model->body_count > 0 && !given && !has_floor(c->model) &&
           mf_model_touches_ground(c->model, true);
}
static uint32_t ground_added(const mf_NoteCase *c) {
    return is_groundless(c) && c->contacts && mf_model_touches_ground(c->model, false);
}
static uint32_t no_ground(const mf_NoteCase *c) {
    return is_groundless(c) && !mf_model_touches_ground(c->model, false) &&
           c->model->base == MF_BASE_FREE;
}

// Shapes of the world in the file of a robot that others may touch.
static uint32_t alone_world(const mf_NoteCase *c) {
    const bool shared = c->group != NULL && !mf_group_config_of(c->group)->isolated &&
                        mf_world_group_count(mf_group_world(c->group)) > 1;
    return shared && c->model->base == MF_BASE_FREE ? obstacles(c) : 0;
}

static uint32_t mocaps(const mf_NoteCase *c) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < c->model->body_count; b++)
        count += c->model->bodies[b].mocap;
    return count;
}

// Bodies with joints on a mocap body.
static uint32_t mocap_children(const mf_NoteCase *c) {
    const mf_Model *model = c->model;
    uint32_t count = 0;
    for (uint32_t b = 0; b < model->body_count; b++) {
        const uint32_t parent = model->bodies[b].parent;
        count += parent != MF_NONE && model->bodies[parent].mocap &&
                 model->bodies[b].link != model->bodies[parent].link;
    }
    return count;
}

// Of what flies.
static uint32_t no_floor(const mf_NoteCase *c) {
    return c->group != NULL && !mf_attach_ground_tested(c->group);
}
static uint32_t no_wind(const mf_NoteCase *c) {
    return c->group != NULL && mf_attach_wind_blows(c->group) && c->dragless;
}

// ---- notes --------------------------------------------------------------------------------------

const mf_MotionNote mf_note_speeds = {
    .joint = has_speed,
    .text = "speed limits of joints (#) have no effect; a joint is at its target after a step"};
const mf_MotionNote mf_note_floating = {.joint = is_floating,
                                        .text = "floating joints (#) are fixed in their initial "
                                                "state"};
const mf_MotionNote mf_note_planars = {.joint = is_planar,
                                       .text = "planar joints (#) are fixed in their initial "
                                               "state"};
const mf_MotionNote mf_note_tendon_efforts = {
    .count = tendon_efforts,
    .text = "actuatorfrcrange of tendons (#) has no effect; forcerange of actuators has"};
const mf_MotionNote mf_note_lifted = {
    .joint = is_lifted,
    .text = "actuatorgravcomp of joints (#): actuatorfrcrange does not limit the compensation"};
const mf_MotionNote mf_note_alone_links = {
    .setting = true, .count = alone_links, .text = "self_contacts: links do not touch each other"};
const mf_MotionNote mf_note_alone_obstacles = {
    .setting = true,
    .count = alone_obstacles,
    .text = "self_contacts: obstacles (#) fixed in the world do not collide"};
const mf_MotionNote mf_note_base_shapes = {
    .shape = is_of_base,
    .text = "shapes (#) of the base pass through the ground; only feet stand on it"};
const mf_MotionNote mf_note_fixed_shapes = {
    .count = fixed_shapes,
    .text = "shapes (#) of a robot that is fixed to the world do not touch the floor"};
const mf_MotionNote mf_note_points_instead = {
    .setting = true,
    .shape = is_solid,
    .text = "shapes (#) touch the ground by contact points instead"};
const mf_MotionNote mf_note_kept_off = {
    .shape = is_kept_off,
    .text = "shapes (#) that contype, conaffinity or exclusions keep off the ground touch it by "
            "their points"};

static uint32_t with_own_numbers(const mf_NoteCase *c) {
    static const char *const names[] = {"articulated.numbers", "points.numbers"};
    bool own = false;
    for (size_t i = 0; c->group != NULL && i < sizeof names / sizeof *names; i++)
        own = own || mf_group_find_field((mf_Group *)(uintptr_t)c->group, names[i]) != NULL;
    return own ? mf_group_count(c->group) : 0;
}

const mf_MotionNote mf_note_own_numbers = {
    .count = with_own_numbers,
    .text = "robots (#) have numbers of their own; friction and softness between links, poses of "
            "links, equations of motion and pictures are those of the group's model"};
const mf_MotionNote mf_note_own_law = {
    .shape = has_surface,
    .text = "contacts of shapes (#) use the law of the motion, not MuJoCo's: friction, condim, "
            "margin, solref and solimp have no effect"};
const mf_MotionNote mf_note_own_law_of_shapes = {
    .shape = has_surface, .text = "contacts of shapes (#) use the law of the motion, not MuJoCo's"};
const mf_MotionNote mf_note_stiffness_only = {
    .shape = is_soft, .text = "solref and solimp of shapes (#): only their stiffness is used"};
const mf_MotionNote mf_note_mean_impedance = {
    .shape = is_soft,
    .text = "solref and solimp of shapes (#): the impedance is its mean over the depth"};
const mf_MotionNote mf_note_rotation = {
    .shape = is_rotational,
    .text = "torsional friction of shapes (#): rigid.torsional_friction is used instead"};
const mf_MotionNote mf_note_ground_added = {.surroundings = true,
                                            .count = ground_added,
                                            .text =
                                                "the file has no floor: " MF_MOTION_NOTE_GROUND};
const mf_MotionNote mf_note_no_ground = {
    .surroundings = true,
    .count = no_ground,
    .text = "the file has no level plane: the robot touches the shapes of its file only"};
const mf_MotionNote mf_note_alone_world = {
    .surroundings = true,
    .count = alone_world,
    .text = "obstacles (#) fixed in the world by this file touch its own robot only; those of a "
            "model without motion touch all"};
const mf_MotionNote mf_note_mocap_children = {
    .count = mocap_children,
    .text = "bodies (#) with joints on mocap bodies do not follow mocap.position"};
const mf_MotionNote mf_note_no_floor = {
    .surroundings = true,
    .count = no_floor,
    .text = "it flies through the ground without a fault: proximity with collisions.terrain, which "
            "isolated robots have not, tests that"};
const mf_MotionNote mf_note_no_wind = {
    .surroundings = true, .count = no_wind, .text = "wind has no effect: the vehicle has no drag"};
const mf_MotionNote mf_note_impratio = {.count = impratio, .text = "impratio has no effect"};
const mf_MotionNote mf_note_kept_contacts = {
    .count = kept_contacts, .text = "flag contact: shapes (#) collide nevertheless"};

#define NOTE(counts, sentence)                                                                     \
    &(const mf_MotionNote) {                                                                       \
        counts, .text = sentence                                                                   \
    }
const mf_MotionNote *const mf_notes_of_lower_levels[] = {
    NOTE(.count = actuators, "actuators (#) have no effect; joints track joint.target"),
    NOTE(.joint = has_effort,
         "effort limits of joints (#) have no effect; motors have unlimited torque"),
    NOTE(.joint = has_spring, "springs of joints (#) have no effect"),
    NOTE(.joint = has_damping, "damping of joints (#) has no effect"),
    NOTE(.joint = has_friction, "dry friction of joints (#) has no effect"),
    NOTE(.joint = has_armature, "armature of joints (#) has no effect"),
    NOTE(.count = base_joint,
         "damping, dry friction and armature of the free joint have no effect"),
    NOTE(.count = soft_ranges,
         "solreflimit, solimplimit and margin of joints (#) have no effect; limits are hard"),
    NOTE(.count = kept_ranges, "flag limit: limits of joints (#) apply nevertheless"),
    NOTE(.joint = is_ball, "ball joints (#) are fixed in their initial state"),
    &mf_note_planars,
    NOTE(.count = tendons, "limits, springs, damping, friction of tendons (#) have no effect"),
    NOTE(.count = equalities, "equality constraints (#) have no effect"),
    NOTE(.count = lifts, "weight compensation (gravcomp) of links (#) has no effect"),
    NOTE(.count = medium, "density, viscosity and wind of the medium have no effect"),
    NOTE(.count = integrator, "integrator: the motion uses its own"),
    NOTE(.count = solver, "iterations, tolerance and noslip of the file's solver have no effect"),
    NOTE(.count = links_touch, "links do not touch each other"),
    NOTE(.count = obstacles, "obstacles (#) fixed in the world do not collide"),
    &mf_note_points_instead,
    &mf_note_kept_off,
    &mf_note_kept_contacts,
    &mf_note_ground_added,
    NOTE(.count = mocaps, "mocap bodies (#) stay in the file's pose"),
    NULL};
#undef NOTE

static uint32_t count_of(const mf_MotionNote *note, const mf_NoteCase *c) {
    return note->joint != NULL   ? count_joints(c, note->joint)
           : note->shape != NULL ? count_touching(c, note->shape)
                                 : note->count(c);
}

// "(#)" of the text stands for the number. Articulated is what other motions are compared with.
static void write_text(const char *text, uint32_t count, const mf_MotionRow *row, char *out) {
    const char *mark = strstr(text, "(#)");
    char prefix[40] = "";
    if (row->motion != MF_MOTION_ARTICULATED)
        snprintf(prefix, sizeof prefix, "motion %s: ", row->name);
    if (mark == NULL)
        snprintf(out, MF_MOTION_NOTE, "%s%s", prefix, text);
    else
        snprintf(out, MF_MOTION_NOTE, "%s%.*s(%u)%s", prefix, (int)(mark - text), text, count,
                 mark + 3);
}

// The note of that index, which is counted down.
static bool note_of(const mf_NoteCase *c, const mf_MotionRow *row, uint32_t *index, bool *chosen,
                    char *out) {
    const char *own;
    const mf_MotionNote *const *const lists[] = {row->notes.shared, row->notes.list};
    for (int l = 0; l < 2; l++)
        for (const mf_MotionNote *const *note = lists[l]; note != NULL && *note != NULL; note++) {
            const uint32_t count = count_of(*note, c);
            if (count == 0 || (*index)-- > 0)
                continue;
            write_text((*note)->text, count, row, out);
            *chosen = !(*note)->surroundings &&
                      (row->motion != MF_MOTION_ARTICULATED || (*note)->setting);
            return true;
        }
    for (uint32_t i = 0; row->notes.own != NULL && (own = row->notes.own(c, i)) != NULL; i++)
        if ((*index)-- == 0) {
            write_text(own, 0, row, out);
            *chosen = false;
            return true;
        }
    return false;
}

// ---- models and groups --------------------------------------------------------------------------

// With the settings that mayfly run chooses for a file, then with a group's (NULL: none).
static mf_NoteCase case_of(const mf_Model *model, const mf_Group *group, const mf_MotionRow *row) {
    const mf_ArtGround ground = mf_art_ground(model);
    mf_NoteCase c = {.model = model,
                     .ground_first = ground.first,
                     .ground_end = ground.end,
                     .group = group,
                     .contacts =
                         !(model->physics.disabled & (MF_DISABLE_CONTACT | MF_DISABLE_CONSTRAINT)),
                     .shapes = true,
                     .limits = true,
                     .torsional_friction = (double)NAN,
                     .fixed = model->base == MF_BASE_FIXED,
                     .articulated = mf_motions_config().articulated};
    const void *plan = mf_motion_plan(group, row);
    if (plan != NULL && row->base != NULL) {
        const mf_ArticulatedBase base = row->base(plan);
        c.fixed = base == MF_ARTICULATED_FIXED || (base == MF_ARTICULATED_AS_MODEL && c.fixed);
    }
    row->notes.settings(plan, &c);
    return c;
}

bool mf_motion_note(const mf_Model *model, mf_Motion motion, uint32_t index, char *text) {
    const mf_MotionRow *row = mf_motion_row(motion);
    if (model == NULL || text == NULL || row == NULL || row->notes.list == NULL)
        return false;
    const mf_NoteCase c = case_of(model, NULL, row);
    bool chosen;
    return note_of(&c, row, &index, &chosen, text);
}

// The sentences of the warnings that robots of the group have raised since their start.
static bool warning_of(const mf_Group *group, uint32_t *index, char *text) {
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        const uint32_t bit = UINT32_C(1) << k;
        const mf_WarningSum sum = mf_group_warning_sum(group, bit);
        if (sum.robots == 0 || (*index)-- > 0)
            continue;
        snprintf(text, MF_MOTION_NOTE,
                 "warning %s: in %llu steps of %u of them %s (residual up to %.2g %s); %s helps",
                 mf_warning_name(bit), (unsigned long long)sum.steps, sum.robots,
                 mf_group_warning_words(group, bit)->meaning, sum.residual,
                 mf_group_warning_words(group, bit)->unit,
                 mf_group_warning_words(group, bit)->advice);
        return true;
    }
    return false;
}

bool mf_motion_group_note(const mf_Group *group, uint32_t index, char *text) {
    bool chosen;
    return group != NULL && text != NULL && mf_motion_note_of_group(group, index, &chosen, text);
}

bool mf_motion_note_of_group(const mf_Group *group, uint32_t index, bool *chosen, char *text) {
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        if (row->notes.list == NULL || !mf_motion_in(group, (mf_Motion)i))
            continue;
        const mf_NoteCase c = case_of(mf_group_model(group), group, row);
        if (note_of(&c, row, &index, chosen, text))
            return true;
    }
    *chosen = false;
    return warning_of(group, &index, text);
}
