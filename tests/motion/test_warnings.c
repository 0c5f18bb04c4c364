// Warnings: what raises each bit, that a robot with a warning continues, and that bits, counts and
// residuals are part of the state.
#include "motion/articulated_rig.h"
#include "motion/kinematic_rig.h"

// One robot of a model, raising `bit` and `beside` and nothing else; returns how many steps did the
// former.
static uint64_t expect_warnings(const mf_Group *group, uint32_t bit, uint32_t beside,
                                double least) {
    const mf_WarningSum sum = mf_group_warning_sum(group, bit);
    print_message("%s: %llu steps, residual %g\n", mf_warning_name(bit),
                  (unsigned long long)sum.steps, sum.residual);
    assert_int_equal(mf_group_fault_total(group), 0);
    if (mf_group_warning(group, 0) != (bit | beside))
        fail_msg("warnings %#x, expected %#x", mf_group_warning(group, 0), bit | beside);
    assert_int_equal(sum.robots, 1);
    assert_true(sum.steps > 0 && sum.residual >= least);
    return sum.steps;
}

static uint64_t expect_warning(const mf_Group *group, uint32_t bit, double least) {
    return expect_warnings(group, bit, 0, least);
}

static const char heavy_on_light[] =
    "<mujoco><worldbody><geom type='plane' size='9 9 1'/>"
    "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1000'/></body>"
    "<body pos='0 0 .5'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "</worldbody></mujoco>";

static ArtConfig pile_config(void) {
    return WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND),
                .motion.contact_law = MF_CONTACT_LAW_HARD, .motion.sweeps = 1,
                .motion.solver_rounds = 0);
}

// One sweep does not bear 1000 kg on 1 kg; with solutions of all rows behind it, it does.
TEST(few_sweeps_are_reported) {
    ArtConfig config = pile_config();
    AUTO_RIG t = text_open(heavy_on_light, config);
    mf_world_step(t.world, 40);
    expect_warning(t.group, MF_WARNING_SOLVER, 0.1);
    rig_close(&t);
    config.motion.solver_rounds = 30;
    t = text_open(heavy_on_light, config);
    mf_world_step(t.world, 40);
    assert_int_equal(mf_group_warning(t.group, 0), 0);
}

// A robot goes on with a warning, a reset clears it, and an image and the hash hold it.
TEST(a_warning_is_state_and_does_not_freeze) {
    AUTO_RIG t = text_open(heavy_on_light, pile_config());
    const uint64_t clean = mf_world_hash(t.world);
    mf_world_step(t.world, 20);
    const uint64_t before = expect_warning(t.group, MF_WARNING_SOLVER, 0.1);
    const double height = rig_get(&t, "free.position", 2);
    const size_t size = mf_world_snapshot_size(t.world);
    AUTO(end_memory) void *image = malloc(size);
    MUST(mf_world_snapshot(t.world, image, size, &error));
    const uint64_t hash = mf_world_hash(t.world);
    mf_world_step(t.world, 20);
    assert_true(expect_warning(t.group, MF_WARNING_SOLVER, 0.1) > before);
    assert_true(fabs(rig_get(&t, "free.position", 2) - height) > 0.0); // it moves
    mf_group_reset_all(t.group);
    assert_int_equal(mf_group_warning_total(t.group), 0);
    assert_true(rig_get(&t, "warning.steps", 0) <= 0 && rig_get(&t, "warning.residual", 0) <= 0);
    assert_true(mf_world_hash(t.world) != clean); // time has passed
    MUST(mf_world_restore(t.world, image, size, &error));
    assert_true(mf_world_hash(t.world) == hash);
    assert_true(expect_warning(t.group, MF_WARNING_SOLVER, 0.1) == before);
    set_field(t.group, "warning.word", 0, 0, 0.0);
    assert_true(mf_world_hash(t.world) != hash);
}

// `count` balls on one body, which all touch a box of the world, and its plane when `ground`.
// Balls of one body that touch a plane, or so many boxes.
static void put_balls(char *text, size_t capacity, uint32_t count, uint32_t boxes) {
    size_t used = (size_t)snprintf(text, capacity, "<mujoco><worldbody>%s",
                                   boxes == 0 ? "<geom type='plane' size='9 9 1'/>" : "");
    for (uint32_t i = 0; i < boxes; i++)
        used += (size_t)snprintf(text + used, capacity - used, "<geom type='box' size='9 9 .1'/>");
    used += (size_t)snprintf(text + used, capacity - used, "<body pos='0 0 %g'><freejoint/>",
                             boxes == 0 ? 0.0099 : 0.1099);
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, capacity - used,
                                 "<geom type='sphere' size='.01' mass='.01' pos='%g %g 0'/>",
                                 0.03 * (i % 16), 0.03 * (i / 16));
    snprintf(text + used, capacity - used, "</body></worldbody></mujoco>");
}

// A robot with more contacts than its solver holds stops before the step that would drop some.
// MuJoCo's law has room for all contacts with the ground, and for 16 of each shape and 112 others.
TEST(too_many_contacts_are_a_fault) {
    static const struct {
        mf_ContactLaw law;
        uint32_t balls, boxes, over;
    } cases[] = {{MF_CONTACT_LAW_MUJOCO, 120, 0, 0},
                 {MF_CONTACT_LAW_MUJOCO, 120, 2, 0},
                 {MF_CONTACT_LAW_MUJOCO, 20, 25, 20 * 24 - (96 + 16 * 20)}, // one box is ground
                 {MF_CONTACT_LAW_COMPLIANT, 60, 1, 60 - 48}};
    enum { ROOM = 32768 };
    AUTO(end_memory) char *text = malloc(ROOM);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ArtConfig config = WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                                .motion.contact_law = cases[i].law, .motion.shapes = true);
        put_balls(text, ROOM, cases[i].balls, cases[i].boxes);
        AUTO_RIG t = text_open(text, config);
        mf_world_step(t.world, 5);
        const uint32_t word = mf_group_warning(t.group, 0);
        const mf_WarningSum sum = mf_group_warning_sum(t.group, MF_WARNING_CONTACTS);
        print_message("case %zu: warnings %#x, %g left out\n", i, word, sum.residual);
        assert_int_equal(mf_group_fault(t.group, 0), cases[i].over > 0 ? MF_FAULT_CONTACTS : 0);
        assert_true(!(word & MF_WARNING_CONTACTS) == (cases[i].over == 0));
        if (cases[i].over == 0)
            continue;
        assert_true(sum.steps == 1 && sum.residual >= cases[i].over &&
                    sum.residual <= cases[i].over + 1);
        assert_near(rig_get(&t, "base.linear_velocity", 2), 0.0, 0.0);
    }
}

// Boxes that float in one model pile up: their solver holds more contacts, the more they are. They
// fell through the floor (and out of the bin).
TEST(a_pile_of_boxes_stays_in_its_bin) {
    enum { ROOM = 16384, SIDE = 3 };
    AUTO(end_memory) char *text = malloc(ROOM);
    size_t used = (size_t)snprintf(
        text, ROOM,
        "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='5 5 .1'/>"
        "<geom type='box' pos='.2 0 .3' size='.02 .2 .3'/><geom type='box' pos='-.2 0 .3' "
        "size='.02 .2 .3'/><geom type='box' pos='0 .2 .3' size='.2 .02 .3'/>"
        "<geom type='box' pos='0 -.2 .3' size='.2 .02 .3'/>");
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "<body pos='%g %g %g' euler='%d %d %d'><freejoint/><geom "
                                 "type='box' size='.04 .04 .04' mass='.2'/></body>",
                                 .1 * (i % 3 - 1), .1 * (i / 3 % 3 - 1), .08 + .12 * (i / 9),
                                 37 * i % 80, 53 * i % 70, 71 * i % 90);
    snprintf(text + used, ROOM - used, "</worldbody></mujoco>");
    AUTO_RIG t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                      .motion.contact_law = MF_CONTACT_LAW_MUJOCO,
                                      .motion.shapes = true, .group.double_precision = false));
    mf_world_step(t.world, 500);
    assert_int_equal(mf_group_fault_total(t.group), 0);
    assert_false(mf_group_warning(t.group, 0) & MF_WARNING_CONTACTS);
    for (uint32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        assert_true(rig_get(&t, "free.position", 3 * i + 2) > .03);
        assert_true(fabs(rig_get(&t, "free.position", 3 * i)) < .2);
    }
}

// A thin flake deep in a stone: 32 rounds of the search do not come near enough in float. It is
// deeper there than it is thick (0.4 mm), which is a warning, too.
TEST(an_inaccurate_contact_is_reported) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><geom type='ellipsoid'"
        " size='0.0737 0.0512 0.0331' euler='61.1 29.7 -57.5'/>"
        "<body pos='-0.017 0.0124 -0.0146'><freejoint/>"
        "<geom type='ellipsoid' size='0.00345 0.000195 0.00389' mass='1'/></body>"
        "</worldbody></mujoco>";
    static const double rotation[4] = {0.2856, 0.6055, 0.6451, -0.3682};
    for (int beside = 0; beside < 2; beside++) { // and one that the search finds
        AUTO_RIG t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                                          .group.double_precision = false));
        rig_set3(&t, "base.position", 0.0258 + 0.02 * beside, 0.0085, -0.0145);
        set_fields(t.group, "base.orientation", 0, 4, rotation);
        mf_world_step(t.world, 1);
        if (beside)
            assert_int_equal(mf_group_warning(t.group, 0) & MF_WARNING_SHAPES, 0);
        else
            expect_warnings(t.group, MF_WARNING_SHAPES, MF_WARNING_DEPTH, 1e-6);
    }
}

// A link that a `connect` should hold starts 5 mm beside its place.
TEST(an_open_loop_is_reported) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody>"
        "<body name='a'><joint name='x' type='slide' axis='1 0 0'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>"
        "<equality><joint joint1='x' polycoef='.005 0 0 0 0'/></equality></mujoco>";
    AUTO_RIG t = text_open(text, art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND));
    mf_world_step(t.world, 3);
    const mf_WarningSum sum = mf_group_warning_sum(t.group, MF_WARNING_LOOPS);
    expect_warning(t.group, MF_WARNING_LOOPS, 0.0049);
    assert_true(sum.residual < 0.0051 && sum.steps == 1); // the step closes it
}

// Half a revolution a step is more than Newton's method finds.
TEST(too_fast_a_rotation_is_reported) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='1e-2 2e-2 2.5e-2'/></body>"
        "</worldbody></mujoco>";
    AUTO_RIG t = text_open(
        text, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.gravity = 0.0));
    rig_set3(&t, "base.angular_velocity", 100, 90, 80);
    mf_world_step(t.world, 20);
    assert_int_equal(mf_group_warning(t.group, 0), 0);
    rig_set3(&t, "base.angular_velocity", 1200, 1440, 960);
    mf_world_step(t.world, 20);
    expect_warning(t.group, MF_WARNING_ROTATION, 1e-3);
}

// The base was turned by a radian, and where its feet stood was drawn together to a tenth, which
// the turn of least squares comes near slowly.
TEST(a_lost_stance_is_reported) {
    AUTO_RIG rig = rig_begin(1);
    kin_biped(rig.hand);
    kin_open(&rig, kin_config(10 * MF_MILLISECOND));
    mf_world_step(rig.world, 2);
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
    const uint32_t values = rig_field(&rig, "stance.anchor")->components;
    for (uint32_t c = 0; c < values; c++)
        rig_set(&rig, "stance.anchor", c, 0.1 * rig_get(&rig, "stance.anchor", c));
    rig_set(&rig, "base.orientation", 0, cos(0.5));
    rig_set(&rig, "base.orientation", 3, sin(0.5));
    mf_world_step(rig.world, 1);
    expect_warning(rig.group, MF_WARNING_STANCE, 1e-3);
}

// A robot that is thrown at the ground with friction 4: Coulomb's law has no solution there.
TEST(unsolved_friction_is_reported) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Group *robots;
    AUTO_MODEL *model;
    enum { ROBOTS = 64 };
    MUST(mf_model_load(context, MAYFLY_SOURCE_DIR "/models/hexapod.urdf", NULL, &model, &error));
    AUTO_WORLD *made = open_world(context, &WITH(mf_world_config(), .step = 10 * MF_MILLISECOND));
    robots = add_group(made, &WITH(mf_group_config(), .model = model, .count = ROBOTS));
    MUST(rig_add_points(robots,
                        &WITH(mf_motions_config().points, .friction = MF_FRICTION_COUPLED,
                              .friction_coefficient = 4.0),
                        &error));
    mf_Field *velocity = mf_group_find_field(robots, "base.linear_velocity"),
             *rate = mf_group_find_field(robots, "base.angular_velocity");
    for (uint32_t i = 0; i < ROBOTS; i++)
        for (uint32_t c = 0; c < 3; c++) {
            mf_field_set(velocity, i, c, 3.0 * sin(1.0 + 7.0 * i + 3.0 * c));
            mf_field_set(rate, i, c, 10.0 * sin(2.0 + 5.0 * i + 2.0 * c));
        }
    mf_world_step(made, 100);
    const mf_WarningSum sum = mf_group_warning_sum(robots, MF_WARNING_SOLVER);
    print_message("friction 4: %u robots, %llu steps, residual %g\n", sum.robots,
                  (unsigned long long)sum.steps, sum.residual);
    assert_true(sum.robots > 0 && sum.robots == mf_group_warning_total(robots));
    assert_true(sum.residual > 1e-3 && sum.steps >= sum.robots);
    assert_int_equal(mf_group_fault_total(robots), 0);
}
