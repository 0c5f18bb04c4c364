"""A Unitree Go2 learns to walk at commanded velocities: a task of named terms, and its training.

    python velocity_tracking.py --model unitree_go2/go2_mjx.xml --minutes 5
    python velocity_tracking.py --robot hexapod

The model is that of MuJoCo Menagerie (robot_descriptions has it as go2_mj_description).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mayfly
from mayfly import mdp
from mayfly.mdp import Event, Observation, Reward, Termination


# %%
# The task: what a robot does, sees, gets, and what happens to it.
def make_task(path: str) -> mayfly.Task:
    proprioception = {
        "base_ang_vel": Observation(mdp.base_ang_vel, noise=0.2, scale=0.25),
        "projected_gravity": Observation(mdp.projected_gravity, noise=0.05),
        "velocity_commands": Observation(mdp.generated_commands),
        "joint_pos": Observation(mdp.joint_pos_rel, noise=0.01),
        "joint_vel": Observation(mdp.joint_vel_rel, noise=1.5, scale=0.05),
        "actions": Observation(mdp.last_action),
    }
    return mayfly.Task(
        mayfly.Model.from_file(path), step=0.004, decimation=5, episode_length_s=20.0,
        actions={"joint_pos": mdp.JointPositionAction(scale=0.25, latency=(0.0, 0.02))},
        commands={
            "base_velocity": mdp.UniformVelocityCommand(
                lin_vel_x=(-0.5, 1.0), lin_vel_y=(-0.3, 0.3), ang_vel_z=(-0.8, 0.8),
                resampling_time_range=(5.0, 10.0), rel_standing_envs=0.05,
            )
        },
        observations={
            "policy": proprioception,
            "critic": {**proprioception, "base_lin_vel": Observation(mdp.base_lin_vel)},
        },
        rewards={
            "track_lin_vel_xy_exp": Reward(weight=1.5, std=0.5),
            "track_ang_vel_z_exp": Reward(weight=0.75, std=0.5),
            "lin_vel_z_l2": -2.0,
            "ang_vel_xy_l2": -0.05,
            "flat_orientation_l2": -2.5,
            "joint_torques_l2": -2e-4,
            "joint_acc_l2": -2.5e-7,
            "action_rate_l2": -0.01,
            "feet_air_time": Reward(weight=0.25, link_names="*_calf"),
        },
        terminations={
            "time_out": Termination(time_out=True),
            "fell": Termination(mdp.bad_orientation, limit_angle=1.0),
            "base_contact": Termination(mdp.illegal_contact, link_names="base"),
        },
        events={
            "reset_base": Event(mdp.reset_root_state_uniform, pose_range={"yaw": (-3.14, 3.14)}),
            "reset_joints": Event(mdp.reset_joints_by_scale, position_range=(0.8, 1.2)),
            "push": Event(
                mdp.push_by_setting_velocity, "interval", interval_range_s=(5.0, 10.0),
                velocity_range={"x": (-0.5, 0.5), "y": (-0.5, 0.5)},
            ),
        },
    )  # fmt: skip


# %%
# Training. The hexapod's task is the one that ships.
def error(envs: mayfly.envs.TaskVectorEnv, learner: mayfly.learn.PPO, steps: int) -> float:
    """[m/s] mean tracking error of the policy, without noise of actions."""
    seen, _ = envs.reset(seed=10_000)
    errors = []
    for _ in range(steps):
        seen, *_ = envs.step(learner.act(seen))
        errors.append(envs.metrics("base_velocity")["error_vel_xy"].mean())
    return float(np.mean(errors[steps // 5 :]))


def main(robot: str, model: str, minutes: float, robots: int, seed: int) -> float:
    if robot == "go2":
        task = make_task(model)
    else:
        task = mayfly.tasks.velocity(
            mayfly.Model.from_file("hexapod.urdf"), feet="tibia*", action_scale=0.3, std=0.15,
            lin_vel_x=(-0.1, 0.3), lin_vel_y=(-0.1, 0.1), ang_vel_z=(-0.5, 0.5), push=0.2,
        )  # fmt: skip
    print(task)
    envs = task.make(robots, autoreset_mode="SameStep")
    learner = mayfly.learn.PPO(envs, discount=0.98, seed=seed)
    begin = time.monotonic()

    def show(log: dict[str, float]) -> bool:
        spent = time.monotonic() - begin
        if learner.samples // (robots * learner.horizon) % 20 == 0:
            print(
                f"{spent:5.0f} s  {learner.samples / 1e6:5.1f} M samples  reward "
                f"{log['reward'] / task.step_dt:6.3f}/s  error "
                f"{log.get('command/base_velocity/error_vel_xy', np.nan):.3f} m/s  falls "
                f"{1 - log.get('termination/time_out', 1.0):.2f}", flush=True,
            )  # fmt: skip
        return spent > 60 * minutes

    learner.train(1e9, each=show)
    spent = time.monotonic() - begin
    with task.make(256, autoreset_mode="SameStep") as others:
        found = error(others, learner, 500)
    print(f"{learner.samples / 1e6:.1f} M samples in {spent:.0f} s; tracking error {found:.3f} m/s")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--robot", default="go2", choices=("go2", "hexapod"))
    parser.add_argument("--model", default="go2_mjx.xml")
    for name, value in {"minutes": 5.0, "robots": 512, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    main(**vars(parser.parse_known_args()[0]))  # a notebook has arguments of its own
