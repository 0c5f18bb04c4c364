// Check case F8 under `articulated`: invariance to frames, order, units of mass and handedness.
// Random trees are described in two ways, and their accelerations compared.
#include <math.h>
#include <string.h>

#include "check.h"
#include "math/scalar.h"

enum { TREE = 6, TREE_VALUES = 6 + TREE - 1 };

typedef struct TreeLink {
    uint32_t parent;
    double position[3], rotation[4], axis[3]; // of its joint in the parent
    double mass, center[3], inertia[6];
} TreeLink;

typedef struct Tree { // a free base with hinges, its state and the forces on it
    TreeLink links[TREE];
    double orientation[4], angle[TREE], velocity[TREE_VALUES], force[TREE_VALUES];
} Tree;

static void draw_tree(uint64_t number, Tree *tree) {
    static const uint32_t parents[TREE] = {MF_NONE, 0, 1, 0, 3, 1};
    uint64_t at = 1000 * number;
    memset(tree, 0, sizeof *tree);
    for (uint32_t l = 0; l < TREE; l++) {
        TreeLink *link = &tree->links[l];
        link->parent = parents[l];
        for (int i = 0; i < 3; i++) {
            link->position[i] = 0.4 * mf_rig_random(4, at++);
            link->axis[i] = mf_rig_random(4, at++);
            link->center[i] = 0.2 * mf_rig_random(4, at++);
            link->inertia[i] = 0.05 + 0.01 * mf_rig_random(4, at++);
            link->inertia[3 + i] = 0.01 * mf_rig_random(4, at++);
        }
        for (int i = 0; i < 4; i++)
            link->rotation[i] = mf_rig_random(4, at++);
        mf_vec3_normalize(link->axis);
        mf_quat_normalize(link->rotation);
        link->mass = 1.5 + mf_rig_random(4, at++);
        tree->angle[l] = 3.0 * mf_rig_random(4, at++);
    }
    for (uint32_t i = 0; i < TREE_VALUES; i++) {
        tree->velocity[i] = 2.0 * mf_rig_random(4, at++);
        tree->force[i] = 5.0 * mf_rig_random(4, at++);
    }
    for (int i = 0; i < 4; i++)
        tree->orientation[i] = mf_rig_random(4, at++);
    mf_quat_normalize(tree->orientation);
}

static void tree_gain(mf_CheckRun *run, const Tree *tree, double *gain) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    double position[6 + TREE] = {0, 0, 1};
    mf_HandModel *hand = mf_rig_start(run);
    for (uint32_t l = 0; l < TREE; l++) {
        const TreeLink *link = &tree->links[l];
        if (l > 0) {
            mf_hand_hinge(hand, link->parent, link->position[0], link->position[1],
                          link->position[2], link->axis);
            memcpy(hand->joints[l - 1].rotation, link->rotation, sizeof link->rotation);
            position[6 + l] = tree->angle[l];
        }
        mf_rig_body(run, l, link->mass, link->center, link->inertia);
        memcpy(hand->links[l].inertia, link->inertia, sizeof link->inertia);
    }
    mf_rig_open(run, &config);
    memcpy(position + 3, tree->orientation, sizeof tree->orientation);
    mf_group_set_state(run->rig.group, 0, position, tree->velocity);
    mf_articulated_forward(run->rig.group, 0, tree->force, gain);
}

// Each link except the base described in randomly rotated axes: results must not change.
static void rotate_frames(Tree *tree, uint64_t number) {
    double rotations[TREE][4], back[4];
    mf_quat_identity(rotations[0]);
    for (uint32_t l = 1; l < TREE; l++) {
        TreeLink *link = &tree->links[l];
        for (uint64_t i = 0; i < 4; i++)
            rotations[l][i] = mf_rig_random(5, 100 * number + 4 * l + i);
        mf_quat_normalize(rotations[l]); // new axes to old
        mf_quat_conjugate(back, rotations[l]);
        mf_quat_rotate_inverse(link->axis, rotations[l], link->axis);
        mf_quat_rotate_inverse(link->center, rotations[l], link->center);
        mf_inertia_rotate(link->inertia, link->inertia, back);
        mf_quat_rotate_inverse(link->position, rotations[link->parent], link->position);
        mf_quat_multiply(link->rotation, link->rotation, rotations[l]);
        mf_quat_conjugate(back, rotations[link->parent]);
        mf_quat_multiply(link->rotation, back, link->rotation);
    }
}

// Links 1 .. 5 described in the order 3, 4, 1, 5, 2.
static const uint32_t order[TREE] = {0, 3, 4, 1, 5, 2}, inverse[TREE] = {0, 3, 5, 1, 2, 4};

static void reorder(Tree *tree) {
    Tree old = *tree;
    for (uint32_t l = 1; l < TREE; l++) {
        tree->links[l] = old.links[order[l]];
        tree->links[l].parent = inverse[old.links[order[l]].parent];
        tree->angle[l] = old.angle[order[l]];
        tree->velocity[5 + l] = old.velocity[5 + order[l]];
        tree->force[5 + l] = old.force[5 + order[l]];
    }
}

static void scale_mass(Tree *tree, double factor) {
    for (uint32_t l = 0; l < TREE; l++) {
        tree->links[l].mass *= factor;
        for (int i = 0; i < 6; i++)
            tree->links[l].inertia[i] *= factor;
    }
    for (uint32_t i = 0; i < TREE_VALUES; i++)
        tree->force[i] *= factor;
}

// Reflected, y to -y: axial vectors (joint axes, angular velocities) keep y and change the sign of
// the others.
static void mirror_values(double *values) {
    values[1] = -values[1];
    values[3] = -values[3];
    values[5] = -values[5];
}

static void mirror_tree(Tree *tree) {
    for (uint32_t l = 0; l < TREE; l++) {
        TreeLink *link = &tree->links[l];
        link->position[1] = -link->position[1];
        link->center[1] = -link->center[1];
        link->axis[0] = -link->axis[0];
        link->axis[2] = -link->axis[2];
        link->rotation[1] = -link->rotation[1];
        link->rotation[3] = -link->rotation[3];
        link->inertia[3] = -link->inertia[3]; // xy
        link->inertia[5] = -link->inertia[5]; // yz
    }
    tree->orientation[1] = -tree->orientation[1];
    tree->orientation[3] = -tree->orientation[3];
    mirror_values(tree->velocity);
    mirror_values(tree->force);
}

// The whole robot rotated about the vertical: vectors in world axes rotate with it.
static void rotate_world(Tree *tree, const double yaw[4]) {
    mf_quat_multiply(tree->orientation, yaw, tree->orientation);
    mf_quat_rotate(tree->velocity, yaw, tree->velocity);
    mf_quat_rotate(tree->force, yaw, tree->force);
}

enum { FRAMES, ORDER, MASS, MIRROR, WORLD, CHANGES };

static void tree_change(mf_CheckRun *run, int kind, uint64_t number, double *worst) {
    static const double yaw[4] = {0.6, 0, 0, 0.8};
    double before[TREE_VALUES], after[TREE_VALUES] = {0}, expected[TREE_VALUES];
    double off = 0.0, size = 0.0;
    Tree tree;
    draw_tree(number, &tree);
    tree_gain(run, &tree, before);
    memcpy(expected, before, sizeof expected);
    if (kind == FRAMES)
        rotate_frames(&tree, number);
    if (kind == MASS)
        scale_mass(&tree, 1e3 / 7.0);
    if (kind == ORDER) {
        reorder(&tree);
        for (uint32_t l = 1; l < TREE; l++)
            expected[5 + l] = before[5 + order[l]];
    }
    if (kind == MIRROR) {
        mirror_tree(&tree);
        mirror_values(expected);
    }
    if (kind == WORLD) {
        rotate_world(&tree, yaw);
        mf_quat_rotate(expected, yaw, expected);
    }
    tree_gain(run, &tree, after);
    for (int i = 0; i < TREE_VALUES; i++) {
        off = mf_check_worse(off, fabs(after[i] - expected[i]));
        size = fmax(size, fabs(expected[i]));
    }
    *worst = mf_check_worse(*worst, off / size);
}

static void check_symmetry(mf_CheckRun *run) {
    static const char *const names[CHANGES] = {
        "axes of every link rotated", "links in another order", "masses and forces times 1000/7",
        "mirror image", "rotated about the vertical"};
    for (int kind = 0; kind < CHANGES; kind++) {
        double worst = 0.0;
        for (uint64_t n = 0; n < 50; n++) {
            tree_change(run, kind, n, &worst);
        }
        mf_check_below(run, mf_check_name(run, "%s: change, relative", names[kind]), 1e-12, worst);
    }
}

const mf_CheckCase mf_check_symmetry_cases[] = {
    {"F8", "invariance to frames, order, scale and mirror image", check_symmetry},
    {NULL, NULL, NULL}};
