"""Environments in the words of other libraries. What needs torch runs where it is installed."""

import importlib
import pathlib
import threading
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")

from gymnasium.vector import AutoresetMode  # noqa: E402

import mayfly  # noqa: E402
from mayfly.envs import MayflyVectorEnv  # noqa: E402
from mayfly.envs.pool import Pool  # noqa: E402
from mayfly.envs.rsl_rl import RslRlEnv  # noqa: E402

SAME = AutoresetMode.SAME_STEP
MOVES = np.random.default_rng(1).uniform(-1, 1, (40, 4, 3)).astype(np.float32)


def reference(**more: Any) -> MayflyVectorEnv:
    return MayflyVectorEnv("hopper", 4, autoreset_mode=SAME, max_episode_steps=30, **more)


# ---- CleanRL ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [SAME, AutoresetMode.NEXT_STEP])
def test_cleanrl_loop(mode: AutoresetMode) -> None:
    """A loop as CleanRL writes it: wrappers of Gymnasium, final_info, value of the last state."""
    envs: Any = gymnasium.make_vec(
        "Mayfly/Hopper-v5", num_envs=4, autoreset_mode=mode, max_episode_steps=30
    )
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs = gymnasium.wrappers.vector.ClipAction(envs)
    if mode is not SAME:  # Gymnasium's wrappers want it so
        envs = gymnasium.wrappers.vector.NormalizeObservation(envs)
    seen, _ = envs.reset(seed=1)
    lengths: list[int] = []
    for move in MOVES:
        seen, reward, ended, cut, infos = envs.step(3 * move)
        assert np.isfinite(seen).all() and np.isfinite(reward).all()
        if (ended | cut).any() and mode is SAME:
            ends = np.flatnonzero(infos["_final_info"])
            np.testing.assert_array_equal(ends, np.flatnonzero(ended | cut))
            assert np.isfinite(np.stack(infos["final_obs"][ends])).all()
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert len(lengths) >= 4 and max(lengths) <= 30
    envs.close()


# ---- EnvPool ---------------------------------------------------------------------------------


def test_pool_is_the_batch() -> None:
    with (
        Pool("hopper", 4, 2, autoreset_mode=SAME, max_episode_steps=30) as pool,
        reference() as one,
    ):
        pool.async_reset(seed=5)
        seen = one.reset(seed=5)[0]
        for move in MOVES:
            parts = [pool.recv() for _ in range(2)]
            ids = np.concatenate([part[4]["env_id"] for part in parts])
            np.testing.assert_array_equal(ids, np.arange(4))
            np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), seen)
            for part in parts:
                pool.send(move[part[4]["env_id"]], part[4]["env_id"])
            seen = one.step(move)[0]
        for _ in range(2):
            pool.recv()
        pool.send(MOVES[0])
        assert pool.recv()[0].shape == (2, 11)


def test_pool_goes_on_meanwhile() -> None:
    """send() returns before the step is done."""
    with Pool("humanoid", 512, num_threads=1) as pool:
        pool.async_reset(seed=1)
        pool.recv()
        gate = threading.Event()
        step = pool._batches[0].step

        def wait(actions: Any) -> Any:
            gate.wait(60)
            return step(actions)

        pool._batches[0].step = wait  # type: ignore[method-assign]
        pool.send(np.zeros((512, 17), np.float32))
        with pytest.raises(mayfly.BusyError, match="call recv"):
            pool.send(np.zeros((512, 17), np.float32))
        gate.set()
        assert pool.recv()[0].shape == (512, 348)


def test_pool_mistakes() -> None:
    with pytest.raises(ValueError, match="divisor"):
        Pool("hopper", 4, 3)
    pool = Pool("hopper", 4, 2)
    with pytest.raises(mayfly.BusyError, match="async_reset"):
        pool.recv()
    pool.async_reset(seed=[1, 2, 3, 4])
    for _ in range(2):
        pool.recv()
    for wrong in ([0], [1, 2], [0, 2], [4, 5], [-2, -1], []):
        with pytest.raises(ValueError, match="env_id"):
            pool.send(MOVES[0][:2], wrong)
    pool.send(np.full((2, 3), np.nan, np.float32), [2, 3])
    with pytest.raises(ValueError, match="not a finite number"):
        pool.recv()
    pool.send(MOVES[0][:2], [2, 3])  # it goes on
    assert pool.recv()[4]["env_id"].tolist() == [2, 3]
    pool.close()
    pool.close()
    with pytest.raises(mayfly.ClosedError):
        pool.recv()


# ---- rsl_rl ----------------------------------------------------------------------------------


def runs_like_rsl_rl(env: RslRlEnv, expected: MayflyVectorEnv, as_action: Any) -> None:
    """What the runner of rsl_rl reads, step by step."""
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (4, 3, 30)
    seen = env.get_observations()["policy"]
    np.testing.assert_array_equal(np.asarray(seen), expected.reset(seed=2)[0])
    ends = outs = 0
    length = np.zeros(4)
    for move in np.concatenate([MOVES, 0.05 * MOVES]):
        seen, reward, dones, extras = env.step(as_action(move))
        raw, rewards, ended, cut, _ = expected.step(move)
        np.testing.assert_array_equal(np.asarray(seen["policy"]), raw)
        np.testing.assert_array_equal(np.asarray(reward), rewards.astype(np.float32))
        np.testing.assert_array_equal(np.asarray(dones), ended | cut)
        np.testing.assert_array_equal(np.asarray(extras["time_outs"]), cut & ~ended)
        length = np.where(ended | cut, 0, length + 1)
        np.testing.assert_array_equal(np.asarray(env.episode_length_buf), length)
        assert ("/episode/return" in extras["log"]) == bool((ended | cut).any())
        ends += int((ended | cut).sum())
        outs += int((cut & ~ended).sum())
    assert ends > outs
    env.close()
    expected.close()


def test_rsl_rl_in_numpy() -> None:
    env = RslRlEnv(
        "hopper", 4, tensor=lambda rows: rows, group=lambda rows, n: rows, seed=2,
        max_episode_steps=30,
    )  # fmt: skip
    runs_like_rsl_rl(env, reference(dtype=np.float32), lambda move: move)


def plain_rsl_rl(task: str, count: int, **more: Any) -> RslRlEnv:
    return RslRlEnv(task, count, tensor=lambda rows: rows, group=lambda rows, n: rows, **more)


def test_rsl_rl_lengths() -> None:
    """Lengths that are set cut episodes off earlier, for a team as one, and once only."""
    env = plain_rsl_rl("half_cheetah", 4, max_episode_steps=30)
    env.episode_length_buf = np.array([0, 10, 28, 29])
    cuts: list[list[int]] = [[], [], [], []]
    for step in range(1, 61):
        before = env.get_observations()["policy"]
        seen, _, dones, extras = env.step(np.ones((4, 6), np.float32))
        np.testing.assert_array_equal(dones, extras["time_outs"])
        for i in np.flatnonzero(dones):
            cuts[i].append(step)
            assert abs(seen["policy"][i, :8]).max() <= 0.1  # places at the start
            assert abs(before[i, :8]).max() > 0.2 or step < 3
        np.testing.assert_array_equal(env.episode_length_buf == 0, dones == 1)
    assert cuts == [[30, 60], [20, 50], [2, 32], [1, 31]]
    with pytest.raises(ValueError, match="4 whole numbers"):
        env.episode_length_buf = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="4 whole numbers"):
        env.episode_length_buf = np.zeros(4)
    assert env.cfg.to_dict()["task"] == "half_cheetah"
    env.close()
    env = plain_rsl_rl("swarm", 8, agents=4, max_episode_steps=30)
    env.episode_length_buf = np.array([0, 0, 29, 0, 0, 0, 0, 0])
    _, _, dones, extras = env.step(np.zeros((8, env.num_actions), np.float32))
    assert dones.tolist() == extras["time_outs"].tolist() == 4 * [1] + 4 * [0]
    env.close()
    with pytest.raises(ValueError, match="copy=True"):
        plain_rsl_rl("hopper", 4, copy=False)


def test_rsl_rl_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: rsl_rl runs in NumPy only")
    pytest.importorskip("tensordict", reason="tensordict is not installed")
    env = RslRlEnv("hopper", 4, seed=2, max_episode_steps=30)
    assert isinstance(env.get_observations()["policy"], torch.Tensor)
    runs_like_rsl_rl(env, reference(dtype=np.float32), torch.from_numpy)


def test_rsl_rl_tensors_stay() -> None:
    """Tensors refer to memory that no later step writes; actions may be detached tensors."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("tensordict", reason="tensordict is not installed")
    env = RslRlEnv("hopper", 4, seed=2, max_episode_steps=30)
    fixed, copies = [], []
    weights = torch.zeros(11, 3, requires_grad=True)
    for move in MOVES:
        seen = env.get_observations()["policy"]
        result = env.step((seen @ weights).detach() + torch.from_numpy(move))
        parts = [seen, result[0]["policy"], *result[1:3], result[3]["time_outs"]]
        fixed += [*parts, env.episode_length_buf]
        copies += [part.clone() for part in [*parts, env.episode_length_buf]]
    assert [part.dtype for part in fixed[1:4]] == [torch.float32, torch.float32, torch.int64]
    assert all(torch.equal(*pair) for pair in zip(fixed, copies))
    with pytest.raises(RuntimeError, match="detach"):
        env.step(seen @ weights)
    env.close()


def test_rsl_rl_is_complete() -> None:
    """Everything that rsl_rl's VecEnv announces."""
    library = pytest.importorskip("rsl_rl.env", reason="rsl-rl-lib is not installed")
    env = RslRlEnv("hopper", 4)
    expected = {*library.VecEnv.__annotations__, *library.VecEnv.__abstractmethods__}
    assert len(expected) >= 8 and all(hasattr(env, name) for name in expected)
    env.close()


# ---- Stable-Baselines3 -----------------------------------------------------------------------


def sb3() -> Any:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    return importlib.import_module("mayfly.envs.sb3")


def test_sb3() -> None:
    module = sb3()
    envs = module.MayflyVecEnv("hopper", 4, max_episode_steps=30, dtype=np.float64)
    expected = reference()
    envs.seed(3)
    np.testing.assert_array_equal(envs.reset(), expected.reset(seed=3)[0])
    assert set(envs.reset_infos[0]) == {"x_position", "z_distance_from_origin"}
    ends = cuts = 0
    for move in np.concatenate([MOVES, 0.05 * MOVES]):
        seen, reward, over, infos = envs.step(move)
        raw, rewards, ended, cut, result = expected.step(move)
        np.testing.assert_array_equal(seen, raw)
        np.testing.assert_array_equal(reward, rewards.astype(np.float32))
        np.testing.assert_array_equal(over, ended | cut)
        for i, info in enumerate(infos):
            assert ("terminal_observation" in info) == over[i] and "x_velocity" in info
            if over[i]:
                np.testing.assert_array_equal(info["terminal_observation"], result["final_obs"][i])
                assert info["TimeLimit.truncated"] == (cut[i] and not ended[i])
                assert "x_velocity" not in envs.reset_infos[i]
                ends += 1
                cuts += info["TimeLimit.truncated"]
    assert ends > cuts
    envs.close()
    expected.close()
    with pytest.raises(ValueError, match="SAME_STEP"):
        module.MayflyVecEnv(MayflyVectorEnv("hopper", 2))


def test_sb3_is_dummy_vec_env() -> None:
    """The same as SB3's own vector of single environments: values, types, keys of infos."""
    module = sb3()
    from stable_baselines3.common.vec_env import DummyVecEnv

    def make() -> Any:
        return gymnasium.make("Mayfly/Hopper-v5", max_episode_steps=30)

    theirs = DummyVecEnv(4 * [make])
    ours = module.MayflyVecEnv("hopper", 4, max_episode_steps=30, dtype=np.float64)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.render_mode == theirs.render_mode and ours.metadata["render_modes"] == []
    assert ours.seed(7) == theirs.seed(7)
    first, second = ours.reset(), theirs.reset()
    assert first.dtype == second.dtype
    np.testing.assert_array_equal(first, second)
    assert ours.reset_infos == theirs.reset_infos
    ends = cuts = 0
    for move in np.concatenate([MOVES, 0.05 * MOVES]):
        one, two = ours.step(move), theirs.step(move)
        for mine, expected in zip(one[:3], two[:3]):
            assert mine.dtype == expected.dtype and mine.shape == expected.shape
            np.testing.assert_array_equal(mine, expected)
        for mine, expected in zip(one[3], two[3]):
            assert set(mine) == set(expected)
            for key in mine:
                np.testing.assert_array_equal(mine[key], expected[key])
        assert ours.reset_infos == theirs.reset_infos
        ends += int(one[2].sum())
        cuts += sum(info["TimeLimit.truncated"] for info in one[3])
    assert ends > cuts > 0
    ours.close()
    theirs.close()


@pytest.mark.filterwarnings("ignore:.*render_mode.*:UserWarning")
def test_sb3_by_name() -> None:
    """SB3 makes environments by name and asks for pictures first; in other processes too."""
    module = sb3()
    library: Any = importlib.import_module("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv

    name = "mayfly:Mayfly/Hopper-v5"  # imports mayfly where it is not yet
    model = library.PPO("MlpPolicy", name, n_steps=32, batch_size=32, device="cpu")
    model.learn(32)
    model.get_env().close()
    theirs = make_vec_env(
        name, 2, vec_env_cls=SubprocVecEnv, vec_env_kwargs={"start_method": "spawn"}
    )
    ours = module.MayflyVecEnv("hopper", 2, dtype=np.float64)
    theirs.seed(3)
    ours.seed(3)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    for move in MOVES[:, :2]:
        for mine, expected in zip(ours.step(move)[:3], theirs.step(move)[:3]):
            np.testing.assert_array_equal(mine, expected.astype(mine.dtype))
    theirs.close()
    ours.close()


@pytest.mark.filterwarnings("error")
def test_sb3_contract() -> None:
    """What else a VecEnv promises: who is asked, seeds that count once, steps that are dropped."""
    module = sb3()
    envs = module.MayflyVecEnv("hopper", 4)
    assert envs.get_attr("task") == 4 * ["hopper"]
    assert envs.get_attr("task", 1) == ["hopper"] == envs.get_attr("task", [-1])
    assert envs.has_attr("dt") and not envs.has_attr("nothing")
    with pytest.raises(IndexError):
        envs.get_attr("task", 4)
    envs.set_attr("color", "red")
    assert envs.get_attr("color", [0, 3]) == ["red", "red"]
    assert len(envs.env_method("make_observation_space")) == 4
    for call in (lambda: envs.set_attr("task", "x", [0]), lambda: envs.env_method("f", indices=0)):
        with pytest.raises(NotImplementedError, match="share one environment"):
            call()
    assert envs.env_is_wrapped(gymnasium.Wrapper) == 4 * [False]
    assert envs.env_is_wrapped(gymnasium.Wrapper, [2]) == [False]

    assert envs.seed(3) == [3, 4, 5, 6]
    first = envs.reset()
    assert first.dtype == np.float32 and (first[0] != first[1]).any()
    assert (envs.reset() != first).any(axis=1).all()  # seeds count once
    envs.seed(4)
    np.testing.assert_array_equal(envs.reset()[:3], first[1:])
    assert all(isinstance(seed, int) for seed in envs.seed())

    kept = envs.reset()
    before = kept.copy()
    envs.step_async(MOVES[0])
    envs.reset()  # the step is dropped
    with pytest.raises(mayfly.BusyError, match="step_async"):
        envs.step_wait()
    for move in MOVES:
        envs.step(move)
    np.testing.assert_array_equal(kept, before)  # what was given stays as it is

    envs.set_options({"low": 0})
    with pytest.raises(NotImplementedError, match="set_options"):
        envs.reset()
    envs.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert envs.render() is None
    envs.close()
    envs.close()
    with pytest.raises(ValueError, match="copy=True"):
        module.MayflyVecEnv("hopper", copy=False)


def test_sb3_wrappers(tmp_path: pathlib.Path) -> None:
    """SB3's own wrappers around ours; and its check of the environment of one robot."""
    module = sb3()
    from stable_baselines3.common.env_checker import check_env
    from stable_baselines3.common.vec_env import (
        VecCheckNan,
        VecFrameStack,
        VecMonitor,
        VecNormalize,
        is_vecenv_wrapped,
    )

    envs = VecNormalize(VecMonitor(module.MayflyVecEnv("hopper", 4, max_episode_steps=30)))
    stacked = VecFrameStack(VecCheckNan(envs, raise_exception=True), 2)
    assert is_vecenv_wrapped(stacked, VecMonitor)
    assert stacked.reset().shape == (4, 22)
    lengths: list[int] = []
    for move in MOVES:
        seen, _, over, infos = stacked.step(move)
        for i in np.flatnonzero(over):
            assert infos[i]["terminal_observation"].shape == (22,)
            assert (seen[i, :11] == 0).all()  # nothing of the episode before
            lengths.append(infos[i]["episode"]["l"])
    assert lengths and max(lengths) <= 30
    envs.save(str(tmp_path / "normalize.pkl"))
    again = VecNormalize.load(str(tmp_path / "normalize.pkl"), module.MayflyVecEnv("hopper", 2))
    np.testing.assert_array_equal(again.obs_rms.mean, envs.obs_rms.mean)
    again.close()
    stacked.close()
    one = gymnasium.make("Mayfly/Hopper-v5")
    check_env(one, warn=False)
    one.close()


# ---- PettingZoo ------------------------------------------------------------------------------


def test_pettingzoo() -> None:
    """PettingZoo's own check; and agents do what rows of the vector environment do."""
    zoo = pytest.importorskip("pettingzoo.test", reason="pettingzoo is not installed")
    module = importlib.import_module("mayfly.envs.parallel")
    env = module.MayflyParallelEnv("swarm", 4, max_episode_steps=20)
    zoo.parallel_api_test(env, 200)
    zoo.parallel_seed_test(lambda: module.MayflyParallelEnv("swarm", 4, max_episode_steps=20), 60)
    envs = MayflyVectorEnv("swarm", 4, agents=4, max_episode_steps=20, autoreset_mode="Disabled")
    result, _ = env.reset(seed=3)
    seen, _ = envs.reset(seed=3)
    rng = np.random.default_rng(1)
    while env.agents:
        np.testing.assert_array_equal(np.stack([result[agent] for agent in env.agents]), seen)
        shape = envs.action_space.shape
        moves = rng.uniform(envs.action_space.low, envs.action_space.high, shape)
        moves = moves.astype(np.float32)
        result, reward, *_ = env.step(dict(zip(env.agents, moves)))
        seen, rewards, *_ = envs.step(moves)
        assert list(reward.values()) == rewards.tolist()
    with pytest.raises(mayfly.BusyError, match="reset"):
        env.step({})
    env.close()
    with pytest.raises(ValueError, match="alone"):
        module.MayflyParallelEnv("ant")
