// The docks of models/modules: on the surface, centered, facing outwards, flush with each other;
// and links that do not overlap.
#include "model/modules.h"
#include "model/points.h"

GROUP_FIXTURE(setup_context, teardown_context);

// 1 mm outside of its origin and around it there is nothing, 1 mm inside there is its own link. The
// docks of atron_simple are on the rim of a cylinder: only their origins are on the surface.
TEST(docks_are_flat_on_the_surface_and_face_outwards) {
    static const char *const names[] = {"superbot",     "superbot_simple", "atron",
                                        "atron_simple", "wheelbot",        "cube",
                                        "long_dock",    "gripper",         "base"};
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        AUTO(close_module) Module module = open_module(*state, names[m]);
        for (uint32_t i = 0; i < module.model->dock_count; i++) {
            const mf_Dock *dock = &module.model->docks[i];
            Pose pose = dock_pose(&module, dock);
            uint32_t link = dock->frame.link;
            bool flat = strcmp(names[m], "atron_simple") != 0;
            double point[3];
            dock_point(&pose, 1e-3, 0.0, 0.0, point);
            assert_true(depth_in(&module, MF_NONE, point) < -0.7e-3);
            dock_point(&pose, -1e-3, 0.0, 0.0, point);
            assert_true(depth_in(&module, link, point) > 0.7e-3);
            for (int orientation = 0; orientation < 8 && flat; orientation++) {
                double y = 0.012 * cos(0.25 * MF_PI * orientation),
                       z = 0.012 * sin(0.25 * MF_PI * orientation);
                dock_point(&pose, 1e-3, y, z, point);
                assert_near(depth_in(&module, MF_NONE, point), -1e-3, 2e-6);
                dock_point(&pose, -1e-3, y, z, point);
                assert_near(depth_in(&module, link, point), 1e-3, 2e-6);
            }
            assert_true(dock->orientations == 1 || dock->orientations == 2 ||
                        dock->orientations == 4);
        }
    }
}

TEST(docks_have_their_positions_in_the_lattice) {
    AUTO(close_module) Module module = open_module(*state, "superbot");
    // 42 mm from the axis of the outer body's joint, in the middle of the face.
    for (uint32_t i = 0; i < module.model->dock_count; i++) {
        const double *at = module.model->docks[i].frame.position;
        assert_near(mf_vec3_length(at), 0.042, 1e-15);
    }
    Pose front = dock_pose(&module, find_dock(&module, "front")),
         back = dock_pose(&module, find_dock(&module, "back"));
    assert_near3(front.position, 0.084, 0.0, 0.0, 1e-15);
    assert_near3(back.position, -0.084, 0.0, 0.0, 1e-15);
}

TEST(docks_of_atrons_have_their_positions) {
    AUTO(close_module) Module module = open_module(*state, "atron");
    // Half of the distance of neighbors, 45 degrees from the axis; genders in turn.
    uint32_t males = 0;
    for (uint32_t i = 0; i < module.model->dock_count; i++) {
        const mf_Dock *dock = &module.model->docks[i], *next = &module.model->docks[i ^ 1];
        assert_near(mf_vec3_length(dock->frame.position), 0.04 * sqrt(2.0), 1e-9);
        assert_near(fabs(dock->frame.position[2]), 0.04, 1e-9);
        assert_int_not_equal(dock->gender, next->gender);
        males += dock->gender == MF_DOCK_MALE;
    }
    assert_int_equal(males, 4);
}

// Robot b in the base frame of robot a, docked: the frames have the same origin and z, and x
// against each other; `turn` quarter rotations about x.
static Pose docked(const Module *a, const mf_Dock *dock_a, const Module *b, const mf_Dock *dock_b,
                   int orientation) {
    const double up[3] = {0.0, 0.0, 1.0}, ahead[3] = {1.0, 0.0, 0.0}, zero[3] = {0.0, 0.0, 0.0};
    double half[4], quarters[4], facing[4], inverse[4], back[3];
    Pose at = dock_pose(a, dock_a), own = dock_pose(b, dock_b), plate, result;
    mf_quat_from_axis_angle(half, up, MF_PI);
    mf_quat_from_axis_angle(quarters, ahead, 0.5 * MF_PI * orientation);
    mf_quat_multiply(facing, quarters, half);
    compose(plate.position, plate.rotation, at.position, at.rotation, zero, facing);
    mf_quat_conjugate(inverse, own.rotation);
    mf_quat_rotate(back, inverse, own.position);
    mf_vec3_scale(back, back, -1.0);
    compose(result.position, result.rotation, plate.position, plate.rotation, back, inverse);
    return result;
}

// Cuts the box of a down to that of b at its pose; false where nothing is left.
static bool common_bounds(const Module *a, const Module *b, const Pose *pose, double low[3],
                          double high[3]) {
    double corners[2][3], begin[3] = {INFINITY, INFINITY, INFINITY},
                          end[3] = {-INFINITY, -INFINITY, -INFINITY};
    bool some = true;
    bounds(a, MF_NONE, low, high);
    bounds(b, MF_NONE, corners[0], corners[1]);
    for (int corner = 0; corner < 8; corner++) {
        const double own[3] = {corners[corner & 1][0], corners[corner / 2 & 1][1],
                               corners[corner / 4][2]};
        double at[3];
        mf_quat_rotate(at, pose->rotation, own);
        for (int k = 0; k < 3; k++) {
            begin[k] = fmin(begin[k], at[k] + pose->position[k]);
            end[k] = fmax(end[k], at[k] + pose->position[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        low[k] = fmax(low[k], begin[k]);
        high[k] = fmin(high[k], end[k]);
        some = some && high[k] - low[k] > 1e-6; // more than a common face
    }
    return some;
}

// The deepest point of a grid of 0.5 mm that lies in solids of both.
static double overlap(const Module *a, const Module *b, const Pose *pose) {
    double low[3], high[3], point[3], deepest = 0.0;
    if (!common_bounds(a, b, pose, low, high))
        return 0.0;
    for (uint32_t i = 0; grid_point(low, high, SANITIZED ? 2e-3 : 5e-4, i, point); i++) {
        double relative[3], other[3];
        mf_vec3_sub(relative, point, pose->position);
        mf_quat_rotate_inverse(other, pose->rotation, relative);
        double in_b = depth_in(b, MF_NONE, other);
        if (in_b > deepest)
            deepest = fmax(deepest, fmin(in_b, depth_in(a, MF_NONE, point)));
    }
    return deepest;
}

TEST(docked_robots_are_flush_without_overlap) {
    static const struct {
        const char *a, *dock_a, *b, *dock_b;
        double distance; // [m] of the origins of both bases
    } pairs[] = {
        {"superbot", "front", "superbot", "back", 0.168},
        {"superbot", "front", "superbot", "front_left", 0.13281566},
        {"superbot_simple", "front", "superbot_simple", "back", 0.168},
        {"superbot", "back_top", "long_dock", "front", 0.13281566},
        {"superbot", "front", "long_dock", "back", 0.168},
        {"superbot", "front", "gripper", "back", 0.084},
        {"base", "top", "superbot", "back", 0.168},
        {"wheelbot", "front", "superbot", "back", 0.184},
        {"wheelbot", "back", "wheelbot", "front", 0.2},
        {"cube", "front", "cube", "back", 0.13},
        {"atron", "north_1", "atron", "south_2", 0.11313708},
        {"atron_simple", "north_1", "atron_simple", "south_2", 0.11313708},
    };
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        AUTO(close_module)
        Module a = open_module(*state, pairs[p].a), b = open_module(*state, pairs[p].b);
        const mf_Dock *dock_a = find_dock(&a, pairs[p].dock_a),
                      *dock_b = find_dock(&b, pairs[p].dock_b);
        for (int orientation = 0; orientation < 4; orientation += 4 / dock_a->orientations) {
            Pose pose = docked(&a, dock_a, &b, dock_b, orientation);
            if (overlap(&a, &b, &pose) > 1e-5)
                fail_msg("%s %s and %s %s overlap by %g m", pairs[p].a, pairs[p].dock_a, pairs[p].b,
                         pairs[p].dock_b, overlap(&a, &b, &pose));
            assert_near(mf_vec3_length(pose.position), pairs[p].distance, 1e-8);
        }
    }
}

// One of both orientations of docked ATRONs has perpendicular axes, as in their lattice.
TEST(atrons_dock_113_mm_apart_with_perpendicular_axes) {
    AUTO(close_module) Module atron = open_module(*state, "atron");
    const double up[3] = {0.0, 0.0, 1.0};
    for (uint32_t i = 0; i < atron.model->dock_count; i++)
        for (uint32_t k = 0; k < atron.model->dock_count; k++) {
            double straight = 0.0;
            for (int orientation = 0; orientation < 4; orientation += 2) {
                Pose pose = docked(&atron, &atron.model->docks[i], &atron, &atron.model->docks[k],
                                   orientation);
                double axis[3];
                mf_quat_rotate(axis, pose.rotation, up);
                straight += fabs(axis[2]) < 1e-9;
                assert_near(mf_vec3_length(pose.position), 0.08 * sqrt(2.0), 1e-9);
            }
            assert_near(straight, 1.0, 0.0);
        }
}

static void check_links_apart(const Module *module) {
    double low[3], high[3], point[3];
    bounds(module, MF_NONE, low, high);
    for (uint32_t i = 0; grid_point(low, high, SANITIZED ? 6e-3 : 2e-3, i, point); i++) {
        int inside = 0;
        for (uint32_t l = 0; l < module->model->link_count; l++)
            inside += depth_in(module, l, point) > 2e-5;
        assert_true(inside <= 1);
    }
}

// No two links of a robot overlap, at the start and with each joint at either limit (endless joints
// at 1 rad).
TEST(links_do_not_overlap) {
    static const char *const names[] = {"superbot", "atron", "wheelbot", "gripper"};
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        AUTO(close_module) Module module = open_module(*state, names[m]);
        check_links_apart(&module);
        for (uint32_t turned = 0; turned < 2 * module.model->joint_count; turned++) {
            const mf_Joint *joint = &module.model->joints[turned / 2];
            const double limit = turned % 2 ? joint->upper : joint->lower;
            double angle[LINKS] = {0.0};
            angle[turned / 2] = isfinite(limit) ? limit : 1.0;
            pose_solids(&module, angle);
            check_links_apart(&module);
        }
    }
}
