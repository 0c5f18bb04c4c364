"""Tasks that ship, to start from: `velocity` and `get_up` for robots with legs.

task = mayfly.tasks.velocity(mayfly.Model.from_file("hexapod.urdf"), feet="tibia*")
task = task.replace(rewards={**task.rewards, "mine": mdp.Reward(mine, 0.1)})
"""

from __future__ import annotations

from collections.abc import Sequence

from mayfly import mdp
from mayfly.mdp import Event, Observation, Reward, Termination
from mayfly.model import Model
from mayfly.patches import TerrainPatches
from mayfly.task import Range, Task

__all__ = ["get_up", "velocity"]


def velocity(
    model: Model,
    *,
    feet: Sequence[str],
    base: str | None = None,
    lin_vel_x: Range = (-0.5, 1.0),
    lin_vel_y: Range = (-0.3, 0.3),
    ang_vel_z: Range = (-0.8, 0.8),
    std: float = 0.5,
    action_scale: float = 0.25,
    push: float = 0.5,
    step: float = 0.004,
    decimation: int = 5,
    terrain: str | TerrainPatches = "flat",
) -> Task:
    """Tracking of commanded velocities of the base, with noise, latency and pushes.

    Args:
        model: a robot whose joints follow targets.
        feet: names or patterns of the links that step on the ground.
        base: the link that must not touch the ground; None: the first.
        lin_vel_x: [m/s] range of commands, forward.
        lin_vel_y: [m/s] to the left.
        ang_vel_z: [rad/s] to the left.
        std: [m/s] error of the velocity at which its reward is 1/e.
        action_scale: [rad] of an action of 1.
        push: [m/s] largest change of the velocity by a push, each way.
        step: [s] physics step.
        decimation: physics steps of a step.
        terrain: "flat"; "rough": patches with steps of up to 0.3 of the base's height, for which
            robots get a height scan and a curriculum over levels; or patches of your own.

    Observations: "policy", as a robot measures them, with noise; "critic", also the base's velocity
    and the loads of feet. Rewards and weights are those of Isaac Lab's flat task for the Go2, with
    a penalty for what joints are beyond 95 % of their range.
    """
    seen = {
        "base_ang_vel": Observation(mdp.base_ang_vel, noise=0.2, scale=0.25),
        "projected_gravity": Observation(mdp.projected_gravity, noise=0.05),
        "velocity_commands": Observation(mdp.generated_commands),
        "joint_pos": Observation(mdp.joint_pos_rel, noise=0.01),
        "joint_vel": Observation(mdp.joint_vel_rel, noise=1.5, scale=0.05),
        "actions": Observation(mdp.last_action),
    }
    rewards = {
        "track_lin_vel_xy_exp": Reward(weight=1.5, std=std),
        "track_ang_vel_z_exp": Reward(weight=0.75, std=0.5),
        "lin_vel_z_l2": Reward(weight=-2.0),
        "ang_vel_xy_l2": Reward(weight=-0.05),
        "flat_orientation_l2": Reward(weight=-2.5),
        "joint_acc_l2": Reward(weight=-2.5e-7),
        "action_rate_l2": Reward(weight=-0.01),
        "joint_pos_limits": Reward(weight=-1.0),
        "feet_air_time": Reward(weight=0.25, link_names=feet),
    }
    if len(model.actuators) > 0:
        rewards["joint_torques_l2"] = Reward(weight=-2e-4)
    if isinstance(terrain, str) and terrain not in ("flat", "rough"):
        raise ValueError(f"terrain: need 'flat', 'rough' or a TerrainPatches, got {terrain!r}")
    patches = None if isinstance(terrain, str) else terrain
    around: dict[str, Range] = {"yaw": (-3.14, 3.14)}
    if terrain != "flat":
        patches = patches or TerrainPatches(height=0.3 * model.rest_height)
        seen["height_scan"] = Observation(mdp.height_scan, noise=0.1, clip=(-1.0, 1.0))
        del rewards["flat_orientation_l2"]  # as in Isaac Lab's task on rough ground
        around.update(x=(-0.5, 0.5), y=(-0.5, 0.5))
    return Task(
        model,
        step=step,
        decimation=decimation,
        actions={"joint_pos": mdp.JointPositionAction(scale=action_scale, latency=(0.0, 0.02))},
        commands={
            "base_velocity": mdp.UniformVelocityCommand(
                lin_vel_x,
                lin_vel_y,
                ang_vel_z,
                resampling_time_range=(5.0, 10.0),
                rel_standing_envs=0.05,
            )
        },
        observations={
            "policy": seen,
            "critic": {
                **seen,
                "base_lin_vel": Observation(mdp.base_lin_vel),
                "feet": Observation(mdp.contact_forces, link_names=feet, scale=0.01),
            },
        },
        rewards=rewards,
        terminations={
            "time_out": Termination(time_out=True),
            "fell": Termination(mdp.bad_orientation, limit_angle=1.0),
            "base_contact": Termination(
                mdp.illegal_contact, link_names=model.links[0].name if base is None else base
            ),
        },
        terrain=patches,
        curriculum={} if patches is None else {"terrain_levels": mdp.terrain_levels_vel},
        events={
            "reset_base": Event(mdp.reset_root_state_uniform, pose_range=around),
            "reset_joints": Event(mdp.reset_joints_by_scale, position_range=(0.8, 1.2)),
            "push": Event(
                mdp.push_by_setting_velocity,
                "interval",
                interval_range_s=(5.0, 10.0),
                velocity_range={"x": (-push, push), "y": (-push, push)},
            ),
        },
    )


def get_up(
    model: Model,
    *,
    height: float,
    drop: float | None = None,
    action_scale: float = 0.5,
    step: float = 0.004,
    decimation: int = 5,
) -> Task:
    """Standing up after a fall: robots drop in any rotation, with their joints anywhere in reach.

    Args:
        model: a robot whose joints follow targets.
        height: [m] of the base when it stands; its reward is 1/e at half of it.
        drop: [m] by which robots begin above their default pose; None: the height.
        action_scale: [rad] of an action of 1.
        step: [s] physics step.
        decimation: physics steps of a step.

    Episodes last 6 s and do not end earlier. Rewards, of 1 per second each at best: upright, and
    the height where it is upright; a penalty for changes of actions.
    """
    return Task(
        model,
        step=step,
        decimation=decimation,
        episode_length_s=6.0,
        actions={"joint_pos": mdp.JointPositionAction(scale=action_scale)},
        observations={
            "policy": {
                "base_ang_vel": Observation(mdp.base_ang_vel, noise=0.2, scale=0.25),
                "projected_gravity": Observation(mdp.projected_gravity, noise=0.05),
                "joint_pos": Observation(mdp.joint_pos_rel, noise=0.01),
                "joint_vel": Observation(mdp.joint_vel_rel, noise=1.5, scale=0.05),
                "actions": Observation(mdp.last_action),
            }
        },
        rewards={
            "upright": Reward(mdp.flat_orientation_exp, 1.0, std=0.5),
            "height": Reward(mdp.upright_height_exp, 1.0, target_height=height, std=0.5 * height),
            "action_rate_l2": Reward(weight=-0.005),
        },
        terminations={"time_out": Termination(time_out=True)},
        events={
            "reset_base": Event(
                mdp.reset_root_state_uniform,
                pose_range={
                    "z": (height if drop is None else drop,) * 2,
                    "roll": (-3.14, 3.14),
                    "pitch": (-1.57, 1.57),
                    "yaw": (-3.14, 3.14),
                },
            ),
            "reset_joints": Event(mdp.reset_joints_by_offset, position_range=(-1.0, 1.0)),
        },
    )
