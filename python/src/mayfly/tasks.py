"""Tasks that ship, to start from: `velocity` and `get_up` for robots with legs, `velocity_g1` for a
humanoid, `reorient_cube` for a hand, `gates` for a quadrotor, `dribble` for a robot with a ball.

task = mayfly.tasks.velocity(mayfly.Model.from_file("hexapod.urdf"), feet="tibia*")
task = task.replace(rewards={**task.rewards, "mine": mdp.Reward(mine, 0.1)})
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mayfly import mdp, mdp_bipeds, mdp_objects
from mayfly.mdp import Event, Observation, Reward, Termination
from mayfly.model import Model
from mayfly.patches import TerrainPatches
from mayfly.task import Range, Task

__all__ = ["dribble", "gates", "get_up", "reorient_cube", "velocity", "velocity_g1"]


def velocity(
    model: Model,
    *,
    feet: Sequence[str],
    base: str | None = None,
    lin_vel_x: Range = (-0.5, 1.0),
    lin_vel_y: Range = (-0.3, 0.3),
    ang_vel_z: Range = (-0.8, 0.8),
    std: float = 0.5,
    action_scale: float | Sequence[float] = 0.25,
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
        action_scale: [rad] of an action of 1; a number, or one per joint.
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


def velocity_g1(
    model: Model,
    *,
    feet: Sequence[str] = ("*_ankle_roll_link",),
    pose: str | None = "knees_bent",
    lin_vel_x: Range = (0.0, 1.0),
    lin_vel_y: Range = (-0.5, 0.5),
    ang_vel_z: Range = (-1.0, 1.0),
    push: float = 0.0,
) -> Task:
    """Tracking of commanded velocities by the humanoid Unitree G1, on level ground.

    Args:
        model: of the G1's public file for training, unitree_g1/scene_mjx.xml, whose gains are used
            and whose feet alone touch the ground and each other's legs by few shapes.
        feet: names or patterns of the two links that step on the ground.
        pose: the keyframe that is the default pose; None: the first.
        lin_vel_x: [m/s] range of commands, forward.
        lin_vel_y: [m/s] to the left.
        ang_vel_z: [rad/s] to the left.
        push: [m/s] largest change of the velocity by a push, each way; 0: no pushes.

    Rewards and weights are those of Isaac Lab's flat task for the G1; velocities are tracked in the
    frame of the heading. An action of 1 moves a joint's target by a quarter of the angle at which
    its servo reaches its largest torque, as mjlab has it. An episode ends as a failure when the
    pelvis leans by 1 rad or is lower than 0.45 m.
    """
    scales = [1.0] * len(model.joints)
    for servo in model.actuators:
        scales[servo.joint] = 0.25 * model.joints[servo.joint].effort / servo.gain[0]
    task = velocity(
        model,
        feet=feet,
        lin_vel_x=lin_vel_x,
        lin_vel_y=lin_vel_y,
        ang_vel_z=ang_vel_z,
        action_scale=scales,
        push=push,
    )
    events = {name: event for name, event in task.events.items() if push > 0 or name != "push"}

    def deviation(*names: str) -> Reward:
        return Reward(mdp.joint_deviation_l1, -0.1, joint_names=names)

    return task.replace(
        pose=pose,
        rewards={
            "track_lin_vel_xy_exp": Reward(mdp_bipeds.track_lin_vel_xy_yaw_frame_exp, 1.0),
            "track_ang_vel_z_exp": Reward(mdp_bipeds.track_ang_vel_z_world_exp, 1.0),
            "termination_penalty": Reward(mdp.is_terminated, -200.0),
            "lin_vel_z_l2": Reward(weight=-0.2),
            "ang_vel_xy_l2": Reward(weight=-0.05),
            "flat_orientation_l2": Reward(weight=-1.0),
            "action_rate_l2": Reward(weight=-0.005),
            "joint_acc_l2": Reward(weight=-1e-7),
            "joint_torques_l2": Reward(weight=-2e-6),
            "joint_pos_limits": Reward(weight=-1.0),
            "feet_air_time": Reward(mdp_bipeds.feet_air_time_positive_biped, 0.75, link_names=feet),
            "feet_slide": Reward(weight=-0.1, link_names=feet),
            "joint_deviation_hip": deviation("*_hip_yaw_joint", "*_hip_roll_joint"),
            "joint_deviation_arms": deviation("*_shoulder_*", "*_elbow_*", "*_wrist_*"),
            "joint_deviation_torso": deviation("waist_*"),
        },
        terminations={
            "time_out": Termination(time_out=True),
            "fell": Termination(mdp.bad_orientation, limit_angle=1.0),
            "low": Termination(mdp.root_height_below_minimum, minimum_height=0.45),
        },
        events=events,
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


def reorient_cube(
    model: Model,
    *,
    palm: Sequence[float] = (-0.02, 0.005, 0.043),
    tips: Sequence[str] = ("*_distal",),
    axis: str | None = None,
    action_scale: float = 0.5,
    success: float = 0.4,
    decimation: int = 10,
) -> Task:
    """Turning of a cube on a hand to one random rotation after the other.

    Args:
        model: a hand with the link "cube", such as `mayfly.task_models.hand_with_cube(path)`.
        palm: [m] where the cube is to stay, world.
        tips: names or patterns of links that have contact sensors with the cube.
        axis: "z": goals turn the cube about the vertical only, which is easier; None: any rotation.
        action_scale: [rad] of an action of 1.
        success: [rad] angle at which a goal is reached, and the next one drawn.
        decimation: physics steps of a step.

    Rewards, terminations and their weights follow Isaac Lab's in-hand task: near the goal's
    rotation, reached goals, a cube that stays on the palm, small actions. An episode of 20 s ends
    as a failure when the cube is 0.12 m from the palm: it was dropped. Success is the metric
    "successes_per_s" of the command; the default angle is larger than Isaac Lab's 0.1 rad.
    """
    fingers = [joint.name for joint in model.joints if joint.type == "hinge"]
    cube: Any = {"link_name": "cube"}
    seen = {
        "joint_pos": Observation(mdp.joint_pos_rel, noise=0.01),
        "joint_vel": Observation(mdp.joint_vel_rel, scale=0.2),
        "object_pos": Observation(mdp_objects.object_pos, scale=10.0, **cube),
        "object_quat": Observation(mdp_objects.object_quat, **cube),
        "object_lin_vel": Observation(mdp_objects.object_lin_vel, **cube),
        "object_ang_vel": Observation(mdp_objects.object_ang_vel, scale=0.2, **cube),
        "goal_quat_diff": Observation(mdp_objects.goal_quat_diff, **cube),
        "contacts": Observation(
            mdp_objects.contacts_between, link_names=tips, other_names=("cube",)
        ),
        "actions": Observation(mdp.last_action),
    }
    return Task(
        model,
        decimation=decimation,
        settings={"sensors": True},
        actions={"joint_pos": mdp.JointPositionAction(fingers, scale=action_scale)},
        commands={
            "object_pose": mdp_objects.InHandReOrientationCommand(
                "cube", palm, axis=axis, orientation_success_threshold=success
            )
        },
        observations={"policy": seen},
        rewards={
            "track_pos_l2": Reward(mdp_objects.track_pos_l2, -10.0, **cube),
            "track_orientation_inv_l2": Reward(mdp_objects.track_orientation_inv_l2, 1.0, **cube),
            "success_bonus": Reward(mdp_objects.success_bonus, 250.0),
            "termination_penalty": Reward(mdp.is_terminated, -100.0),
            "joint_vel_l2": Reward(weight=-2.5e-5),
            "action_l2": Reward(weight=-1e-4),
            "action_rate_l2": Reward(weight=-0.01),
        },
        terminations={
            "time_out": Termination(time_out=True),
            "dropped": Termination(mdp_objects.object_away_from_goal, threshold=0.12, **cube),
        },
        events={
            "reset_object": Event(
                mdp_objects.reset_object_uniform,
                pose_range={
                    **dict.fromkeys(("x", "y"), (-0.01, 0.01)),
                    **dict.fromkeys(("roll", "pitch"), (-0.2, 0.2)),
                    "yaw": (-math.pi, math.pi),
                },
                **cube,
            ),
            "reset_joints": Event(
                mdp.reset_joints_by_offset, position_range=(-0.1, 0.1), joint_names=fingers
            ),
        },
    )


GATES = ((4.0, 0.0, 1.5, 0.0), (8.0, 4.0, 2.0, math.pi / 2), (4.0, 8.0, 1.5, math.pi),
         (0.0, 4.0, 2.0, -math.pi / 2))  # fmt: skip


def gates(
    model: Model,
    gates: Sequence[Sequence[float]] = GATES,
    *,
    size: float = 1.0,
    step: float = 0.005,
    decimation: int = 2,
) -> Task:
    """Flight of a quadrotor through gates, as fast as it can.

    Args:
        model: a quadrotor with actuators that push, and the gates, such as
            `mayfly.task_models.course("quadrotor.xml", mayfly.tasks.GATES)`.
        gates: (x, y, z [m], yaw [rad]) of each gate, in the order of flight; after the last follows
            the first.
        size: [m] edge of their openings.
        step: [s] physics step.
        decimation: physics steps of a step.

    Actions are thrusts: those that carry the weight, and by an action of 1 a tenth of the largest
    more. Rewards: progress towards the next gate [m/s], passed gates, slow rotation. An
    episode of 20 s begins 2 m before a random gate; it ends as a failure where the quadrotor
    crosses a gate's plane beside its opening, touches the ground, turns over or leaves the course.
    """
    command = mdp_objects.GateCommand(gates, size=size)
    weight = 9.81 * sum(link.mass for link in model.links)
    most = [motor.control_upper for motor in model.actuators]
    low, high = ([f(gate[k] for gate in gates) for k in range(3)] for f in (min, max))
    seen = {
        "gates": Observation(mdp.generated_commands, scale=0.2),
        "gravity": Observation(mdp.projected_gravity),
        "base_lin_vel": Observation(mdp.base_lin_vel, scale=0.2),
        "base_ang_vel": Observation(mdp.base_ang_vel, scale=0.2),
        "actions": Observation(mdp.last_action),
    }
    return Task(
        model,
        step=step,
        decimation=decimation,
        actions={
            "thrust": mdp.Action(
                "actuator.control",
                scale=[0.1 * one for one in most],
                offset=weight / len(most),
                clip=(0.0, max(most)),
            )
        },
        commands={"gate": command},
        observations={"policy": seen},
        rewards={
            "progress": Reward(mdp_objects.progress, 1.0),
            "gate_passed": Reward(mdp_objects.gate_passed, 200.0),
            "termination_penalty": Reward(mdp.is_terminated, -200.0),
            "ang_vel": Reward(mdp_objects.ang_vel_l2, -0.02),
            "action_rate_l2": Reward(weight=-0.01),
        },
        terminations={
            "time_out": Termination(time_out=True),
            "missed": Termination(mdp_objects.gate_collision),
            "fell": Termination(mdp.bad_orientation, limit_angle=1.6),
            "out_of_bounds": Termination(
                mdp_objects.out_of_bounds,
                lowest=(low[0] - 4.0, low[1] - 4.0, 0.2),
                largest=tuple(edge + 4.0 for edge in high),
            ),
        },
        events={
            "reset_base": Event(
                mdp_objects.reset_before_gate,
                pose_range={
                    **dict.fromkeys(("x", "y", "z"), (-0.3, 0.3)),
                    **dict.fromkeys(("roll", "pitch", "yaw"), (-0.2, 0.2)),
                },
            )
        },
    )


def dribble(
    model: Model,
    *,
    robot: str = "robot",
    ball: str = "ball",
    speed: Range = (0.2, 0.6),
    decimation: int = 5,
) -> Task:
    """Dribbling: a robot moves a ball at commanded velocities.

    Args:
        model: a robot with a ball, such as `Model.from_file("dribbler.xml")`, whose actuators push
            by at most their limits.
        robot: the link that the ball is to stay near.
        ball: the link of the ball.
        speed: [m/s] (lowest, largest) of commands, in any direction.
        decimation: physics steps of a step.

    Observations are in the frame of the robot's heading. Rewards: the ball's velocity is the
    commanded one, the ball is near the robot, small changes of actions. An episode of 20 s ends as
    a failure when the ball is 1 m from the robot: it was lost.
    """
    both: Any = {"link_name": ball, "robot_name": robot}
    return Task(
        model,
        decimation=decimation,
        settings={"sensors": True},
        actions={
            "push": mdp.Action(
                "actuator.control", scale=[0.5 * one.control_upper for one in model.actuators]
            )
        },
        commands={"ball_velocity": mdp_objects.BallVelocityCommand(ball, speed)},
        observations={
            "policy": {
                "ball_pos": Observation(mdp_objects.object_pos_b, noise=0.005, scale=5.0, **both),
                "ball_vel": Observation(mdp_objects.object_vel_b, noise=0.02, **both),
                "robot_vel": Observation(
                    mdp_objects.robot_vel_b, noise=0.02, scale=(1.0, 1.0, 0.2), robot_name=robot
                ),
                "command": Observation(mdp_objects.ball_velocity_command_b, robot_name=robot),
                "contact": Observation(
                    mdp_objects.contacts_between, link_names=(robot,), other_names=(ball,)
                ),
                "actions": Observation(mdp.last_action),
            }
        },
        rewards={
            "ball_velocity": Reward(mdp_objects.ball_velocity_exp, 2.0, link_name=ball),
            "ball_near": Reward(mdp_objects.object_near_robot_exp, 0.5, **both),
            "action_rate_l2": Reward(weight=-0.01),
            "termination_penalty": Reward(mdp.is_terminated, -50.0),
        },
        terminations={
            "time_out": Termination(time_out=True),
            "lost": Termination(
                mdp_objects.object_away_from_robot, link_name=ball, other_name=robot, threshold=1.0
            ),
        },
        events={
            "reset_robot": Event(
                mdp.reset_joints_by_offset,
                position_range=(-0.05, 0.05),
                joint_names=(f"{robot}_*",),
            ),
            "reset_ball": Event(
                mdp_objects.reset_object_uniform,
                link_name=ball,
                pose_range={"x": (-0.05, 0.1), "y": (-0.15, 0.15)},
            ),
        },
    )
