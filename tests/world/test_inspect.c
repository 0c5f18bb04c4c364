// Warnings about what any motion can do wrong: bodies that may have passed through others, contacts
// as deep as a body, positions that single precision does not resolve, falls without end.
#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

static Rig open_rig(mf_Context *context, const char *text, mf_Motion motion, double gravity) {
    Rig rig = {.model = load_text(context, text)};
    rig.world =
        open_world(context, &WITH(mf_world_config(), .step = MF_MILLISECOND, .gravity = gravity));
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = rig.model));
    MUST(mf_motions_add(rig.group, &WITH(mf_motions_config(), .start = motion, .has[motion] = true),
                        &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static void set(const Rig *rig, const char *name, uint32_t component, double value) {
    set_field(rig->group, name, 0, component, value);
}

static bool warns(const Rig *rig, uint32_t bit) {
    return (mf_group_warning(rig->group, 0) & bit) != 0;
}

// What the warning says is among the group's notes.
static void is_noted(const Rig *rig, uint32_t bit) {
    char text[MF_MOTION_NOTE];
    for (uint32_t i = 0; mf_motion_group_note(rig->group, i, text); i++)
        if (strstr(text, mf_warning_name(bit)) != NULL)
            return;
    fail_msg("no note of %s", mf_warning_name(bit));
}

// ---- passing through ----------------------------------------------------------------------------

static const char bullet[] =
    "<mujoco><worldbody><geom type='box' pos='1 0 1' size='0.001 2 1'/>"
    "<body pos='0 0 1'><freejoint/><geom type='sphere' size='0.005'/></body>"
    "</worldbody></mujoco>";
static const char two_bullets[] =
    "<mujoco><worldbody><body pos='1 0 1'><freejoint/><geom type='box' size='0.001 2 "
    "1'/></body>"
    "<body pos='0 0 1'><freejoint/><geom type='sphere' size='0.005'/></body>"
    "</worldbody></mujoco>";

// Stopped or told, at any speed.
TEST(fast_bodies_do_not_pass_in_silence) {
    static const double speeds[] = {0.5, 5.0, 20.0, 50.0, 100.0, 400.0};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        AUTO_RIG rig = open_rig(*state, bullet, MF_MOTION_ARTICULATED, 0.0);
        set(&rig, "base.linear_velocity", 0, speeds[i]);
        mf_world_step(rig.world, (uint64_t)(3000.0 / speeds[i]) + 64);
        const double x = get_field(rig.group, "base.position", 0, 0);
        const bool reported = warns(&rig, MF_WARNING_TUNNEL) || warns(&rig, MF_WARNING_DEPTH);
        if (x > 1.0 && !reported)
            fail_msg("at %g m/s it is at %g m, behind the wall, without a warning", speeds[i], x);
        if (speeds[i] > 10.0)
            is_noted(&rig, MF_WARNING_TUNNEL);
        if (speeds[i] < 2.0)
            assert_false(warns(&rig, MF_WARNING_TUNNEL));
    }
}

TEST(fast_bodies_among_others) {
    AUTO_RIG rig = open_rig(*state, two_bullets, MF_MOTION_ARTICULATED, 0.0);
    mf_Field *velocity = mf_group_find_field(rig.group, "free.velocity");
    mf_Field *position = mf_group_find_field(rig.group, "free.position");
    assert_non_null(velocity);
    mf_field_set(velocity, 0, 3, 100.0);
    mf_world_step(rig.world, 64);
    assert_true(mf_field_get(position, 0, 3) < mf_field_get(position, 0, 0) ||
                warns(&rig, MF_WARNING_TUNNEL));
}

// ---- the others ---------------------------------------------------------------------------------

static const char ball[] = "<mujoco><worldbody><body pos='0 0 0.1'><freejoint/>"
                           "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>";

static const mf_Motion grounded[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};

TEST(deep_starts_warn) {
    for (size_t i = 0; i < sizeof grounded / sizeof *grounded; i++) {
        AUTO_RIG rig = open_rig(*state, ball, grounded[i], 9.81);
        mf_world_step(rig.world, 50);
        assert_false(warns(&rig, MF_WARNING_DEPTH));
        set(&rig, "base.position", 2, -0.05);
        mf_group_refresh(rig.group, 0);
        mf_world_step(rig.world, 1);
        if (!warns(&rig, MF_WARNING_DEPTH))
            fail_msg("%s: no warning of a ball whose middle is under the ground",
                     mf_motion_name(grounded[i]));
        is_noted(&rig, MF_WARNING_DEPTH);
    }
}

TEST(coarse_positions_and_angles_warn) {
    for (size_t i = 0; i < sizeof grounded / sizeof *grounded; i++) {
        AUTO_RIG rig = open_rig(*state, ball, grounded[i], 0.0);
        set(&rig, "base.position", 1, -1e4);
        mf_world_step(rig.world, 32);
        assert_false(warns(&rig, MF_WARNING_PRECISION));
        set(&rig, "base.position", 1, -2e4);
        mf_world_step(rig.world, 32);
        assert_true(warns(&rig, MF_WARNING_PRECISION));
        is_noted(&rig, MF_WARNING_PRECISION);
    }
}

static const char ghost[] = "<mujoco><worldbody><body pos='0 0 0.1'><freejoint/>"
                            "<geom type='sphere' size='0.1' contype='0' conaffinity='0'/>"
                            "</body></worldbody></mujoco>";

TEST(falls_without_end_warn) {
    for (size_t i = 0; i < sizeof grounded / sizeof *grounded; i++) {
        for (int passes = 0; passes < 2; passes++) {
            AUTO_RIG rig = open_rig(*state, passes ? ghost : ball, grounded[i], 9.81);
            mf_world_step(rig.world, 2000);
            if (warns(&rig, MF_WARNING_FALL) != passes)
                fail_msg("%s: warning of a fall: %d", mf_motion_name(grounded[i]), !passes);
        }
    }
}
