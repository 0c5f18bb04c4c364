"""Terms of tasks for robots with two legs, with the names of Isaac Lab's; as mayfly.mdp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Array
from mayfly.mdp import square_sum

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv

__all__ = [
    "feet_air_time_positive_biped",
    "track_ang_vel_z_world_exp",
    "track_lin_vel_xy_yaw_frame_exp",
]


def feet_air_time_positive_biped(
    env: TaskVectorEnv,
    link_names: Sequence[str],
    threshold: float = 0.4,
    command_name: str | None = None,
) -> Array:
    """While one foot stands and the other swings: how long they have [s], the shorter time of both,
    at most the threshold; else 0. 0 for commands of less than 0.1 m/s.
    """
    feet = env.contact(link_names)
    stands = feet.contact_time > 0
    phase = np.where(stands, feet.contact_time, feet.air_time)
    time = np.minimum(phase.min(axis=1), np.float32(threshold))
    one = stands.sum(axis=1) == 1
    made: Array = time * (one & (square_sum(env.command(command_name)[:, :2]) > 0.01))
    return made


def track_lin_vel_xy_yaw_frame_exp(
    env: TaskVectorEnv, std: float = 0.5, command_name: str | None = None
) -> Array:
    """exp(-e^2 / std^2) of the error e [m/s] of the horizontal velocity, in the body's frame turned
    upright: its x axis along the heading.
    """
    speed, heading = env["base.linear_velocity"], env.heading
    cos, sin = np.cos(heading), np.sin(heading)
    target = env.command(command_name)
    ahead = target[:, 0] - (cos * speed[:, 0] + sin * speed[:, 1])
    aside = target[:, 1] - (cos * speed[:, 1] - sin * speed[:, 0])
    made: Array = np.exp((ahead * ahead + aside * aside) / np.float32(-(std * std)))
    return made


def track_ang_vel_z_world_exp(
    env: TaskVectorEnv, std: float = 0.5, command_name: str | None = None
) -> Array:
    """exp(-e^2 / std^2) of the error e [rad/s] of the rate about the vertical."""
    gravity, rate = env.projected_gravity, env.base_ang_vel
    error = env.command(command_name)[:, 2] + (
        rate[:, 0] * gravity[:, 0] + rate[:, 1] * gravity[:, 1] + rate[:, 2] * gravity[:, 2]
    )
    made: Array = np.exp(error * error / np.float32(-(std * std)))
    return made


SHIPPED: dict[str, tuple[Callable[..., Any], ...]] = {
    "reward": (
        feet_air_time_positive_biped,
        track_lin_vel_xy_yaw_frame_exp,
        track_ang_vel_z_world_exp,
    )
}
