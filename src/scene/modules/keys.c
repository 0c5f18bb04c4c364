// The keys of modular robots in scenes: docks that are joined at the start, chains, limits of
// docks, messages, and the settings of policies.
#include "base/key_rows.h"
#include "scene/keys.h"

_Static_assert(MF_KEY_IS_LIST(mf_SceneFile, docks, dock_count), "lists are stored as mf_KeyList");

// ---- of a scene ---------------------------------------------------------------------------------

#define T mf_SceneDock
#define SIDE(name, index, what)                                                                    \
    SECTION(name, what),                                                                           \
        TEXT(name ".group", REQUIRED, NULL, sides[index].group, "name of the group"),              \
        COUNT(name ".robot", 0, "0", 0, (1u << 26) - 1, sides[index].robot,                        \
              "index of the robot, from 0"),                                                       \
        TEXT(name ".dock", REQUIRED, NULL, sides[index].dock, "name of the dock")

// clang-format off
static const mf_Key keys[] = {
    SIDE("first", 0, "the dock that stays where its robot is placed"),
    SIDE("second", 1, "the dock whose robot is moved to it"),
    COUNT("orientation", 0, "0", 0, 3, orientation,
          "number of the orientation about the docks' axis"),
};
// clang-format on
#undef T

static const mf_KeyTable table = {MF_KEY_ROWS("dock", keys, mf_SceneDock)};

#define T mf_SceneFile
// clang-format off
static const mf_Key module_keys[] = {
    LIST("docks", 0, &table, docks, "docks of robots that are joined at the start, "
         "in this order, each with the keys below (docs/how_to/modules.md)"),
};

static const mf_Key message_keys[] = {
    SECTION("messages", "messages between modules that are docked, or see each other by infrared"),
    FLAG("messages.enabled", "false", talks, "docks send messages; true if the section is there"),
    COUNT("messages.size", 0, "16", 4, MF_MESSAGE_BYTES, messages.size,
          "bytes of a message, a multiple of 4"),
    COUNT("messages.capacity", 0, "4", 1, MF_MESSAGE_CAPACITY, messages.capacity,
          "messages in the box of a dock; further ones are dropped, and counted"),
    REAL("messages.loss", 0, "1", "0", 0, 1, messages.loss, "probability that a message is lost"),
    COUNT("messages.delay", 0, "0", 0, MF_MESSAGE_DELAY, messages.delay,
          "steps that every message takes in addition to one"),
    COUNT("messages.jitter", 0, "0", 0, MF_MESSAGE_DELAY, messages.jitter,
          "further steps at random, 0 up to this"),
    REAL("messages.range", 0, "m", "0", 0, 1e4, messages.range,
         "infrared: docks that are not engaged reach others that are nearer than this; 0: none"),
    REAL("messages.angle", 0, "rad", "0.5", 0, 3.1415926535897932, messages.angle,
         "infrared: largest angle between the x axis of a dock and the line to the other, for "
         "both"),
};
// clang-format on
#undef T

const mf_KeyPart mf_scene_module_keys = {MF_KEY_PART(module_keys)},
                 mf_scene_message_keys = {MF_KEY_PART(message_keys)};

// ---- of a group ---------------------------------------------------------------------------------

#define T mf_SceneGroup
#define POLICY(name, unit, fallback, member, text)                                                 \
    REAL("behavior." name, 0, unit, fallback, -1e3, 1e3, behavior.policy.member, text)
#define POLICY_TEXT(name, member, text) TEXT("behavior." name, 0, "", behavior.policy.member, text)
#define POLICY_JOINT(name)                                                                         \
    POLICY_TEXT(name ".joint", joint, "joints that move, with spaces between; empty: all")

// clang-format off
static const mf_Key chain_keys[] = {
    SECTION("chain", "robots that are docked at the start, each to the next one"),
    TEXT("chain.first", 0, "", chain.first, "dock of each robot; empty: no chain"),
    TEXT("chain.second", 0, "", chain.second, "dock of the next robot, which is moved to it"),
    COUNT("chain.orientation", 0, "0", 0, 3, chain.orientation,
          "number of the orientation about the docks' axis"),
    FLAG("chain.closed", "false", chain.closed,
         "the last robot is docked to the first one where their docks mate"),
    SECTION("dock_limits",
            "loads at which docks break, for all docks of the robot; 0: from the robot's file"),
    REAL("dock_limits.tension", 0, "N", "0", 0, 1e300, dock_limits.tension,
         "force along a dock, apart"),
    REAL("dock_limits.shear", 0, "N", "0", 0, 1e300, dock_limits.shear, "force across it"),
    REAL("dock_limits.bending", 0, "N m", "0", 0, 1e300, dock_limits.bending, "moment across it"),
    REAL("dock_limits.torsion", 0, "N m", "0", 0, 1e300, dock_limits.torsion, "moment about it"),
};

static const mf_Key policy_keys[] = {
    SECTION("behavior.snake", "a wave along a chain of modules; the first one has the clock"),
    POLICY_TEXT("snake.front", front, "dock to the module before; empty: the first dock"),
    POLICY_TEXT("snake.back", back, "dock to the module behind; empty: the second dock"),
    POLICY_JOINT("snake"),
    POLICY("snake.amplitude", "rad", "0.5", amplitude, "of the joints"),
    POLICY("snake.frequency", "Hz", "0.5", frequency, "waves in a second"),
    POLICY("snake.lag", "rad", "1", lag, "phase lag of a module behind the previous one"),
    POLICY("snake.offset", "rad", "0", offset, "center of the joints"),
    SECTION("behavior.phase", "oscillators that synchronize by messages"),
    POLICY_JOINT("phase"),
    POLICY("phase.amplitude", "rad", "0.5", amplitude, "of the joints"),
    POLICY("phase.frequency", "Hz", "0.5", frequency, "mean of the natural frequencies"),
    POLICY("phase.coupling", "1/s", "2", coupling, "rate of synchronization"),
    POLICY("phase.scatter", "1", "0", scatter,
           "standard deviation of the natural frequencies, relative"),
    POLICY("phase.offset", "rad", "0", offset, "center of the joints"),
    SECTION("behavior.track", "a closed chain of modules that rolls, over an accelerometer"),
    POLICY_JOINT("track"),
    POLICY_TEXT("track.sensor", sensor, "an accelerometer; empty: the first"),
    POLICY("track.bend", "rad", "1.0471975511965976", offset,
           "mean angle of a joint: 2 pi by the number of modules"),
    POLICY("track.stretch", "1", "0.3", stretch, "change of bends, relative"),
    POLICY("track.lean", "rad", "0.8", lean, "of the long axis, from the horizontal, forward"),
    SECTION("behavior.unroll",
            "a track that opens the front dock of its first module and goes on as a snake"),
    POLICY_JOINT("unroll"),
    POLICY_TEXT("unroll.front", front, "dock to the module before; empty: the first dock"),
    POLICY_TEXT("unroll.back", back, "dock to the module behind; empty: the second dock"),
    POLICY_TEXT("unroll.sensor", sensor, "an accelerometer; empty: the first"),
    POLICY("unroll.open", "s", "5", open, "time at which the first module opens its dock"),
    POLICY("unroll.bend", "rad", "1.0471975511965976", offset,
           "mean angle of a joint of the track: 2 pi by the number of modules"),
    POLICY("unroll.stretch", "1", "0.3", stretch, "change of bends, relative"),
    POLICY("unroll.lean", "rad", "0.8", lean,
           "of the track's long axis, from the horizontal, forward"),
    POLICY("unroll.amplitude", "rad", "0.5", amplitude, "of the snake"),
    POLICY("unroll.frequency", "Hz", "0.5", frequency, "waves of the snake in a second"),
    POLICY("unroll.lag", "rad", "1", lag, "phase lag of a module behind the previous one"),
    SECTION("behavior.count", "each module counts those that are connected to it"),
    SECTION("behavior.leader", "modules that are connected elect one of them"),
    SECTION("behavior.spin", "joints turn at a constant speed"),
    POLICY_JOINT("spin"),
    POLICY("spin.speed", "rad/s", "1", speed, "of the joints"),
    SECTION("behavior.wheels", "wheels drive on, and turn away from what a range sensor sees"),
    TEXT("behavior.wheels.left", REQUIRED, NULL, behavior.policy.left,
         "joints of the left wheels, with spaces between"),
    TEXT("behavior.wheels.right", REQUIRED, NULL, behavior.policy.right,
         "joints of the right wheels"),
    POLICY_TEXT("wheels.sensor", sensor, "a range sensor; empty: the first"),
    POLICY("wheels.speed", "rad/s", "5", speed, "of the wheels"),
    POLICY("wheels.distance", "m", "0.3", distance, "nearer obstacles are avoided"),
    POLICY("wheels.pivot_time", "s", "0.5", pivot_time, "shortest time of a turn"),
    SECTION("behavior.car", "modules of cars that drive until two dock, drive on together, open a "
            "dock and drive apart, by messages"),
    POLICY_JOINT("car"),
    POLICY_TEXT("car.front", front,
                "dock whose engaging ends the approach; empty: none of this module"),
    POLICY_TEXT("car.back", back, "dock that opens in the end; empty: none of this module"),
    POLICY("car.speed", "rad/s", "0", speed, "of the joints during the approach"),
    POLICY("car.together", "rad/s", "0", together, "of the joints when docked"),
    POLICY("car.apart", "rad/s", "0", apart, "of the joints after the car has parted"),
    POLICY("car.wait", "s", "2", wait,
           "time that docked cars stand, drive together, and stand again"),
    SECTION("behavior.arm", "modules of an arm: damped-least-squares inverse kinematics by "
            "messages; the module without joints that has the targets is its root"),
    POLICY_JOINT("arm"),
    POLICY_TEXT("arm.front", front, "dock towards the tip; empty: the first dock"),
    POLICY_TEXT("arm.back", back, "dock towards the root; empty: the second dock"),
    TUPLE("behavior.arm.points", POINTS, 3, 0, "m", NULL, -1e3, 1e3, behavior.points,
          "targets of the tip's front dock, in the root's frame"),
    POLICY("arm.wait", "s", "3", wait, "time for which each is the target"),
    POLICY("arm.length", "", "1", length,
           "least number of modules with joints to reach for targets; with fewer: the posture"),
    POLICY("arm.posture", "rad", "0", posture, "of the joints with fewer modules"),
    POLICY("arm.speed", "rad/s", "1", speed, "of joints, at most"),
    POLICY("arm.coupling", "1/s", "3", coupling, "rate at which the error decays"),
    POLICY("arm.damping", "m", "0.02", damping, "of the least squares"),
    SECTION("behavior.hormone", "a wave from a head that connected modules choose, anew whenever "
            "they split or merge, by messages"),
    POLICY_JOINT("hormone"),
    POLICY("hormone.amplitude", "rad", "0.5", amplitude, "of the joints"),
    POLICY("hormone.frequency", "Hz", "0.5", frequency, "waves in a second"),
    POLICY("hormone.lag", "rad", "1", lag,
           "phase lag of a module behind the one nearer to the head"),
    POLICY("hormone.coupling", "1/s", "2", coupling, "rate of synchronization"),
    POLICY("hormone.offset", "rad", "0", offset, "center of the joints"),
};
// clang-format on
#undef T

const mf_KeyPart mf_scene_chain_keys = {MF_KEY_PART(chain_keys)},
                 mf_scene_policy_keys = {MF_KEY_PART(policy_keys)};
