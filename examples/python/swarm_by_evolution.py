"""A swarm by an evolution strategy (Rechenberg 1973): quadrotors that fly to individual goals and
keep their distance. All robots of a team have the same linear policy; each team has another one.

pip install gymnasium; usage: swarm_by_evolution.py [GENERATIONS]
"""

import sys

import numpy as np

from mayfly.envs import MayflyVectorEnv

# %%
# Teams per generation, robots per team, steps per episode; the standard deviation of policies about
# the current mean, and the learning rate of the mean.
TEAMS, AGENTS, STEPS = 128, 8, 150
DEVIATION, RATE = 0.05, 0.3


# %%
# One episode of all teams, each with its own policy.
def episode(
    envs: MayflyVectorEnv, policies: np.ndarray, seed: int
) -> tuple[np.ndarray, float, float]:
    """Mean reward of each team, final mean distance to the goals, and crashes per team."""
    teams = len(policies)
    # All teams start in the same state, to be comparable: a team has the seed of its first robot.
    observation, _ = envs.reset(seed=[seed] * envs.num_envs)
    total, crashed = np.zeros(teams), 0
    # Inputs: goal, attitude and velocities; not the last action; neighbors with a smaller weight.
    scale = np.float32(18 * [1] + 4 * [0] + (observation.shape[1] - 22) * [0.3])
    for _ in range(STEPS):
        rows = np.clip(observation * scale, -2, 2).reshape(teams, AGENTS, -1)
        actions = np.clip(np.matmul(rows, policies), -1, 1)
        observation, reward, ended, _, infos = envs.step(actions.reshape(envs.num_envs, -1))
        total += reward.reshape(teams, AGENTS).mean(1)
        crashed += int(ended.sum()) // AGENTS
    return total / STEPS, float(infos["distance"].mean()), crashed / teams


# %%
# The mean moves towards policies with higher reward and away from their mirror images.
def main(generations: int = 200) -> tuple[float, float]:
    """Mean rewards of the initial policy (zero) and of the final one."""
    rng = np.random.default_rng(1)
    with MayflyVectorEnv("swarm", TEAMS * AGENTS, agents=AGENTS, dtype=np.float32) as envs:
        inputs, outputs = envs.single_observation_space.shape[0], 4
        mean = np.zeros((inputs, outputs), np.float32)
        speed = np.zeros_like(mean)
        everyone = np.zeros((TEAMS, inputs, outputs), np.float32)
        first = episode(envs, everyone + mean, seed=10**6)[0].mean()
        for generation in range(generations):
            noise = rng.normal(size=(TEAMS // 2, inputs, outputs)).astype(np.float32)
            noise = np.concatenate([noise, -noise])
            returns, distance, crashed = episode(envs, mean + DEVIATION * noise, seed=generation)
            rank = returns.argsort().argsort() / (TEAMS - 1) - 0.5
            slope = np.tensordot(rank.astype(np.float32), noise, 1) / (TEAMS / 12) ** 0.5
            speed = 0.8 * speed + 0.2 * slope
            mean = mean + RATE * DEVIATION * speed
            if generation % 10 == 0:
                print(
                    f"{generation:4d}  reward {returns.mean():7.4f}  distance {distance:5.2f} m  "
                    f"crashes per team {crashed:.2f}",
                    flush=True,
                )
        last, distance, crashed = episode(envs, everyone + mean, seed=10**6)
    print(
        f"found: reward {last.mean():.4f} (at first {first:.4f}), {distance:.2f} m from the goals"
    )
    return float(first), float(last.mean())


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
