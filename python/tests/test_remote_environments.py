"""Environments of a world in another process: the same values as in process, Gymnasium's rules."""

from __future__ import annotations

import pathlib
import runpy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from served import ROOT, needs_command, serve

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import mayfly  # noqa: E402
from mayfly.envs import RemoteEnv, RemoteVectorEnv  # noqa: E402
from mayfly.envs.rsl_rl import RslRlEnv  # noqa: E402

pytestmark = needs_command
OPTIONS = ("--port", "0", "--speed", "0")
MODELS = ROOT / "models"
SCENE = """
world: {step: 0.005}
groups:
- {name: walkers, model: MODELS/hexapod.urdf, count: COUNT, placement: {line: {distance: 1}}}
- name: quads
  model: MODELS/sun2022.yaml
  count: 5
  placement: {grid: {center: [0, 0, 20], spacing: [3, 3, 3]}}
  behavior: {program: {mode: rotors}}
"""


def write(folder: pathlib.Path, count: int) -> pathlib.Path:
    path = folder / "robots.yaml"
    path.write_text(SCENE.replace("MODELS", str(MODELS)).replace("COUNT", str(count)))
    return path


@pytest.fixture
def address(tmp_path: pathlib.Path) -> Iterator[str]:
    with serve(write(tmp_path, 3), *OPTIONS) as found:
        yield found


def forward(state: Mapping[str, Any], actions: Any) -> Any:
    return state["base.linear_velocity"][:, 0] - 0.1 * np.square(actions).sum(axis=1)


WALK: dict[str, Any] = {
    "observation": ["base.position", "base.orientation", "joint.angle"],
    "fields": ["base.linear_velocity"],
    "action": "joint.target",
    "period": 0.02,
    "reward": forward,
}


def high(state: Mapping[str, Any], actions: Any) -> Any:
    return state["base.position"][:, 2]


def low(state: Mapping[str, Any]) -> Any:
    return state["base.position"][:, 2] < 19.8


FLY: dict[str, Any] = {
    "observation": ["base.position"],
    "action": "command.rotors",
    "action_range": (0.0, 2000.0),
    "period": 0.01,
    "reward": high,
}


def test_the_same_values_as_in_process(tmp_path: pathlib.Path) -> None:
    scene = write(tmp_path, 3)
    own = mayfly.Scene(scene)
    robots = own.groups[0]
    random = np.random.default_rng(1)
    with serve(scene, *OPTIONS) as address:
        envs = RemoteVectorEnv(address, "walkers", **WALK)
        envs.world.reset()  # all groups: the world ran before
        observations, _ = envs.reset(seed=1)
        assert observations.shape == (3, 7 + robots["joint.angle"].array.shape[1])
        for _ in range(25):
            actions = random.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
            observations, rewards, terminations, truncations, _ = envs.step(actions)
            low, high = envs.single_action_space.low, envs.single_action_space.high
            robots["joint.target"] = np.clip(actions, low, high)
            own.step(4)
            shape = (3, -1)
            expected = [
                robots[name].array.reshape(shape)
                for name in ("base.position", "base.orientation", "joint.angle")
            ]
            np.testing.assert_array_equal(observations, np.concatenate(expected, axis=1))
            state = {"base.linear_velocity": robots["base.linear_velocity"].array}
            np.testing.assert_array_equal(rewards, forward(state, np.clip(actions, low, high)))
            assert not terminations.any() and not truncations.any()
        envs.close()


def test_gymnasium_accepts_it(tmp_path: pathlib.Path) -> None:
    with serve(write(tmp_path, 1), *OPTIONS) as address, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*infinity.*")  # of observations: no limits
        warnings.filterwarnings("ignore", message=".*(render|spec|normal|symmetric).*")
        env = RemoteEnv(address, "walkers", max_episode_steps=20, **WALK)
        check_env(env)
        env.reset(seed=3)
        for i in range(20):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            assert (terminated, truncated) == (False, i == 19)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(env.action_space.sample())
        env.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_episodes_end_and_begin(address: str, mode: AutoresetMode) -> None:
    envs = RemoteVectorEnv(address, "quads", terminate=low, autoreset_mode=mode, **FLY)
    first, _ = envs.reset()
    off = np.full((5, 4), 1100.0, np.float32)
    off[1] = off[3] = off[4] = 0.0  # three fall
    for _ in range(100):
        last, _, terminations, _, infos = envs.step(off)
        if terminations.any():
            break
    assert terminations.tolist() == [False, True, False, True, True]
    if mode == AutoresetMode.SAME_STEP:
        assert infos["_final_obs"].tolist() == terminations.tolist()
        assert infos["final_obs"][0] is None and infos["final_obs"][1][2] < 19.8
        np.testing.assert_array_equal(last[terminations], first[terminations])
    elif mode == AutoresetMode.NEXT_STEP:
        assert (last[terminations, 2] < 19.8).all()
        last, rewards, again, _, _ = envs.step(off)
        assert not again.any()
        assert (rewards[[1, 3, 4]] == 0).all() and (rewards[[0, 2]] > 0).all()
        np.testing.assert_array_equal(last[terminations], first[terminations])
    else:
        with pytest.raises(gymnasium.error.ResetNeeded, match="robot 1"):
            envs.step(off)
        shown, _ = envs.reset(options={"reset_mask": terminations})
        np.testing.assert_array_equal(shown[terminations], first[terminations])
        np.testing.assert_array_equal(shown[~terminations], last[~terminations])
        last = shown
    assert (last[[0, 2]] != first[[0, 2]]).any()  # theirs go on
    envs.close()


def test_episodes_are_counted_by_wrappers_of_gymnasium(address: str) -> None:
    made = RemoteVectorEnv(address, "quads", max_episode_steps=7, **FLY)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(made)
    envs.reset(seed=1)
    for _ in range(7):
        *_, truncations, infos = envs.step(np.full((5, 4), 1086.0, np.float32))
    assert truncations.all()
    assert infos["episode"]["l"].tolist() == [7] * 5
    np.testing.assert_allclose(infos["episode"]["r"], 7 * 20.0, atol=10)
    envs.close()


def test_a_crash_ends_an_episode(address: str) -> None:
    envs = RemoteVectorEnv(address, "quads", autoreset_mode=AutoresetMode.DISABLED, **FLY)
    envs.reset()
    spin = np.zeros((5, 4), np.float32)
    spin[2] = [2000.0, 2000.0, 0.0, 0.0]  # turns so fast that the motion gives up
    for _ in range(300):
        *_, terminations, _, _ = envs.step(spin)
        if terminations.any():
            break
    assert terminations.tolist() == [False, False, True, False, False]
    envs.close()


def test_the_world_waits_and_goes_on_afterwards(address: str) -> None:
    with mayfly.connect(address) as world, mayfly.connect(address) as other:
        envs = RemoteVectorEnv(world, "walkers", **WALK)
        envs.reset()
        before = other.statistics().tick
        assert other.statistics().tick == before
        envs.step(envs.action_space.sample())
        assert other.statistics().tick == before + 4
        envs.close()
        envs.close()
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            envs.reset()
        while other.statistics().tick < before + 100:
            pass
        assert world.statistics().tick > before  # the connection is still its owner's


def test_mistakes(address: str) -> None:
    def make(**changes: Any) -> RemoteVectorEnv:
        return RemoteVectorEnv(address, changes.pop("group", "walkers"), **{**WALK, **changes})

    for changes, kind, text in (
        ({"group": "bees"}, mayfly.NotFoundError, "there is no group bees"),
        ({"observation": ["base.color"]}, mayfly.NotFoundError, "no field base.color"),
        ({"observation": []}, mayfly.ArgumentError, "at least one field"),
        ({"action": "base.position"}, mayfly.ArgumentError, "writes base.position itself"),
        ({"action": "base.force"}, mayfly.ArgumentError, "action_range: is needed"),
        ({"period": 0.007}, mayfly.ArgumentError, "multiple of the step of 0.005"),
        ({"action_range": (1.0, -1.0)}, mayfly.ArgumentError, "the lowest ones first"),
        ({"action_range": (0, [1, 2])}, mayfly.ArgumentError, "two numbers"),
        ({"max_episode_steps": 0}, ValueError, "max_episode_steps"),
        ({"autoreset_mode": "never"}, ValueError, "never"),
    ):
        with pytest.raises(kind, match=text):
            make(**changes)
    with pytest.raises(mayfly.ArgumentError, match="has 3 robots"):
        RemoteEnv(address, "walkers", **WALK)
    with pytest.raises(TypeError, match="autoreset_mode"):
        RemoteEnv(address, "walkers", autoreset_mode="disabled", **WALK)
    envs = make(reward=lambda state, actions: 1.0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(envs.action_space.sample())
    envs.reset()
    with pytest.raises(ValueError, match="reward: need shape"):
        envs.step(envs.action_space.sample())
    with pytest.raises(ValueError, match="actions: need shape"):
        envs.step(np.zeros(3, np.float32))
    with pytest.raises(mayfly.ArgumentError, match="finite"):
        envs.step(np.full(envs.action_space.shape, np.nan, np.float32))
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": [False] * 3})
    envs.close()


def test_the_example_learns() -> None:
    path = MODELS.parent / "examples" / "python" / "remote_environment.py"
    example = runpy.run_path(str(path))
    with serve(MODELS / "hexapod.urdf", *OPTIONS, "--robots", "32") as address:
        history = example["main"](address, 8)
    assert history[-1] > history[0] + 0.05


def test_adapters_take_it(address: str) -> None:
    """rsl_rl's interface over a served world: episodes are cut where their lengths say so."""
    envs = RemoteVectorEnv(
        address, "walkers", **WALK, autoreset_mode="SameStep", max_episode_steps=5
    )
    env = RslRlEnv(envs, tensor=lambda rows: rows, group=lambda rows, n: rows)
    assert (env.num_envs, env.max_episode_length) == (3, 5)
    env.episode_length_buf = np.array([0, 2, 4])
    cuts = []
    for _ in range(5):
        seen, reward, dones, extras = env.step(np.zeros((3, env.num_actions), np.float32))
        assert seen["policy"].shape == envs.observation_space.shape and reward.shape == (3,)
        np.testing.assert_array_equal(dones, extras["time_outs"])
        cuts.append(np.flatnonzero(dones).tolist())
    assert cuts == [[2], [], [1], [], [0]]
    env.close()
