"""Environments: what Gymnasium asks for, ends of episodes, seeds, mistakes, memory."""

import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import mayfly  # noqa: E402
from conftest import FULL, fuzz  # noqa: E402
from mayfly.envs import MayflyVectorEnv, ids  # noqa: E402

IDS = ids()
TEAMS = [name for name in IDS if "Team" in str(gymnasium.spec(name).entry_point)]
TWINS = [name for name in IDS if name.endswith("-v5")]
MODES = list(AutoresetMode)
Envs = Callable[..., Any]


@pytest.fixture
def make() -> Iterator[Envs]:
    made = []

    def one(name: str = "Mayfly/Ant-v5", num_envs: int = 3, **more: Any) -> Any:
        made.append(gymnasium.make_vec(name, num_envs=num_envs, **more))
        return made[-1]

    yield one
    for envs in made:
        envs.close()


def actions(envs: Any, seed: int, steps: int) -> np.ndarray:
    space = envs.single_action_space
    shape = (steps, envs.num_envs, *space.shape)
    return np.random.default_rng(seed).uniform(space.low, space.high, shape).astype(np.float32)


# ---- what Gymnasium asks for -----------------------------------------------------------------


def test_names() -> None:
    assert len(TWINS) == 11
    for name in IDS:
        assert name in gymnasium.registry


@pytest.mark.parametrize("name", [name for name in IDS if name not in TEAMS])
def test_check_env(name: str) -> None:
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*|.*symmetric.*|.*not inherit.*")
        warnings.filterwarnings("ignore", message=".*render.*|.*recommended.*|.*Overriding.*")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()
    env.close()


@pytest.mark.parametrize("name", IDS)
def test_vector(name: str, make: Envs) -> None:
    n = 16 if name in TEAMS else 5
    envs = make(name, n)
    if name not in TEAMS:
        single = gymnasium.make(name)
        assert envs.single_observation_space == single.observation_space
        assert envs.single_action_space == single.action_space
        single.close()
    assert envs.observation_space.shape == (n, *envs.single_observation_space.shape)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.spec.id == name and f"num_envs={n}" in repr(envs)
    seen, infos = envs.reset(seed=1)
    assert seen in envs.observation_space and seen.dtype == np.float64
    assert envs.single_action_space.dtype == np.float32
    for action in actions(envs, 1, 8):
        seen, reward, ended, cut, infos = envs.step(action)
        assert seen in envs.observation_space
        assert reward.shape == (n,) and reward.dtype == np.float64 and np.isfinite(reward).all()
        assert ended.dtype == cut.dtype == np.bool_ and ended.shape == cut.shape == (n,)
        for key in infos:
            if not key.startswith("_"):
                assert infos["_" + key].dtype == np.bool_ and len(infos[key]) == n


@pytest.mark.parametrize("name", TWINS)
def test_twins(name: str) -> None:
    """Spaces, infos and episode length of Gymnasium's own."""
    pytest.importorskip("mujoco")
    ours, theirs = gymnasium.make(name), gymnasium.make(name.removeprefix("Mayfly/"))
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps
    assert ours.unwrapped.dt == pytest.approx(theirs.unwrapped.dt)
    tendons = {"tendon_length", "tendon_velocity"}
    assert set(ours.reset(seed=1)[1]) == set(theirs.reset(seed=1)[1]) - tendons
    action = ours.action_space.sample()
    assert set(ours.step(action)[4]) == set(theirs.step(action)[4]) - tendons
    ours.close()
    theirs.close()


def test_sync_and_single_agree(make: Envs) -> None:
    """SyncVectorEnv of single ones does the same bits as the batch, in every way to go on."""
    for mode in MODES:
        batch = make("Mayfly/Hopper-v5", 4, autoreset_mode=mode, max_episode_steps=30)
        singles = gymnasium.vector.SyncVectorEnv(
            [lambda: gymnasium.make("Mayfly/Hopper-v5", max_episode_steps=30)] * 4,
            autoreset_mode=mode,
        )
        compare(batch.reset(seed=3), singles.reset(seed=3))
        ends = 0
        for action in actions(batch, 2, 100):
            got, expected = batch.step(action), singles.step(action)
            compare(got, expected)
            over = got[2] | got[3]
            ends += int(over.sum())
            if mode is AutoresetMode.DISABLED and over.any():
                compare(
                    batch.reset(options={"reset_mask": over}),
                    singles.reset(options={"reset_mask": over}),
                )
        assert ends > 4
        singles.close()


def compare(got: Any, expected: Any) -> None:
    """The same, to the bit; where a mask says that nothing is there, no value is compared."""
    if isinstance(expected, dict):
        assert set(got) == set(expected)
        for key, value in expected.items():
            if isinstance(value, np.ndarray) and not key.startswith("_"):
                mask = expected["_" + key]
                compare(tuple(got[key][mask]), tuple(value[mask]))
            else:
                compare(got[key], value)
    elif isinstance(expected, tuple):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            compare(a, b)
    else:
        np.testing.assert_array_equal(got, expected)


# ---- ends of episodes ------------------------------------------------------------------------


def test_next_step(make: Envs) -> None:
    envs = make("Mayfly/Hopper-v5", 2, max_episode_steps=3)
    envs.reset(seed=[1, 2])
    moves = np.full((2, 3), 0.1, np.float32)
    for _ in range(2):
        assert not envs.step(moves)[3].any()
    last, _, _, cut, infos = envs.step(moves)
    assert cut.all() and infos["_x_velocity"].all()
    moves[:] = np.nan  # is not read
    seen, reward, ended, cut, infos = envs.step(moves)
    assert (seen != last).any() and not (reward.any() or ended.any() or cut.any())
    assert "x_velocity" not in infos and infos["_x_position"].all()


def test_same_step(make: Envs) -> None:
    mode = AutoresetMode.SAME_STEP
    envs = make("Mayfly/Hopper-v5", 2, max_episode_steps=3, autoreset_mode=mode)
    other = make("Mayfly/Hopper-v5", 2, max_episode_steps=3)
    first, _ = envs.reset(seed=5)
    other.reset(seed=5)
    envs.reset(seed=5, options={"reset_mask": np.array([True, False])})
    moves = np.full((2, 3), 0.1, np.float32)
    for _ in range(2):
        assert "final_obs" not in envs.step(moves)[4]
        other.step(moves)
    seen, reward, _, cut, infos = envs.step(moves)
    expected = other.step(moves)
    assert cut.all() and (reward == expected[1]).all()
    np.testing.assert_array_equal(np.stack(infos["final_obs"]), expected[0])
    np.testing.assert_array_equal(infos["final_info"]["x_velocity"], expected[4]["x_velocity"])
    np.testing.assert_array_equal(seen, other.step(moves)[0])
    assert "x_velocity" not in infos and (seen != first).any()


def test_disabled(make: Envs) -> None:
    envs = make("Mayfly/Hopper-v5", 3, max_episode_steps=2, autoreset_mode="Disabled")
    moves = np.zeros((3, 3), np.float32)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        envs.step(moves)
    envs.reset(seed=1)
    envs.step(moves)
    mask = np.array([False, True, False])
    kept = envs.step(moves)[0].copy()
    with pytest.raises(gymnasium.error.ResetNeeded, match="robot 0 is over"):
        envs.step(moves)
    seen, infos = envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(seen[[0, 2]], kept[[0, 2]])
    np.testing.assert_array_equal(infos["_x_position"], mask)
    assert (seen[1] != kept[1]).any()


def test_masks_are_checked(make: Envs) -> None:
    envs = make()
    for mask, kind in [
        ([True, False, False], TypeError),
        (np.ones(3), TypeError),
        (np.ones(2, bool), ValueError),
        (np.zeros(3, bool), ValueError),
        (None, TypeError),
    ]:
        with pytest.raises(kind, match="reset_mask: need"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="did you mean 'reset_mask'"):
        envs.reset(options={"reset_mas": np.ones(3, bool)})


def test_episode_length(make: Envs) -> None:
    def steps(envs: Any, most: int) -> int:
        envs.reset(seed=0)
        moves = np.zeros(envs.action_space.shape, np.float32)
        return next((i for i in range(1, most) if envs.step(moves)[3].any()), most)

    assert steps(make("Mayfly/Reacher-v5"), 100) == 50
    assert steps(make("Mayfly/Reacher-v5", max_episode_steps=7), 100) == 7
    assert steps(make("Mayfly/Reacher-v5", max_episode_steps=-1), 200) == 200
    with pytest.raises(ValueError, match="max_episode_steps: need"):
        make("Mayfly/Reacher-v5", max_episode_steps=0)


# ---- seeds -----------------------------------------------------------------------------------


def trace(envs: Any, row: int, seed: Any, moves: np.ndarray) -> list[bytes]:
    seen, _ = envs.reset(seed=seed)
    out = [seen[row].tobytes()]
    for move in moves:
        seen, reward, ended, _, _ = envs.step(np.tile(move, (envs.num_envs, 1)))
        out += [seen[row].tobytes(), reward[row].tobytes(), ended[row].tobytes()]
    return out


@pytest.mark.parametrize("name", IDS)
def test_alone_and_among_others(name: str, make: Envs) -> None:
    """Robot i of many, with any number of threads, does what it does alone, or in its team."""
    team = make(name, 16 if name in TEAMS else 1).team
    alone = make(name, team, max_episode_steps=6)
    moves = actions(alone, 4, 20)[:, 0]
    first = 44 - 44 % team
    expected = trace(alone, 0, first, moves)
    assert trace(make(name, 64, max_episode_steps=6), team, first - team, moves) == expected
    seeds = [7] * (33 * team)
    seeds[17 * team : 18 * team] = range(first, first + team)
    for threads in (1, 2, 5):
        many = make(name, 33 * team, max_episode_steps=6, num_threads=threads)
        assert trace(many, 17 * team, seeds, moves) == expected


def test_teams(make: Envs) -> None:
    """Robots of a team begin and end together."""
    for name in TEAMS:
        envs = make(name, 16, max_episode_steps=3, autoreset_mode="Disabled")
        assert envs.team > 1 and 16 % envs.team == 0
        envs.reset(seed=1)
        mask = np.arange(16) < 1
        with pytest.raises(ValueError, match="in one team"):
            envs.reset(options={"reset_mask": mask})
        seen, _ = envs.reset(options={"reset_mask": np.arange(16) < envs.team})
        assert seen in envs.observation_space
        with pytest.raises(ValueError, match="multiple"):
            make(name, envs.team + 1)
        one = gymnasium.make(name)  # one team
        assert one.reset(seed=1)[0] in one.observation_space
        one.close()


def test_seeds(make: Envs) -> None:
    envs = make()
    first, _ = envs.reset(seed=5)
    assert len({row.tobytes() for row in first}) == 3 and envs.np_random_seed == (5, 6, 7)
    second, _ = envs.reset()
    assert (first != second).any()
    np.testing.assert_array_equal(envs.reset(seed=5)[0], first)
    np.testing.assert_array_equal(envs.reset()[0], second)
    np.testing.assert_array_equal(envs.reset(seed=[7, 6, 5])[0][::2], first[::-2])
    mixed, _ = envs.reset(seed=[5, None, 7])
    np.testing.assert_array_equal(mixed[::2], first[::2])
    assert (mixed[1] != first[1]).any()
    np.testing.assert_array_equal(
        envs.reset(seed=2**64 - 3)[0][2], envs.reset(seed=[1, 2, 2**64 - 1])[0][2]
    )
    assert (make().reset()[0] != make().reset()[0]).any()
    for seed in (-1, 2**64, [1, 2], "x", 1.5, [1, 2, -3]):
        with pytest.raises((ValueError, TypeError)):
            envs.reset(seed=seed)


# ---- settings --------------------------------------------------------------------------------


def test_settings(make: Envs) -> None:
    envs = make(healthy_z_range=(0.9, np.inf), ctrl_cost_weight=0, main_body="torso", frame_skip=2)
    native = envs.environment
    assert native.value("healthy_z_min") == 0.9 and native.value("healthy_z_max") > 1e29
    assert native.value("ctrl_cost_weight") == 0 and native.value("main_body") == 1
    assert envs.dt == pytest.approx(0.02)
    envs.reset(seed=1)
    assert envs.step(np.ones((3, 8), np.float32))[2].all()
    seen = make(include_cfrc_ext_in_observation=False).single_observation_space.shape
    assert seen == (27,)
    more = make(exclude_current_positions_from_observation=False)
    assert more.single_observation_space.shape == (107,)


@pytest.mark.parametrize(
    ("more", "kind", "text"),
    [
        ({"ctrl_cost_wieght": 1}, TypeError, "did you mean 'ctrl_cost_weight'"),
        ({"healthy_z_rang": (0, 1)}, TypeError, "did you mean 'healthy_z_range'"),
        ({"healthy_z_range": 3}, TypeError, "two numbers"),
        ({"healthy_z_range": (1, 0)}, ValueError, "lowest, largest"),
        ({"healthy_z_range": (0, 1), "healthy_z_min": 0}, TypeError, "twice"),
        ({"reset_noise_scale": -1}, ValueError, "reset_noise_scale"),
        ({"reset_noise_scale": float("nan")}, ValueError, "reset_noise_scale"),
        ({"reset_noise_scale": "x"}, TypeError, "need a number"),
        ({"main_body": "head"}, LookupError, "head"),
        ({"frame_skip": 0}, ValueError, "frame_skip"),
        ({"motion": "articulate"}, ValueError, "did you mean 'articulated'"),
        ({"precision": "single"}, ValueError, "float, double"),
        ({"dtype": np.int32}, TypeError, "float32"),
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"xml_file": "no_such.xml"}, FileNotFoundError, "xml_file="),
        ({"xml_file": 3}, TypeError, "path or a Model"),
        ({"autoreset_mode": "never"}, ValueError, "NextStep"),
        ({"render_mode": "ansi"}, NotImplementedError, "mayfly.Recorder"),
        ({"render_mode": "ansi"}, TypeError, "mayfly.Recorder"),  # Stable-Baselines3 goes on
        ({"render_robots": [1]}, ValueError, "render_robots"),
        ({"width": 0}, ValueError, "width"),
        ({"camera_id": 2}, TypeError, "one camera"),
        ({"task": "ants"}, LookupError, "did you mean 'ant'"),
        ({"num_envs": 0}, ValueError, "num_envs"),
    ],
)
def test_wrong_settings(more: dict[str, Any], kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        MayflyVectorEnv(**{"task": "ant", **more})


def test_files(make: Envs, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import mayfly.envs.settings as settings

    path = settings._assets() / "ant.xml"
    copy = tmp_path / "my.xml"
    copy.write_text(path.read_text())
    expected = make().reset(seed=1)[0]
    for file in (copy, str(copy), "ant.xml", mayfly.Model.from_file(path)):
        np.testing.assert_array_equal(make(xml_file=file).reset(seed=1)[0], expected)
    monkeypatch.setattr(settings.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="pip install gymnasium"):
        MayflyVectorEnv("ant")


def test_float32(make: Envs) -> None:
    wide, narrow = make(), make(dtype=np.float32)
    assert narrow.observation_space.dtype == np.float32
    moves = actions(wide, 1, 3)
    wide.reset(seed=1)
    narrow.reset(seed=1)
    for move in moves:
        np.testing.assert_array_equal(narrow.step(move)[0], np.float32(wide.step(move)[0]))


def test_precision(make: Envs) -> None:
    float_, double = (make(precision=name) for name in ("float", "double"))
    a, b = (envs.reset(seed=1)[0] for envs in (float_, double))
    assert (a != b).any() and np.allclose(a, b, atol=1e-6)
    assert double.group["joint.angle"].dtype == np.float64


# ---- arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_copies(mode: AutoresetMode, make: Envs) -> None:
    """What was returned stays as it is; the environment does not see what is written to it."""
    clean, envs = (make("Mayfly/Hopper-v5", autoreset_mode=mode) for _ in range(2))
    clean.reset(seed=1)
    kept = [envs.reset(seed=1)[0]]
    images = [kept[0].copy()]
    for i, move in enumerate(actions(envs, 1, 6)):
        seen, reward, *_ = envs.step(move)
        kept.append(seen)
        images.append(seen.copy())
        np.testing.assert_array_equal(clean.step(move)[0], seen)
        if i == 3:
            mask = np.array([True, False, False])
            for one in (clean, envs):
                last = one.reset(options={"reset_mask": mask})[0]
            kept.append(last)
            images.append(last.copy())
        if i == 4:
            reward[:] = np.nan
    for array, image in zip(kept, images):
        np.testing.assert_array_equal(array, image)


def test_memory_is_used_again(make: Envs) -> None:
    """Observations that nobody holds give their memory; a row or a view holds all of them."""
    envs = make("Mayfly/Hopper-v5")
    envs.reset(seed=1)
    move = np.zeros((3, 3), np.float32)
    row = envs.step(move)[0][1]
    image = row.copy()
    positions = {envs.step(move)[0].ctypes.data for _ in range(20)}
    assert len(positions) <= 3 and row.base.ctypes.data not in positions
    np.testing.assert_array_equal(row, image)
    fixed = [envs.step(move)[0] for _ in range(8)]
    assert len({array.ctypes.data for array in fixed}) == 8


def test_views(make: Envs) -> None:
    envs = make(copy=False)
    first, _ = envs.reset(seed=1)
    image = first.copy()
    move = actions(envs, 1, 1)[0]
    seen, reward, *_ = envs.step(move)
    assert np.shares_memory(first, seen) and (seen != image).any()
    assert np.shares_memory(reward, envs.step(move)[1])


def test_wrong_actions(make: Envs) -> None:
    envs = make()
    envs.reset(seed=1)
    good = np.zeros((3, 8), np.float32)
    before = envs.world.hash()
    bad = good.copy()
    bad[2, 5] = np.nan
    for value, kind, text in [
        (bad, ValueError, "action 5 of robot 2.*nan_to_num"),
        (good.astype(np.float64) + 1e300, ValueError, "not a finite number"),
        (good[0], ValueError, r"need shape \(3, 8\)"),
        (good.T, ValueError, r"need shape \(3, 8\)"),
        (good.astype(int), TypeError, "astype"),
        (good.astype(complex), TypeError, "float32"),
        (None, TypeError, "float32"),
        ("x", TypeError, "float32"),
    ]:
        with pytest.raises(kind, match=text):
            envs.step(value)
    assert envs.world.hash() == before
    expected = make()
    expected.reset(seed=1)
    for value in (good.tolist(), good.astype(np.float64), np.asfortranarray(good)):
        np.testing.assert_array_equal(envs.step(value)[0], expected.step(good)[0])


def test_fields(make: Envs) -> None:
    envs = make()
    envs.reset(seed=1)
    envs.step(np.ones((3, 8), np.float32))
    angles = envs.group["joint.angle"].array
    np.testing.assert_allclose(envs.step(np.ones((3, 8), np.float32))[0][:, 5:13], angles, atol=1)
    assert angles.shape == (3, 8)
    field = envs.group["base.position"]
    envs.close()
    with pytest.raises(mayfly.ClosedError):
        field.array


# ---- subclasses ------------------------------------------------------------------------------


class Backward(MayflyVectorEnv):
    """Sees joints only, and runs backward."""

    def make_observation_space(self) -> gymnasium.spaces.Box:
        return gymnasium.spaces.Box(-np.inf, np.inf, (8,), np.float32)

    def make_observation(self, observation: Any, signals: Any) -> Any:
        return observation[:, 5:13]

    def make_reward(self, reward: Any, observation: Any, actions: Any, signals: Any) -> Any:
        assert observation.shape == (self.num_envs, 105) and actions.shape == (self.num_envs, 8)
        return -signals["x_velocity"]


@pytest.mark.parametrize("mode", MODES)
def test_subclass(mode: AutoresetMode, make: Envs) -> None:
    plain = make(max_episode_steps=4, autoreset_mode=mode)
    with Backward("ant", 3, max_episode_steps=4, autoreset_mode=mode) as envs:
        seen, _ = envs.reset(seed=1)
        assert seen in envs.observation_space
        np.testing.assert_array_equal(seen, np.float32(plain.reset(seed=1)[0][:, 5:13]))
        for move in actions(plain, 3, 4 if mode is AutoresetMode.DISABLED else 9):
            seen, reward, ended, cut, infos = envs.step(move)
            raw, _, _, _, expected = plain.step(move)
            assert seen in envs.observation_space
            speed = expected.get("x_velocity", np.zeros(3))
            if "final_info" in expected:
                speed = expected["final_info"]["x_velocity"]
                np.testing.assert_array_equal(
                    np.stack(infos["final_obs"]), np.stack(expected["final_obs"])[:, 5:13]
                )
            np.testing.assert_array_equal(reward, -speed)
            np.testing.assert_array_equal(seen, np.float32(raw[:, 5:13]))


def test_wrong_subclass() -> None:
    class Wrong(MayflyVectorEnv):
        def make_observation(self, observation: Any, signals: Any) -> Any:
            return observation[:, :3]

        def make_reward(self, reward: Any, observation: Any, actions: Any, signals: Any) -> Any:
            return reward[:1]

    with Wrong("ant", 3) as envs:
        with pytest.raises(ValueError, match="make_observation_space"):
            envs.reset(seed=1)
        with pytest.raises(ValueError, match="make_reward: need shape"):
            envs.step(np.zeros((3, 8), np.float32))


# ---- memory ----------------------------------------------------------------------------------


def test_close(make: Envs) -> None:
    for envs in (make(), gymnasium.make("Mayfly/Ant-v5").unwrapped):
        envs.reset(seed=1)
        envs.close()
        envs.close()
        for call in (envs.reset, lambda envs=envs: envs.step(np.zeros((3, 8), np.float32))):
            with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="make a new one"):
                call()
        assert isinstance(envs, gymnasium.Env) or "closed" in repr(envs)


def test_render() -> None:
    env = gymnasium.make("Mayfly/Ant-v5").unwrapped
    with pytest.raises(NotImplementedError, match="rgb_array"):
        env.render()


def test_pictures() -> None:
    env = gymnasium.make("Mayfly/Ant-v5", render_mode="rgb_array", width=120, height=90)
    assert env.render_mode == "rgb_array" and env.metadata["render_modes"] == ["human", "rgb_array"]
    env.reset(seed=1)
    first = env.render()
    assert first.shape == (90, 120, 3) and first.dtype == np.uint8
    sky = first[0, 0].astype(int)
    middle = first[40:50, 50:70].reshape(-1, 3).astype(int)
    assert np.abs(middle - sky).sum(axis=1).min() > 20  # the robot is there
    for _ in range(5):
        env.step(env.action_space.sample())
    assert not np.array_equal(env.render(), first)
    env.reset(seed=1)
    np.testing.assert_array_equal(env.render(), first)
    env.close()


def test_pictures_of_many() -> None:
    envs = gymnasium.make_vec("Mayfly/Hopper-v5", 20, render_mode="rgb_array", width=40, height=40)
    envs.reset(seed=1)
    frames = envs.render()
    assert len(frames) == 16 and frames[0].shape == (40, 40, 3)
    assert pickle.loads(pickle.dumps(envs.unwrapped)).render()[3].shape == (40, 40, 3)
    envs.close()


@pytest.mark.parametrize("mode", MODES)
def test_pickle(mode: AutoresetMode, make: Envs) -> None:
    envs = make("Mayfly/Hopper-v5", 3, autoreset_mode=mode, max_episode_steps=5)
    envs.reset(seed=1)
    moves = actions(envs, 1, 8)
    for move in moves[:3]:
        envs.step(move)
    again = pickle.loads(pickle.dumps(envs))
    for move in moves[3:] if mode is not AutoresetMode.DISABLED else moves[3:5]:
        compare(again.step(move), envs.step(move))
    again.close()


def in_a_process(envs: Any, move: np.ndarray) -> bytes:
    return envs.step(move)[0].tobytes()


def test_spawn(make: Envs) -> None:
    envs = make()
    envs.reset(seed=1)
    move = actions(envs, 1, 1)[0]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        there = pool.submit(in_a_process, envs, move).result(timeout=300)
    assert there == in_a_process(envs, move)


def test_fork(make: Envs, script: Any) -> None:
    script(
        "import os, gymnasium, mayfly, numpy as np\n"
        "envs = gymnasium.make_vec('Mayfly/Ant-v5', num_envs=3)\n"
        "first, _ = envs.reset(seed=1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        envs.step(np.zeros((3, 8), np.float32))\n"
        "    except mayfly.ForkError:\n"
        "        other = gymnasium.make_vec('Mayfly/Ant-v5', num_envs=3)\n"
        "        os._exit(0 if (other.reset(seed=1)[0] == first).all() else 1)\n"
        "    os._exit(2)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "envs.step(np.zeros((3, 8), np.float32))\n"
        "print('fine')\n"
    )


def test_threads_run_meanwhile(make: Envs) -> None:
    """The interpreter is free during a step."""
    envs = make("Mayfly/Humanoid-v5", 512, num_threads=1)
    envs.reset(seed=1)
    stop, count = threading.Event(), [0]

    def work() -> None:
        while not stop.wait(0.0005):
            count[0] += 1

    thread = threading.Thread(target=work)
    move = np.zeros((512, 17), np.float32)
    thread.start()
    envs.step(move)
    counted, before = 0, count[0]
    while counted < 20:
        envs.step(move)
        counted += 1
    rounds = count[0] - before
    stop.set()
    thread.join()
    assert rounds >= counted


def test_two_threads_take_turns(make: Envs) -> None:
    envs = make(num_threads=2)
    envs.reset(seed=1)
    move = np.zeros((3, 8), np.float32)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: envs.step(move)[0].tobytes(), range(40)))
    assert len(set(results)) == 40
    other = make()
    other.reset(seed=1)
    for _ in range(40):
        seen = other.step(move)[0]
    assert envs.world.hash() == other.world.hash() and seen.tobytes() in results


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory(make: Envs) -> None:
    """Many environments leak nothing."""

    def live(count: int) -> None:
        for i in range(count):
            envs = gymnasium.make_vec("Mayfly/InvertedPendulum-v5", num_envs=2)
            envs.reset(seed=i)
            for _ in range(3):
                envs.step(np.zeros((2, 1), np.float32))
            if i % 2:
                envs.close()

    live(100)
    gc.collect()
    bytes_before, before = mayfly.default_context().live_bytes, resident()
    live(1_000_000 if FULL else 1000)
    gc.collect()
    assert mayfly.default_context().live_bytes == bytes_before
    assert resident() - before < 8 << 20


@pytest.mark.parametrize("seed", range(1, 41 if FULL else 4))
def test_nothing_crashes(seed: int) -> None:
    worked, refused = fuzz("fuzz_environments.py", seed, 10000 if FULL else 1500)
    assert worked > 300 and refused > 100
