// Contacts between robots that are solved together with run-time joints: loads and friction by
// closed forms, mass ratios, stacks, and what bits depend on.
#include "dynamics/joints_rig.h"

#include <mayfly/query.h>

// A cube of 0.2 m whose origin is its centre.
static mf_Model *cube_of(mf_Context *context, double mass, double friction) {
    char text[512];
    snprintf(text, sizeof text,
             "<mujoco model='cube'><worldbody><body><freejoint/>"
             "<geom type='box' size='0.1 0.1 0.1' mass='%g' friction='%g 0.005 0.0001'/>"
             "</body></worldbody></mujoco>",
             mass, friction);
    return load_text(context, text);
}

// Sum of the loads of all contacts between robots, along z.
static double load_between(const Pitch *pitch, const mf_Group *above, uint32_t instance) {
    mf_Contact contacts[512];
    uint32_t count;
    mf_Error error = {0};
    double sum = 0.0;
    must(mf_world_contacts(pitch->world, contacts, 512, &count, &error), &error);
    for (uint32_t i = 0; i < count; i++) {
        const mf_ShapeOwner *owners = contacts[i].owners;
        if (owners[1].group == NULL)
            continue;
        if (owners[1].group == above && owners[1].instance == instance)
            sum += contacts[i].force[2];
        else if (owners[0].group == above && owners[0].instance == instance)
            sum -= contacts[i].force[2];
    }
    return sum;
}

// ---- mass ratios --------------------------------------------------------------------------------

static void a_light_box_bears_a_heavy_one(void **state) {
    (void)state;
    const double masses[] = {1.0, 30.0, 1000.0};
    for (int k = 0; k < 3; k++) {
        Pitch pitch;
        pitch_open(&pitch, 1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *low = add_bodies(&pitch, cube_of(pitch.context, 1.0, 1.0), "low", 1,
                                   MF_MOTION_ARTICULATED, true, true);
        mf_Group *high = add_bodies(&pitch, cube_of(pitch.context, masses[k], 1.0), "high", 1,
                                    MF_MOTION_ARTICULATED, true, true);
        put_at(&pitch, low, 0, 0, 0, 0.1);
        put_at(&pitch, high, 0, 0, 0, 0.3);
        pitch_collide(&pitch, NULL);
        mf_world_step(pitch.world, 1000);
        const double height = get(high, "base.position", 0, 2);
        mf_world_step(pitch.world, 1000);
        const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        print_message("%g kg on 1 kg: load %.6g N, heights %.6g %.6g m, %.2g m in 2 s, residual "
                      "%.2g, %.2g rounds\n",
                      masses[k], load_between(&pitch, high, 0), get(low, "base.position", 0, 2),
                      get(high, "base.position", 0, 2), get(high, "base.position", 0, 2) - height,
                      statistics.residual, (double)statistics.rounds / 2000.0);
        near(load_between(&pitch, high, 0), 9.81 * masses[k], 1e-3 * 9.81 * masses[k]);
        near(get(high, "base.position", 0, 2), height, 1e-5);
        assert_int_equal(mf_group_warning(high, 0), 0);
        pitch_close(&pitch);
    }
}

// ---- stacks -------------------------------------------------------------------------------------

static void a_stack_stands(void **state) {
    (void)state;
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};
    for (int k = 0; k < 4; k++) {
        Pitch pitch;
        pitch_open(&pitch, 1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *boxes = add_bodies(&pitch, cube_of(pitch.context, 1.0, 1.0), "boxes", 12,
                                     motions[k % 2], k >= 2, true);
        for (uint32_t i = 0; i < 12; i++)
            put_at(&pitch, boxes, i, 0.002 * (i % 3), 0, 0.1 + 0.2 * i);
        pitch_collide(&pitch, NULL);
        mf_world_step(pitch.world, 10000);
        double far = 0.0;
        for (uint32_t i = 0; i < 12; i++)
            far = fmax(far, fabs(get(boxes, "base.position", i, 0) - 0.002 * (i % 3)));
        const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        print_message("stack, %s, %s: %.3g m aside, top at %.6g m, load %.5g N, residual %.2g, "
                      "%.2g rounds\n",
                      mf_motion_name(motions[k % 2]), k >= 2 ? "double" : "float", far,
                      get(boxes, "base.position", 11, 2), load_between(&pitch, boxes, 1),
                      statistics.residual, (double)statistics.rounds / 10000.0);
        near(get(boxes, "base.position", 11, 2), 2.3, 2e-3);
        assert_true(far < 1e-3);
        pitch_close(&pitch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_light_box_bears_a_heavy_one),
        cmocka_unit_test(a_stack_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
