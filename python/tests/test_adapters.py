"""Environments in the words of other libraries. What needs torch runs where it is installed."""

import importlib
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


def runs_like_rsl_rl(env: RslRlEnv, wanted: MayflyVectorEnv, as_action: Any) -> None:
    """What the runner of rsl_rl reads, step by step."""
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (4, 3, 30)
    seen = env.get_observations()["policy"]
    np.testing.assert_array_equal(np.asarray(seen), wanted.reset(seed=2)[0])
    ends = outs = 0
    length = np.zeros(4)
    for move in np.concatenate([MOVES, 0.05 * MOVES]):
        seen, reward, dones, extras = env.step(as_action(move))
        raw, rewards, ended, cut, _ = wanted.step(move)
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
    wanted.close()


def test_rsl_rl_in_numpy() -> None:
    env = RslRlEnv(
        "hopper", 4, tensor=lambda rows: rows, group=lambda rows, n: rows, seed=2,
        max_episode_steps=30,
    )  # fmt: skip
    runs_like_rsl_rl(env, reference(dtype=np.float32), lambda move: move)


def test_rsl_rl_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: rsl_rl runs in NumPy only")
    pytest.importorskip("tensordict", reason="tensordict is not installed")
    env = RslRlEnv("hopper", 4, seed=2, max_episode_steps=30)
    assert isinstance(env.get_observations()["policy"], torch.Tensor)
    runs_like_rsl_rl(env, reference(dtype=np.float32), torch.from_numpy)


# ---- Stable-Baselines3 -----------------------------------------------------------------------


def sb3() -> Any:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    return importlib.import_module("mayfly.envs.sb3")


def test_sb3() -> None:
    module = sb3()
    envs = module.MayflyVecEnv("hopper", 4, max_episode_steps=30, dtype=np.float64)
    wanted = reference()
    envs.seed(3)
    np.testing.assert_array_equal(envs.reset(), wanted.reset(seed=3)[0])
    assert set(envs.reset_infos[0]) == {"x_position", "z_distance_from_origin"}
    ends = cuts = 0
    for move in np.concatenate([MOVES, 0.05 * MOVES]):
        seen, reward, over, infos = envs.step(move)
        raw, rewards, ended, cut, told = wanted.step(move)
        np.testing.assert_array_equal(seen, raw)
        np.testing.assert_array_equal(reward, rewards.astype(np.float32))
        np.testing.assert_array_equal(over, ended | cut)
        for i, info in enumerate(infos):
            assert ("terminal_observation" in info) == over[i] and "x_velocity" in info
            if over[i]:
                np.testing.assert_array_equal(info["terminal_observation"], told["final_obs"][i])
                assert info["TimeLimit.truncated"] == (cut[i] and not ended[i])
                assert "x_velocity" not in envs.reset_infos[i]
                ends += 1
                cuts += info["TimeLimit.truncated"]
    assert ends > cuts
    assert envs.get_attr("task") == 4 * ["hopper"] and envs.get_attr("task", 1) == ["hopper"]
    assert envs.env_is_wrapped(gymnasium.Wrapper) == 4 * [False]
    with pytest.raises(NotImplementedError):
        envs.set_attr("task", "x", [0])
    envs.close()
    wanted.close()
    with pytest.raises(ValueError, match="SAME_STEP"):
        module.MayflyVecEnv(MayflyVectorEnv("hopper", 2))


def test_sb3_learns() -> None:
    module = sb3()
    library: Any = importlib.import_module("stable_baselines3")
    if not hasattr(library, "PPO"):
        pytest.skip("stable-baselines3 is there without its algorithms")
    envs = module.MayflyVecEnv("inverted_pendulum", 4)
    model = library.PPO("MlpPolicy", envs, n_steps=64, batch_size=64, device="cpu", seed=1)
    model.learn(1024)
    envs.close()


# ---- PettingZoo ------------------------------------------------------------------------------


def test_pettingzoo() -> None:
    """PettingZoo's own check; and agents do what rows of the vector environment do."""
    zoo = pytest.importorskip("pettingzoo.test", reason="pettingzoo is not installed")
    module = importlib.import_module("mayfly.envs.parallel")
    env = module.MayflyParallelEnv("swarm", 4, max_episode_steps=20)
    zoo.parallel_api_test(env, 200)
    envs = MayflyVectorEnv("swarm", 4, agents=4, max_episode_steps=20, autoreset_mode="Disabled")
    told, _ = env.reset(seed=3)
    seen, _ = envs.reset(seed=3)
    rng = np.random.default_rng(1)
    while env.agents:
        np.testing.assert_array_equal(np.stack([told[agent] for agent in env.agents]), seen)
        shape = envs.action_space.shape
        moves = rng.uniform(envs.action_space.low, envs.action_space.high, shape)
        moves = moves.astype(np.float32)
        told, reward, *_ = env.step(dict(zip(env.agents, moves)))
        seen, rewards, *_ = envs.step(moves)
        assert list(reward.values()) == rewards.tolist()
    with pytest.raises(mayfly.BusyError, match="reset"):
        env.step({})
    env.close()
    with pytest.raises(ValueError, match="alone"):
        module.MayflyParallelEnv("ant")
