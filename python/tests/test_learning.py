"""Libraries that learn, as they are: Stable-Baselines3, rsl_rl and a loop as in CleanRL keep a pole
upright after a few seconds. All of it needs torch; without it nothing here runs.
"""

import pathlib
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")
torch = pytest.importorskip("torch", reason="torch is not installed: nothing learns")

from gymnasium.vector import AutoresetMode  # noqa: E402

import mayfly  # noqa: E402, F401

torch.set_num_threads(1)


def grows(lengths: list[float]) -> None:
    """Episodes get several times as long as in the beginning, where they are by chance."""
    first, last = np.mean(lengths[:100]), np.mean(lengths[-30:])
    assert len(lengths) > 200 and first < 30 and last > 4 * first, (len(lengths), first, last)


# ---- Stable-Baselines3 -----------------------------------------------------------------------


def test_sb3_ppo() -> None:
    library = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecMonitor

    from mayfly.envs.sb3 import MayflyVecEnv

    lengths: list[float] = []

    def inspect_actions(names: dict[str, Any], _: Any) -> bool:
        lengths.extend(info["episode"]["l"] for info in names["infos"] if "episode" in info)
        return True

    envs = VecMonitor(MayflyVecEnv("inverted_pendulum", 16))
    model = library.PPO(
        "MlpPolicy", envs, n_steps=64, batch_size=256, n_epochs=5, learning_rate=3e-3, gamma=0.98,
        device="cpu", seed=1, policy_kwargs={"net_arch": [32, 32]},
    )  # fmt: skip
    model.learn(16384, callback=inspect_actions)
    grows(lengths)
    mean, _ = evaluate_policy(model, envs, n_eval_episodes=16)
    assert mean > 40
    # The policy of the vector works in the environment of one robot.
    one = gymnasium.make("Mayfly/InvertedPendulum-v5")
    assert evaluate_policy(model, one, n_eval_episodes=2, warn=False)[0] > 30
    one.close()
    envs.close()


def test_sb3_sac() -> None:
    """What a buffer of transitions keeps: at an end of time the last observation, not the next."""
    library = pytest.importorskip("stable_baselines3")
    from mayfly.envs.sb3 import MayflyVecEnv

    envs = MayflyVecEnv("inverted_pendulum", 4, max_episode_steps=5)
    model = library.SAC(
        "MlpPolicy", envs, learning_starts=200, batch_size=32, buffer_size=400, device="cpu",
        seed=1, policy_kwargs={"net_arch": [16, 16]},
        replay_buffer_kwargs={"handle_timeout_termination": True},
    )  # fmt: skip
    model.learn(240)
    kept, n = model.replay_buffer, 60
    assert kept.pos == n
    cut = kept.timeouts[:n] > 0
    assert cut.sum() >= 4 and (kept.dones[:n][cut] == 1).all()
    going_on = kept.dones[: n - 1] == 0
    same = (kept.next_observations[: n - 1] == kept.observations[1:n]).all(axis=2)
    assert same[going_on].all() and not same[cut[: n - 1]].any()
    envs.close()


# ---- rsl_rl ----------------------------------------------------------------------------------

_NETWORK = {"class_name": "MLPModel", "hidden_dims": [32, 32], "activation": "elu"}
RSL_RL: dict[str, Any] = {
    "num_steps_per_env": 32,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": {
        **_NETWORK,
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0},
    },
    "critic": _NETWORK,
    "algorithm": {
        "class_name": "PPO",
        "num_learning_epochs": 5,
        "num_mini_batches": 4,
        "learning_rate": 1e-3,
        "gamma": 0.98,
        "lam": 0.95,
        "desired_kl": 0.01,
        "schedule": "adaptive",
    },
}


def rsl_rl_settings() -> dict[str, Any]:
    """A copy, because the runner takes its settings to pieces."""
    return {key: dict(row) if isinstance(row, dict) else row for key, row in RSL_RL.items()}


def test_rsl_rl_runner(tmp_path: pathlib.Path) -> None:
    runners = pytest.importorskip("rsl_rl.runners", reason="rsl-rl-lib is not installed")
    from mayfly.envs.rsl_rl import RslRlEnv

    torch.manual_seed(1)
    env = RslRlEnv("inverted_pendulum", 64)
    lengths: list[float] = []
    step = env.step

    def inspect_actions(actions: Any) -> Any:
        before = np.asarray(env.episode_length_buf).copy()
        result = step(actions)
        lengths.extend((before + 1)[np.asarray(result[2]) > 0].tolist())
        return result

    env.step = inspect_actions  # type: ignore[method-assign]
    runner = runners.OnPolicyRunner(env, rsl_rl_settings(), log_dir=str(tmp_path), device="cpu")
    runner.learn(25)
    grows(lengths)
    policy = runner.get_inference_policy("cpu")
    seen = env.get_observations()
    for _ in range(20):
        seen, _, dones, _ = step(policy(seen).detach())
    saved = sorted(tmp_path.glob("model_*.pt"))
    assert saved
    other = runners.OnPolicyRunner(env, rsl_rl_settings(), device="cpu")
    other.load(str(saved[-1]))
    again = other.get_inference_policy("cpu")
    torch.testing.assert_close(again(seen), policy(seen))
    env.close()


def test_rsl_rl_random_lengths() -> None:
    """Ends of episodes are spread over the steps when the runner sets their lengths."""
    runners = pytest.importorskip("rsl_rl.runners", reason="rsl-rl-lib is not installed")
    from mayfly.envs.rsl_rl import RslRlEnv

    torch.manual_seed(1)
    env = RslRlEnv("half_cheetah", 32, max_episode_steps=60)  # which never falls
    ends: list[int] = []
    outs: list[int] = []
    step = env.step

    def inspect_actions(actions: Any) -> Any:
        result = step(actions)
        ends.append(int(result[2].sum()))
        outs.append(int(result[3]["time_outs"].sum()))
        return result

    env.step = inspect_actions  # type: ignore[method-assign]
    runner = runners.OnPolicyRunner(env, rsl_rl_settings(), device="cpu")
    runner.learn(2, init_at_random_ep_len=True)
    assert ends == outs and sum(ends[:60]) == 32 and max(ends) < 8
    env.close()


# ---- CleanRL ---------------------------------------------------------------------------------


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> Any:
    made = torch.nn.Linear(inputs, outputs)
    torch.nn.init.orthogonal_(made.weight, gain)
    torch.nn.init.zeros_(made.bias)
    return made


class Agent(torch.nn.Module):  # type: ignore[misc]
    """As in CleanRL's ppo_continuous_action.py, but small."""

    def __init__(self, envs: Any) -> None:
        super().__init__()
        (seen,) = envs.single_observation_space.shape
        (moves,) = envs.single_action_space.shape
        self.critic = torch.nn.Sequential(layer(seen, 32), torch.nn.Tanh(), layer(32, 1, 1.0))
        self.actor = torch.nn.Sequential(layer(seen, 32), torch.nn.Tanh(), layer(32, moves, 0.01))
        self.logstd = torch.nn.Parameter(torch.zeros(1, moves))

    def act(self, seen: Any, move: Any = None) -> tuple[Any, Any, Any]:
        chance = torch.distributions.Normal(self.actor(seen), self.logstd.exp())
        move = chance.sample() if move is None else move
        return move, chance.log_prob(move).sum(1), self.critic(seen).flatten()


def test_cleanrl_ppo() -> None:
    """Rollouts in tensors, advantages backwards over them, epochs of mini-batches."""
    torch.manual_seed(1)
    n, steps, gamma, weight = 32, 64, 0.98, 0.95
    envs: Any = gymnasium.make_vec(
        "Mayfly/InvertedPendulum-v5", num_envs=n, autoreset_mode=AutoresetMode.SAME_STEP
    )
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs = gymnasium.wrappers.vector.ClipAction(envs)
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    obs = torch.zeros((steps, n, *envs.single_observation_space.shape))
    actions = torch.zeros((steps, n, *envs.single_action_space.shape))
    logprobs, rewards, dones, values = (torch.zeros((steps, n)) for _ in range(4))
    lengths: list[float] = []
    seen = torch.Tensor(envs.reset(seed=1)[0])
    done = torch.zeros(n)
    for _ in range(12):
        for t in range(steps):
            obs[t], dones[t] = seen, done
            with torch.no_grad():
                actions[t], logprobs[t], values[t] = agent.act(seen)
            result, reward, ended, cut, infos = envs.step(actions[t].numpy())
            rewards[t] = torch.tensor(reward)
            seen, done = torch.Tensor(result), torch.Tensor(ended | cut)
            if "episode" in infos:
                lengths += infos["episode"]["l"][infos["_episode"]].tolist()
        with torch.no_grad():
            value, last, advantages = agent.critic(seen).flatten(), 0.0, torch.zeros((steps, n))
            for t in reversed(range(steps)):
                goes_on = 1 - (done if t == steps - 1 else dones[t + 1])
                value = value if t == steps - 1 else values[t + 1]
                delta = rewards[t] + gamma * value * goes_on - values[t]
                advantages[t] = last = delta + gamma * weight * goes_on * last
        rows = (obs, actions, logprobs, advantages, advantages + values)
        b_obs, b_actions, b_logprobs, b_advantages, b_returns = (row.flatten(0, 1) for row in rows)
        for _ in range(5):
            for batch in torch.randperm(steps * n).split(512):
                _, logprob, value = agent.act(b_obs[batch], b_actions[batch])
                ratio = (logprob - b_logprobs[batch]).exp()
                gain = b_advantages[batch]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                surrogate = torch.minimum(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean()
                loss = 0.25 * (value - b_returns[batch]).square().mean() - surrogate
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    grows(lengths)
    envs.close()
