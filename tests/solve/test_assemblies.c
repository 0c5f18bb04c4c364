// Assemblies that move as one tree: bits, snapshots, momentum of docking, loads against statics,
// long chains at rest, loops, and robots that have to be held by joints. That a chain moves as the
// same robot from one model is in test_docks_assembly.c.
#include "solve/modules.h"

// Pitch modules of 0.5 kg on a hinge, with docks at their ends: models/modules/pitch.urdf.
typedef struct Row {
    Pitch pitch;
    mf_Group *modules;
    mf_WorldDocks *docks;
    uint32_t front, back; // [1] docks
} Row;

typedef struct RowConfig {
    uint32_t count, threads;
    mf_Isa isa;
    mf_Time step;
    double gravity, height;
    bool wide, contacts;
    bool fixed; // bases; only the first module is docked on then
} RowConfig;

static const RowConfig usual_row = {
    .threads = 1, .step = 2 * MF_MILLISECOND, .gravity = 9.81, .height = 5.0, .wide = true};

static Row open_row(RowConfig config) {
    Row row = {0};
    Pitch *pitch = &row.pitch;
    *pitch = pitch_open(config.threads, config.isa, config.step, config.gravity);
    mf_Model *model = load_file(pitch->context, "modules/pitch.urdf");
    row.front = mf_model_find(model, MF_ITEM_DOCK, "front");
    row.back = mf_model_find(model, MF_ITEM_DOCK, "back");
    row.modules = pitch_moving(pitch, model, "modules", config.count, config.wide,
                               WITH(mf_motions_config().articulated, .contacts = config.contacts));
    row.docks = add_docks(pitch);
    put_at(pitch, row.modules, 0, 0, 0, config.height);
    for (uint32_t i = 1; i < config.count; i++) {
        const mf_DockPort front = {row.modules, i - 1, row.front},
                          back = {row.modules, i, row.back};
        double at[3], rotation[4];
        MUST(mf_docks_mating_pose(row.docks, &front, &back, 0, at, rotation, &error));
        MUST(mf_group_set_start(row.modules, i, at, rotation, NULL, &error));
    }
    return row;
}

static void dock_row(Row *row) {
    for (uint32_t i = 1; i < mf_group_count(row->modules); i++)
        MUST(mf_docks_connect(row->docks, &(mf_DockPort){row->modules, i - 1, row->front},
                              &(mf_DockPort){row->modules, i, row->back}, 0, &error));
}

static void close_row(Row *row) {
    pitch_close(&row->pitch);
}

static void step(Row *row, uint64_t steps) {
    mf_world_step(row->pitch.world, steps);
}

static void swing(Row *row) {
    for (uint32_t i = 0; i < mf_group_count(row->modules); i++)
        set_field(row->modules, "joint.target", i, 0, 0.5 * sin(0.7 * i));
}

// ---- bits ---------------------------------------------------------------------------------------

// Modules that fall on the ground and move, in blocks that are not full.
static Row open_fall(uint32_t count, uint32_t threads, mf_Isa isa, bool wide) {
    return open_row(WITH(usual_row, .count = count, .threads = threads, .isa = isa,
                         .step = 5 * MF_MILLISECOND, .height = 0.1, .wide = wide,
                         .contacts = true));
}

typedef struct Fall {
    uint32_t count;
    bool wide;
} Fall;

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    const Fall *fall = user;
    AUTO(close_row) Row row = open_fall(fall->count, threads, isa, fall->wide);
    dock_row(&row);
    swing(&row);
    step(&row, 60);
    set_field(row.modules, "dock.enabled", 7, row.front, 0); // two assemblies from here on
    step(&row, 60);
    assert_true(mf_docks_statistics(row.docks).trees == 60 + 2 * 60);
    return mf_world_hash(row.pitch.world);
}

TEST(the_same_bits_on_any_threads_and_instruction_sets) {
    for (int wide = 0; wide < 2; wide++)
        assert_same_bits(hash_of, &(Fall){21, wide});
}

// Branches of long ones are tasks of their own.
TEST(branches_give_the_same_bits) {
    const Fall fall = {150, false};
    const uint64_t expected = hash_of(&fall, 1, MF_ISA_AUTO);
    assert_int_equal(hash_of(&fall, 2, MF_ISA_AUTO), expected);
    assert_int_equal(hash_of(&fall, 3, MF_ISA_AUTO), expected);
}

TEST(a_snapshot_continues) {
    AUTO(close_row) Row row = open_fall(9, 1, MF_ISA_AUTO, false);
    AUTO(close_row) Row other = open_fall(9, 1, MF_ISA_AUTO, false);
    dock_row(&row);
    swing(&row);
    step(&row, 50);
    assert_continues_in(other.pitch.world, row.pitch.world, 50);
}

// ---- truth --------------------------------------------------------------------------------------

// Two rows in flight that meet: momentum of all stays, in the step in which they dock and after it.
TEST(docking_keeps_momentum) {
    AUTO(close_row)
    Row row = open_row(WITH(usual_row, .count = 4, .step = 5 * MF_MILLISECOND, .gravity = 0.0));
    dock_row(&row);
    set_field(row.modules, "dock.enabled", 1, row.front, 0);
    step(&row, 1);
    for (uint32_t i = 0; i < 4; i++) {
        const double side = i < 2 ? 1.0 : -1.0;
        set_field(row.modules, "base.linear_velocity", i, 0, 0.1 * side);
        set_field(row.modules, "base.linear_velocity", i, 1, 0.02 * side);
        set_field(row.modules, "base.position", i, 0,
                  get_field(row.modules, "base.position", i, 0) - 0.01 * side);
    }
    const Momentum before = momentum_of(&row.modules, 1);
    set_field(row.modules, "dock.enabled", 1, row.front, 1);
    for (uint32_t k = 0; k < 100; k++) {
        step(&row, 1);
        assert_momentum(momentum_of(&row.modules, 1), before, 1e-12, 1e-6);
    }
    assert_int_equal(get_field(row.modules, "dock.state", 1, row.front), MF_DOCK_ENGAGED);
    assert_true(widest_opening(row.pitch.world) < 1e-9);
}

// A row in space that its first module pulls: the load of each dock is what the modules behind it
// need for the acceleration of the whole.
TEST(loads_are_those_of_statics) {
    enum { COUNT = 5 };
    AUTO(close_row) Row row = open_row(WITH(usual_row, .count = COUNT, .step = MF_MILLISECOND));
    dock_row(&row);
    // Free fall: nothing is carried.
    step(&row, 1);
    for (uint32_t c = 0; c < 6; c++)
        assert_near(get_field(row.modules, "dock.load", 2, 6 * row.front + c), 0.0, 1e-12);
    // Pulled up at the first module along its axis: the row is accelerated as a whole, and each
    // dock pulls what is behind it.
    set_field(row.modules, "base.force", 0, 0, -1.0);
    step(&row, 1);
    for (uint32_t i = 0; i + 1 < COUNT; i++)
        assert_near(get_field(row.modules, "dock.load", i, 6 * row.front),
                    (COUNT - 1.0 - i) / COUNT, 1e-9);
}

// At rest on the ground for a minute: docks do not open and nothing creeps away.
static void rest(uint32_t count, double seconds, double creep) {
    AUTO(close_row)
    Row row = open_row(WITH(usual_row, .count = count, .threads = 2, .step = MF_SECOND / 60,
                            .height = 0.045, .contacts = true, .wide = false));
    dock_row(&row);
    step(&row, 60);
    const double begin[2] = {get_field(row.modules, "base.position", 0, 0),
                             get_field(row.modules, "base.position", count - 1, 0)};
    double most = 0.0;
    for (uint32_t k = 0; k < 10; k++) {
        step(&row, (uint64_t)(6.0 * seconds));
        most = fmax(most, widest_opening(row.pitch.world));
    }
    print_message(
        "%u modules at rest for %g s: docks open by at most %.3g m, ends move by %.3g and "
        "%.3g m\n",
        count, seconds, most, fabs(get_field(row.modules, "base.position", 0, 0) - begin[0]),
        fabs(get_field(row.modules, "base.position", count - 1, 0) - begin[1]));
    assert_true(most < 1e-4);
    assert_near(get_field(row.modules, "base.position", 0, 0), begin[0], creep);
    assert_near(get_field(row.modules, "base.position", count - 1, 0), begin[1], creep);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(get_field(row.modules, "fault.word", i, 0), 0);
    assert_int_equal(mf_docks_statistics(row.docks).others, 0);
}

TEST(long_chains_stay_together_at_rest) {
    rest(SANITIZED ? 20 : 100, SANITIZED ? 2.0 : 20.0, 1e-3);
    if (getenv("MAYFLY_FULL") != NULL)
        rest(1000, 60.0, 1e-3);
}

// ---- who is not in a tree -----------------------------------------------------------------------

// A module that a fault froze holds its neighbors in place: joints hold them to it.
TEST(a_faulty_robot_is_held_by_joints) {
    AUTO(close_row) Row row = open_row(WITH(usual_row, .count = 4));
    dock_row(&row);
    step(&row, 10);
    assert_int_equal(mf_docks_statistics(row.docks).trees, 10);
    set_field(row.modules, "base.force", 1, 0, (double)NAN);
    step(&row, 1);
    assert_int_equal(get_field(row.modules, "fault.word", 1, 0), MF_FAULT_INPUT);
    const double height = get_field(row.modules, "base.position", 2, 2);
    step(&row, 200);
    assert_int_equal(mf_docks_statistics(row.docks).others, 201);
    assert_true(isfinite(get_field(row.modules, "base.position", 2, 2)));
    assert_near(get_field(row.modules, "base.position", 2, 2), height, 0.2); // it hangs on it
}

// Joints besides docks are the solver's, for which the assembly is one body: a row hangs on one.
TEST(other_joints_hold_a_tree) {
    AUTO(close_row) Row row = open_row(WITH(usual_row, .count = 3));
    dock_row(&row);
    mf_WorldJoints *joints = mf_world_joints_of(row.pitch.world);
    mf_WorldJointConfig ball = joint_between(MF_WORLD_JOINT_BALL, NULL, 0, row.modules, 0);
    const mf_WorldJointId id = join(joints, &ball, 0, 0, 5.0, NULL);
    step(&row, 50);
    assert_near(get_field(row.modules, "base.position", 0, 2), 5.0, 2e-5);
    assert_true(state_of(joints, id).opening < 5e-5);
    assert_true(get_field(row.modules, "base.position", 2, 2) < 4.99); // the others swing down
    MUST(mf_world_joint_destroy(joints, id, &error));
    step(&row, 50);
    assert_int_equal(mf_docks_statistics(row.docks).trees, 100);
    assert_true(widest_opening(row.pitch.world) < 1e-6);
}

// A row whose first module stands on a box that nothing moves, as on a base, which bears all of it.
TEST(a_row_stands_on_what_moves_by_itself) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Model *base =
        load_text(pitch.context, "<mujoco model='base'><worldbody><body name='b'><freejoint/><geom "
                                 "type='box' size='0.05 0.05 0.05' mass='1'/></body></worldbody>"
                                 "<custom><text name='dock:top' data='body=b orientations=2 "
                                 "xyz=0,0,0.05 quat=0.7071067811865476,0,-0.7071067811865476,0'/>"
                                 "</custom></mujoco>");
    mf_Model *module = load_file(pitch.context, "modules/pitch.urdf");
    mf_Group *bases = add_bodies(&pitch, base, "base", 1, MF_MOTION_EXTERNAL, true, false);
    mf_Group *modules = pitch_moving(&pitch, module, "modules", 2, true,
                                     WITH(mf_motions_config().articulated, .contacts = false));
    mf_WorldDocks *docks = add_docks(&pitch);
    put_at(&pitch, bases, 0, 0, 0, 1);
    const uint32_t front = mf_model_find(module, MF_ITEM_DOCK, "front"),
                   back = mf_model_find(module, MF_ITEM_DOCK, "back");
    const mf_DockPort ports[4] = {
        {bases, 0, 0}, {modules, 0, back}, {modules, 0, front}, {modules, 1, back}};
    for (uint32_t i = 0; i < 2; i++) {
        double at[3], rotated[4];
        const mf_DockPort *pair = &ports[2 * i];
        MUST(mf_docks_mating_pose(docks, &pair[0], &pair[1], 0, at, rotated, &error));
        MUST(mf_group_set_start(modules, i, at, rotated, NULL, &error));
        MUST(mf_docks_connect(docks, &pair[0], &pair[1], 0, &error));
    }
    mf_world_step(pitch.world, 500);
    assert_int_equal(mf_docks_statistics(docks).trees, 500);
    assert_near(get_field(bases, "dock.load", 0, 0), -2.0 * 9.81 * module->mass, 1e-3);
    assert_near(get_field(modules, "base.position", 1, 2),
                get_field(modules, "base.position", 0, 2) + 0.1, 0.1);
}
