"""Terms of tasks that ship: actions, commands, observations, rewards, terminations, events and
curricula. Names, parameters and defaults follow Isaac Lab's `mdp`, mjlab and MuJoCo Playground
(docs/how_to/tasks.md has a table).

A term gets the environment (mayfly.envs.TaskVectorEnv) and returns an array, robots first. Terms of
your own are written the same way:

    def feet_down(env):                                 # (robots,)
        return (env["contact.load"] > 0).mean(axis=1)
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import errors
from mayfly._native import real_number
from mayfly._program import compiled
from mayfly.arrays import Array
from mayfly.task import (
    Action,
    Command,
    Curriculum,
    Event,
    Gaussian,
    Observation,
    Range,
    Reward,
    Termination,
    near,
    pair,
)

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv

__all__ = [
    "Action",
    "Command",
    "Curriculum",
    "Event",
    "Gaussian",
    "JointPositionAction",
    "Observation",
    "Reward",
    "Termination",
    "UniformVelocityCommand",
    "action_l2",
    "action_rate_l2",
    "ang_vel_xy_l2",
    "bad_orientation",
    "base_ang_vel",
    "base_height_l2",
    "base_lin_vel",
    "base_pos_z",
    "commands_vel",
    "compiled",
    "contact_forces",
    "feet_air_time",
    "feet_slide",
    "field",
    "flat_orientation_exp",
    "flat_orientation_l2",
    "generated_commands",
    "height_scan",
    "illegal_contact",
    "is_alive",
    "is_terminated",
    "joint_acc_l2",
    "joint_deviation_l1",
    "joint_pos",
    "joint_pos_limits",
    "joint_pos_rel",
    "joint_torques_l2",
    "joint_vel",
    "joint_vel_l2",
    "joint_vel_rel",
    "last_action",
    "lin_vel_z_l2",
    "modify_reward_weight",
    "projected_gravity",
    "push_by_setting_velocity",
    "randomize_model",
    "reset_field_uniform",
    "reset_joints_by_offset",
    "reset_joints_by_scale",
    "reset_root_state_uniform",
    "root_height_below_minimum",
    "root_pos_w",
    "shipped",
    "square_sum",
    "stand_still_joint_deviation_l1",
    "terrain_levels_vel",
    "time_out",
    "total",
    "track_ang_vel_z_exp",
    "track_lin_vel_xy_exp",
    "undesired_contacts",
    "upright_height_exp",
    "velocity_errors",
]

Ranges = Mapping[str, Range]
_AXES = ("x", "y", "z", "roll", "pitch", "yaw")


def total(values: Array) -> Array:
    """Sums over the last axis, column by column: (robots, k) to (robots,).

    The order of the additions does not depend on the number of robots, which that of numpy.sum
    does for one robot.
    """
    columns = values.T
    out: Array = columns[0].copy()
    for column in columns[1:]:
        out += column
    return out


def square_sum(values: Array) -> Array:
    """Sums of squares over the last axis: (robots, k) to (robots,)."""
    return total(values * values)


def _lengths(values: Array) -> Array:
    return np.sqrt(square_sum(values))


def _exp(square: Array, std: float) -> Array:
    out: Array = np.exp(square / -(std * std))
    return out


# ---- actions and commands ------------------------------------------------------------------------


class JointPositionAction(Action):
    """Targets of joints: default position + scale x action, in rad (m for slides).

    Args:
        joint_names: names or patterns ("FL_*") of joints; the columns are in the order of the
            model.
        scale: [rad] of an action of 1; a number, or one per joint.
        offset: [rad]; None: the default positions (`use_default_offset` of Isaac Lab).
        clip: [rad] (lowest, largest) target; None: no limits beside those of the actuator.
        latency: [s] (least, largest), as of Action.

    """

    def __init__(
        self,
        joint_names: Sequence[str] = ("*",),
        *,
        scale: float | Sequence[float] = 1.0,
        offset: float | Sequence[float] | None = None,
        clip: Range | None = None,
        latency: Range = (0.0, 0.0),
    ) -> None:
        super().__init__("joint.target", scale=scale, clip=clip, latency=latency)
        self.joint_names = (joint_names,) if isinstance(joint_names, str) else tuple(joint_names)
        self.offset = "default pose" if offset is None else offset  # type: ignore[assignment]
        self._own_offset = offset
        self._seal()

    def find(self, env: TaskVectorEnv) -> tuple[list[int], Any]:
        columns = env.joints(self.joint_names)
        if self._own_offset is not None:
            return columns, self._own_offset
        return columns, env.default_joint_pos[columns]


def velocity_errors(env: TaskVectorEnv, value: Array) -> dict[str, Array]:
    """How well a command of velocities, (robots, 3), is followed: "error_vel_xy" [m/s] and
    "error_vel_yaw" [rad/s].
    """
    return {
        "error_vel_xy": _lengths(value[:, :2] - env.base_lin_vel[:, :2]),
        "error_vel_yaw": np.abs(value[:, 2] - env.base_ang_vel[:, 2]),
    }


class UniformVelocityCommand(Command):
    """Velocities of the base, uniform within ranges: (robots, 3): x, y [m/s] in the body's frame,
    and the yaw rate [rad/s].

    Args:
        lin_vel_x: [m/s] (lowest, largest).
        lin_vel_y: [m/s] likewise.
        ang_vel_z: [rad/s] likewise; with a heading the limits of the yaw rate.
        heading: [rad] in the world, likewise; is needed for heading_command.
        resampling_time_range: [s] as of Command.
        heading_command: whether a heading is drawn and the yaw rate follows from its error.
        heading_control_stiffness: [1/s] yaw rate per error.
        rel_standing_envs: probability of a command of 0.
        rel_heading_envs: probability of a heading, with heading_command; others get a yaw rate.

    """

    def __init__(
        self,
        lin_vel_x: Range = (-1.0, 1.0),
        lin_vel_y: Range = (-1.0, 1.0),
        ang_vel_z: Range = (-1.0, 1.0),
        heading: Range | None = (-math.pi, math.pi),
        *,
        resampling_time_range: Range = (10.0, 10.0),
        heading_command: bool = False,
        heading_control_stiffness: float = 1.0,
        rel_standing_envs: float = 0.0,
        rel_heading_envs: float = 1.0,
    ) -> None:
        super().__init__(resampling_time_range)
        self.lin_vel_x = pair(lin_vel_x, "lin_vel_x")
        self.lin_vel_y = pair(lin_vel_y, "lin_vel_y")
        self.ang_vel_z = pair(ang_vel_z, "ang_vel_z")
        if heading_command and heading is None:
            raise TypeError("heading: is needed for heading_command=True")
        self.heading = pair(heading, "heading") if heading_command and heading else None
        self.heading_control_stiffness = real_number(
            heading_control_stiffness, "heading_control_stiffness"
        )
        self.rel_standing_envs = real_number(rel_standing_envs, "rel_standing_envs")
        self.rel_heading_envs = real_number(rel_heading_envs, "rel_heading_envs")
        self._seal()

    def resample(self, env: TaskVectorEnv, robots: Array) -> Array:
        ranges = env.ranges(self)
        drawn = env.random(6, robots).T
        columns = []
        for column, name in zip(drawn, ("lin_vel_x", "lin_vel_y", "ang_vel_z", "heading")):
            low, high = ranges.get(name) or (0.0, 0.0)
            columns.append(low + (high - low) * column)
        turns = (drawn[4] < self.rel_heading_envs) & (self.heading is not None)
        moves = drawn[5] >= self.rel_standing_envs
        flags = [flag.astype(np.float32) for flag in (turns, moves)]
        return np.stack([*columns, *flags], axis=1)

    def value(self, env: TaskVectorEnv, drawn: Array) -> Array:
        value = drawn[:, :3] * drawn[:, 5:]
        if self.heading is not None:
            low, high = env.ranges(self)["ang_vel_z"]
            error = drawn[:, 3] - env.heading
            error -= 2 * np.pi * np.round(error / (2 * np.pi))
            rate = np.clip(self.heading_control_stiffness * error, low, high) * drawn[:, 5]
            turning = np.where(drawn[:, 4] > 0, rate, value[:, 2])
            value = np.stack([value[:, 0], value[:, 1], turning], axis=1)
        return value

    def metrics(self, env: TaskVectorEnv, value: Array) -> dict[str, Array]:
        """ "error_vel_xy" [m/s] and "error_vel_yaw" [rad/s]."""
        return velocity_errors(env, value)


# ---- observations --------------------------------------------------------------------------------


def base_pos_z(env: TaskVectorEnv) -> Array:
    """Height of the base's origin [m], (robots,)."""
    return env["base.position"][:, 2]


def root_pos_w(env: TaskVectorEnv) -> Array:
    """Position of the base's origin in the world [m], (robots, 3)."""
    return env["base.position"]


def base_lin_vel(env: TaskVectorEnv) -> Array:
    """Velocity of the base's origin in the body's frame [m/s], (robots, 3)."""
    return env.base_lin_vel


def base_ang_vel(env: TaskVectorEnv) -> Array:
    """Angular velocity of the base in the body's frame [rad/s], (robots, 3)."""
    return env.base_ang_vel


def projected_gravity(env: TaskVectorEnv) -> Array:
    """Direction of gravity in the body's frame, of length 1, (robots, 3)."""
    return env.projected_gravity


def joint_pos(env: TaskVectorEnv) -> Array:
    """Positions of joints [rad or m], (robots, joints)."""
    return env.joint_pos


def joint_pos_rel(env: TaskVectorEnv) -> Array:
    """Positions of joints relative to the default pose [rad or m], (robots, joints)."""
    return env.joint_pos - env.default_joint_pos


def joint_vel(env: TaskVectorEnv) -> Array:
    """Rates of joints [rad/s or m/s], (robots, joints)."""
    return env.joint_vel


def joint_vel_rel(env: TaskVectorEnv) -> Array:
    """Rates of joints relative to the default, which is rest [rad/s or m/s], (robots, joints)."""
    return env.joint_vel


def last_action(env: TaskVectorEnv) -> Array:
    """The last action as it was given to step(), (robots, actions)."""
    return env.action


def generated_commands(env: TaskVectorEnv, command_name: str | None = None) -> Array:
    """A command, (robots, k); None: the first."""
    return env.command(command_name)


def field(env: TaskVectorEnv, name: str) -> Array:
    """A field by its name or path, such as "sensor.value", (robots, ...)."""
    return env[name]


def height_scan(
    env: TaskVectorEnv,
    size: tuple[float, float] = (1.6, 1.0),
    resolution: float = 0.1,
    link_name: str | None = None,
    offset: float = 0.5,
) -> Array:
    """Heights of a link above the ground at points of a grid, (robots, points): z - ground - offset
    [m]. The grid turns with the link about the vertical only.

    Args:
        env: the environment.
        size: [m] of the grid along the link's x and y axis, with the link in its middle.
        resolution: [m] between points, which are in rows along x, from the lowest y on.
        link_name: of the link; None: the base.
        offset: [m] what is subtracted.

    """
    return env.height_scan(size, resolution, link_name, offset)


def contact_forces(env: TaskVectorEnv, link_names: Sequence[str]) -> Array:
    """Normal forces of the ground on links [N], (robots, links)."""
    return env.contact(link_names).force


# ---- rewards -------------------------------------------------------------------------------------


def is_alive(env: TaskVectorEnv) -> Array:
    """1 where the episode did not end in a failure."""
    return (~env.terminated).astype(np.float32)


def is_terminated(env: TaskVectorEnv) -> Array:
    """1 where the episode ended in a failure."""
    return env.terminated.astype(np.float32)


def track_lin_vel_xy_exp(
    env: TaskVectorEnv, std: float = 0.5, command_name: str | None = None
) -> Array:
    """exp(-e^2 / std^2) of the error e [m/s] of the horizontal velocity in the body's frame."""
    error = env.command(command_name)[:, :2] - env.base_lin_vel[:, :2]
    return _exp(square_sum(error), std)


def track_ang_vel_z_exp(
    env: TaskVectorEnv, std: float = 0.5, command_name: str | None = None
) -> Array:
    """exp(-e^2 / std^2) of the error e [rad/s] of the yaw rate in the body's frame."""
    error = env.command(command_name)[:, 2] - env.base_ang_vel[:, 2]
    return _exp(error * error, std)


def lin_vel_z_l2(env: TaskVectorEnv) -> Array:
    """Square of the vertical velocity in the body's frame [m^2/s^2]."""
    return np.square(env.base_lin_vel[:, 2])


def ang_vel_xy_l2(env: TaskVectorEnv) -> Array:
    """Square of the roll and pitch rates [rad^2/s^2]."""
    return square_sum(env.base_ang_vel[:, :2])


def flat_orientation_l2(env: TaskVectorEnv) -> Array:
    """Square of the horizontal part of the gravity's direction in the body's frame."""
    return square_sum(env.projected_gravity[:, :2])


def base_height_l2(env: TaskVectorEnv, target_height: float) -> Array:
    """Square of the error of the base's height above level ground [m^2]."""
    return np.square(env["base.position"][:, 2] - target_height)


def flat_orientation_exp(env: TaskVectorEnv, std: float = 0.5) -> Array:
    """exp(-d^2 / std^2) of the distance d of the gravity's direction in the body's frame from down:
    1 upright, with std 0.5 1e-7 upside down.
    """
    down = env.projected_gravity - np.array([0.0, 0.0, -1.0], np.float32)
    return _exp(square_sum(down), std)


def upright_height_exp(env: TaskVectorEnv, target_height: float, std: float) -> Array:
    """exp(-e^2 / std^2) of what the base is lower than the target e [m], above level ground; 0
    where it leans by more than 30 degrees.
    """
    low = np.minimum(env["base.position"][:, 2] - np.float32(target_height), np.float32(0))
    return _exp(low * low, std) * (env.projected_gravity[:, 2] < -math.cos(math.radians(30)))


def joint_torques_l2(env: TaskVectorEnv) -> Array:
    """Sum of squares of the forces of actuators [N^2 m^2]; of models with actuators."""
    return square_sum(env["actuator.force"])


def joint_vel_l2(env: TaskVectorEnv) -> Array:
    """Sum of squares of the rates of joints."""
    return square_sum(env.joint_vel)


def joint_acc_l2(env: TaskVectorEnv) -> Array:
    """Sum of squares of the accelerations of joints, means over the step [rad^2/s^4]."""
    return square_sum(env.joint_acc)


def joint_deviation_l1(env: TaskVectorEnv, joint_names: Sequence[str] = ("*",)) -> Array:
    """Sum of the deviations of joints from the default pose [rad or m]."""
    return total(np.abs(joint_pos_rel(env)[:, env.joints(joint_names)]))


def joint_pos_limits(env: TaskVectorEnv, soft_joint_pos_limit_factor: float = 0.95) -> Array:
    """Sum of what joints are beyond their soft limits [rad or m].

    The limits of the file, narrowed about their middle by the factor.
    """
    lower, upper = env.joint_limits
    middle = 0.5 * (lower + upper)
    half = 0.5 * soft_joint_pos_limit_factor * (upper - lower)
    half[~np.isfinite(half)] = np.inf
    middle[~np.isfinite(middle)] = 0.0
    return total(np.maximum(np.abs(env.joint_pos - middle) - half, 0.0))


def action_rate_l2(env: TaskVectorEnv) -> Array:
    """Sum of squares of the change of the action since the last step."""
    return square_sum(env.action - env.previous_action)


def action_l2(env: TaskVectorEnv) -> Array:
    """Sum of squares of the action."""
    return square_sum(env.action)


def stand_still_joint_deviation_l1(
    env: TaskVectorEnv, command_name: str | None = None, command_threshold: float = 0.06
) -> Array:
    """joint_deviation_l1 of the robots whose command is to stand."""
    still = _lengths(env.command(command_name)[:, :3]) < command_threshold
    return joint_deviation_l1(env) * still


def feet_air_time(
    env: TaskVectorEnv,
    link_names: Sequence[str],
    threshold: float = 0.5,
    command_name: str | None = None,
) -> Array:
    """Sum over feet that touch down of (time in the air - threshold) [s]; 0 for commands of less
    than 0.1 m/s.
    """
    feet = env.contact(link_names)
    moves = _lengths(env.command(command_name)[:, :2]) > 0.1
    return total((feet.last_air_time - threshold) * feet.first_contact) * moves


def feet_slide(env: TaskVectorEnv, link_names: Sequence[str]) -> Array:
    """Sum over links on the ground of their slip speed [m/s]."""
    return total(env.contact(link_names).slip)


def undesired_contacts(
    env: TaskVectorEnv, link_names: Sequence[str], threshold: float = 1.0
) -> Array:
    """Number of links on which the ground pushes by more than the threshold [N]."""
    return total((env.contact(link_names).force > threshold).astype(np.float32))


# ---- terminations --------------------------------------------------------------------------------


def time_out(env: TaskVectorEnv) -> Array:
    """The episode has lasted for its length."""
    return env.episode_length_buf >= env.max_episode_length


def bad_orientation(env: TaskVectorEnv, limit_angle: float) -> Array:
    """The base leans by more than the angle [rad]."""
    return -env.projected_gravity[:, 2] < math.cos(limit_angle)


def root_height_below_minimum(env: TaskVectorEnv, minimum_height: float) -> Array:
    """The base's origin is lower than this [m]."""
    return env["base.position"][:, 2] < minimum_height


def illegal_contact(env: TaskVectorEnv, link_names: Sequence[str], threshold: float = 1.0) -> Array:
    """The ground pushes on one of the links by more than the threshold [N]."""
    hits: Array = env.contact(link_names).force > threshold
    return hits.any(axis=1)  # type: ignore[return-value]


# ---- events --------------------------------------------------------------------------------------


def _draw(env: TaskVectorEnv, ranges: Ranges, robots: Array, what: str) -> Array:
    """Uniform numbers (k, 6) within ranges by axis; 0 where there is none."""
    for axis in ranges:
        if axis not in _AXES:
            raise errors.ArgumentError(f"{what}: no axis {axis!r}{near(axis, _AXES)}")
    low = [ranges.get(axis, (0.0, 0.0))[0] for axis in _AXES]
    high = [ranges.get(axis, (0.0, 0.0))[1] for axis in _AXES]
    return env.uniform(low, high, 6, robots)


def _rotation(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Quaternions (w, x, y, z) of yaw after pitch after roll [rad]."""
    (cr, cp, cy), (sr, sp, sy) = (
        [f(0.5 * one) for one in (roll, pitch, yaw)] for f in (np.cos, np.sin)
    )
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )


def _product(a: Array, b: Array) -> Array:
    """Rotations b after a, of quaternions."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a.T, b.T
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def reset_root_state_uniform(
    env: TaskVectorEnv,
    robots: Array,
    pose_range: Ranges,
    velocity_range: Ranges | None = None,
) -> None:
    """Adds a uniform displacement, rotation and velocity to the default ones of the base.

    Ranges by "x", "y", "z" [m, m/s; world] and "roll", "pitch", "yaw" [rad, rad/s; body].
    """
    pose = _draw(env, pose_range, robots, "pose_range")
    env.write("base.position", env["base.position"][robots] + pose[:, :3], robots)
    rotated = _product(env["base.orientation"][robots], _rotation(*pose.T[3:]))
    env.write("base.orientation", rotated, robots)
    if velocity_range:
        push_by_setting_velocity(env, robots, velocity_range)


def push_by_setting_velocity(env: TaskVectorEnv, robots: Array, velocity_range: Ranges) -> None:
    """Adds a uniform velocity to that of the base.

    Ranges by "x", "y", "z" [m/s; world] and "roll", "pitch", "yaw" [rad/s; body].
    """
    speed = _draw(env, velocity_range, robots, "velocity_range")
    for name, axes in (
        ("base.linear_velocity", slice(0, 3)),
        ("base.angular_velocity", slice(3, 6)),
    ):
        if any(axis in velocity_range for axis in _AXES[axes]):
            env.write(name, env[name][robots] + speed[:, axes], robots)


def _reset_joints(
    env: TaskVectorEnv, robots: Array, position: Array, velocity: Array, columns: list[int]
) -> None:
    lower, upper = env.joint_limits
    limited = np.clip(position, lower[columns], upper[columns])
    for name, values in (("joint.angle", limited), ("joint.rate", velocity)):
        kept = env[name][robots].T
        made = [values.T[columns.index(i)] if i in columns else kept[i] for i in range(len(kept))]
        env.write(name, np.stack(made, axis=1), robots)


def reset_joints_by_scale(
    env: TaskVectorEnv,
    robots: Array,
    position_range: Range = (1.0, 1.0),
    velocity_range: Range = (0.0, 0.0),
    joint_names: Sequence[str] = ("*",),
) -> None:
    """Joints at their default positions times a uniform factor, within their limits.

    velocity_range: of a factor too, of the default rates, which are 0.
    """
    columns = env.joints(joint_names)
    factor = env.uniform(*position_range, len(columns), robots)
    rate = env.uniform(*velocity_range, len(columns), robots) * np.float32(0)
    _reset_joints(env, robots, env.default_joint_pos[columns] * factor, rate, columns)


def reset_joints_by_offset(
    env: TaskVectorEnv,
    robots: Array,
    position_range: Range = (0.0, 0.0),
    velocity_range: Range = (0.0, 0.0),
    joint_names: Sequence[str] = ("*",),
) -> None:
    """Joints at their default positions plus uniform offsets [rad], within their limits, with
    uniform rates [rad/s].
    """
    columns = env.joints(joint_names)
    offset = env.uniform(*position_range, len(columns), robots)
    rate = env.uniform(*velocity_range, len(columns), robots)
    _reset_joints(env, robots, env.default_joint_pos[columns] + offset, rate, columns)


def reset_field_uniform(
    env: TaskVectorEnv,
    robots: Array,
    name: str,
    value_range: Range,
    operation: str = "abs",
    shared_random: bool = False,
) -> None:
    """Draws a field that may be written, such as "servo.gain": gains that differ per robot.

    Args:
        env: the environment.
        robots: numbers, (k,).
        name: of the field, or a path to a part of it.
        value_range: (lowest, largest).
        operation: "abs": the value; "add": is added to the value at startup; "scale": multiplies
            it.
        shared_random: whether all columns of a robot get the same number.

    """
    original = env.original(name)[robots]
    width = 1 if shared_random or original.ndim == 1 else original.shape[1]
    drawn = env.uniform(*value_range, width, robots)
    drawn = drawn[:, 0] if original.ndim == 1 else drawn
    if operation not in ("abs", "add", "scale"):
        raise errors.ArgumentError(f"operation: need abs, add or scale, got {operation!r}")
    made = {"abs": drawn, "add": original + drawn, "scale": original * drawn}[operation]
    env.write(name, made, robots)


_SCALED_TOO = {"link.mass": "link.inertia", "actuator.gain": "actuator.bias"}


def randomize_model(
    env: TaskVectorEnv, robots: Array, ranges: Mapping[str, Range], operation: str = "scale"
) -> None:
    """Draws numbers of the robot's model: each moves as a robot of an edited file does.

    Of one term with all fields a robot takes about half a millisecond of time at its draw, of
    several terms each as much.

    Args:
        env: the environment.
        robots: numbers, (k,).
        ranges: (lowest, largest) by fields of links, joints, shapes or actuators, as in
            `Group.vary`: "link.mass" of all links, "trunk/link.mass" or "*_calf/link.mass" of some,
            "shape.friction.0" of one component, "physics.gravity.2" of gravity. All components of
            an item get the same number.
        operation: "scale": multiplies the value of the model, with "link.mass" the inertia too,
            with "actuator.gain" the bias too, so all of its force; "add": is added; "abs": is it.

    """
    if operation not in ("abs", "add", "scale"):
        raise errors.ArgumentError(f"operation: need abs, add or scale, got {operation!r}")
    changes: dict[str, dict[int, Array]] = {}
    for path, value_range in ranges.items():
        pattern, _, name = path.rpartition("/")
        names, nominal = env.group.numbers(name)
        chosen = match(names, (pattern or "*",), path)
        drawn = env.uniform(*value_range, len(chosen), robots).astype(np.float64)
        fields = [(name, nominal)]
        if name in _SCALED_TOO and operation == "scale":
            fields.append((_SCALED_TOO[name], env.group.numbers(_SCALED_TOO[name])[1]))
        for field_name, values in fields:
            own = changes.setdefault(field_name, {})
            for column, item in enumerate(chosen):
                number = drawn[:, column, None]
                made = {"abs": number, "add": values[item] + number, "scale": values[item] * number}
                own[item] = np.broadcast_to(made[operation], (len(robots), values.shape[1]))
    env.group.vary(changes, robots)


# ---- curricula -----------------------------------------------------------------------------------


def modify_reward_weight(
    env: TaskVectorEnv, robots: Array, term_name: str, weight: float, num_steps: int
) -> float:
    """Sets the weight of a reward after this number of steps of the environment."""
    if term_name not in env.weights:
        raise errors.NotFoundError(f"no reward {term_name!r}{near(term_name, env.weights)}")
    if env.common_step_counter > num_steps:
        env.weights[term_name] = weight
    return env.weights[term_name]


def commands_vel(
    env: TaskVectorEnv,
    robots: Array,
    velocity_stages: Sequence[Mapping[str, Any]],
    command_name: str | None = None,
) -> dict[str, float]:
    """Sets ranges of a UniformVelocityCommand from a step on.

    velocity_stages: such as {"step": 24000, "lin_vel_x": (-2.0, 3.0)}, in the order of steps.
    """
    name = env.command_name(command_name)
    ranges = env.ranges(env.task.commands[name])
    for stage in velocity_stages:
        for key, value in stage.items():
            if key != "step" and key not in ranges:
                raise errors.ArgumentError(f"velocity_stages: no range {key!r}{near(key, ranges)}")
            if key != "step" and env.common_step_counter >= stage["step"]:
                ranges[key] = pair(value, key)
    return {f"{key}_max": value[1] for key, value in ranges.items()}


def terrain_levels_vel(env: TaskVectorEnv, robots: Array, command_name: str | None = None) -> float:
    """Moves robots that have walked more than half of a patch to the next row of a
    mayfly.TerrainPatches, and those that have walked less than half of what was commanded back.
    From the last row they go to a random one. The mean row of all robots is logged.
    """
    walked = _lengths(env["base.position"][robots, :2] - env.origins[robots, :2].astype(np.float32))
    asked = _lengths(env.command(command_name)[robots, :2]) * np.float32(env.max_episode_length)
    patches = env.patches
    up = walked > 0.5 * patches.size
    down = ~up & (walked < 0.5 * env.step_dt * asked)
    levels = env.terrain_levels[robots] + up - down
    drawn = (env.random(1, robots)[:, 0] * patches.levels).astype(np.int64)
    env.set_terrain_levels(robots, np.where(levels >= patches.levels, drawn, levels))
    return float(env.terrain_levels.mean())


# ---- by name -------------------------------------------------------------------------------------

_SHIPPED: dict[str, tuple[Callable[..., Any], ...]] = {
    "observation": (
        base_pos_z, root_pos_w, base_lin_vel, base_ang_vel, projected_gravity, joint_pos,
        joint_pos_rel, joint_vel, joint_vel_rel, last_action, generated_commands, field,
        contact_forces, height_scan,
    ),
    "reward": (
        is_alive, is_terminated, track_lin_vel_xy_exp, track_ang_vel_z_exp, lin_vel_z_l2,
        ang_vel_xy_l2, flat_orientation_l2, flat_orientation_exp, base_height_l2,
        upright_height_exp, joint_torques_l2, joint_vel_l2,
        joint_acc_l2, joint_deviation_l1, joint_pos_limits, action_rate_l2, action_l2,
        stand_still_joint_deviation_l1, feet_air_time, feet_slide, undesired_contacts,
    ),
    "termination": (time_out, bad_orientation, root_height_below_minimum, illegal_contact),
    "event": (
        reset_root_state_uniform, push_by_setting_velocity, reset_joints_by_scale,
        reset_joints_by_offset, reset_field_uniform, randomize_model,
    ),
    "curriculum": (modify_reward_weight, commands_vel, terrain_levels_vel),
}  # fmt: skip


def shipped(kind: str) -> dict[str, Callable[..., Any]]:
    """Functions that ship by name; kind: "reward", "observation", "event", ..."""
    from mayfly import mdp_bipeds, mdp_objects  # which use this module

    more = (*mdp_bipeds.SHIPPED.get(kind, ()), *mdp_objects.SHIPPED.get(kind, ()))
    return {function.__name__: function for function in (*_SHIPPED[kind], *more)}


def match(names: Sequence[str], patterns: Sequence[str], what: str) -> list[int]:
    """Numbers of the names that match patterns, in the order of the names."""
    given = [patterns] if isinstance(patterns, str) else list(patterns)
    for pattern in given:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            raise errors.NotFoundError(
                f"no {what} {pattern!r}{near(pattern, names)}; there are: {', '.join(names)}"
            )
    return [i for i, name in enumerate(names) if any(fnmatch.fnmatchcase(name, p) for p in given)]
