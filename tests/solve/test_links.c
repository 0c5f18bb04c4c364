// The derived fields link.pose and link.velocity: they are updated whenever the state changes, are
// not part of the state, and have the same bits on every instruction set and for every count.
#include "solve/pitch.h"

#include "math/scalar.h"

enum { COUNT = 18, LINKS = 64 };

typedef struct Rig {
    Pitch pitch;
    mf_Group *group;
} Rig;

static Rig open_rig(mf_Motion motion, uint32_t count, bool wide, bool derived, mf_Isa isa) {
    Rig rig;
    mf_MotionsConfig config = mf_motions_config();
    rig.pitch = pitch_open(1, isa, 2 * MF_MILLISECOND, 9.81);
    rig.group = pitch_group(&rig.pitch, load_file(rig.pitch.context, "hexapod.urdf"), "robots",
                            count, wide);
    mf_motions_set_control(&config, 2 * MF_MILLISECOND);
    MUST(mf_motion_add(rig.group, motion, &config, &error));
    if (derived)
        MUST(mf_group_derive_links(rig.group, &error));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < mf_group_model(rig.group)->joint_count; j++)
            set_field(rig.group, "joint.target", i, j, 0.3 * unit(i, j) - 0.15);
    return rig;
}

static void rig_close(Rig *rig) {
    pitch_close(&rig->pitch);
}

// The fields against the answers in double.
static void check(const Rig *rig, double tolerance) {
    const uint32_t links = mf_group_model(rig->group)->link_count;
    double position[3 * LINKS], rotation[4 * LINKS], velocity[6 * LINKS];
    for (uint32_t i = 0; i < mf_group_count(rig->group); i++) {
        MUST(mf_group_link_poses(rig->group, i, 1, position, rotation, &error));
        MUST(mf_group_link_velocities(rig->group, i, 1, velocity, &error));
        for (uint32_t l = 0; l < links; l++) {
            for (uint32_t c = 0; c < 3; c++)
                assert_near(get_field(rig->group, "link.pose", i, 7 * l + c), position[3 * l + c],
                            tolerance);
            for (uint32_t c = 0; c < 4; c++)
                assert_near(get_field(rig->group, "link.pose", i, 7 * l + 3 + c),
                            rotation[4 * l + c], tolerance);
            for (uint32_t c = 0; c < 6; c++)
                assert_near(get_field(rig->group, "link.velocity", i, 6 * l + c),
                            velocity[6 * l + c], 100 * tolerance);
        }
    }
}

TEST(fields_follow_the_state) {
    static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_POINTS, MF_MOTION_RIGID,
                                        MF_MOTION_KINEMATIC, MF_MOTION_PRESCRIBED};
    for (int k = 0; k < 10; k++) {
        const bool wide = k % 2;
        const double tolerance = wide ? 0.0 : 1e-5;
        double q[128] = {0}, v[128] = {0};
        AUTO_RIG rig = open_rig(motions[k / 2], COUNT, wide, true, MF_ISA_AUTO);
        check(&rig, tolerance); // at once
        mf_world_step(rig.pitch.world, 50);
        check(&rig, tolerance);
        q[3] = 1.0;
        q[0] = q[8] = v[7] = 0.2;
        mf_group_set_state(rig.group, 3, q, v);
        check(&rig, tolerance);
        mf_group_reset(rig.group, 17);
        check(&rig, tolerance);
        set_field(rig.group, "joint.angle", 2, 3, 0.5);
        mf_group_refresh(rig.group, 2);
        check(&rig, tolerance);
    }
}

TEST(a_restored_world_has_them) {
    AUTO_RIG rig = open_rig(MF_MOTION_ARTICULATED, COUNT, true, true, MF_ISA_AUTO);
    mf_World *world = rig.pitch.world;
    mf_world_step(world, 20);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(world, &size);
    const double kept = get_field(rig.group, "link.pose", 1, 7 * 5 + 2);
    mf_world_step(world, 20);
    assert_true(kept != get_field(rig.group, "link.pose", 1, 7 * 5 + 2));
    MUST(mf_world_restore(world, image, size, &error));
    assert_true(kept == get_field(rig.group, "link.pose", 1, 7 * 5 + 2));
    check(&rig, 0.0);
}

TEST(they_are_not_state) {
    uint64_t hashes[2];
    for (int derived = 0; derived < 2; derived++) {
        AUTO_RIG rig = open_rig(MF_MOTION_ARTICULATED, COUNT, false, derived, MF_ISA_AUTO);
        mf_world_step(rig.pitch.world, 50);
        assert_true((mf_group_find_field(rig.group, "link.pose") != NULL) == derived);
        hashes[derived] = mf_world_hash(rig.pitch.world);
    }
    assert_true(hashes[0] == hashes[1]);
}

TEST(bits_are_the_same_everywhere) {
    static const uint32_t counts[] = {COUNT, 1, 5};
    double first[2][7 * LINKS];
    for (int k = 0; k < 12; k++) {
        const bool wide = k % 2;
        AUTO_RIG rig = open_rig(MF_MOTION_ARTICULATED, counts[k / 2 % 3], wide, true,
                                k / 6 ? MF_ISA_SCALAR : MF_ISA_AUTO);
        mf_world_step(rig.pitch.world, 25);
        for (uint32_t c = 0; c < 7 * mf_group_model(rig.group)->link_count; c++) {
            const double now = get_field(rig.group, "link.pose", 0, c);
            assert_true(k < 2 || now == first[wide][c]);
            first[wide][c] = now;
        }
    }
}

// ---- when they are derived ----------------------------------------------------------------------

// A system that sees the height of the base in both fields, before the motion of each step.
typedef struct Spy {
    mf_Group *group;
    uint32_t steps, same; // [1] steps seen, and those in which both were equal
} Spy;

static void look(Spy *spy) {
    spy->steps++;
    spy->same +=
        get_field(spy->group, "link.pose", 0, 2) == get_field(spy->group, "base.position", 0, 2);
}

static void spy_run(const mf_SystemRun *run, void *user) {
    if (run->first_block == 0)
        look(user);
}

static void spy_world_run(const mf_WorldRun *run, void *user) {
    look(user);
}

typedef enum Reader { NOBODY, NAMED, UNDECLARED, OF_THE_WORLD, READERS } Reader;

static void add_spy(Rig *rig, const char *name, Spy *spy, Reader reader) {
    static const char *const other[] = {"base.position", NULL}, *const none[] = {NULL};
    static const char *const named[] = {"base.position", "link.pose", NULL};
    *spy = (Spy){.group = rig->group};
    if (reader == OF_THE_WORLD) {
        MUST(mf_world_add_system(rig->pitch.world,
                                 &WITH(mf_world_system_config(), .name = name, .run = spy_world_run,
                                       .user = spy, .reads = named),
                                 &error));
        return;
    }
    mf_SystemConfig system =
        WITH(mf_system_config(), .name = name, .phase = MF_PHASE_SENSE, .run = spy_run, .user = spy,
             .reads = reader == NAMED    ? named
                      : reader == NOBODY ? other
                                         : NULL,
             .writes = none);
    system.slow = true; // with two of them a phase may run system by system
    MUST(mf_group_add_system(rig->group, &system, &error));
}

static Rig open_falling(uint32_t threads, bool isolated) {
    Rig rig;
    Pitch *pitch = &rig.pitch;
    mf_MotionsConfig config = mf_motions_config();
    mf_GroupConfig group = mf_group_config();
    *pitch = pitch_open(threads, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    group.model = pitch->models[pitch->count++] = load_file(pitch->context, "hexapod.urdf");
    group.count = COUNT;
    group.isolated = isolated;
    group.double_precision = true;
    rig.group = add_group(pitch->world, &group);
    mf_motions_set_control(&config, 2 * MF_MILLISECOND);
    MUST(mf_motion_add(rig.group, MF_MOTION_RIGID, &config, &error));
    MUST(mf_group_derive_links(rig.group, &error));
    return rig;
}

// Where nobody reads them within a call, they are derived at its end.
TEST(they_are_derived_when_they_can_be_read) {
    for (int k = 0; k < 4 * READERS; k++) {
        const Reader reader = (Reader)(k / 4);
        Spy spies[2];
        AUTO_RIG rig = open_falling(k & 2 ? 4 : 1, k & 1 && reader != OF_THE_WORLD);
        for (int i = 0; i < 2; i++)
            add_spy(&rig, i == 0 ? "first" : "second", &spies[i], reader);
        mf_group_reset_all(rig.group);
        set_field(rig.group, "base.position", 0, 2, 5.0);
        mf_group_refresh(rig.group, 0);
        for (int call = 0; call < 3; call++) {
            mf_world_step(rig.pitch.world, 20);
            check(&rig, 0.0);
        }
        mf_world_step(rig.pitch.world, 0);
        check(&rig, 0.0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(spies[i].steps, 60);
            // The first step of each call sees those of the end of the last one.
            assert_int_equal(spies[i].same, reader == NOBODY ? 3 : 60);
        }
    }
}

TEST(a_second_call_does_nothing) {
    AUTO_RIG rig = open_rig(MF_MOTION_ARTICULATED, 1, false, true, MF_ISA_AUTO);
    const uint32_t fields = mf_group_field_count(rig.group);
    MUST(mf_group_derive_links(rig.group, &error));
    assert_int_equal(mf_group_field_count(rig.group), fields);
    assert_int_equal(mf_group_derive_links(NULL, &rig.pitch.error), MF_BAD_ARGUMENT);
}
