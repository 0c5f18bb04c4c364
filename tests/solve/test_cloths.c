// Cloths among robots: what a cloth gets from a link the link gets back, solids of every kind carry
// a cloth, and threads and instruction sets give the same bits.
#include "rig/momentum.h"

GROUP_FIXTURE(make_context, drop_context);

typedef struct Rig {
    mf_Model *cloth_model, *model;
    mf_World *world;
    mf_Group *cloth, *robot;
} Rig;

static const char body[] = "<mujoco><worldbody><body pos='0 0 %s'>%s"
                           "<geom %s mass='0.2'/></body></worldbody></mujoco>";

static mf_Time step = 2 * MF_MILLISECOND;

// A sheet above a robot of one shape; `joint` is a free joint, or nothing.
static Rig rig_open(mf_Context *context, const char *shape, const char *height, bool free,
                    double gravity, mf_Isa isa) {
    Rig rig = {0};
    mf_GroupConfig group = mf_group_config();
    mf_MotionsConfig motions = mf_motions_config();
    mf_Cloth cloth = mf_cloth_rectangle(0.6, 0.6, 25, 25);
    const char *text = formatted(body, height, free ? "<freejoint/>" : "", shape);
    cloth.material.thickness = 0.01;
    group.isolated = false;
    group.double_precision = true;
    group.count = 1;
    MUST(mf_cloth_model(context, &cloth, &rig.cloth_model, &error));
    rig.model = load_text(context, text);
    rig.world =
        open_world(context, &WITH(mf_world_config(), .step = step, .gravity = gravity, .isa = isa));
    group.model = rig.cloth_model;
    group.name = "cloth";
    rig.cloth = add_group(rig.world, &group);
    motions.cloth.cloth = &cloth;
    motions.cloth.contacts = false;
    motions.cloth.drag = 0.0;
    motions.cloth.pins = 1;
    MUST(mf_motion_add(rig.cloth, MF_MOTION_CLOTH, &motions, &error));
    group.model = rig.model;
    group.name = "robot";
    rig.robot = add_group(rig.world, &group);
    MUST(mf_collisions_prepare(rig.robot, &error));
    motions.articulated.contacts = false;
    MUST(mf_motion_add(rig.robot, MF_MOTION_ARTICULATED, &motions, &error));
    MUST(mf_cloths_add(rig.world, &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    mf_model_destroy(rig->cloth_model);
}

// A ball is thrown into a sheet, both free and without weight.
TEST(momentum_is_passed_on) {
    AUTO_RIG rig = rig_open(*state, "type='sphere' size='0.1'", "-0.2", true, 0.0, MF_ISA_AUTO);
    Momentum robot[2], cloth[2];
    set_field(rig.robot, "base.linear_velocity", 0, 2, 2.0);
    set_field(rig.robot, "base.linear_velocity", 0, 0, 0.3);
    set_field(rig.robot, "base.position", 0, 2, -0.2);
    mf_group_refresh(rig.robot, 0);
    for (int k = 0; k < 2; k++) {
        mf_world_step(rig.world, 100 * (uint64_t)k);
        robot[k] = momentum_of(&rig.robot, 1);
        cloth[k] = momentum_of(&rig.cloth, 1);
    }
    assert_near(robot[0].linear[2], 0.4, 1e-12);
    assert_true(robot[1].linear[2] < 0.38 && cloth[1].linear[2] > 0.02);
    for (int c = 0; c < 3; c++)
        assert_near(robot[1].linear[c] + cloth[1].linear[c],
                    robot[0].linear[c] + cloth[0].linear[c], 1e-12);
}

// A box that spins comes up below a sheet off its middle. Returns by how much the moment of
// momentum of both changes in 0.2 s.
static double moment_error(mf_Context *context) {
    AUTO_RIG rig =
        rig_open(context, "type='box' size='0.12 0.04 0.05'", "-0.2", true, 0.0, MF_ISA_AUTO);
    mf_Group *const groups[2] = {rig.robot, rig.cloth};
    double error = 0.0;
    set_field(rig.robot, "base.position", 0, 0, 0.07);
    set_field(rig.robot, "base.position", 0, 2, -0.1);
    set_field(rig.robot, "base.linear_velocity", 0, 2, 1.0);
    set_field(rig.robot, "base.angular_velocity", 0, 1, 6.0);
    set_field(rig.robot, "base.angular_velocity", 0, 2, 4.0);
    mf_group_refresh(rig.robot, 0);
    const Momentum before = momentum_of(groups, 2);
    mf_world_step(rig.world, 200 * MF_MILLISECOND / step);
    const Momentum after = momentum_of(groups, 2);
    assert_true(get_field(rig.robot, "base.linear_velocity", 0, 2) < 0.9); // it was slowed down
    for (int c = 0; c < 3; c++) {
        assert_near(after.linear[c], before.linear[c], 1e-12);
        error += fabs(after.angular[c] - before.angular[c]);
    }
    return error;
}

// To the error of a step, in which the robot moves on from the point of its torques.
TEST(moment_of_momentum_is_passed_on) {
    const double coarse = moment_error(*state);
    step = MF_MILLISECOND / 2;
    const double fine = moment_error(*state);
    step = 2 * MF_MILLISECOND;
    print_message("of 8.4e-3 N m s lost: %.2g, at a quarter of the step %.2g\n", coarse, fine);
    assert_true(coarse < 2.5e-5 && fine < 0.5 * coarse);
}

// A robot that a fault has stopped stays where it is, and what lies on it does not fall through.
TEST(stopped_robots_carry_cloth) {
    AUTO_RIG rig =
        rig_open(*state, "type='box' size='0.2 0.2 0.05'", "-0.06", true, 9.81, MF_ISA_AUTO);
    set_field(rig.robot, "base.position", 0, 2, -0.06);
    mf_group_refresh(rig.robot, 0);
    ((uint32_t *)field_of(rig.robot, "fault.word")->data)[0] = MF_FAULT_RANGE;
    mf_world_step(rig.world, 250);
    assert_int_equal(mf_group_fault_total(rig.cloth), 0);
    assert_true(get_field(rig.cloth, "vertex.position", 0, 2) < -0.1); // a corner
}

// A ball carries a corner of a sheet: the corner stays at its position on the ball, which feels it.
TEST(links_carry_pins) {
    AUTO_RIG rig = rig_open(*state, "type='sphere' size='0.05'", "-0.2", true, 0.0, MF_ISA_AUTO);
    double center[3], robot[3], cloth[3], spin[3];
    const mf_Field *position = mf_group_find_field(rig.cloth, "vertex.position");
    const double start[3] = {-0.35, -0.3, 0.0};
    set_fields(rig.robot, "base.position", 0, 3, start);
    set_field(rig.robot, "base.linear_velocity", 0, 0, -1.0);
    mf_group_refresh(rig.robot, 0);
    set_field(rig.cloth, "pin.vertex", 0, 0, 0.0);
    set_field(rig.cloth, "pin.position", 0, 0, 0.05);
    set_field(rig.cloth, "pin.link", 0, 0, 2.0); // the second group
    mf_world_step(rig.world, 150);
    mf_motion_momentum(rig.robot, 0, center, robot, spin);
    mf_motion_momentum(rig.cloth, 0, center, cloth, spin);
    assert_true(robot[0] > -0.19 && cloth[0] < -0.01);
    for (int c = 0; c < 3; c++)
        assert_near(robot[c] + cloth[c], c == 0 ? -0.2 : 0.0, 2e-3);
    mf_motion_momentum(rig.robot, 0, center, robot, spin);
    double square = 0.0;
    for (uint32_t c = 0; c < 3; c++)
        square += pow(mf_field_get(position, 0, c) - center[c], 2.0);
    assert_near(sqrt(square), 0.05, 1e-3);
    assert_int_equal(mf_group_fault_total(rig.cloth), 0);
    set_field(rig.cloth, "pin.link", 0, 1, 7.0); // there is no such robot
    mf_world_step(rig.world, 1);
    assert_int_equal(mf_group_fault(rig.cloth, 0), MF_FAULT_INPUT);
}

// On a body that the world holds, the center of the sheet stays half its thickness above the top.
TEST(solids_carry) {
    static const struct {
        const char *shape;
        double top;
    } solids[] = {{"type='sphere' size='0.15'", 0.15},
                  {"type='capsule' size='0.1 0.05'", 0.15},
                  {"type='cylinder' size='0.12 0.15'", 0.15},
                  {"type='ellipsoid' size='0.2 0.15 0.15'", 0.15},
                  {"type='box' size='0.12 0.14 0.15'", 0.15}};
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        AUTO_RIG rig = rig_open(*state, solids[i].shape, "-0.17", false, 9.81, MF_ISA_AUTO);
        const mf_Field *position = mf_group_find_field(rig.cloth, "vertex.position");
        const double start = mf_field_get(position, 0, 3 * 312 + 2);
        mf_world_step(rig.world, 250);
        const double now = mf_field_get(position, 0, 3 * 312 + 2) - start;
        assert_near(now, -0.17 + solids[i].top + 0.005, 2e-3);
        assert_true(mf_field_get(position, 0, 2) - start < -0.1); // its corners hang
        assert_int_equal(mf_group_fault_total(rig.cloth), 0);
    }
}

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    AUTO_CONTEXT *context = open_context(threads);
    AUTO_RIG rig = rig_open(context, "type='sphere' size='0.1'", "-0.2", true, 1.0, isa);
    set_field(rig.robot, "base.linear_velocity", 0, 2, 2.0);
    set_field(rig.robot, "base.position", 0, 2, -0.2);
    mf_world_step(rig.world, 100);
    return mf_world_hash(rig.world);
}

TEST(sets_and_threads_agree) {
    assert_same_bits(hash_of, NULL);
}
