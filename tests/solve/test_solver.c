// Contacts between robots solved together with run-time joints: loads and friction in closed form,
// mass ratios, stacks, and determinism.
#include "solve/joints_rig.h"
#include "solve/collisions.h"
#include "contact/softness.h"
#include "model/draft.h"

// A cube of 0.2 m whose origin is its center.
static mf_Model *cube_of(mf_Context *context, double mass, double friction) {
    return load_text(
        context,
        formatted("<mujoco model='cube'><worldbody><body><freejoint/>"
                  "<geom type='box' size='0.1 0.1 0.1' mass='%g' friction='%g 0.005 0.0001'/>"
                  "</body></worldbody></mujoco>",
                  mass, friction));
}

// Sum of the loads of all contacts between robots, along z.
static double load_between(const Pitch *pitch, const mf_Group *above, uint32_t instance) {
    mf_Contact contacts[512];
    uint32_t count;
    double sum = 0.0;
    MUST(mf_world_contacts(pitch->world, contacts, 512, &count, &error));
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

// The mean over 50 steps: rounding of a height of h = 2 m in float, 2.4e-7 m, turned into speed by
// the recovery of depth (0.2 a step) makes 2.4e-5 m/s of noise, 0.12 % of a weight in a step of 2
// ms.
static double mean_load(Pitch *pitch, const mf_Group *above, uint32_t instance) {
    double sum = 0.0;
    for (int i = 0; i < 50; i++) {
        mf_world_step(pitch->world, 1);
        sum += load_between(pitch, above, instance);
    }
    return sum / 50;
}

static void collide(Pitch *pitch, mf_CollisionLaw law) {
    pitch_collide(pitch, &WITH(mf_collisions_config(), .law = law));
}

// `articulated`, with hard contacts with the ground.
static mf_Group *add_standing(Pitch *pitch, mf_Model *model, const char *name, uint32_t count,
                              bool wide) {
    return pitch_moving(
        pitch, model, name, count, wide,
        WITH(mf_motions_config().articulated, .shapes = true, .contact_law = MF_CONTACT_LAW_HARD));
}

// ---- mass ratios --------------------------------------------------------------------------------

TEST(a_light_box_bears_a_heavy_one) {
    const double masses[] = {1.0, 30.0, 1000.0};
    for (int k = 0; k < 6; k++) {
        const mf_CollisionLaw law = k < 3 ? MF_COLLISION_HARD : MF_COLLISION_COMPLIANT;
        const double mass = masses[k % 3];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *low = add_standing(&pitch, cube_of(pitch.context, 1.0, 1.0), "low", 1, true);
        mf_Group *high = add_standing(&pitch, cube_of(pitch.context, mass, 1.0), "high", 1, true);
        put_at(&pitch, low, 0, 0, 0, 0.1);
        put_at(&pitch, high, 0, 0, 0, 0.3);
        collide(&pitch, law);
        mf_world_step(pitch.world, 1000);
        const double apart =
            get_field(high, "base.position", 0, 2) - get_field(low, "base.position", 0, 2) - 0.2;
        const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        print_message("%s, %g kg on 1 kg: load %.7g N, %.2g m deep, residual %.2g, %.2g rounds\n",
                      mf_collision_law_name(law), mass, load_between(&pitch, high, 0), -apart,
                      statistics.residual, (double)statistics.rounds / 1000.0);
        assert_near(load_between(&pitch, high, 0), 9.81 * mass, 1e-4 * 9.81 * mass);
        assert_true(-apart > 0.0 && -apart < 1e-4);
        assert_int_equal(mf_group_warning(high, 0), 0);
    }
}

// ---- stacks -------------------------------------------------------------------------------------

// 2 s are enough to see it stand; MAYFLY_FULL=1: the 20 s of the docs.
TEST(a_stack_stands) {
    const uint32_t steps = getenv("MAYFLY_FULL") != NULL ? 10000 : SANITIZED ? 500 : 1000;
    for (int k = 0; k < 3; k++) {
        const bool wide = k > 0;
        const mf_CollisionLaw law = k < 2 ? MF_COLLISION_HARD : MF_COLLISION_COMPLIANT;
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *boxes = add_standing(&pitch, cube_of(pitch.context, 1.0, 1.0), "boxes", 12, wide);
        for (uint32_t i = 0; i < 12; i++)
            put_at(&pitch, boxes, i, 0.002 * (i % 3), 0, 0.1 + 0.2 * i);
        collide(&pitch, law);
        mf_world_step(pitch.world, steps);
        double far = 0.0;
        for (uint32_t i = 0; i < 12; i++)
            far = fmax(far, fabs(get_field(boxes, "base.position", i, 0) - 0.002 * (i % 3)));
        const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        print_message("12 boxes, %s, %g s: %.2g m aside, top at %.6g m, residual %.2g, "
                      "%.2g rounds\n",
                      wide ? "double" : "float", 2e-3 * steps, far,
                      get_field(boxes, "base.position", 11, 2), statistics.residual,
                      (double)statistics.rounds / steps);
        assert_near(get_field(boxes, "base.position", 11, 2), 2.3, k < 2 ? 2e-3 : 6e-3);
        assert_true(far < 5e-4);
        assert_near(mean_load(&pitch, boxes, 11), 9.81, 9.81e-3);
        assert_int_equal(mf_group_fault_total(boxes), 0);
    }
}

// ---- softness of a file -------------------------------------------------------------------------

// [m] How deep MuJoCo's law (contact/softness.h) lets a cube of `mass` into one of 1 kg: four
// contacts share the load m_c z / (1 - z) k z d, with m_c the mass that both move.
static double depth_as_stated(const mf_Softness *softness, double mass, double step) {
    double low = 0.0, high = 0.1, k, b;
    mf_softness_reference(softness, step, true, &k, &b);
    for (int i = 0; i < 100; i++) {
        const double d = 0.5 * (low + high), z = mf_softness_impedance(softness, d);
        const double load = 4.0 * mass / (1.0 + mass) * z / (1.0 - z) * k * z * d;
        if (load < 9.81 * mass)
            low = d;
        else
            high = d;
    }
    return low;
}

TEST(compliant_contacts_are_as_soft_as_the_file_states) {
    const double masses[] = {1.0, 30.0};
    const double peers[] = {0.226e-3, 1.68e-3}; // MuJoCo 4.0, Newton, 20 s
    mf_Softness softness = mf_softness();
    softness.reference[0] = 0.021;
    for (int k = 0; k < 4; k++) {
        const mf_Time step = k < 2 ? 2 * MF_MILLISECOND : 5 * MF_MILLISECOND;
        mf_Group *cubes[2];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 9.81);
        for (int i = 0; i < 2; i++) {
            const char *text =
                formatted("<mujoco model='cube'><worldbody><body><freejoint/><geom type='box' "
                          "size='0.1 0.1 0.1' mass='%g' friction='1' solref='0.021 1'/>"
                          "</body></worldbody></mujoco>",
                          i == 0 ? 1.0 : masses[k % 2]);
            cubes[i] = add_standing(&pitch, load_text(pitch.context, text), i == 0 ? "low" : "high",
                                    1, true);
            put_at(&pitch, cubes[i], 0, 0, 0, i == 0 ? 0.1 : 0.3);
        }
        collide(&pitch, MF_COLLISION_COMPLIANT);
        mf_world_step(pitch.world, 1000);
        const double deep = 0.2 - get_field(cubes[1], "base.position", 0, 2) +
                            get_field(cubes[0], "base.position", 0, 2);
        const double stated = depth_as_stated(&softness, masses[k % 2], 1e-9 * (double)step);
        print_message("%g kg on 1 kg: %.4g mm deep, by the law %.4g mm\n", masses[k % 2],
                      1e3 * deep, 1e3 * stated);
        assert_near(deep, stated, 1e-3 * stated);
        assert_near(deep, peers[k % 2], 0.005 * peers[k % 2]);
    }
}

// ---- friction -----------------------------------------------------------------------------------

static Pitch open_incline(double tangent) {
    Pitch pitch = {0};
    const double length = sqrt(1.0 + tangent * tangent);
    MUST(mf_context_create(NULL, &pitch.context, &error));
    pitch.world = open_world(pitch.context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND,
                                                  .gravity_direction[0] = tangent / length,
                                                  .gravity_direction[2] = -1.0 / length));
    return pitch;
}

// How far a cube slides in a second, after half a second in which it falls on its slab.
static double slid(mf_World *world, mf_Group *cube, const char *position, const char *velocity) {
    mf_world_step(world, 250);
    const double begin = get_field(cube, position, 0, 0), speed = get_field(cube, velocity, 0, 0);
    mf_world_step(world, 500);
    assert_int_equal(mf_group_warning(cube, 0), 0);
    return get_field(cube, position, 0, 0) - begin - speed * 1.0;
}

// On a slab of another instance, which is held; gravity is inclined.
static double slide(mf_CollisionLaw law, mf_Motion motion, double tangent) {
    AUTO_PITCH pitch = open_incline(tangent);
    mf_Group *slab = pitch_group(
        &pitch,
        load_text(pitch.context, "<mujoco model='slab'><worldbody><body><freejoint/>"
                                 "<geom type='box' size='4 4 0.5' mass='1' friction='0.1'/>"
                                 "</body></worldbody></mujoco>"),
        "slab", 1, true);
    MUST(mf_motion_add(slab, MF_MOTION_EXTERNAL, NULL, &error));
    mf_Group *cube =
        add_bodies(&pitch, cube_of(pitch.context, 2.0, 0.5), "cube", 1, motion, true, false);
    put_at(&pitch, slab, 0, 0, 0, 0.5);
    put_at(&pitch, cube, 0, -1, 0, 1.1);
    collide(&pitch, law);
    return slid(pitch.world, cube, "base.position", "base.linear_velocity");
}

static double slide_in_a_file(double tangent) {
    AUTO_PITCH pitch = open_incline(tangent);
    mf_Group *both = pitch_group(
        &pitch,
        load_text(pitch.context,
                  "<mujoco model='both'><worldbody>"
                  "<geom type='box' size='4 4 0.5' pos='0 0 0.5' friction='0.1'/>"
                  "<body pos='-1 0 1.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='2' "
                  "friction='0.5 0.005 0.0001'/></body></worldbody></mujoco>"),
        "both", 1, true);
    MUST(mf_motion_add(both, MF_MOTION_ARTICULATED, NULL, &error));
    return slid(pitch.world, both, "base.position", "base.linear_velocity");
}

TEST(it_slips_at_the_angle_of_friction) {
    const double clamped = slide(MF_COLLISION_HARD, MF_MOTION_ARTICULATED, 0.495);
    const double slips = slide(MF_COLLISION_HARD, MF_MOTION_ARTICULATED, 0.505);
    const double fast = slide(MF_COLLISION_HARD, MF_MOTION_ARTICULATED, 0.7);
    const double expected = 0.5 * 9.81 * (0.7 - 0.5) / sqrt(1.0 + 0.7 * 0.7);
    print_message("mu = 0.5: %.2g m at tan 0.495, %.3g m at 0.505, %.4g m at 0.7, not %.4g\n",
                  clamped, slips, fast, expected);
    assert_true(fabs(clamped) < 1e-4);
    assert_near(slips, 0.5 * 9.81 * 0.005 / sqrt(1.0 + 0.505 * 0.505), 2e-3);
    assert_near(fast, expected, 1e-2 * expected);
}

// Pyramids of MuJoCo's law creep, and slide with less friction; between robots as in a file.
TEST(it_slips_as_in_a_file) {
    const double tangents[] = {0.3, 0.495, 0.505, 0.7};
    for (int k = 0; k < 4; k++) {
        const double two = slide(MF_COLLISION_COMPLIANT, MF_MOTION_ARTICULATED, tangents[k]);
        const double one = slide_in_a_file(tangents[k]);
        print_message("tan %g: %.6g m, in a file %.6g m\n", tangents[k], two, one);
        assert_near(two, one, 1e-6);
    }
}

// ---- impacts ------------------------------------------------------------------------------------

// Balls in a head-on impact: momentum to rounding, and the speed apart by the restitution.
TEST(balls_part_by_the_restitution) {
    const double restitutions[] = {0.05, 0.5, 1.0};
    const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};
    for (int k = 0; k < 6; k++) {
        const double e = restitutions[k % 3];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *first = add_bodies(&pitch, ball_of(pitch.context, 1.0), "first", 1,
                                     motions[k / 3], true, false);
        mf_Group *second = add_bodies(&pitch, ball_of(pitch.context, 3.0), "second", 1,
                                      MF_MOTION_ARTICULATED, true, false);
        put(&pitch, first, 0, 0.0, 0.0, 1.0, 2.0);
        put(&pitch, second, 0, 0.3, 0.0, 1.0, 0.0);
        pitch_collide(&pitch,
                      &WITH(mf_collisions_config(), .law = MF_COLLISION_HARD, .restitution = e));
        mf_world_step(pitch.world, 500);
        const double u = get_field(first, "base.linear_velocity", 0, 0);
        const double v = get_field(second, "base.linear_velocity", 0, 0);
        assert_near(u + 3.0 * v, 2.0, 1e-13);
        assert_near(v - u, 2.0 * e, 0.01);
    }
}

// ---- contacts and joints together ---------------------------------------------------------------

// A box of 1 kg stands on the ground and holds a second one in the air by a joint; one of 3 kg lies
// on both of their tops, so the joint bears what the contact with the second one bears.
TEST(joints_and_contacts_agree) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Group *low = add_bodies(&pitch, cube_of(pitch.context, 1.0, 1.0), "low", 2,
                               MF_MOTION_ARTICULATED, true, true);
    mf_Group *high = add_bodies(&pitch, cube_of(pitch.context, 3.0, 1.0), "high", 1,
                                MF_MOTION_ARTICULATED, true, true);
    put_at(&pitch, low, 0, 0, 0, 0.1);
    put_at(&pitch, low, 1, 0.201, 0, 0.1005); // in the air
    put_at(&pitch, high, 0, 0.05, 0, 0.3005);
    mf_WorldJoints *joints = add_joints(&pitch);
    mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, low, 0, low, 1);
    const mf_WorldJointId id = join(joints, &config, 0.1, 0, 0.1, NULL);
    collide(&pitch, MF_COLLISION_HARD);
    double open = 0.0;
    for (uint32_t i = 0; i < 1000; i++) {
        mf_world_step(pitch.world, 1);
        open = fmax(open, state_of(joints, id).opening);
    }
    const double load = load_between(&pitch, high, 0);
    print_message("joint: open %.2g m, %.5g N, residual %.2g; load %.6g N\n", open,
                  state_of(joints, id).force[2], state_of(joints, id).residual, load);
    assert_near(load, 29.43, 0.03);
    assert_true(open < 1e-4 && state_of(joints, id).residual < 1e-3);
}

// ---- determinism --------------------------------------------------------------------------------

enum { KINDS = 3, MANY = 9 };

// Boxes, balls and hexapods fall onto each other; groups are made in the order of `user`. The hash
// is of all robots.
static uint64_t heap(const void *user, uint32_t threads, mf_Isa isa) {
    static const char *const names[KINDS] = {"cubes", "balls", "hexapods"};
    const uint32_t *order = user;
    uint64_t hash = MF_HASH_START;
    mf_Group *groups[KINDS];
    AUTO_PITCH pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, 9.81);
    for (uint32_t k = 0; k < KINDS; k++) {
        const uint32_t kind = order[k];
        mf_Model *model = kind == 0   ? cube_of(pitch.context, 1.0, 0.6)
                          : kind == 1 ? ball_of(pitch.context, 0.5)
                                      : load_file(pitch.context, "hexapod.urdf");
        groups[kind] = add_bodies(&pitch, model, names[kind], kind == 2 ? 2 : MANY,
                                  kind == 1 ? MF_MOTION_RIGID : MF_MOTION_ARTICULATED, false, true);
        for (uint32_t i = 0; i < mf_group_count(groups[kind]); i++)
            put_at(&pitch, groups[kind], i, 0.3 * (i % 3) + 0.05 * kind, 0.3 * (i / 3) + 0.03 * i,
                   0.15 + 0.25 * kind);
    }
    collide(&pitch, MF_COLLISION_HARD);
    mf_world_step(pitch.world, 300);
    const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
    assert_true(statistics.solved > 500);
    for (uint32_t k = 0; k < KINDS; k++) {
        assert_int_equal(mf_group_fault_total(groups[k]), 0);
        for (uint32_t i = 0; i < mf_group_count(groups[k]); i++)
            hash = 31 * hash + mf_group_instance_hash(groups[k], i);
    }
    return hash;
}

TEST(bits_depend_on_nothing_else) {
    const uint32_t order[KINDS] = {0, 1, 2}, other[KINDS] = {2, 0, 1};
    assert_same_bits(heap, order);
    assert_true(heap(other, 1, MF_ISA_AUTO) == heap(order, 1, MF_ISA_AUTO));
}

TEST(a_snapshot_holds_the_warm_start) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Group *boxes = add_standing(&pitch, cube_of(pitch.context, 1.0, 1.0), "boxes", 4, false);
    for (uint32_t i = 0; i < 4; i++)
        put_at(&pitch, boxes, i, 0.003 * i, 0, 0.1 + 0.2 * i);
    collide(&pitch, MF_COLLISION_HARD);
    mf_world_step(pitch.world, 20);
    assert_continues(pitch.world, 30);
}

TEST(a_step_allocates_nothing) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Group *boxes = add_standing(&pitch, cube_of(pitch.context, 1.0, 1.0), "boxes", 4, false);
    for (uint32_t i = 0; i < 4; i++)
        put_at(&pitch, boxes, i, 0, 0, 0.1 + 0.2 * i);
    collide(&pitch, MF_COLLISION_HARD);
    mf_context_fail_after(pitch.context, 1);
    mf_world_step(pitch.world, 100);
    mf_context_fail_after(pitch.context, 0);
    assert_near(load_between(&pitch, boxes, 3), 9.81, 0.1);
}
