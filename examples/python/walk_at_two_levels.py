"""Reinforcement learning at two levels: a hexapod learns to walk where physics is cheap, at
`points`, and what it learns is verified where physics is dear, at `articulated`.

    pip install gymnasium
    python walk_at_two_levels.py --generations 100 --seed 1

The search is the cross-entropy method (Rubinstein 1999) in NumPy: draw policies around a middle,
keep the best, move the middle there. It is done twice. The first one trusts `points`. The second
one looks again, at `articulated`, at the most promising tries of each generation, where the worse
of both returns counts, and keeps only walks that have 70 % of their return there. Each ends in a
table: mean return and way forward of its walk in new starts at every level, and the shares of those
at `points`. A minute on two cores.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

import mayfly  # noqa: F401  (Gymnasium then knows its environments)

# %%
# What is tried, and how often. The same environment one level higher or lower is the same with
# another `motion`: observations, actions and rewards do not change.
TRIES, LOOKED_AT, PARENTS = 128, 32, 16  # policies of a generation
STEPS, INTERVAL = 250, 0.04  # of one life, and their length [s]
BEATS = 1.0  # [Hz] of the clock that a policy hears
FELT = 9  # first values of the observation: how it leans, turns and moves
KEPT = 0.7  # share of the return at `points` that a walk must have above
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
# A policy is a matrix: targets of joints follow 1, sine and cosine of a clock, and a little of what
# is felt. Every robot has its own, and lives once.
def live(envs: Any, policies: Array, starts: list[int]) -> tuple[Array, Array]:
    """Return of each one's life, and its way forward [m]."""
    count = len(policies)
    seen, _ = envs.reset(seed=starts)
    heard = np.ones((count, 1, 3 + FELT), np.float32)
    total, way, alive = np.zeros(count), np.zeros(count), np.ones(count, bool)
    for step in range(STEPS):
        angle = 2 * np.pi * BEATS * INTERVAL * step
        heard[:, 0, 1:3] = np.sin(angle), np.cos(angle)
        heard[:, 0, 3:] = 0.1 * np.clip(seen[:, :FELT], -2, 2)
        actions = np.clip((heard @ policies)[:, 0], -1, 1)
        seen, reward, ended, _, infos = envs.step(actions)
        total += reward * alive
        way[alive] = infos["x_position"][alive]
        alive &= ~ended
    return total, way


# %%
# Verification: one policy lives at a level from many starts that no search has seen.
def verify(motion: str, policy: Array, first: int) -> tuple[float, float]:
    """Mean return, and mean way forward [m]."""
    with robots(motion, LOOKED_AT) as envs:
        starts = [first + i for i in range(LOOKED_AT)]
        total, way = live(envs, np.stack(LOOKED_AT * [policy]), starts)
    return float(total.mean()), float(way.mean())


# %%
# The search. It looks again at the levels `above`; with none it trusts `points`.
def learn(generations: int, seed: int, above: list[str]) -> Array | None:
    """Of the walks that kept enough, the one whose worst level has the best return."""
    rng = np.random.default_rng(seed)
    cheap, dear = robots("points", TRIES), [robots(motion, LOOKED_AT) for motion in above]
    middle = np.zeros((3 + FELT, cheap.single_action_space.shape[0]), np.float32)
    spread, best, champion = np.full_like(middle, 0.3), 0.0, None
    for generation in range(1, generations + 1):
        tries = middle + spread * rng.normal(size=(TRIES, *middle.shape)).astype(np.float32)
        start = [1000 * seed + generation]  # the same for all, so that they compare
        worth, _ = live(cheap, tries, TRIES * start)
        if above:
            chosen = worth.argsort()[-LOOKED_AT:]
            tries, worth = tries[chosen], worth[chosen]
            for envs in dear:
                worth = np.minimum(worth, live(envs, tries, LOOKED_AT * start)[0])
        parents = tries[worth.argsort()[-PARENTS:]]
        middle = parents.mean(0)
        spread = 0.7 * spread + 0.3 * parents.std(0) + 0.002
        if generation % 10 == 0 or generation == generations:
            told = {motion: verify(motion, middle, 10**6)[0] for motion in ("points", *above)}
            worst = min(told.values())
            kept = worst >= KEPT * told["points"]
            text = "  ".join(f"{motion} {reward:4.0f}" for motion, reward in told.items())
            print(f"{generation:4d}  {text}" + (not kept) * "  keeps too little", flush=True)
            if kept and worst > best:
                best, champion = worst, middle
    for envs in (cheap, *dear):
        envs.close()
    return champion


# %%
# Both searches, one after the other, and what their walks are worth at every level.
def main(generations: int, seed: int, above: list[str]) -> list[dict[str, float]]:
    """For both, the share of the return at `points` that its walk has at each level."""
    found: list[dict[str, float]] = []
    for levels in ([], above):
        begin = time.monotonic()
        print(f"learns at points, looks at {' and '.join(levels) or 'nothing else'}")
        champion = learn(generations, seed, levels)
        print(f"{time.monotonic() - begin:.0f} s")
        found.append({})
        if champion is None:
            print(f"no walk has {KEPT:.0%} of its return above")
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
