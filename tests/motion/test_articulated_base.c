// Gravity in every direction, dry friction of a free base, and axes that are nearly perpendicular.
#include "motion/articulated_rig.h"

static const double along_z[3] = {0, 0, 1};
static const double degree = 3.14159265358979323846 / 180.0;

// Free fall along (2, -1, 2)/3 at 9 m/s^2; height and energy are against gravity.
TEST(gravity_pulls_anywhere) {
    const double direction[3] = {4, -2, 4};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = art_config((mf_ArticulatedIntegrator)i, MF_MILLISECOND);
        memcpy(config.world.gravity_direction, direction, sizeof direction);
        config.world.gravity = 9.0;
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 2.0, 0.1, 0, 0, 0.3, 0.4, 0.5);
        art_open(&rig, config);
        rig_set(&rig, "base.position", 2, 50.0);
        double energy = rig_energy(&rig);
        mf_world_step(rig.world, 1000);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(&rig, "base.linear_velocity", c), 9.0 * direction[c] / 6.0, 1e-10);
        // Euler's method falls g h t / 2 further.
        double gained = i == MF_ARTICULATED_RK4 ? 0.0 : 2.0 * 9.0 * 9.0 * 1e-3 / 2.0;
        assert_near(rig_energy(&rig), energy - gained, 1e-9);
    }
}

// Other motions know gravity along -z only.
TEST(other_motions_refuse_tilted_gravity) {
    ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
    mf_SystemConfig system = mf_system_config();
    config.world.gravity_direction[0] = 1.0;
    AUTO_RIG rig = rig_begin(1);
    art_body(rig.hand, 0, 2.0, 0, 0, 0, 0.3, 0.4, 0.5);
    art_open(&rig, config);
    system.name = "glider";
    system.phase = MF_PHASE_MOTION;
    system.run = mf_group_system(rig.group, 0)->run;
    MUST_FAIL(mf_group_add_system(rig.group, &system, &error), MF_UNSUPPORTED,
              "glider needs world.gravity_direction 0 0 -1");
    rig_close(&rig);
    config.world.gravity_direction[0] = NAN;
    rig = rig_begin(1);
    MUST_FAIL(mf_world_create(rig.context, &config.world, &rig.world, &error), MF_BAD_ARGUMENT, "");
    rig.world = NULL;
}

// Dry friction F of a free base's joint acts on every coordinate by itself: a body of 2 kg that
// slides along two axes stops along the slower one first, and turning stops, too. A weight below F
// makes it creep, one above it moves it with what is left.
TEST(dry_friction_of_a_free_base) {
    const double friction = 3.0, mass = 2.0;
    const mf_Joint root = {.name = "root", .type = MF_JOINT_FLOATING, .friction = friction};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        const double half = sqrt(0.5);
        config.world.gravity = i == 0 ? 0.0 : i == 1 ? 1.0 : 4.0;
        config.world.gravity_direction[0] = 1.0;
        config.world.gravity_direction[2] = 0.0;
        AUTO_RIG rig = rig_begin(1);
        rig.hand->model.root = &root;
        art_body(rig.hand, 0, mass, 0, 0, 0, 0.3, 0.3, 0.3);
        art_open(&rig, config);
        rig_set(&rig, "base.position", 2, 50.0);
        rig_set(&rig, "base.orientation", 0, half); // axes of body and world differ
        rig_set(&rig, "base.orientation", 1, half);
        if (i == 0) {
            rig_set(&rig, "base.linear_velocity", 1, 2.0);
            rig_set(&rig, "base.linear_velocity", 2, -1.0);
            rig_set(&rig, "base.angular_velocity", 2, 8.0);
        }
        mf_world_step(rig.world, 600);
        if (i == 0) {
            assert_near(rig_get(&rig, "base.linear_velocity", 1), 2.0 - 0.6 * 1.5, 5e-3);
            assert_near(rig_get(&rig, "base.linear_velocity", 2), -1.0 + 0.6 * 1.5, 5e-3);
            assert_near(rig_get(&rig, "base.angular_velocity", 2), 8.0 - 0.6 * 10.0, 5e-2);
            mf_world_step(rig.world, 600);
            assert_near(rig_get(&rig, "base.linear_velocity", 2), 0.0, 1e-6);
            assert_near(rig_get(&rig, "base.linear_velocity", 1), 2.0 - 1.2 * 1.5, 5e-3);
            assert_near(rig_get(&rig, "base.angular_velocity", 2), 0.0, 1e-6);
        }
        double rest = config.motion.friction_rate * mass / friction;
        if (i == 1)
            assert_near(rig_get(&rig, "base.linear_velocity", 0), rest, 1e-8);
        // The chord to rest at the end of the step is too large by the part h a / v.
        double late = 1.5 * 1e-3 * log(1.5 / config.motion.friction_rate);
        if (i == 2)
            assert_near(rig_get(&rig, "base.linear_velocity", 0), 1.5 - late, 2e-3);
    }
}

// Axes that miss 90 degrees by what rounding of the sine hides are not taken for 90 degrees.
TEST(nearly_right_angles_stay) {
    const double misses[] = {0.0, 3e-7, -1e-6, 1e-8, 1e-3};
    for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
        ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
        const double half = 45.0 * degree + 0.5 * misses[i];
        const double rotations[2][4] = {{cos(half), sin(half), 0, 0},
                                        {cos(half), 0, -sin(half), 0}};
        double position[3][3], rotation[3][4];
        AUTO_RIG rig = rig_begin(1);
        config.motion.base = MF_ARTICULATED_FIXED;
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t link = mf_hand_hinge(rig.hand, k, 0.1, 0.2, 0.3, along_z);
            memcpy(rig.hand->joints[k].rotation, rotations[k], sizeof rotations[k]);
            art_body(rig.hand, link, 1.0, 0.1, 0.2, 0, 0.3, 0.3, 0.5);
        }
        art_open(&rig, config);
        mf_group_link_poses(rig.group, 0, 1, position[0], rotation[0], NULL);
        const double *a = rotations[0], *b = rotations[1];
        const double both[4] = {a[0] * b[0], a[1] * b[0], a[0] * b[2], a[1] * b[2]};
        for (uint32_t k = 0; k < 4; k++) {
            assert_near(fabs(rotation[1][k]), fabs(a[k]), 1e-12);
            assert_near(fabs(rotation[2][k]), fabs(both[k]), 1e-12);
        }
    }
}
