"""Terms of tasks with objects and goals: what robots turn, push, or fly through. As mayfly.mdp.

An object is a link of the robot's file that moves freely. Names are those of Isaac Lab's in-hand
manipulation where it has the term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import errors
from mayfly._native import real_number
from mayfly.arrays import Array
from mayfly.mdp import Ranges, _draw, _product, _rotation, square_sum
from mayfly.task import Command, Range, pair

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv

__all__ = [
    "BallVelocityCommand",
    "GateCommand",
    "InHandReOrientationCommand",
    "ang_vel_l2",
    "ball_velocity_command_b",
    "ball_velocity_exp",
    "contacts_between",
    "gate_collision",
    "gate_passed",
    "goal_quat_diff",
    "object_ang_vel",
    "object_away_from_goal",
    "object_away_from_robot",
    "object_lin_vel",
    "object_near_robot_exp",
    "object_pos",
    "object_pos_b",
    "object_quat",
    "object_vel_b",
    "out_of_bounds",
    "progress",
    "reset_before_gate",
    "reset_object_uniform",
    "robot_vel_b",
    "success_bonus",
    "track_orientation_inv_l2",
    "track_pos_l2",
]


def _lengths(values: Array) -> Array:
    return np.sqrt(square_sum(values))


def _inverse(turn: Array) -> Array:
    return turn * np.array([1, -1, -1, -1], np.float32)


def _rotated_back(turn: Array, vector: Array) -> Array:
    """Vectors (k, 3) of the world in the frames of bodies; quaternions (k, 4)."""
    w, axis = turn[:, :1], turn[:, 1:]
    made: Array = vector + 2 * np.cross(axis, np.cross(axis, vector) - w * vector)
    return made


def _angle(turn: Array) -> Array:
    """Of rotations [rad], 0 .. pi."""
    made: Array = 2 * np.arctan2(_lengths(turn[:, 1:]), np.abs(turn[:, 0]))
    return made


def _heading(turn: Array) -> tuple[Array, Array]:
    """Cosine and sine of the direction of the x axis in the plane; 0 where it is vertical."""
    w, x, y, z = turn.T
    ahead, left = 1 - 2 * (y * y + z * z), 2 * (w * z + x * y)
    length = np.maximum(np.sqrt(ahead * ahead + left * left), np.float32(1e-9))
    return ahead / length, left / length


# ---- objects -------------------------------------------------------------------------------------


def object_pos(env: TaskVectorEnv, link_name: str) -> Array:
    """Position of a link's origin in the world [m], (robots, 3)."""
    return env.link(link_name, "link.pose")[:, :3]


def object_quat(env: TaskVectorEnv, link_name: str) -> Array:
    """Rotation of a link, a quaternion (w, x, y, z), (robots, 4)."""
    return env.link(link_name, "link.pose")[:, 3:]


def object_lin_vel(env: TaskVectorEnv, link_name: str) -> Array:
    """Velocity of a link's origin in the world [m/s], (robots, 3)."""
    return env.link(link_name, "link.velocity")[:, :3]


def object_ang_vel(env: TaskVectorEnv, link_name: str) -> Array:
    """Angular velocity of a link in the world's frame [rad/s], (robots, 3)."""
    return env.link(link_name, "link.velocity")[:, 3:]


def contacts_between(
    env: TaskVectorEnv, link_names: Sequence[str], other_names: Sequence[str]
) -> Array:
    """1 for links that touch one of the others, else 0, (robots, links); of files with contact
    sensors between them (env.contacts_between).
    """
    return env.contacts_between(link_names, other_names).found.astype(np.float32)


def object_away_from_robot(
    env: TaskVectorEnv, link_name: str, other_name: str, threshold: float
) -> Array:
    """The origins of an object and of a link of the robot are farther apart than this [m]."""
    apart = object_pos(env, link_name) - object_pos(env, other_name)
    return square_sum(apart) > threshold * threshold


def reset_object_uniform(
    env: TaskVectorEnv, robots: Array, link_name: str, pose_range: Ranges
) -> None:
    """Adds a uniform displacement and rotation to the default ones of a link that moves freely.

    Ranges by "x", "y", "z" [m; world] and "roll", "pitch", "yaw" [rad; object].
    """
    link = env.group.model.link(link_name).index
    turns = [j for j in env.group.model.joints if j.type in ("floating", "ball")]
    moves = [j for j in turns if j.type == "floating"]
    free = [j for j in moves if j.child == link]
    if not free:
        raise errors.ArgumentError(f"link {link_name}: it does not move freely")
    pose = _draw(env, pose_range, robots, "pose_range")
    position = np.array(env["free.position"][robots])
    position[:, moves.index(free[0])] += pose[:, :3]
    env.write("free.position", position, robots)
    rotation = np.array(env["ball.orientation"][robots])
    own = turns.index(free[0])
    rotation[:, own] = _product(rotation[:, own], _rotation(*pose.T[3:]))
    env.write("ball.orientation", rotation, robots)


# ---- goals of a hand -----------------------------------------------------------------------------


class InHandReOrientationCommand(Command):
    """Poses of an object, (robots, 7): a position [m, world] and a random rotation, a quaternion.
    When the object comes near the rotation, another one is drawn.

    Args:
        link_name: of the object.
        position: [m] of all goals, world.
        axis: "x", "y" or "z": goals are rotations about this axis of the world; None: any.
        orientation_success_threshold: [rad] angle at which a goal is reached.
        resampling_time_range: [s] as of Command; the default is longer than an episode.

    """

    def __init__(
        self,
        link_name: str,
        position: Sequence[float],
        *,
        axis: str | None = None,
        orientation_success_threshold: float = 0.1,
        resampling_time_range: Range = (1e6, 1e6),
    ) -> None:
        super().__init__(resampling_time_range)
        self.link_name = link_name
        self.position = tuple(real_number(one, "position") for one in position)
        if len(self.position) != 3:
            raise ValueError(f"position: need three numbers, got {position!r}")
        if axis not in (None, "x", "y", "z"):
            raise ValueError(f"axis: need x, y, z or None, got {axis!r}")
        self.axis = axis
        self.orientation_success_threshold = real_number(
            orientation_success_threshold, "orientation_success_threshold"
        )
        self._seal()

    def resample(self, env: TaskVectorEnv, robots: Array) -> Array:
        part, a, b = env.random(3, robots).T
        a, b = (np.float32(2 * np.pi) * one for one in (a, b))
        p, q = np.sqrt(1 - part), np.sqrt(part)  # Shoemake 1992: uniform among rotations
        if self.axis is None:
            turn = np.stack([q * np.cos(b), p * np.sin(a), p * np.cos(a), q * np.sin(b)], axis=-1)
        else:
            turn = np.zeros((len(robots), 4), np.float32)
            turn[:, 0] = np.cos(0.5 * a)
            turn[:, 1 + "xyz".index(self.axis)] = np.sin(0.5 * a)
        return np.concatenate([turn, np.zeros((len(robots), 1), np.float32)], axis=1)

    def update(self, env: TaskVectorEnv, drawn: Array) -> Array:
        reached = self._error(env, drawn) < self.orientation_success_threshold
        drawn[:, 4] = reached
        return np.asarray(reached)

    def value(self, env: TaskVectorEnv, drawn: Array) -> Array:
        position = np.broadcast_to(np.array(self.position, np.float32), (len(drawn), 3))
        return np.concatenate([position, drawn[:, :4]], axis=1)

    def _error(self, env: TaskVectorEnv, goal: Array) -> Array:
        return _angle(_product(object_quat(env, self.link_name), _inverse(goal[:, :4])))

    def metrics(self, env: TaskVectorEnv, value: Array) -> dict[str, Array]:
        """ "orientation_error" [rad], "position_error" [m], and "successes_per_s" [1/s]: goals that
        are reached.
        """
        reached = self._error(env, value[:, 3:]) < self.orientation_success_threshold
        return {
            "orientation_error": self._error(env, value[:, 3:]),
            "position_error": _lengths(object_pos(env, self.link_name) - value[:, :3]),
            "successes_per_s": reached / np.float32(env.step_dt),
        }


def goal_quat_diff(env: TaskVectorEnv, link_name: str, command_name: str | None = None) -> Array:
    """Rotation from the goal to the object, a quaternion with w >= 0, (robots, 4)."""
    turn = _product(object_quat(env, link_name), _inverse(env.command(command_name)[:, 3:]))
    return np.where(turn[:, :1] < 0, -turn, turn)


def track_pos_l2(env: TaskVectorEnv, link_name: str, command_name: str | None = None) -> Array:
    """Distance of the object from the position of the goal [m]."""
    return _lengths(object_pos(env, link_name) - env.command(command_name)[:, :3])


def track_orientation_inv_l2(
    env: TaskVectorEnv, link_name: str, command_name: str | None = None, rot_eps: float = 0.1
) -> Array:
    """1 / (angle between object and goal [rad] + rot_eps)."""
    made: Array = 1 / (_angle(goal_quat_diff(env, link_name, command_name)) + rot_eps)
    return made


def success_bonus(env: TaskVectorEnv, command_name: str | None = None) -> Array:
    """1 in the steps in which a goal is reached; of an InHandReOrientationCommand."""
    return env.drawn(command_name)[:, 4]


def object_away_from_goal(
    env: TaskVectorEnv, link_name: str, threshold: float, command_name: str | None = None
) -> Array:
    """The object is farther from the position of the goal than this [m]: it was dropped."""
    return np.asarray(track_pos_l2(env, link_name, command_name) > threshold)


# ---- gates ---------------------------------------------------------------------------------------


class GateCommand(Command):
    """The next gates of a course, (robots, 6): the centers of the next gate and of the one after it
    in the body's frame [m]. A gate is passed when the base crosses its plane, in its direction and
    within its opening; then the next one is commanded. After the last follows the first. Episodes
    begin with the gate that the robot is before.

    Args:
        gates: (x, y, z [m], yaw [rad]) of each, world; they are flown through along their x axis.
        size: [m] edge of the square opening.

    """

    def __init__(self, gates: Sequence[Sequence[float]], *, size: float = 1.0) -> None:
        super().__init__((1e6, 1e6))
        self.gates = tuple(tuple(real_number(v, "gates") for v in gate) for gate in gates)
        if not self.gates or any(len(gate) != 4 for gate in self.gates):
            raise ValueError(f"gates: need (x, y, z, yaw) of at least one, got {gates!r}")
        self.size = real_number(size, "size")
        self._table = np.array(self.gates, np.float32)
        self._seal()

    def resample(self, env: TaskVectorEnv, robots: Array) -> Array:
        position = env["base.position"][robots]
        starts = self.start(np.arange(len(self.gates), dtype=np.float32))[:, :3]
        far = np.stack([square_sum(position - one) for one in starts], axis=-1)
        drawn = np.zeros((len(robots), 6), np.float32)
        drawn[:, 0] = np.argmin(far, axis=1)  # the one that it is before
        drawn[:, 1] = self._offsets(position, drawn[:, 0])[0]
        drawn[:, 2] = _lengths(position - self._centers(drawn[:, 0]))
        return drawn

    def start(self, which: Array) -> Array:
        """Places 2 m before gates of these numbers, (k, 4): position [m] and yaw [rad]."""
        gate = self._table[which.astype(np.int64)]
        back = np.stack([np.cos(gate[:, 3]), np.sin(gate[:, 3])], axis=-1) * np.float32(-2)
        return np.concatenate([gate[:, :2] + back, gate[:, 2:]], axis=1)

    def _centers(self, which: Array) -> Array:
        return self._table[which.astype(np.int64) % len(self.gates), :3]

    def _offsets(self, position: Array, which: Array) -> tuple[Array, Array, Array]:
        """Of positions from gates [m]: ahead along their axes, to the left, up."""
        gate = self._table[which.astype(np.int64)]
        off, cos, sin = position - gate[:, :3], np.cos(gate[:, 3]), np.sin(gate[:, 3])
        return cos * off[:, 0] + sin * off[:, 1], cos * off[:, 1] - sin * off[:, 0], off[:, 2]

    def update(self, env: TaskVectorEnv, drawn: Array) -> Array:
        position = env["base.position"]
        before = drawn[:, 1]
        ahead, left, up = self._offsets(position, drawn[:, 0])
        crosses = (before < 0) & (ahead >= 0)
        inside = np.maximum(np.abs(left), np.abs(up)) < 0.5 * self.size
        distance = _lengths(position - self._centers(drawn[:, 0]))
        drawn[:, 3] = drawn[:, 2] - distance
        drawn[:, 4] = crosses & inside
        drawn[:, 5] = crosses & ~inside
        drawn[:, 0] = (drawn[:, 0] + drawn[:, 4]) % len(self.gates)
        drawn[:, 1] = self._offsets(position, drawn[:, 0])[0]
        drawn[:, 2] = _lengths(position - self._centers(drawn[:, 0]))
        return np.zeros(len(drawn), np.bool_)

    def value(self, env: TaskVectorEnv, drawn: Array) -> Array:
        position, turn = env["base.position"], env["base.orientation"]
        ahead = [self._centers(drawn[:, 0] + k) - position for k in (0, 1)]
        return np.concatenate([_rotated_back(turn, one) for one in ahead], axis=1)

    def metrics(self, env: TaskVectorEnv, value: Array) -> dict[str, Array]:
        """ "gates_per_s" [1/s]: gates that are passed."""
        name = next(name for name, one in env.task.commands.items() if one is self)
        return {"gates_per_s": env.drawn(name)[:, 4] / np.float32(env.step_dt)}


def progress(env: TaskVectorEnv, command_name: str | None = None) -> Array:
    """Speed at which the base has come nearer to the next gate [m/s]; of a GateCommand."""
    return env.drawn(command_name)[:, 3] / np.float32(env.step_dt)


def gate_passed(env: TaskVectorEnv, command_name: str | None = None) -> Array:
    """1 in the steps in which a gate is passed; of a GateCommand."""
    return env.drawn(command_name)[:, 4]


def gate_collision(env: TaskVectorEnv, command_name: str | None = None) -> Array:
    """The base has crossed the plane of its gate beside the opening; of a GateCommand."""
    return env.drawn(command_name)[:, 5] > 0


def ang_vel_l2(env: TaskVectorEnv) -> Array:
    """Square of the base's rate [rad^2/s^2]."""
    return square_sum(env.base_ang_vel)


def out_of_bounds(env: TaskVectorEnv, lowest: Sequence[float], largest: Sequence[float]) -> Array:
    """The base's origin is outside of a box [m], world."""
    position = env["base.position"]
    low, high = (np.array(list(one), np.float32) for one in (lowest, largest))
    return np.asarray(((position < low) | (position > high)).any(axis=1))


def reset_before_gate(
    env: TaskVectorEnv, robots: Array, pose_range: Ranges, command_name: str | None = None
) -> None:
    """Puts the base 2 m before a random gate of a GateCommand, with a uniform displacement and
    rotation: ranges as of mdp.reset_root_state_uniform.
    """
    command = env.task.commands[env.command_name(command_name)]
    if not isinstance(command, GateCommand):
        raise errors.ArgumentError("command: need a GateCommand")
    drawn = np.floor(env.random(1, robots)[:, 0] * np.float32(len(command.gates)))
    place, pose = command.start(drawn), _draw(env, pose_range, robots, "pose_range")
    env.write("base.position", place[:, :3] + pose[:, :3], robots)
    pose[:, 5] += place[:, 3]
    env.write("base.orientation", _rotation(*pose.T[3:]), robots)


# ---- balls ---------------------------------------------------------------------------------------


class BallVelocityCommand(Command):
    """Velocities of a ball in the plane, (robots, 2) [m/s; world]: of uniform speed and direction.

    Args:
        link_name: of the ball.
        speed: [m/s] (lowest, largest).
        resampling_time_range: [s] as of Command.

    """

    def __init__(
        self, link_name: str, speed: Range = (0.2, 0.6), resampling_time_range: Range = (4.0, 6.0)
    ) -> None:
        super().__init__(resampling_time_range)
        self.link_name = link_name
        self.speed = pair(speed, "speed")
        self._seal()

    def resample(self, env: TaskVectorEnv, robots: Array) -> Array:
        low, high = env.ranges(self)["speed"]
        speed, direction = env.uniform([low, -math.pi], [high, math.pi], 2, robots).T
        return np.stack([speed * np.cos(direction), speed * np.sin(direction)], axis=-1)

    def metrics(self, env: TaskVectorEnv, value: Array) -> dict[str, Array]:
        """ "error_vel" [m/s] of the ball's velocity."""
        return {"error_vel": _lengths(object_lin_vel(env, self.link_name)[:, :2] - value)}


def _in_robot(env: TaskVectorEnv, robot_name: str, plane: Array) -> Array:
    """Vectors in the plane, (robots, 2), in the frame of the robot's heading."""
    cos, sin = _heading(object_quat(env, robot_name))
    x, y = plane.T
    return np.stack([cos * x + sin * y, cos * y - sin * x], axis=-1)


def object_pos_b(env: TaskVectorEnv, link_name: str, robot_name: str) -> Array:
    """Position of an object from a link, in the frame of the link's heading [m], (robots, 2)."""
    apart = object_pos(env, link_name) - object_pos(env, robot_name)
    return _in_robot(env, robot_name, apart[:, :2])


def object_vel_b(env: TaskVectorEnv, link_name: str, robot_name: str) -> Array:
    """Velocity of an object in the frame of a link's heading [m/s], (robots, 2)."""
    return _in_robot(env, robot_name, object_lin_vel(env, link_name)[:, :2])


def robot_vel_b(env: TaskVectorEnv, robot_name: str) -> Array:
    """Velocity of a link in the frame of its heading [m/s], yaw rate [rad/s], (robots, 3)."""
    speed = _in_robot(env, robot_name, object_lin_vel(env, robot_name)[:, :2])
    return np.concatenate([speed, object_ang_vel(env, robot_name)[:, 2:]], axis=1)


def ball_velocity_command_b(
    env: TaskVectorEnv, robot_name: str, command_name: str | None = None
) -> Array:
    """The commanded velocity of a ball in the frame of a link's heading [m/s], (robots, 2)."""
    return _in_robot(env, robot_name, env.command(command_name))


def ball_velocity_exp(
    env: TaskVectorEnv, link_name: str, std: float = 0.25, command_name: str | None = None
) -> Array:
    """exp(-e^2 / std^2) of the error e [m/s] of the ball's velocity in the plane."""
    error = object_lin_vel(env, link_name)[:, :2] - env.command(command_name)
    made: Array = np.exp(square_sum(error) / np.float32(-(std * std)))
    return made


def object_near_robot_exp(
    env: TaskVectorEnv, link_name: str, robot_name: str, std: float = 0.3
) -> Array:
    """exp(-d^2 / std^2) of the distance d [m] of an object from a link in the plane."""
    apart = (object_pos(env, link_name) - object_pos(env, robot_name))[:, :2]
    made: Array = np.exp(square_sum(apart) / np.float32(-(std * std)))
    return made


SHIPPED: dict[str, tuple[Callable[..., Any], ...]] = {
    "observation": (
        object_pos, object_quat, object_lin_vel, object_ang_vel, contacts_between, goal_quat_diff,
        object_pos_b, object_vel_b, robot_vel_b, ball_velocity_command_b,
    ),
    "reward": (
        success_bonus, track_pos_l2, track_orientation_inv_l2, progress, gate_passed,
        ball_velocity_exp, object_near_robot_exp,
    ),
    "termination": (
        object_away_from_robot, object_away_from_goal, gate_collision, out_of_bounds,
    ),
    "event": (reset_object_uniform, reset_before_gate),
}  # fmt: skip
