"""A swarm by an evolution strategy (Rechenberg 1973): quadrotors that fly to goals of their own and
keep apart. A team is one try: all its robots have the same linear policy, no two teams have.

pip install gymnasium; usage: swarm_by_evolution.py [GENERATIONS]
"""

import sys

import numpy as np

from mayfly.envs import MayflyVectorEnv

# %%
# How many teams are tried at once, of how many robots, for how many steps; and how far tries are
# from the policy in the middle, and how fast that moves.
TEAMS, AGENTS, STEPS = 128, 8, 150
SPREAD, RATE = 0.05, 0.3


# %%
# One episode of all teams, each with its own policy.
def live(envs: MayflyVectorEnv, policies: np.ndarray, seed: int) -> tuple[np.ndarray, float, float]:
    """Mean reward of each team; at the end the mean distance to the goals, and all that crashed."""
    teams = len(policies)
    # All teams start alike, so that they compare: the seed of a team is that of its first robot.
    seen, _ = envs.reset(seed=[seed] * envs.num_envs)
    total, crashed = np.zeros(teams), 0
    # Goal, attitude and velocities; not the last action; less of the neighbors.
    scale = np.float32(18 * [1] + 4 * [0] + (seen.shape[1] - 22) * [0.3])
    for _ in range(STEPS):
        rows = np.clip(seen * scale, -2, 2).reshape(teams, AGENTS, -1)
        actions = np.clip(np.matmul(rows, policies), -1, 1)
        seen, reward, ended, _, infos = envs.step(actions.reshape(envs.num_envs, -1))
        total += reward.reshape(teams, AGENTS).mean(1)
        crashed += int(ended.sum()) // AGENTS
    return total / STEPS, float(infos["distance"].mean()), crashed / teams


# %%
# The middle moves towards tries that were worth more and away from their opposites.
def main(generations: int = 200) -> tuple[float, float]:
    """Mean rewards of the policy that does nothing, and of the one that was found."""
    rng = np.random.default_rng(1)
    with MayflyVectorEnv("swarm", TEAMS * AGENTS, agents=AGENTS, dtype=np.float32) as envs:
        inputs, outputs = envs.single_observation_space.shape[0], 4
        middle = np.zeros((inputs, outputs), np.float32)
        speed = np.zeros_like(middle)
        everyone = np.zeros((TEAMS, inputs, outputs), np.float32)
        first = live(envs, everyone + middle, seed=10**6)[0].mean()
        for generation in range(generations):
            noise = rng.normal(size=(TEAMS // 2, inputs, outputs)).astype(np.float32)
            noise = np.concatenate([noise, -noise])
            worth, distance, crashed = live(envs, middle + SPREAD * noise, seed=generation)
            rank = worth.argsort().argsort() / (TEAMS - 1) - 0.5
            slope = np.tensordot(rank.astype(np.float32), noise, 1) / (TEAMS / 12) ** 0.5
            speed = 0.8 * speed + 0.2 * slope
            middle = middle + RATE * SPREAD * speed
            if generation % 10 == 0:
                print(
                    f"{generation:4d}  reward {worth.mean():7.4f}  distance {distance:5.2f} m  "
                    f"crashes per team {crashed:.2f}",
                    flush=True,
                )
        last, distance, crashed = live(envs, everyone + middle, seed=10**6)
    print(
        f"found: reward {last.mean():.4f} (at first {first:.4f}), {distance:.2f} m from the goals"
    )
    return float(first), float(last.mean())


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
