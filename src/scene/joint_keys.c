// The keys of the run-time joints of a scene.
#include "scene/keys.h"

static const char *const kinds[] = {"fixed", "ball", "hinge", NULL};

_Static_assert(sizeof(mf_WorldJointKind) == sizeof(int), "choices are stored as int");
_Static_assert((int)MF_WORLD_JOINT_HINGE + 2 == sizeof kinds / sizeof *kinds,
               "choices are in the order of their enum");

#define JOINT(member) offsetof(mf_SceneJoint, member)
#define REAL(path, flags, unit, fallback, offset, description)                                     \
    MF_KEY(path, MF_KEY_REAL, flags, unit, fallback, 0, 1e300, NULL, offset, description)
#define SIDE(name, index, what)                                                                    \
    MF_KEY(name, MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, what),                   \
        MF_KEY(name ".group", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, JOINT(sides[index].group),       \
               "name of the group; empty: the world"),                                             \
        MF_KEY(name ".robot", MF_KEY_COUNT, 0, "1", "0", 0, (1u << 26) - 1, NULL,                  \
               JOINT(sides[index].robot), "index of the robot, from 0"),                           \
        MF_KEY(name ".link", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, JOINT(sides[index].link),         \
               "name of the link; empty: the base")

// clang-format off
static const mf_Key keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, JOINT(name),
           "name of the joint in messages and overrides"),
    MF_KEY("kind", MF_KEY_CHOICE, 0, "", "fixed", 0, 0, kinds, JOINT(kind),
           "what is constrained; `fixed`: pose; `ball`: a point; `hinge`: a point and an axis"),
    SIDE("first", 0, "the first link"),
    SIDE("second", 1, "the second link"),
    MF_KEY_TUPLE("position", MF_KEY_VECTOR, 3, MF_KEY_AUTO, "m", "auto", -1e6, 1e6, JOINT(position),
                 "initial position of the joint in the world; `auto`: the origin of the first link "
                 "that is not the world"),
    MF_KEY_TUPLE("axis", MF_KEY_VECTOR, 3, 0, "1", "[0, 0, 1]", -1e6, 1e6, JOINT(axis),
                 "initial axis of a hinge, in the world"),
    REAL("stiffness", 0, "N/m", "0", JOINT(stiffness), "stiffness; 0: rigid"),
    REAL("damping", 0, "N s/m", "0", JOINT(damping), "damping; requires a stiffness"),
    REAL("angular_stiffness", 0, "N m/rad", "0", JOINT(angular_stiffness), "stiffness; 0: rigid"),
    REAL("angular_damping", 0, "N m s/rad", "0", JOINT(angular_damping),
         "damping; requires angular_stiffness"),
    REAL("time", 0, "s", "0", JOINT(time),
         "time constant with which the error of a rigid joint decreases; 0: four steps"),
    REAL("force_limit", MF_KEY_ABOVE | MF_KEY_INFINITE, "N", ".inf", JOINT(force_limit),
         "the joint breaks above this force"),
    REAL("moment_limit", MF_KEY_ABOVE | MF_KEY_INFINITE, "N m", ".inf", JOINT(moment_limit),
         "the joint breaks above this moment"),
    MF_KEY_TUPLE("range", MF_KEY_VECTOR, 2, MF_KEY_AUTO, "rad", "auto", -7, 7, JOINT(range),
                 "smallest and largest angle of a hinge, from its initial pose; `auto`: none"),
    MF_KEY("motor_rate", MF_KEY_REAL, 0, "rad/s", "0", -1e12, 1e12, NULL, JOINT(motor_rate),
           "rate to which the motor of a hinge drives it"),
    REAL("motor_torque", 0, "N m", "0", JOINT(motor_torque),
         "largest torque of the motor; with a rate of 0: dry friction"),
    MF_KEY("enabled", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, JOINT(enabled),
           "false: the joint has no effect until a program enables it"),
};
// clang-format on

const mf_KeyTable mf_scene_joint_table = {MF_KEY_ROWS("joint", keys, mf_SceneJoint)};
