// The keys of the run-time joints of a scene.
#include "base/key_rows.h"
#include "scene/keys.h"

static const char *const kinds[] = {"fixed", "ball", "hinge", NULL};

_Static_assert(sizeof(mf_WorldJointKind) == sizeof(int), "choices are stored as int");
_Static_assert((int)MF_WORLD_JOINT_HINGE + 2 == sizeof kinds / sizeof *kinds,
               "choices are in the order of their enum");

#define T mf_SceneJoint
#define POSITIVE(path, flags, unit, fallback, member, text)                                        \
    REAL(path, flags, unit, fallback, 0, 1e300, member, text)
#define SIDE(name, index, what)                                                                    \
    SECTION(name, what),                                                                           \
        TEXT(name ".group", 0, "", sides[index].group, "name of the group; empty: the world"),     \
        COUNT(name ".robot", 0, "0", 0, (1u << 26) - 1, sides[index].robot,                        \
              "index of the robot, from 0"),                                                       \
        TEXT(name ".link", 0, "", sides[index].link, "name of the link; empty: the base")

// clang-format off
static const mf_Key keys[] = {
    TEXT("name", REQUIRED, NULL, name, "name of the joint in messages and overrides"),
    CHOICE("kind", 0, "fixed", kinds, kind,
           "what is constrained; `fixed`: pose; `ball`: a point; `hinge`: a point and an axis"),
    SIDE("first", 0, "the first link"),
    SIDE("second", 1, "the second link"),
    VECTOR("position", 3, AUTO, "m", "auto", -1e6, 1e6, position, "initial position of the joint "
           "in the world; `auto`: the origin of the first link that is not the world"),
    VECTOR("axis", 3, 0, "1", "[0, 0, 1]", -1e6, 1e6, axis,
           "initial axis of a hinge, in the world"),
    POSITIVE("stiffness", 0, "N/m", "0", stiffness, "stiffness; 0: rigid"),
    POSITIVE("damping", 0, "N s/m", "0", damping, "damping; requires a stiffness"),
    POSITIVE("angular_stiffness", 0, "N m/rad", "0", angular_stiffness, "stiffness; 0: rigid"),
    POSITIVE("angular_damping", 0, "N m s/rad", "0", angular_damping,
             "damping; requires angular_stiffness"),
    POSITIVE("time", 0, "s", "0", time,
             "time constant with which the error of a rigid joint decreases; 0: four steps"),
    POSITIVE("force_limit", ABOVE | INFINITE, "N", ".inf", force_limit,
             "the joint breaks above this force"),
    POSITIVE("moment_limit", ABOVE | INFINITE, "N m", ".inf", moment_limit,
             "the joint breaks above this moment"),
    VECTOR("range", 2, AUTO, "rad", "auto", -7, 7, range,
           "smallest and largest angle of a hinge, from its initial pose; `auto`: none"),
    REAL("motor_rate", 0, "rad/s", "0", -1e12, 1e12, motor_rate,
         "rate to which the motor of a hinge drives it"),
    POSITIVE("motor_torque", 0, "N m", "0", motor_torque,
             "largest torque of the motor; with a rate of 0: dry friction"),
    FLAG("enabled", "true", enabled, "false: the joint has no effect until a program enables it"),
};
// clang-format on

const mf_KeyTable mf_scene_joint_table = {MF_KEY_ROWS("joint", keys, mf_SceneJoint)};
