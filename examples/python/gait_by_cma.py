"""A gait of sine waves for a six-legged robot by CMA-ES: found where physics is cheap, judged where
it is dear, and finished there.

pip install cma; usage: gait_by_cma.py [CHEAP_GENERATIONS [DEAR_GENERATIONS]]
"""

import sys
from typing import Any

import cma
import numpy as np

import mayfly

# %%
# Two levels: a cheap one to search at, a dear one to judge and finish at.
LENGTH = 10.0  # [s] of one life
CHEAP: dict[str, Any] = {
    "motion": "points",
    "step": 0.01,
    "friction": "coupled",
    "friction_coefficient": 1.0,
    "keep_momentum": True,
}
DEAR: dict[str, Any] = {"motion": "articulated", "step": 0.004}


# %%
# A whole generation lives in one call. Gaits are vectors of numbers in 0 .. 1.
def walked(robot: mayfly.Model, vectors: np.ndarray, level: dict[str, Any]) -> np.ndarray:
    """[m] that each gait gets forward; a robot with a fault counts as one that went back."""
    gaits = mayfly.Oscillators.from_unit(np.clip(vectors, 0, 1), robot)
    return mayfly.evaluate(robot, gaits, LENGTH, fitness="forward", **level).objective(worst=-1.0)


# %%
# The search is that of the package `cma`: it asks for fitness, Mayfly tells it.
def search(
    robot: mayfly.Model, start: np.ndarray, spread: float, generations: int, level: dict[str, Any]
) -> np.ndarray:
    """The best gait of so many generations."""
    settings = {"popsize": 64, "seed": 1, "bounds": [0, 1], "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(start, spread, settings)
    for generation in range(generations):
        vectors = strategy.ask()
        distances = walked(robot, vectors, level)
        strategy.tell(vectors, -distances)
        print(f"{level['motion']} {generation + 1}: {distances.max():.2f} m")
    return np.asarray(strategy.result.xbest)


# %%
# Found at `points`, judged at `articulated`, finished there from where it stands.
def main(cheap: int = 40, dear: int = 20) -> tuple[float, float, float]:
    """How far the first one gets at both levels, and the second one at the dear level."""
    robot = mayfly.Model.from_file("hexapod.urdf")
    first = search(robot, np.full(3 * len(robot.joints) + 1, 0.5), 0.2, cheap, CHEAP)
    second = search(robot, first, 0.1, dear, DEAR)
    told = float(walked(robot, first[None], CHEAP)[0])
    true, finished = walked(robot, np.stack([first, second]), DEAR).tolist()
    print(f"found at `points`: {told:.2f} m there, {true:.2f} m at `articulated`")
    print(f"finished at `articulated`: {finished:.2f} m")
    return told, true, finished


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:3])))  # a notebook has arguments of its own
