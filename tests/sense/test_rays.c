// Ray sensors on links behind ball and floating joints: against closed forms, and against the
// poses of links (dynamics.h) in random states, measured before the controllers or at the end of
// steps.
#include "sense/signal_rig.h"
#include "base/random.h"

#include "math/scalar.h"

GROUP_FIXTURE(make_context, drop_context);

#define LINK(name)                                                                                 \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' "             \
    "izz='0.01'/></inertial></link>"
#define JOINT(name, type, parent, child, xyz)                                                      \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child        \
    "'/><origin xyz='" xyz "' rpy='0.1 0.2 0.3'/><axis xyz='0 1 0'/></joint>"
#define RAY(link, xyz, rpy)                                                                        \
    "<sensor name='" link "' type='ray' link='" link "' xyz='" xyz "' rpy='" rpy "' reach='6'/>"

// A base, an arm on a ball, a tool that floats before the arm, a tip on a hinge of the tool.
static const char tree[] = "<robot name='r'>" LINK("box") LINK("arm") LINK("tool") LINK("tip")
    JOINT("shoulder", "ball", "box", "arm", "0.1 0 0.2")
        JOINT("gap", "floating", "arm", "tool", "0.3 0.1 0")
            JOINT("wrist", "continuous", "tool", "tip", "0 0 0.1") "<mayfly>" RAY(
                "arm", "0.2 0 0.05", "0.3 0.4 -0.2") RAY("tool", "0 0.1 0", "0 1.2 0.1")
                RAY("tip", "0.05 0.02 -0.1", "-0.5 1 2") "</mayfly></robot>";

// The same joints without offsets: the frames of all links are the base's at the start.
static const char plain[] = "<robot name='r'>" LINK("box") LINK("arm") LINK(
    "tool") "<joint name='shoulder' type='ball'><parent link='box'/><child link='arm'/></joint>"
            "<joint name='gap' type='floating'><parent link='arm'/><child "
            "link='tool'/></joint><mayfly>" RAY("arm", "0 0 0", "0 0 0")
                RAY("tool", "0 0 0", "0 0 0") "</mayfly></robot>";

enum { COUNT = 19, LINKS = 4 };

// Without gravity, so that nothing moves.
static Rig open_still(mf_Context *context, const char *text, bool before, bool floats, mf_Isa isa) {
    Rig rig = rig_open(context, WITH(rig_config(), .model = text, .count = COUNT, .gravity = 0.0,
                                     .floats = floats, .isa = isa));
    MUST(rig_add_articulated(rig.group, &WITH(mf_motions_config().articulated, .contacts = false),
                             &error));
    MUST(mf_sensors_add(rig.group, &WITH(mf_sensors_config(), .before_control = before), &error));
    return rig;
}

static double ray_of(const Rig *rig, uint32_t robot, uint32_t sensor) {
    return rig_get(rig, "sensor.value", robot, rig->model->sensors[sensor].address);
}

static double *joint_of(const Rig *rig, double *q, const char *name) {
    return q + rig->model->joints[mf_model_find(rig->model, MF_ITEM_JOINT, name)].position_address;
}

// ---- closed forms -------------------------------------------------------------------------------

// The base stands h above the ground; the arm looks down by 30 degrees: h / sin 30. The tool is
// 0.4 m higher along the arm's z axis, and looks down by 30 + 20 degrees:
// (h + 0.4 cos 30) / sin 50.
TEST(angles_add_up) {
    for (int before = 0; before < 2; before++) {
        const double h = 1.5, degree = MF_PI / 180.0;
        double q[32] = {0}, v[32] = {0};
        AUTO_RIG rig = open_still(*state, plain, before, false, MF_ISA_AUTO);
        double *shoulder = joint_of(&rig, q, "shoulder"), *gap = joint_of(&rig, q, "gap");
        q[2] = h;
        q[3] = 1.0;
        mf_quat_from_rpy(shoulder, (double[]){0, 30 * degree, 0});
        gap[2] = 0.4;
        mf_quat_from_rpy(gap + 3, (double[]){0, 20 * degree, 0});
        for (uint32_t i = 0; i < COUNT; i++)
            mf_group_set_state(rig.group, i, q, v);
        mf_world_step(rig.world, 1);
        const double tool = (h + 0.4 * cos(30 * degree)) / sin(50 * degree);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_near(ray_of(&rig, i, 0), h / sin(30 * degree), 1e-9);
            assert_near(ray_of(&rig, i, 1), tool, 1e-9);
        }
    }
}

// ---- random states ------------------------------------------------------------------------------

static double varied(uint32_t instance, uint32_t stream, double size) {
    uint32_t out[4];
    mf_random(11, instance, stream, 0, out);
    return size * (2.0 * mf_random_unit_float(out[0]) - 1.0);
}

static void set_rotation(double q[4], uint32_t instance, uint32_t stream) {
    for (uint32_t c = 0; c < 4; c++)
        q[c] = varied(instance, stream + c, 1.0);
    mf_quat_normalize(q);
}

static void set_varied(const Rig *rig, uint32_t instance) {
    double q[32] = {0}, v[32] = {0};
    double *shoulder = joint_of(rig, q, "shoulder"), *gap = joint_of(rig, q, "gap");
    for (uint32_t c = 0; c < 3; c++)
        q[c] = varied(instance, c, 0.5) + (c == 2 ? 2.0 : 0.0);
    set_rotation(q + 3, instance, 3);
    set_rotation(shoulder, instance, 7);
    for (uint32_t c = 0; c < 3; c++)
        gap[c] = varied(instance, 11 + c, 0.3);
    set_rotation(gap + 3, instance, 14);
    *joint_of(rig, q, "wrist") = varied(instance, 18, 3.0);
    mf_group_set_state(rig->group, instance, q, v);
}

// To the level ground at height 0, from the pose of the sensor's link.
static double expected_at(const Rig *rig, uint32_t instance, const mf_Sensor *sensor) {
    double position[3 * LINKS], rotation[4 * LINKS], start[3], direction[3];
    MUST(mf_group_link_poses(rig->group, instance, 1, position, rotation, &error));
    mf_quat_rotate(start, rotation + 4 * sensor->link, sensor->start);
    mf_quat_rotate(direction, rotation + 4 * sensor->link, sensor->direction);
    mf_vec3_add(start, start, position + 3 * sensor->link);
    const double distance = -start[2] / direction[2];
    return distance >= 0.0 && distance < sensor->range ? distance : sensor->range;
}

TEST(rays_follow_their_links) {
    FOR_EACH_ISA (isa)
        for (int k = 0; k < 4; k++) {
            const bool before = k & 1, floats = k & 2;
            uint32_t hits = 0;
            AUTO_RIG rig = open_still(*state, tree, before, floats, isa);
            for (uint32_t i = 0; i < COUNT; i++)
                set_varied(&rig, i);
            mf_world_step(rig.world, 1);
            for (uint32_t i = 0; i < COUNT; i++)
                for (uint32_t s = 0; s < 3; s++) {
                    const double expected = expected_at(&rig, i, &rig.model->sensors[s]);
                    assert_near(ray_of(&rig, i, s), expected, floats ? 3e-5 : 1e-9);
                    hits += expected < rig.model->sensors[s].range;
                }
            assert_true(hits > COUNT / 2);
            assert_int_equal(mf_group_fault_total(rig.group), 0);
        }
}
