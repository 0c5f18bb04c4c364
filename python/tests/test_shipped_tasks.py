"""Tasks that ship: what a scripted policy gets."""

import os
import pathlib

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from conftest import ROOT  # noqa: E402

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared"))
GO2 = SHARED / "models" / "unitree_go2" / "go2_mjx.xml"


def play(envs: mayfly.envs.TaskVectorEnv, action: float) -> np.ndarray:
    """Rewards per second, (steps, robots), of a policy that alternates thrice between an action for
    1.5 s and the default pose for as long.
    """
    envs.reset(seed=1)
    leans = -envs.projected_gravity[:, 2]
    assert leans.min() < -0.9 and leans.max() > 0.9  # robots start in any rotation
    rewards = []
    for step in range(299):
        moves = action if step // 75 % 2 == 0 else 0.0
        _, reward, terminated, truncated, _ = envs.step(
            np.full(envs.action_space.shape, moves, np.float32)
        )
        assert not (terminated | truncated).any()
        rewards.append(reward / envs.step_dt)
    assert envs.group.faults == 0
    return np.array(rewards)


@pytest.mark.parametrize(("robot", "height"), [("hexapod", 0.11), ("go2", 0.27)])
def test_get_up(robot: str, height: float) -> None:
    """The reward rises while robots that fell on their feet stand up, to nearly 2 per second for
    those that stand and to 0 for those on their backs. A policy that pushes off is better than one
    that holds the default pose.
    """
    if robot == "go2" and not GO2.exists():
        pytest.skip("needs the public robots")
    model = mayfly.Model.from_file(GO2 if robot == "go2" else "hexapod.urdf")
    task = mayfly.tasks.get_up(model, height=height)
    with task.make(128, autoreset_mode="SameStep") as envs:
        means = []
        for action in (0.0, -3.0):
            rewards = play(envs, action)
            upright = -envs.projected_gravity[:, 2]
            first, last = rewards[:20].mean(axis=0), rewards[-20:].mean(axis=0)
            assert (upright > 0.95).sum() >= 10 and (upright < -0.8).sum() >= 10
            assert last.mean() > 1.5 * first.mean()
            assert last[upright > 0.95].min() > 1.8 and last[upright < -0.8].max() < 0.01
            means.append(last.mean())
        assert means[1] > 1.7 * means[0]
        *_, truncated, _ = envs.step(np.zeros(envs.action_space.shape, np.float32))
        assert truncated.all()  # after 6 s
