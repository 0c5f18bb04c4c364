// Contact with curved ground, and where ground ends, against closed forms.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

// A marble of radius r in a bowl of curvature k, without friction, swings as a pendulum of length
// 1/k - r. With the ground under its center it would be one of about 1/k.
TEST(a_marble_swings_in_a_bowl) {
    static const char *const motions[] = {"rigid", "{articulated: {contact_law: compliant}}",
                                          "{articulated: {contact_law: mujoco}}"};
    const double pi = 3.14159265358979323846, curvature = 0.05 * pi * pi, radius = 0.2;
    const double expected = 2.0 * pi * sqrt((1.0 / curvature - radius) / 9.81);
    for (int m = 0; m < 3; m++)
        for (int cell = 2; cell <= 20; cell += 18) { // [cm] a tenth of the radius, and all of it
            AUTO_WHOLE_SCENE scene = scene_of(
                *state,
                formatted("world: {step: 0.002}\n"
                          "ground: {shape: sine, amplitude: 0.05, wavelength: 2, columns: %d, "
                          "rows: %d, cell: %g}\n"
                          "groups: [{name: g, model: ../tests/scene/bodies/marble.xml, motion: %s, "
                          "precision: double, placement: {poses: [[-0.5, 0, 0]]}}]\n",
                          600 / cell, 600 / cell, 0.01 * cell, motions[m]));
            mf_world_step(scene.world, 1000);
            const double rest = get(&scene, 0, "base.position", 0, 2);
            // The bilinear bowl of coarse cells is deeper by up to k h^2 / 4.
            assert_true(fabs(rest - (radius - 0.05)) < (cell > 2 ? 7e-3 : 2e-3));
            set_field(mf_world_group(scene.world, 0), "base.linear_velocity", 0, 0, 0.15);
            double crossed[5] = {0.0};
            int count = 0;
            for (int k = 1; k < 6000 && count < 5; k++) {
                const double before = get(&scene, 0, "base.position", 0, 0) + 0.5;
                mf_world_step(scene.world, 1);
                const double now = get(&scene, 0, "base.position", 0, 0) + 0.5;
                if (k > 200 && before < 0.0 && now >= 0.0)
                    crossed[count++] = 0.002 * (k - now / (now - before));
            }
            if (cell == 2) {
                assert_true(count >= 3);
                const double period = crossed[1] - crossed[0];
                if (fabs(period / expected - 1.0) > 0.02)
                    fail_msg("%s: period %g s, expected %g s", motions[m], period, expected);
            }
        }
}

// A map that ends carries nothing beyond its border, and all of what is on it.
TEST(robots_fall_where_the_ground_ends) {
    static const char *const grounds[] = {
        "{shape: flat, columns: 10, rows: 10, cell: 0.2, border: ends}",
        "{shape: sine, amplitude: 0.01, columns: 10, rows: 10, cell: 0.2, border: ends}"};
    static const char *const motions[] = {"points", "rigid", "prescribed",
                                          "{articulated: {contact_law: compliant}}",
                                          "{articulated: {contact_law: mujoco}}"};
    for (int g = 0; g < 2; g++)
        for (int m = 0; m < 5; m++) {
            AUTO_WHOLE_SCENE scene = scene_of(
                *state,
                formatted("ground: %s\ngroups: [{name: g, model: ../tests/scene/bodies/brick.xml, "
                          "count: 2, motion: %s, placement: {poses: [[0, 0, 0], [1.3, 0, 0]]}}]\n",
                          grounds[g], motions[m]));
            while (mf_time_to_seconds(mf_world_time(scene.world)) < 1.0)
                mf_world_step(scene.world, 1);
            const double stays = get(&scene, 0, "base.position", 0, 2);
            const double falls = get(&scene, 0, "base.position", 1, 2);
            if (!(stays > 0.02 && stays < 0.2 && fabs(falls + 4.9) < 0.4))
                fail_msg("%s, %s: at %g m and %g m", grounds[g], motions[m], stays, falls);
        }
}
