// The equations of motion of the `articulated` motion: mass matrix, bias, accelerations and
// Jacobians against MuJoCo's numbers and against each other, on random trees of all joint types.
#include "motion/rig.h"

#include "math/scalar.h"

enum { MOST_LINKS = 16, MOST_VALUES = 24, STATES = 3 };

typedef struct TreeLink {
    uint32_t parent;
    mf_JointType type;
    double position[3], rotation[4], axis[3], mass, center[3], inertia[6], armature;
} TreeLink;

typedef struct TreeState {
    double position[2 * MOST_VALUES], velocity[MOST_VALUES], force[MOST_VALUES], bias[MOST_VALUES],
        acceleration[MOST_VALUES], mass[MOST_VALUES * MOST_VALUES];
    double jacobian[6 * MOST_VALUES]; // of the point (0.1, -0.2, 0.3) of the last link
    double point[3], rotation[9];     // of the last link in the world
} TreeState;

typedef struct Tree {
    const char *name;
    bool free;
    uint32_t link_count, velocity_count;
    TreeLink links[MOST_LINKS];
    TreeState states[STATES];
} Tree;

#include "motion/articulated_truth.h"

enum { TREES = sizeof trees / sizeof *trees };

typedef struct Grove {
    Rig rig;
    const Tree *tree;
} Grove;

static void build_links(mf_HandModel *hand, const Tree *tree) {
    const double none[3] = {0, 0, 1};
    for (uint32_t l = 0; l < tree->link_count; l++) {
        const TreeLink *link = &tree->links[l];
        if (l > 0) {
            mf_hand_hinge(hand, link->parent, 0, 0, 0, none);
            mf_Joint *joint = &hand->joints[l - 1];
            joint->type = link->type;
            memcpy(joint->position, link->position, sizeof joint->position);
            memcpy(joint->rotation, link->rotation, sizeof joint->rotation);
            memcpy(joint->axis, link->axis, sizeof joint->axis);
            joint->armature = link->armature;
        }
        if (l > 0 || tree->free) {
            hand->links[l].mass = link->mass;
            hand->model.mass += link->mass;
            memcpy(hand->links[l].center, link->center, sizeof link->center);
            memcpy(hand->links[l].inertia, link->inertia, sizeof link->inertia);
        }
    }
}

static void grove_open(Grove *grove, const Tree *tree) {
    grove->tree = tree;
    grove->rig = rig_begin(1);
    build_links(grove->rig.hand, tree);
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group =
        WITH(mf_group_config(), .double_precision = true, .model = &grove->rig.hand->model);
    mf_ArticulatedConfig config = mf_motions_config().articulated;
    config.base = tree->free ? MF_ARTICULATED_FREE : MF_ARTICULATED_FIXED;
    grove->rig.world = open_world(grove->rig.context, &world);
    grove->rig.group = add_group(grove->rig.world, &group);
    MUST(rig_add_articulated(grove->rig.group, &config, &error));
    assert_int_equal(mf_group_velocity_count(grove->rig.group), tree->velocity_count);
}

static void set_values(const Rig *rig, const char *name, uint32_t first, uint32_t count,
                       const double *values) {
    for (uint32_t i = 0; i < count; i++)
        rig_set(rig, name, first + i, values[i]);
}

static void set_state(Grove *grove, const double *q, const double *v) {
    const Rig *rig = &grove->rig;
    uint32_t balls = 0, frees = 0;
    const double origin[3] = {0, 0, 0};
    set_values(rig, "base.position", 0, 3, origin);
    if (grove->tree->free) {
        set_values(rig, "base.position", 0, 3, q);
        set_values(rig, "base.orientation", 0, 4, q + 3);
        set_values(rig, "base.linear_velocity", 0, 3, v);
        set_values(rig, "base.angular_velocity", 0, 3, v + 3);
        q += 7;
        v += 6;
    }
    for (uint32_t l = 1; l < grove->tree->link_count; l++) {
        mf_JointType type = grove->tree->links[l].type;
        if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE) {
            set_values(rig, "joint.angle", l - 1, 1, q++);
            set_values(rig, "joint.rate", l - 1, 1, v++);
            continue;
        }
        if (type == MF_JOINT_FLOATING) {
            set_values(rig, "free.position", 3 * frees, 3, q);
            set_values(rig, "free.velocity", 3 * frees++, 3, v);
            q += 3;
            v += 3;
        }
        set_values(rig, "ball.orientation", 4 * balls, 4, q);
        set_values(rig, "ball.rate", 3 * balls++, 3, v);
        q += 4;
        v += 3;
    }
}

// |got - expected| relative to the largest expected value.
static void assert_close(const double *got, const double *expected, uint32_t count,
                         double tolerance, const char *what, const Tree *tree) {
    double scale = 0.0, worst = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        scale = fmax(scale, fabs(expected[i]));
        double off = fabs(got[i] - expected[i]);
        worst = off <= worst ? worst : off;
    }
    if (!(worst <= tolerance * scale)) {
        print_error("%s: %s off by %.3g of %.3g\n", tree->name, what, worst, scale);
        for (uint32_t i = 0; i < count && i < 40; i++)
            print_error("  %u: %.10g expected %.10g\n", i, got[i], expected[i]);
        fail();
    }
}

static void assert_close_to_zero(const double *got, uint32_t count, double tolerance,
                                 const Tree *tree) {
    for (uint32_t i = 0; i < count; i++)
        if (!(fabs(got[i]) <= 100.0 * tolerance))
            fail_msg("%s: column of the mass matrix off by %.3g", tree->name, got[i]);
}

static void unit_quaternions(const Tree *tree, double *q) {
    if (tree->free) {
        mf_quat_normalize(q + 3);
        q += 7;
    }
    for (uint32_t l = 1; l < tree->link_count; l++) {
        mf_JointType type = tree->links[l].type;
        q += type == MF_JOINT_FLOATING ? 3 : 0;
        if (type == MF_JOINT_FLOATING || type == MF_JOINT_BALL)
            mf_quat_normalize(q);
        q += type == MF_JOINT_FLOATING || type == MF_JOINT_BALL ? 4 : 1;
    }
}

TEST(equals_mujoco) {
    for (uint32_t t = 0; t < TREES; t++) {
        Grove grove;
        const Tree *tree = &trees[t];
        uint32_t n = tree->velocity_count;
        grove_open(&grove, tree);
        for (uint32_t s = 0; s < STATES; s++) {
            const TreeState *truth = &tree->states[s];
            double matrix[MOST_VALUES * MOST_VALUES], values[MOST_VALUES];
            set_state(&grove, truth->position, truth->velocity);
            mf_group_mass_matrix(grove.rig.group, 0, 1, matrix, NULL);
            assert_close(matrix, truth->mass, n * n, 1e-12, "mass matrix", tree);
            mf_group_bias(grove.rig.group, 0, 1, values, NULL);
            assert_close(values, truth->bias, n, 1e-12, "bias", tree);
            mf_articulated_forward(grove.rig.group, 0, truth->force, values);
            assert_close(values, truth->acceleration, n, 1e-10, "acceleration", tree);
            mf_group_inverse_dynamics(grove.rig.group, 0, 1, values, values, NULL);
            assert_close(values, truth->force, n, 1e-10, "inverse of forward", tree);
        }
        rig_close(&grove.rig);
    }
}

TEST(poses_and_jacobians_equal_mujocos) {
    const double point[3] = {0.1, -0.2, 0.3};
    for (uint32_t t = 0; t < TREES; t++) {
        Grove grove;
        const Tree *tree = &trees[t];
        uint32_t last = tree->link_count - 1;
        grove_open(&grove, tree);
        for (uint32_t s = 0; s < STATES; s++) {
            const TreeState *truth = &tree->states[s];
            double matrix[6 * MOST_VALUES], orientation[9];
            double position[MOST_LINKS][3], rotation[MOST_LINKS][4];
            set_state(&grove, truth->position, truth->velocity);
            mf_group_jacobian(grove.rig.group, 0, 1, last, point, matrix, NULL);
            assert_close(matrix, truth->jacobian, 6 * tree->velocity_count, 1e-12, "Jacobian",
                         tree);
            mf_group_link_poses(grove.rig.group, 0, 1, position[0], rotation[0], NULL);
            mf_quat_to_matrix(orientation, rotation[last]);
            assert_close(position[last], truth->point, 3, 1e-12, "placement", tree);
            assert_close(orientation, truth->rotation, 9, 1e-12, "turn", tree);
        }
        rig_close(&grove.rig);
    }
}

// Three algorithms on random states: what inverse dynamics needs for the accelerations of forward
// dynamics are the forces; a column of the mass matrix is what a unit acceleration needs more than
// none; half of v M v is the kinetic energy that the links' motions add up to.
TEST(algorithms_agree) {
    for (uint32_t t = 0; t < TREES; t++) {
        Grove grove;
        const Tree *tree = &trees[t];
        mf_Group *group;
        uint32_t n = tree->velocity_count;
        grove_open(&grove, tree);
        group = grove.rig.group;
        for (uint64_t s = 0; s < 1000; s++) {
            double q[2 * MOST_VALUES], v[MOST_VALUES], force[MOST_VALUES], got[MOST_VALUES];
            double matrix[MOST_VALUES * MOST_VALUES], bias[MOST_VALUES], unit[MOST_VALUES] = {0};
            for (uint32_t i = 0; i < 2 * MOST_VALUES; i++)
                q[i] = 2.0 * random_signed(50 + t, 100 * s + i);
            for (uint32_t i = 0; i < n; i++) {
                v[i] = 3.0 * random_signed(60 + t, 100 * s + i);
                force[i] = 10.0 * random_signed(70 + t, 100 * s + i);
            }
            unit_quaternions(tree, q);
            set_state(&grove, q, v);
            mf_articulated_forward(group, 0, force, got);
            mf_group_inverse_dynamics(group, 0, 1, got, got, NULL);
            assert_close(got, force, n, 2e-11, "inverse of forward", tree);
            mf_group_mass_matrix(group, 0, 1, matrix, NULL);
            mf_group_bias(group, 0, 1, bias, NULL);
            uint32_t c = (uint32_t)s % n;
            unit[c] = 1.0;
            mf_group_inverse_dynamics(group, 0, 1, unit, got, NULL);
            for (uint32_t i = 0; i < n; i++)
                got[i] -= bias[i] + matrix[i * n + c];
            assert_close_to_zero(got, n, 1e-11 * (1 + fabs(bias[c])), tree);
            double kinetic = 0.0;
            for (uint32_t i = 0; i < n * n; i++)
                kinetic += 0.5 * v[i / n] * matrix[i] * v[i % n];
            assert_near(kinetic, mf_motion_energy(group, 0).kinetic, 1e-12 * kinetic);
        }
        rig_close(&grove.rig);
    }
}
