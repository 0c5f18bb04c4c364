// Small steps add up in single precision: far from the origin, and where a step is very short. Over
// all motions: a body goes as far as its velocity says, wherever it is.
#include "rig/rig.h"
#include "world/group.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

typedef struct Case {
    const char *model;  // in models/
    const char *except; // why it is not moved here; NULL: it is
    uint32_t axis;      // [1] it moves along
    double gravity;     // [m/s^2]
    double factor;      // [1] of the speed, 0: 1; what rolls would stop at once
} Case;

// A motion without a row here fails the test.
static const Case cases[MF_MOTION_COUNT] = {
    [MF_MOTION_KINEMATIC] = {"humanoid.urdf", NULL, 2, 0.0,
                             0.0}, // without feet on the ground it falls
    [MF_MOTION_POINTS] = {"ball.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_RIGID] = {"ball.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_PRESCRIBED] = {"ball.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_ARTICULATED] = {"ball.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_QUADROTOR] = {"hummingbird.yaml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_FIXED_WING] = {"aerosonde.yaml", NULL, 0, 1.0, 0.0},
    [MF_MOTION_CAR] = {"car_full_size.yaml", NULL, 0, 0.0, 20.0},
    [MF_MOTION_EXTERNAL] = {"ball.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_QUASISTATIC] = {NULL, "computes and stores in double precision", 0, 0.0, 0.0},
    [MF_MOTION_ELASTIC] = {NULL, "computes and stores in double precision", 0, 0.0, 0.0},
    [MF_MOTION_CLOTH] = {NULL, "its velocities follow from its positions", 0, 0.0, 0.0},
    [MF_MOTION_FLUID] = {"grain.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_GRAINS] = {"grain.xml", NULL, 0, 0.0, 0.0},
    [MF_MOTION_DEBRIS] = {"grain.xml", NULL, 0, 0.0, 0.0},
};

static mf_Scene open_scene(mf_Context *context, int motion, double step) {
    return scene_of(context, formatted("world: {step: %.9g, gravity: %g}\n"
                                       "groups:\n"
                                       "  - name: a\n    model: ../models/%s\n    motion: %s\n",
                                       step, cases[motion].gravity, cases[motion].model,
                                       mf_motion_name((mf_Motion)motion)));
}

// The body is put at `offset` with `speed`; after `steps` it must be where its velocities of all
// steps say (the mean of those before and after each).
static void travel(mf_Context *context, int motion, double offset, double speed, double step,
                   uint32_t steps, double tolerance) {
    const uint32_t axis = cases[motion].axis;
    AUTO_WHOLE_SCENE scene = open_scene(context, motion, step);
    mf_Field *position = field_of(scene.group, "base.position"),
             *velocity = field_of(scene.group, "base.linear_velocity"),
             *wind = mf_group_find_field(scene.group, "wind.velocity");
    mf_field_set(position, 0, axis, offset);
    if (axis != 2)
        mf_field_set(position, 0, 2, motion == MF_MOTION_CAR ? mf_field_get(position, 0, 2) : 100);
    for (uint32_t c = 0; c < 3; c++)
        mf_field_set(velocity, 0, c, c == axis ? speed : 0.0);
    if (wind != NULL) // so that the air rests against the body
        mf_field_set(wind, 0, axis, speed);
    mf_group_refresh(scene.group, 0);
    const double start = mf_field_sum(position, 0, axis);
    double sum = 0.0, before = mf_field_get(velocity, 0, axis);
    for (uint32_t i = 0; i < steps; i++) {
        mf_world_step(scene.world, 1);
        const double after = mf_field_get(velocity, 0, axis);
        sum += 0.5 * (before + after) * step;
        before = after;
    }
    const double moved = mf_field_sum(position, 0, axis) - start;
    const double shown = mf_field_get(position, 0, axis) - (double)(float)offset;
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    if (!(fabs(moved - sum) <= tolerance * fabs(sum)) || !(fabs(sum) > 0.0) ||
        !(fabs(shown - moved) <= fabs(offset) * 6e-8 + 1e-12))
        fail_msg("%s at %g m, %g m/s, steps of %g s: moved %.9g m, shown %.9g m, expected %.9g m",
                 mf_motion_name((mf_Motion)motion), offset, speed, step, moved, shown, sum);
}

TEST(every_motion_moves_as_its_velocity_says) {
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        if (cases[i].model == NULL && cases[i].except == NULL)
            fail_msg("motion %s has no case here", mf_motion_name((mf_Motion)i));
        if (cases[i].except != NULL)
            continue;
        double down = cases[i].axis == 2 ? -1.0 : 1.0;
        down *= cases[i].factor > 0.0 ? cases[i].factor : 1.0;
        travel(*state, i, 1e3, 0.1 * down, 1e-3, 2000, 1e-3);
        travel(*state, i, 1e4, 0.02 * down, 1e-3, 2000, 1e-3);
        travel(*state, i, 10.0, 0.02 * down, 2e-6, 2000, 1e-3);
    }
}

// ---- rotations ----------------------------------------------------------------------------------

// About z by a slow rate in very short steps: the angle is rate times time.
TEST(attitudes_keep_small_steps) {
    static const int motions[] = {MF_MOTION_POINTS, MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                  MF_MOTION_ARTICULATED, MF_MOTION_EXTERNAL};
    for (size_t m = 0; m < sizeof motions / sizeof *motions; m++) {
        const double step = 2e-6, rate = 0.01;
        const uint32_t steps = 20000;
        AUTO_WHOLE_SCENE scene = open_scene(*state, motions[m], step);
        mf_Field *attitude = field_of(scene.group, "base.orientation");
        mf_field_set(field_of(scene.group, "base.position"), 0, 2, 100.0);
        mf_field_set(attitude, 0, 0, cos(0.5));
        mf_field_set(attitude, 0, 3, sin(0.5));
        mf_field_set(field_of(scene.group, "base.angular_velocity"), 0, 2, rate);
        mf_group_refresh(scene.group, 0);
        mf_world_step(scene.world, steps);
        const double angle =
            2.0 * atan2(mf_field_sum(attitude, 0, 3), mf_field_sum(attitude, 0, 0));
        const double rotated =
            angle - 2.0 * atan2((double)(float)sin(0.5), (double)(float)cos(0.5));
        if (!(fabs(rotated - steps * step * rate) <= 0.01 * steps * step * rate))
            fail_msg("%s: turned by %g rad, expected %g", mf_motion_name((mf_Motion)motions[m]),
                     rotated, steps * step * rate);
    }
}

static const char joints[] = "<mujoco><option gravity=\"0 0 0\"/><worldbody>"
                             "<body pos=\"0 0 1\"><joint name=\"hinge\" type=\"hinge\"/>"
                             "<geom type=\"sphere\" size=\"0.1\"/>"
                             "<body pos=\"0 0 1\"><joint name=\"slide\" type=\"slide\"/>"
                             "<geom type=\"sphere\" size=\"0.1\"/></body></body>"
                             "</worldbody></mujoco>";

static double turn(mf_Context *context, double start, double rate, double step, uint64_t steps) {
    AUTO_WORLD *world = NULL;
    mf_Group *group = NULL;
    AUTO_MODEL *model = load_text(context, joints);
    mf_WorldConfig config =
        WITH(mf_world_config(), .step = mf_time_from_seconds(step), .gravity = 0.0);
    mf_GroupConfig own = WITH(mf_group_config(), .model = model);
    world = open_world(context, &config);
    group = add_group(world, &own);
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, NULL, &error));
    set_field(group, "joint.angle", 0, 0, start);
    set_field(group, "joint.rate", 0, 0, rate);
    mf_group_refresh(group, 0);
    mf_world_step(world, steps);
    return get_field(group, "joint.angle", 0, 0) - (double)(float)start;
}

// In 1,000 s a wheel at 100 rad/s turns by 100,000 rad; slow joints move in very short steps.
TEST(joints_keep_small_steps) {
    const double wheel = turn(*state, 0.0, 100.0, 0.01, 100000);
    if (!(fabs(wheel - 1e5) <= 0.01))
        fail_msg("the wheel has turned by %.9g rad instead of 100000", wheel);
    const double slow = turn(*state, 1.0, 0.02, 2e-6, 50000);
    if (!(fabs(slow - 0.002) <= 2e-6))
        fail_msg("the slow joint has turned by %.9g rad instead of 0.002", slow);
}
