// Small models for the tests of tasks: the same numbers of positions, velocities and actuators as
// the models of the tasks, with bodies of the required names.
#pragma once

#define MOTOR(name, gear)                                                                          \
    "<motor joint='" name "' gear='" gear "' ctrllimited='true' ctrlrange='-1 1'/>"

// A cart of 2 kg on a rail and a pole, 0.8 kg, whose mass is 0.45 m from the hinge.
#define CART_POLE(option, more)                                                                    \
    "<mujoco><compiler angle='radian' inertiafromgeom='false'/>"                                   \
    "<option " option "/><worldbody>"                                                              \
    "<body name='cart'><joint name='rail' type='slide' axis='1 0 0' " more "/>"                    \
    "<inertial pos='0 0 0' mass='2' diaginertia='.01 .01 .01'/>"                                   \
    "<body name='pole'><joint name='hinge' type='hinge' axis='0 1 0'/>"                            \
    "<inertial pos='0 0 .45' mass='.8' diaginertia='.02 .03 .01'/>"                                \
    "</body></body></worldbody><actuator>"                                                         \
    "<motor joint='rail' gear='50' ctrllimited='true' ctrlrange='-2 2'/></actuator></mujoco>"

// Two poles of 0.6 m on a cart, and a site at the tip.
#define CART_POLES(option)                                                                         \
    "<mujoco><compiler angle='radian'/><option " option "/><worldbody>"                            \
    "<body name='cart'><joint name='rail' type='slide' axis='1 0 0' limited='true' range='-1 1'/>" \
    "<geom type='box' size='.1 .1 .05' contype='0' conaffinity='0'/>"                              \
    "<body><joint axis='0 1 0' damping='.05'/>"                                                    \
    "<geom type='capsule' fromto='0 0 0 0 0 .6' size='.04' contype='0' conaffinity='0'/>"          \
    "<body pos='0 0 .6'><joint axis='0 1 0' damping='.05'/>"                                       \
    "<geom type='capsule' fromto='0 0 0 0 0 .6' size='.04' contype='0' conaffinity='0'/>"          \
    "<site name='tip' pos='0 0 .6'/></body></body></body></worldbody><actuator>"                   \
    "<motor joint='rail' gear='100' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>"

// A body in the plane y = 0 and a chain of `links` that hangs from it.
#define PLANE_HEAD                                                                                 \
    "<mujoco><compiler angle='radian'/><option timestep='.004'/>"                                  \
    "<default><joint damping='.5'/><geom friction='.8 .1 .1'/></default><worldbody>"               \
    "<geom type='plane' size='50 50 1' conaffinity='1'/>"                                          \
    "<body name='trunk' pos='0 0 1.2'>"                                                            \
    "<joint name='x' type='slide' axis='1 0 0' damping='0'/>"                                      \
    "<joint name='z' type='slide' axis='0 0 1' damping='0' ref='1.2'/>"                            \
    "<joint name='tilt' axis='0 1 0' damping='0'/>"                                                \
    "<geom type='capsule' fromto='-.2 0 0 .2 0 0' size='.06'/>"
#define PLANE_LINK(name)                                                                           \
    "<body pos='0 0 -.2'><joint name='" name "' axis='0 1 0' range='-1 1' limited='true'/>"        \
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' contype='0' conaffinity='1'/>"
#define PLANE_3                                                                                    \
    PLANE_HEAD PLANE_LINK("a") PLANE_LINK("b")                                                     \
        PLANE_LINK("c") "</body></body></body></body></worldbody><actuator>" MOTOR("a", "20")      \
            MOTOR("b", "20") MOTOR("c", "20") "</actuator></mujoco>"
#define PLANE_6                                                                                    \
    PLANE_HEAD PLANE_LINK("a") PLANE_LINK("b")                                                     \
        PLANE_LINK("c") "</body></body></body>" PLANE_LINK("d") PLANE_LINK("e")                    \
            PLANE_LINK("f") "</body></body></body></body></worldbody><actuator>" MOTOR("a", "20")  \
                MOTOR("b", "20") MOTOR("c", "20") MOTOR("d", "20") MOTOR("e", "20")                \
                    MOTOR("f", "20") "</actuator></mujoco>"

// Three links in water.
#define SWIMMER                                                                                    \
    "<mujoco><compiler angle='radian'/>"                                                           \
    "<option timestep='.01' density='4000' viscosity='.1' integrator='RK4'/>"                      \
    "<default><geom contype='0' conaffinity='0'/></default>"                                       \
    "<worldbody><body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"        \
    "<joint axis='0 0 1'/><geom type='capsule' fromto='0 0 0 1 0 0' size='.1'/>"                   \
    "<body pos='0 0 0'><joint name='a' axis='0 0 1'/>"                                             \
    "<geom type='capsule' fromto='0 0 0 -1 0 0' size='.1'/>"                                       \
    "<body pos='-1 0 0'><joint name='b' axis='0 0 1'/>"                                            \
    "<geom type='capsule' fromto='0 0 0 -1 0 0' size='.1'/></body></body></body></worldbody>"      \
    "<actuator><motor joint='a' gear='150' ctrllimited='true' ctrlrange='-1 1'/>"                  \
    "<motor joint='b' gear='150' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>"

// A trunk with four legs of one joint, ahead or behind and to a side ("" or "-"); the last leg
// carries a second body that is fixed to it.
#define CRAWLER_LEG(name, ahead, side, more)                                                       \
    "<body name='leg_" name "' pos='" ahead ".25 " side ".15 0'>"                                  \
    "<joint name='" name "' axis='0 1 0'/>"                                                        \
    "<geom type='capsule' fromto='0 0 0 " ahead ".1 " side ".1 -.35' size='.04'/>" more "</body>"
#define CRAWLER_FOOT "<body name='foot' pos='-.1 -.1 -.35'><geom type='sphere' size='.05'/></body>"
#define CRAWLER(option)                                                                            \
    "<mujoco><compiler angle='radian'/><option " option "/>"                                       \
    "<default><joint damping='1' armature='.1'/></default><worldbody>"                             \
    "<geom name='floor' type='plane' size='50 50 1'/>"                                             \
    "<body name='trunk' pos='0 0 .55'><freejoint/><geom type='box' size='.25 .15 "                 \
    ".06'/>" CRAWLER_LEG("a", "", "", "") CRAWLER_LEG("b", "", "-", "") CRAWLER_LEG("c", "-", "",  \
                                                                                    "")            \
        CRAWLER_LEG("d", "-", "-", CRAWLER_FOOT) "</body></worldbody><actuator>" MOTOR("a", "15")  \
            MOTOR("b", "15") MOTOR("c", "15") MOTOR("d", "15") "</actuator></mujoco>"

// An arm of two joints that hangs, its tip, and a target on slides.
#define REACHER                                                                                    \
    "<mujoco><compiler angle='radian'/><option timestep='.01'/>"                                   \
    "<default><joint damping='.2' armature='.1'/><geom contype='0' conaffinity='0'/></default>"    \
    "<worldbody><body pos='0 0 .1'><joint name='a' axis='0 0 1'/>"                                 \
    "<geom type='capsule' fromto='0 0 0 .1 0 0' size='.02'/>"                                      \
    "<body pos='.1 0 0'><joint name='b' axis='0 0 1' limited='true' range='-3 3'/>"                \
    "<geom type='capsule' fromto='0 0 0 .1 0 0' size='.02'/>"                                      \
    "<body name='fingertip' pos='.11 0 .02'><geom type='sphere' size='.01'/></body></body></body>" \
    "<body name='target' pos='.1 -.1 .01'>"                                                        \
    "<joint type='slide' axis='1 0 0' ref='.1'/><joint type='slide' axis='0 1 0' ref='-.1'/>"      \
    "<geom type='sphere' size='.02'/></body></worldbody><actuator>"                                \
    "<motor joint='a' gear='30' ctrllimited='true' ctrlrange='-1 1'/>"                             \
    "<motor joint='b' gear='30' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>"

// An arm of seven joints, an object and a goal on slides.
#define PUSHER_LINK(name, axis)                                                                    \
    "<body pos='.1 0 0'><joint name='" name "' axis='" axis "'/>"                                  \
    "<geom type='capsule' fromto='0 0 0 .1 0 0' size='.02'/>"
#define PUSHER                                                                                     \
    "<mujoco><compiler angle='radian'/><option timestep='.01' gravity='0 0 0'/>"                   \
    "<default><joint damping='.3' armature='.04'/><geom contype='0' conaffinity='0'/></default>"   \
    "<worldbody>" PUSHER_LINK("a", "0 0 1") PUSHER_LINK("b", "0 1 0") PUSHER_LINK("c", "1 0 0")    \
        PUSHER_LINK("d", "0 1 0") PUSHER_LINK("e", "1 0 0") PUSHER_LINK("f", "0 1 0")              \
            PUSHER_LINK("g", "1 0 0") "<body name='tips_arm' pos='.1 0 0'>"                        \
                                      "<geom type='sphere' size='.01'/></body>"                    \
                                      "</body></body></body></body></body></body></body>"          \
                                      "<body name='object' pos='.45 -.05 -.2'>"                    \
                                      "<joint type='slide' axis='0 1 0'/>"                         \
                                      "<joint type='slide' axis='1 0 0'/>"                         \
                                      "<geom type='cylinder' size='.05 .05'/></body>"              \
                                      "<body name='goal' pos='.45 -.05 -.3'>"                      \
                                      "<joint type='slide' axis='0 1 0'/>"                         \
                                      "<joint type='slide' axis='1 0 0'/>"                         \
                                      "<geom type='cylinder' size='.08 .001'/></body></worldbody>" \
                                      "<actuator>" PUSHER_MOTOR("a") PUSHER_MOTOR("b")             \
                                          PUSHER_MOTOR("c") PUSHER_MOTOR("d") PUSHER_MOTOR("e")    \
                                              PUSHER_MOTOR("f")                                    \
                                                  PUSHER_MOTOR("g") "</actuator></mujoco>"
#define PUSHER_MOTOR(name) "<motor joint='" name "' ctrllimited='true' ctrlrange='-2 2'/>"

typedef struct TaskModel {
    const char *task, *text;
} TaskModel;

enum { TASKS = 11 };

// Each task on a model of the tests.
static const TaskModel task_models[TASKS] = {
    {"ant", CRAWLER("timestep='.01' integrator='RK4'")},
    {"half_cheetah", PLANE_6},
    {"hopper", PLANE_3},
    {"humanoid", CRAWLER("timestep='.003'")},
    {"humanoid_standup", CRAWLER("timestep='.003' integrator='RK4'")},
    {"inverted_double_pendulum", CART_POLES("timestep='.01' integrator='RK4'")},
    {"inverted_pendulum", CART_POLE("timestep='.02' integrator='RK4'", "")},
    {"pusher", PUSHER},
    {"reacher", REACHER},
    {"swimmer", SWIMMER},
    {"walker2d", PLANE_6},
};
