"""Reinforcement learning at two levels: a hexapod learns to walk with fast physics
(`points`), and its policies are verified with accurate physics (`articulated`).

    pip install gymnasium
    python walk_at_two_levels.py --generations 100 --seed 1

The search is the cross-entropy method (Rubinstein 1999) in NumPy: draw policies around a mean,
keep the best, move the mean there. It runs twice. The first search uses `points` only. The second
one verifies the best policies of each generation at `articulated`; the lower of both returns
counts, and only walks that keep 70 % of their return there are accepted. Each ends with a table of
the walk at every level: mean return and distance from new start states, and their ratios to those
at `points`. Takes a minute on two cores.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

import mayfly  # noqa: F401  (registers the environments of Gymnasium)

# %%
# Sizes of the search. Another level of physics is another `motion` of the same environment:
# observations, actions and rewards do not change.
POLICIES, VERIFIED, PARENTS = 128, 32, 16  # policies of a generation
STEPS, INTERVAL = 250, 0.04  # of an episode, and their length [s]
CLOCK = 1.0  # [Hz] of the clock, an input of policies
BODY = 9  # first values of the observation: tilt, rotation and velocity
KEPT = 0.7  # ratio to the return at `points` that a walk must keep at the other levels
LEVELS = ("points", "rigid", "prescribed", "articulated")
Array = Any


def robots(motion: str, count: int) -> Any:
    return gymnasium.make_vec(
        "Mayfly/Hexapod-v0",
        num_envs=count,
        motion=motion,
        max_episode_steps=STEPS,
        dtype=np.float32,
    )


# %%
# A policy is a matrix from inputs (1, sine and cosine of the clock, state of the body) to joint
# targets. Every robot has its own policy and runs one episode.
def episode(envs: Any, policies: Array, starts: list[int]) -> tuple[Array, Array]:
    """Return of each episode, and distance forward [m]."""
    count = len(policies)
    observation, _ = envs.reset(seed=starts)
    inputs = np.ones((count, 1, 3 + BODY), np.float32)
    total, way, alive = np.zeros(count), np.zeros(count), np.ones(count, bool)
    for step in range(STEPS):
        angle = 2 * np.pi * CLOCK * INTERVAL * step
        inputs[:, 0, 1:3] = np.sin(angle), np.cos(angle)
        inputs[:, 0, 3:] = 0.1 * np.clip(observation[:, :BODY], -2, 2)
        actions = np.clip((inputs @ policies)[:, 0], -1, 1)
        observation, reward, ended, _, infos = envs.step(actions)
        total += reward * alive
        way[alive] = infos["x_position"][alive]
        alive &= ~ended
    return total, way


# %%
# Verification: one policy at one level, from many start states that no search has used.
def verify(motion: str, policy: Array, first: int) -> tuple[float, float]:
    """Mean return, and mean distance forward [m]."""
    with robots(motion, VERIFIED) as envs:
        starts = [first + i for i in range(VERIFIED)]
        total, way = episode(envs, np.stack(VERIFIED * [policy]), starts)
    return float(total.mean()), float(way.mean())


# %%
# The search. It verifies policies at the levels `above`, if any.
def learn(generations: int, seed: int, above: list[str]) -> Array | None:
    """The accepted walk with the best return at its worst level, or None."""
    rng = np.random.default_rng(seed)
    fast, accurate = robots("points", POLICIES), [robots(motion, VERIFIED) for motion in above]
    mean = np.zeros((3 + BODY, fast.single_action_space.shape[0]), np.float32)
    deviation, best, champion = np.full_like(mean, 0.3), 0.0, None
    for generation in range(1, generations + 1):
        policies = mean + deviation * rng.normal(size=(POLICIES, *mean.shape)).astype(np.float32)
        start = [1000 * seed + generation]  # the same for all, to be comparable
        returns, _ = episode(fast, policies, POLICIES * start)
        if above:
            chosen = returns.argsort()[-VERIFIED:]
            policies, returns = policies[chosen], returns[chosen]
            for envs in accurate:
                returns = np.minimum(returns, episode(envs, policies, VERIFIED * start)[0])
        parents = policies[returns.argsort()[-PARENTS:]]
        mean = parents.mean(0)
        deviation = 0.7 * deviation + 0.3 * parents.std(0) + 0.002
        if generation % 10 == 0 or generation == generations:
            returned = {motion: verify(motion, mean, 10**6)[0] for motion in ("points", *above)}
            worst = min(returned.values())
            kept = worst >= KEPT * returned["points"]
            text = "  ".join(f"{motion} {reward:4.0f}" for motion, reward in returned.items())
            print(f"{generation:4d}  {text}" + (not kept) * "  rejected", flush=True)
            if kept and worst > best:
                best, champion = worst, mean
    for envs in (fast, *accurate):
        envs.close()
    return champion


# %%
# Both searches, one after the other, and the returns of their walks at every level.
def main(generations: int, seed: int, above: list[str]) -> list[dict[str, float]]:
    """For both, the return of its walk at each level, relative to that at `points`."""
    found: list[dict[str, float]] = []
    for levels in ([], above):
        begin = time.monotonic()
        print(f"search at points, verified at {' and '.join(levels) or 'no other level'}")
        champion = learn(generations, seed, levels)
        print(f"{time.monotonic() - begin:.0f} s")
        found.append({})
        if champion is None:
            print(f"no walk keeps {KEPT:.0%} of its return")
            continue
        table = {motion: verify(motion, champion, 2 * 10**6) for motion in LEVELS}
        for motion, (reward, way) in table.items():
            share, far = reward / table["points"][0], way / table["points"][1]
            found[-1][motion] = share
            print(f"{motion:11s} {reward:5.0f} ({share:4.0%}) {way:6.2f} m ({far:4.0%})")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--above", nargs="+", default=["articulated"], choices=LEVELS[1:])
    main(**vars(parser.parse_known_args()[0]))  # a notebook has arguments of its own
